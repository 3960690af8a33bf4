package server

import (
	"math"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

// LAB RESET is for the setUp of a test: whatever the tests before have said to the lab, it
// is now as when the server started, so that the order of tests changes none of them. Keys and
// snapshots stay, which have verbs of their own.
//
// Nobody is left waiting for what is no more. Whom a rule has held goes on, and for all that
// waits for the time of the lab, that time has come: requests and replies that are late,
// blocked commands, pauses, a server that is down. A clock that is put back would have them
// wait until the year in which the test before had been.

func (s *Server) labResetRows() []command.Row {
	return []command.Row{
		s.labWordsRow("reset", "[AT unix-time-milliseconds:integer]", -2, "O(N) where N is the number of rules, of client connections, and of deadlines that are passed",
			"Puts the lab back to its start: no rules, no failures, an empty log, and the real time, or one that stands still.",
			labWord{"AT", 1, 1, 0, s.labResetAt},
			labWord{"", 0, 0, 0, s.labReset}),
	}
}

// labReset goes back to the real time. Were a time to stay that a test has set, keys and
// snapshots of the next one would have leases of another year than its clients think.
func (s *Server) labReset(c *command.Call, _ [][]byte) error {
	s.resetLater(c, func(int64) int64 { return s.ex.Clock.Real(s.ex.LastEnd()) }, false)
	return nil
}

func (s *Server) labResetAt(c *command.Call, args [][]byte) error {
	ms, err := labTimeArgument("reset at", args[0])
	if err != nil {
		return err
	}
	s.resetLater(c, func(int64) int64 { return ms * 1e6 }, true)
	return nil
}

// resetLater is for the end of the pass, as for a clock that is moved: others are executed.
func (s *Server) resetLater(c *command.Call, to func(int64) int64, frozen bool) {
	m := s.moveClock(c, to)
	var failed error
	m.before = func() {
		failed = s.endFailures()
		s.lab.clock.SetRate(s.ex.LastEnd(), 1)
		s.lab.clock.Frozen = frozen
	}
	m.after = s.beginAnew
	c.Await(func(w *resp.Writer) {
		if failed != nil {
			w.Error(failed.Error())
			return
		}
		w.OK()
	})
}

// endFailures ends all that goes wrong, and has those go on who wait for it.
func (s *Server) endFailures() error {
	l := s.lab
	s.liftAll()
	l.history.UnwatchAll()
	l.partitions = nil
	err := s.setBlackhole(false)
	if e := s.setDeaf(false); e != nil {
		err = labError("reset", "nobody can connect: %v", e)
	}
	l.parked = nil // has those left who hung up meanwhile
	for _, c := range s.order {
		if c.lab.fault != nil {
			c.lab.fault.rule = nil // of a command that is blocked, too, and would lose its reply
		}
	}
	s.ex.BeginExecution()
	s.timers.Run(math.MaxInt64)
	s.arm()
	return err
}

// beginAnew is for when the clock is where it is to begin, and those who were released have
// had their requests executed: of these nothing is to be seen any more.
func (s *Server) beginAnew() {
	s.serveReady()
	s.executeResumed()
	s.ks.SeedRand(s.cfg.Seed)
	s.ex.SeedScripts()
	s.lab.history.Reset()
	s.lab.doctor.Reset()
}

// labTimeArgument reads a time that the clock can be put to.
func labTimeArgument(verb string, arg []byte) (ms int64, err error) {
	ms, ok := store.ParseInt(arg)
	if !ok || ms < 0 || ms > command.LabEnd {
		return 0, labError(verb, "unix-time-milliseconds expects a number from 0 to %d, not '%s'", int64(command.LabEnd), lab.Printable(string(arg)))
	}
	return ms, nil
}

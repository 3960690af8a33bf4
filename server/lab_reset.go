package server

import (
	"math"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/resp"
)

// LAB RESET is for the setUp of a test: whatever the tests before have said to the lab, it
// is now as when the server started, so that the order of tests changes none of them. Keys and
// snapshots stay, which have verbs of their own.
//
// Nobody is left waiting for what is no more. Whom a rule has held goes on, and for all that
// waits for the time of the lab, that time has come: requests and replies that are late,
// blocked commands, pauses, a server that is down. A clock that is put back would have them
// wait until the year in which the test before had been.

func (l *labState) resetRows() []command.Row {
	return []command.Row{
		l.wordsRow("reset", "[AT unix-time-milliseconds:integer]", -2, "O(N) where N is the number of rules, of client connections, and of deadlines that are passed",
			"Resets the lab: no rules, an empty log, and real time or a frozen clock.",
			labWord{"AT", 1, 1, 0, l.resetAt},
			labWord{"", 0, 0, 0, l.resetNow}),
	}
}

// resetNow goes back to the real time. Were a time to stay that a test has set, keys and
// snapshots of the next one would have leases of another year than its clients think.
func (l *labState) resetNow(c *command.Call, _ [][]byte) error {
	l.resetLater(c, func(int64) int64 { return l.ex.Clock.Real(l.ex.LastEnd()) }, false)
	return nil
}

func (l *labState) resetAt(c *command.Call, args [][]byte) error {
	ms, err := labTimeArgument("reset at", args[0])
	if err != nil {
		return err
	}
	l.resetLater(c, func(int64) int64 { return ms * 1e6 }, true)
	return nil
}

// resetLater is for the end of the pass, as for a clock that is moved: others are executed.
func (l *labState) resetLater(c *command.Call, to func(int64) int64, frozen bool) {
	m := l.moveClock(c, to)
	var failed error
	m.before = func() {
		failed = l.endFailures()
		l.clock.SetRate(l.ex.LastEnd(), 1)
		l.clock.Frozen = frozen
	}
	m.after = l.beginAnew
	c.Await(func(w *resp.Writer) {
		if failed != nil {
			w.Error(failed.Error())
			return
		}
		w.OK()
	})
}

// endFailures ends all that goes wrong, and has those go on who wait for it.
func (l *labState) endFailures() error {
	l.liftAll()
	l.history.UnwatchAll()
	l.partitions = nil
	err := l.setBlackhole(false)
	if e := l.setDeaf(false); e != nil {
		err = labError("reset", "nobody can connect: %v", e)
	}
	l.parked = nil // has those left who hung up meanwhile
	for _, c := range l.order {
		if c.lab.fault != nil {
			c.lab.fault.rule = nil // of a command that is blocked, too, and would lose its reply
		}
	}
	l.ex.BeginExecution()
	l.timers.Run(math.MaxInt64)
	l.arm()
	return err
}

// beginAnew is for when the clock is where it is to begin, and those who were released have
// had their requests executed: of these nothing is to be seen any more.
func (l *labState) beginAnew() {
	l.serveReady()
	l.executeResumed()
	l.ks.SeedRand(l.cfg.Seed)
	l.ex.Scripts.SeedRandom()
	l.history.Reset()
	l.doctor.Reset()
}

// labTimeArgument reads a time that the clock can be put to.
func labTimeArgument(verb string, arg []byte) (ms int64, err error) {
	ms, ok := ascii.ParseInt(arg)
	if !ok || ms < 0 || ms > command.LabEnd {
		return 0, labError(verb, "unix-time-milliseconds expects a number from 0 to %d, not '%s'", int64(command.LabEnd), lab.Printable(string(arg)))
	}
	return ms, nil
}

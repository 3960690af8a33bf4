package lab

import (
	"math"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/internal/clock"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/server"
)

// LAB RESET is for the setUp of a test. It brings the lab back to what it was when the server started,
// so that the order of tests does not matter. Masters and replicas of the process are what they were. Keys and
// snapshots stay: other verbs remove them.
//
// Sentinels begin anew before the nodes get their roles: none of them gives an order afterwards. They do so again when
// the clock has moved.
//
// Nothing keeps waiting for state that RESET removes. Held clients continue. Every pending timer fires
// now: delayed requests and replies, blocked commands, pauses, a server that is down. Otherwise a
// clock that goes back would leave them waiting for the time of the previous test.

func resetRows() []command.Row {
	return []command.Row{
		wordsRow("reset", "[AT unix-time-milliseconds:integer]",
			-2, "O(N) where N is the number of rules, of client connections, and of deadlines that are passed",
			"Resets the lab: no rules, an empty log, and real time or a frozen clock.",
			labWord{"AT", 1, 1, 0, (*State).resetAt},
			labWord{"", 0, 0, 0, (*State).resetNow}),
	}
}

// resetNow returns to the real time. If the time of a test stayed, the leases of the next test would
// lie in another year than its clients think.
func (l *State) resetNow(c *command.Call, _ [][]byte) error {
	l.resetLater(c, func(int64) int64 { return l.Ex.Clock.Real(l.Ex.Now.Mono) }, false)
	return nil
}

func (l *State) resetAt(c *command.Call, args [][]byte) error {
	ms, err := labTimeArgument("reset at", args[0])
	if err != nil {
		return err
	}
	l.resetLater(c, func(int64) int64 { return ms * 1e6 }, true)
	return nil
}

// resetLater resets once the commands of this pass are executed, like a move of the clock.
func (l *State) resetLater(c *command.Call, to func(int64) int64, frozen bool) {
	m := l.newMove(c, to)
	var failed error
	m.before = func() {
		failed = l.endFailures()
		l.Clock.SetRate(l.Ex.Now.Mono, 1)
		l.Clock.Frozen = frozen
	}
	m.after = l.beginAnew
	c.Await(func(w *resp.Writer) {
		if failed != nil {
			w.Error(failed.Error())
			return
		}
		w.OK()
	})
	l.Tell.Reset(func() { l.firstRoles(func() { l.moveLater(m) }) })
}

// endFailures ends all failures. Clients that wait because of one continue.
func (l *State) endFailures() error {
	l.liftAll()
	l.releaseAll()
	l.endFailover()
	l.history.UnwatchAll()
	l.watchKeys()
	l.partitions = nil
	l.heal()
	err := l.setBlackhole(false)
	if e := l.setDeaf(false); e != nil {
		err = labError("reset", "no client can connect: %v", e)
	}
	l.parked = nil // clients that hung up meanwhile are still in it
	for _, c := range l.Clients.Order {
		if Of(c).Fault != nil {
			Of(c).Fault.Rule = nil // otherwise a blocked command could lose its reply
		}
	}
	l.Pausing.End(server.ByClient)
	l.Ex.Tick()
	l.Timers.Run(math.MaxInt64)
	l.arm()
	return err
}

// beginAnew runs when the clock stands at its new time and the released requests were executed. It
// removes their traces.
func (l *State) beginAnew() {
	l.ServeReady()
	l.ExecuteResumed()
	l.KS.SeedRand(l.Cfg.Seed)
	l.Ex.Scripts.SeedRandom()
	l.history.Reset()
	l.doctor.Reset()
	if l.cluster != nil {
		l.cluster.Refresh()
	}
}

// labTimeArgument reads a time for the clock.
func labTimeArgument(verb string, arg []byte) (ms int64, err error) {
	ms, ok := ascii.ParseInt(arg)
	if !ok || ms < 0 || ms > clock.LabEnd {
		return 0, labError(verb, "unix-time-milliseconds expects a number from 0 to %d, not '%s'",
			int64(clock.LabEnd), printable(arg))
	}
	return ms, nil
}

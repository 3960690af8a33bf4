package server

import (
	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/resp"
)

// The time of a lab is that of keys that expire, of TIME and scripts, of blocked
// commands that time out, of CLIENT PAUSE and of faults that delay. It may stand still,
// and be moved on by hand:
//
//	LAB CLOCK FREEZE                  LAB CLOCK ADVANCE 3000
//	──────────────┤ · · · · · · · · · · · · · · · · · · · · · · ├──
//	                  │         │              │            the reply
//	               a expires  BLPOP ends,   b expires
//	                          its client
//	                          goes on
//
// Each of these finds the time that was said for it, and what follows from one has
// happened before the next: events are in the outputs of those who listen, who has waited
// is answered, what such a client had sent behind is executed, and may set deadlines that
// are passed as well. When ADVANCE replies, all of it is on the wire.
//
// In the same way a clock that runs stops at each deadline that has come since the last
// pass, before the pass begins: at a thousand times the real time there are many.

// move is a LAB CLOCK ADVANCE or SET that is to be done when the commands of the pass
// have been executed, for it has others executed on its way.
type move struct {
	to          func(now int64) int64 // in ns
	id, request int64                 // of the client, and which of its requests it is
	together    bool                  // asked of all masters
	before      func()                // to be done as well, nil for nothing
	after       func()
	expired     int64
}

func (l *labState) clockRows() []command.Row {
	const complexity = "O(N) with ADVANCE and SET, where N is the number of deadlines that are passed, otherwise O(1)"
	return []command.Row{
		l.wordsRow("clock", "[FREEZE | RUN | ADVANCE milliseconds | SET unix-time-milliseconds:integer | RATE factor:double]", -2, complexity,
			"Shows, stops, moves or speeds up the clock.",
			labWord{"FREEZE", 0, 0, 0, l.clockFreeze},
			labWord{"RUN", 0, 0, 0, l.clockRun},
			labWord{"ADVANCE", 1, 1, 0, l.clockAdvance},
			labWord{"SET", 1, 1, 0, l.clockSet},
			labWord{"RATE", 1, 1, 0, l.clockRate},
			labWord{"", 0, 0, command.AllowBusy, l.clockTime}),
	}
}

func (l *labState) clockFreeze(c *command.Call, _ [][]byte) error {
	l.clock.Freeze(l.ex.LastEnd())
	c.OK()
	return nil
}

func (l *labState) clockRun(c *command.Call, _ [][]byte) error {
	l.clock.Run(l.ex.LastEnd())
	c.OK()
	return nil
}

func (l *labState) clockRate(c *command.Call, args [][]byte) error {
	rate, ok := lab.ParseDecimal(string(args[0]))
	if !ok || rate < 1e-6 || rate > 1e6 {
		return labError("clock rate", "factor expects a number from 0.000001 to 1000000, not '%s' (FREEZE stops the time)", lab.Printable(string(args[0])))
	}
	l.clock.SetRate(l.ex.LastEnd(), rate)
	c.OK()
	return nil
}

// clockTime tells, in the middle of a script, the time that the script has.
func (l *labState) clockTime(c *command.Call, _ [][]byte) error {
	c.Map(3)
	c.BulkString("unix-ms")
	c.Int(c.Now)
	c.BulkString("frozen")
	c.Int(number(l.clock.Frozen))
	c.BulkString("rate")
	c.Double(l.clock.Rate)
	return nil
}

// clockAdvance replies, when it is done, with the number of keys that have expired.
func (l *labState) clockAdvance(c *command.Call, args [][]byte) error {
	left := max(command.LabEnd-c.Now-1, 0)
	ms, ok := ascii.ParseInt(args[0])
	if !ok || ms < 0 || ms > left {
		return labError("clock advance", "milliseconds expects a number from 0 to %d, not '%s'", left, lab.Printable(string(args[0])))
	}
	m := l.moveClock(c, func(now int64) int64 { // others may have moved it meanwhile
		return now + min(ms*1e6, max(command.LabEnd*1e6-now, 0))
	})
	c.Await(func(w *resp.Writer) { w.Int(m.expired) })
	return nil
}

// clockSet may go back: that is a clock which jumps, and no deadline comes by that.
func (l *labState) clockSet(c *command.Call, args [][]byte) error {
	ms, err := labTimeArgument("clock set", args[0])
	if err != nil {
		return err
	}
	l.moveClock(c, func(int64) int64 { return ms * 1e6 })
	c.Await((*resp.Writer).OK)
	return nil
}

func (l *labState) moveClock(c *command.Call, to func(now int64) int64) *move {
	m := &move{to: to, id: c.Sess.ID, request: c.Sess.Commands}
	m.together = l.running != nil && l.running.visit != nil && l.running.visit.together
	l.deferred = append(l.deferred, func() { l.advance(m) })
	return m
}

// advance does a move and replies to its client.
func (l *labState) advance(m *move) {
	if m.before != nil {
		m.before()
	}
	l.move(m)
	if m.after != nil {
		m.after()
	}
	l.ex.Tracking.Broadcast()
	l.write() // what has happened is on the wire before the reply
	if c := l.withID(m.id); c != nil && !c.closed && c.sess.Hold == command.Blocked && c.sess.Commands == m.request {
		l.ex.Unblock(&c.sess, nil)
		l.executeResumed()
	}
}

func (l *labState) move(m *move) {
	clock, expired := l.clock, l.ks.Stats.Expired
	now := clock.Now(l.ex.LastEnd())
	to := m.to(now)
	l.logMoved(now/1e6, to/1e6, m.together)
	clock.Set(l.ex.LastEnd(), now)
	clock.Held = true
	if to >= now {
		l.step(to)
	}
	clock.Set(l.ex.BeginExecution(), to)
	clock.Held = false
	l.expire() // or, where the clock was set back, files all keys anew
	m.expired = l.ks.Stats.Expired - expired
}

// catchUp has happen what was due since the last pass, each thing at its own time.
func (l *labState) catchUp() {
	clock := l.clock
	now := clock.Now(l.ex.LastEnd())
	if at, ok := l.nextDeadline(); !ok || at > now {
		return
	}
	line := *clock // goes on meanwhile
	clock.Set(l.ex.LastEnd(), min(l.seen, now))
	clock.Held = true
	l.step(now)
	clock.Held = false
	if !clock.Frozen || line.Frozen { // else somebody who went on has just stopped it
		mono := l.ex.BeginExecution()
		clock.Set(mono, line.Now(mono))
	}
}

// step takes the clock from deadline to deadline.
func (l *labState) step(to int64) {
	clock := l.clock
	for {
		at, ok := l.nextDeadline()
		if !ok || at > to {
			return
		}
		mono := l.ex.BeginExecution()
		clock.Set(mono, max(at, clock.Now(mono)))
		l.expire()
		l.timers.Run(clock.Now(mono))
		l.serveReady()
		l.executeResumed()
	}
}

// executeAndRead executes the commands of a client whose wait is over, and also what it sent meanwhile and
// is still in the kernel: that belongs to the time at which the client goes on.
func (l *labState) executeAndRead(c *client) {
	l.execute(c)
	if c.closed || c.stopped() || c.EOF || c.ReadErr != 0 || c.Wrong != "" || c.sess.CloseAfterReply {
		return
	}
	l.read([]*client{c})
	l.execute(c)
}

// beginPass is afterSleep. It notes the time at which the last pass ended.
func (l *labState) beginPass() {
	l.seen = l.clock.Now(l.ex.LastEnd())
	l.afterSleep()
}

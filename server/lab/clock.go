package lab

import (
	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/internal/clock"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/server"
)

// LAB CLOCK controls the server's time. That time decides when keys expire, blocked commands time
// out, CLIENT PAUSE ends and delayed faults happen. TIME and scripts show it. A test can stop it and
// move it:
//
//	LAB CLOCK FREEZE                  LAB CLOCK ADVANCE 3000
//	──────────────┤ · · · · · · · · · · · · · · · · · · · · · · ├──
//	                  │         │              │            the reply
//	               a expires  BLPOP ends,   b expires
//	                          its client
//	                          goes on
//
// The clock stops at each deadline on its way, so each event happens at its own time. Everything that
// follows from one deadline happens before the next: keyspace events are sent, blocked clients get
// their replies, and the requests they sent meanwhile are executed. Those may set new deadlines on
// the way. When ADVANCE replies, all of that is written to the sockets.
//
// A running clock does the same before each pass, for every deadline since the last pass. At a
// thousand times the real speed there are many.

// move is a LAB CLOCK ADVANCE or SET, or a LAB RESET. It happens after the commands of its pass,
// because it executes commands of other clients on its way.
type move struct {
	to          func(now int64) int64 // in ns
	id, request int64                 // the client, and the number of its request
	together    bool                  // all masters move their clocks
	before      func()                // called before the clock moves; may be nil
	after       func()                // called afterwards; may be nil
	from        int64                 // unix ms
	expired     int64                 // keys that expired on the way
}

func clockRows() []command.Row {
	const complexity = "O(N) with ADVANCE and SET, where N is the number of deadlines that are passed, otherwise O(1)"
	return []command.Row{
		wordsRow("clock", "[FREEZE | RUN | ADVANCE milliseconds | SET unix-time-milliseconds:integer | RATE factor:double]",
			-2, complexity,
			"Shows, stops, moves or speeds up the clock.",
			labWord{"FREEZE", 0, 0, 0, (*State).clockFreeze},
			labWord{"RUN", 0, 0, 0, (*State).clockRun},
			labWord{"ADVANCE", 1, 1, 0, (*State).clockAdvance},
			labWord{"SET", 1, 1, 0, (*State).clockSet},
			labWord{"RATE", 1, 1, 0, (*State).clockRate},
			labWord{"", 0, 0, command.AllowBusy, (*State).clockTime}),
	}
}

func (l *State) clockFreeze(c *command.Call, _ [][]byte) error {
	l.Clock.Freeze(l.Ex.Now.Mono)
	c.OK()
	return nil
}

func (l *State) clockRun(c *command.Call, _ [][]byte) error {
	l.Clock.Run(l.Ex.Now.Mono)
	c.OK()
	return nil
}

func (l *State) clockRate(c *command.Call, args [][]byte) error {
	rate, ok := lab.ParseDecimal(string(args[0]))
	if !ok || rate < 1e-6 || rate > 1e6 {
		return labError("clock rate", "factor expects a number from 0.000001 to 1000000, not '%s' (FREEZE stops the time)",
			printable(args[0]))
	}
	l.Clock.SetRate(l.Ex.Now.Mono, rate)
	c.OK()
	return nil
}

// clockTime shows the clock. Inside a script it shows the script's time.
func (l *State) clockTime(c *command.Call, _ [][]byte) error {
	c.Map(3)
	c.BulkString("unix-ms")
	c.Int(c.Now)
	c.BulkString("frozen")
	c.Int(server.OneIf(l.Clock.Frozen))
	c.BulkString("rate")
	c.Double(l.Clock.Rate)
	return nil
}

// clockAdvance replies when the clock has moved, with the number of keys that expired.
func (l *State) clockAdvance(c *command.Call, args [][]byte) error {
	left := max(clock.LabEnd-c.Now-1, 0)
	ms, ok := ascii.ParseInt(args[0])
	if !ok || ms < 0 || ms > left {
		return labError("clock advance", "milliseconds expects a number from 0 to %d, not '%s'", left, printable(args[0]))
	}
	m := l.moveClock(c, func(now int64) int64 { // another client may move the clock before
		return now + min(ms*1e6, max(clock.LabEnd*1e6-now, 0))
	})
	c.Await(func(w *resp.Writer) { w.Int(m.expired) })
	return nil
}

// clockSet may also set the clock back. No deadline is passed then.
func (l *State) clockSet(c *command.Call, args [][]byte) error {
	ms, err := labTimeArgument("clock set", args[0])
	if err != nil {
		return err
	}
	l.moveClock(c, func(int64) int64 { return ms * 1e6 })
	c.Await((*resp.Writer).OK)
	return nil
}

// moveClock moves the clock once the commands of this pass are executed.
func (l *State) moveClock(c *command.Call, to func(now int64) int64) *move {
	m := l.newMove(c, to)
	l.moveLater(m)
	return m
}

func (l *State) newMove(c *command.Call, to func(now int64) int64) *move {
	m := &move{to: to, id: c.Sess.ID, request: c.Sess.Commands}
	m.together = l.Running != nil && NoteOf(l.Running.Internal).together
	return m
}

func (l *State) moveLater(m *move) { l.Deferred = append(l.Deferred, func() { l.advance(m) }) }

// advance moves the clock and replies to the client that asked for it.
func (l *State) advance(m *move) {
	if m.before != nil {
		m.before()
	}
	l.move(m)
	if m.after != nil {
		m.after()
	}
	l.Ex.Tracking.Broadcast()
	if l.Persist.Flush() {
		l.WriteClients() // the reply comes after everything that happened on the way
	}
	l.moved(m)
	if m.after != nil { // LAB RESET: nothing has happened on the way
		l.Tell.Reset(func() { l.answerMove(m) })
		return
	}
	l.Tell.Moved(m.from, m.together, func() { l.answerMove(m) })
}

// answerMove replies once everything has happened that the move has caused.
func (l *State) answerMove(m *move) {
	c := l.Clients.WithID(m.id)
	if c != nil && !c.Closed && c.Sess.Hold == command.Blocked && c.Sess.Commands == m.request {
		l.Ex.Unblock(&c.Sess, nil)
		l.ExecuteResumed()
	}
}

// move moves the clock, from deadline to deadline if it moves forward.
func (l *State) move(m *move) {
	clock, expired := l.Clock, l.KS.Stats.Expired
	now := l.Ex.Now.Wall
	to := m.to(now)
	m.from = now / 1e6
	l.logMoved(now/1e6, to/1e6, m.together)
	clock.Set(l.Ex.Now.Mono, now)
	clock.Held = true
	if to >= now {
		l.step(to)
	} else {
		l.Persist.ClockBack(now - to)
	}
	l.set(to)
	l.hearLinks()
	clock.Held = false
	l.Expire() // if the clock was set back, the store sorts its deadlines anew
	m.expired = l.KS.Stats.Expired - expired
	if !l.Ex.Cut { // else the keys have half a transaction, and a LAB CRASH is next
		l.Replicas.Look()
	}
}

// catchUp runs everything that became due since the last pass, each at its own time.
func (l *State) catchUp() {
	clock := l.Clock
	now := l.Ex.Now.Wall
	if at, ok := l.NextDeadline(); !ok || at > now {
		return
	}
	line := *clock // the clock as it continues while this one stops at deadlines
	clock.Set(l.Ex.Now.Mono, min(l.seen, now))
	clock.Held = true
	l.step(now)
	clock.Held = false
	if !clock.Frozen || line.Frozen { // else a client that went on has just frozen the clock
		mono := l.Ex.Clock.Mono()
		clock.Set(mono, line.Now(mono))
	}
	l.Ex.Tick()
}

// step moves the clock from deadline to deadline until the time to, in ns.
func (l *State) step(to int64) {
	for {
		at, ok := l.NextDeadline()
		if !ok || at > to || l.Ex.Cut {
			return
		}
		mono := l.Ex.Clock.Mono()
		l.set(max(at, l.Clock.Now(mono)))
		l.Expire()
		l.Timers.Run(l.Ex.Now.Wall)
		l.ServeReady()
		l.ExecuteResumed()
		l.Persist.Flush()
	}
}

// set sets the clock, which is held, and tells the executor.
func (l *State) set(ns int64) {
	l.Clock.Set(l.Ex.Clock.Mono(), ns)
	l.Ex.Tick()
}

// executeAndRead executes the commands of a client whose wait is over. It also reads and executes
// what the client sent meanwhile: that belongs to the same time.
func (l *State) executeAndRead(c *server.Client) {
	l.ExecuteClient(c)
	if c.Closed || c.Stopped() || c.EOF || c.ReadErr != 0 || c.Wrong != "" || c.Sess.CloseAfterReply {
		return
	}
	l.ReadClients([]*server.Client{c})
	l.ExecuteClient(c)
}

// BeginPass is AfterSleep. First it notes the time at which the last pass ended.
func (l *State) BeginPass() {
	l.seen = l.Ex.Now.Wall
	l.diskTook()
	l.logChanged(lab.EventChanged, l.changed(lab.ByLoss))
	l.AfterSleep()
}

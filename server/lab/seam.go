package lab

import (
	"slices"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/server"
)

// Where the lab meets the rest of the server. install sets hooks and becomes the executor's observer:
//
//	the hook      runs                    the lab's function               does
//	Do            for each request        doWithFaults (request.go)        faults of requests
//	GoOn          after a client's wait   executeAndRead (clock.go)        what it sent meanwhile
//	RunTimers     once in a pass          catchUp (clock.go)               deadlines, one by one
//	Accept        for a listener          acceptUnlessBlackhole (net.go)
//	Resume        reply after a wait      resumeWithFault                  faults of that reply
//	ServeOthers   during a slow script    serveOthersOfLab                 LAB CRASH, LAB HOLD WAIT
//	Deaf          for each listener       refuses (net.go)                 LAB LISTEN OFF, LAB CRASH DOWN
//
//	the observer
//	Outgoing      a message               Outgoing (push.go)               SKIP-PUSH, DELAY-PUSH
//	Answered, Called, Blocked, Expired,   observe.go                       the log, the doctor
//	FieldsExpired, Evicted
//	Left          a client has gone       Left                             forgets it
//
// A fault concerns one connection. No other client ever waits for it.

// install sets the hooks and the observer. It runs for every new executor.
func (l *State) install() error {
	h := &l.Hooks
	h.Do, h.GoOn, h.RunTimers, h.Accept = l.doWithFaults, l.executeAndRead, l.catchUp, l.acceptUnlessBlackhole
	h.Resume, h.ServeOthers, h.Deaf = l.resumeWithFault, l.serveOthersOfLab, l.refuses
	l.Ex.Observer = l
	l.watchKeys()
	l.Loop.AfterSleep(l.BeginPass)
	return nil
}

// Hooks let somebody see what the lab sees.
type Hooks struct {
	Struck  func(client int64, r *lab.Rule, what string) // what is the request, reply or message that r strikes
	Expired func(key string)
}

// KeepConfig notes the configuration that LAB RESET goes back to.
func (l *State) KeepConfig() {
	l.config = l.Cfg.Clone()
}

// mem returns the bytes that the rules and the log take.
func (l *State) mem() int { return l.plan.Mem() + l.history.Mem() }

// Part is the place of the lab in a pass. Most of what it does replaces something: see install.
func (l *State) Part() server.Part {
	return server.Part{
		Self: l, Installed: l.install, Joined: l.setMuted, Configured: l.configured, Memory: l.mem, End: l.end,
	}
}

// end is called after the loop. The connections of the Sentinels have closed, too.
func (l *State) end() {
	l.closeLingering()
	l.Tell.Down()
}

// labClient is what the lab knows of a client.
type labClient struct {
	Fault   *fault // what rules do to it; nil before the first one fires
	relay   *relay // masters whose replies it waits for, nil for none
	gate    int64  // the last byte of the stream that it gets, with LAB REPLICATION HOLD
	keysAt  int64  // ns, by Clock.Timeline: while it is withheld, it gets its keys then, with LAB REPLICATION LAG
	logged  int64  // its last request that has an entry in the log, with replicas
	came    int64  // us, by CLOCK_MONOTONIC: its request came then, and waits; 0 for none
	control bool   // it has used LAB: what happens to other clients must not keep it from undoing that
}

// labKey is where a client keeps what the lab knows of it.
type labKey struct{}

// Of returns what the lab knows of c.
func Of(c *server.Client) *labClient {
	if known := c.Attached(labKey{}); known != nil {
		return known.(*labClient)
	}
	known := &labClient{}
	c.Attach(labKey{}, known)
	return known
}

// fault is what rules do to one client.
type fault struct {
	Rule    *lab.Rule      // that fired for the request under way, nil for none
	key     string         // of that request, as the log shows it
	words   []string       // of that request, while it is parked
	parked  bool           // the request is put back until the client is released
	silent  bool           // the client gets nothing any more
	Decided bool           // the request at hand was looked at before it was put back
	timer   *reactor.Timer // of DELAY-EXEC

	kept   []*keptBack            // replies that come late or slowly, the oldest first
	pushes map[*keptBack]struct{} // messages that DELAY-PUSH keeps back
}

// keptBack is a reply or message that a rule keeps back until its timer runs.
type keptBack struct {
	from, to int // offsets of a reply in the client's output; everything after from waits
	pace     lab.Pace
	pieces   int   // that have gone
	began    int64 // ns, by Clock.Timeline: the time of the first piece counts from then; 0 before
	due      bool  // nothing of it waits for a timer
	timer    *reactor.Timer
}

// resumeWithFault is ResumeBlocked. If a rule fired for the command that was blocked, the reply has a fault.
func (l *State) resumeWithFault(c *server.Client, reply []byte) {
	l.callOffRelay(c)
	if Of(c).Fault == nil || Of(c).Fault.Rule == nil {
		l.ResumeBlocked(c, reply)
		return
	}
	reply = reply[:l.applyFault(c, len(c.Out.Buf), reply)]
	switch {
	case Of(c).Fault.silent: // it stays stopped
		if c.Timer != nil {
			l.Timers.Cancel(c.Timer)
			c.Timer = nil
		}
	case c.Sess.CloseAfterReply:
		l.StopHolding(c)
		l.WatchInput(c)
		l.Send(c, reply)
	default:
		l.Push(c, reply)
		l.Release(c)
	}
}

// serveOthersOfLab is ProcessEventsWhileBlocked. If this pass got a LAB CRASH, the script is cut, and the crash comes
// next. One that keeps the keys waits for a script that has changed them. A LAB HOLD WAIT may time out, although no
// other timer runs.
func (l *State) serveOthersOfLab() (stop bool) {
	switch end := l.crashing; {
	case end == nil:
	case l.keepsKeys(end.lose) && l.Ex.HasHalf():
		for _, c := range end.by { // the reply comes after the crash
			c.Protected = true
			l.Unqueue(c)
		}
	default:
		l.Running.Ending = server.ResetEnd
		l.CloseClient(l.Running)
		l.Deferred = slices.Insert(l.Deferred, 0, l.crash)
		l.Loop.Post(func() {}) // requests of the program around may be left for the next pass
		return true
	}
	l.endOverdue()
	return l.ProcessEventsWhileBlocked()
}

// Left forgets a client that has gone.
func (l *State) Left(sess *command.Session) {
	c := l.Clients.Of(sess)
	if c == nil {
		return // an internal request that had ended before
	}
	l.callOffRelay(c)
	if c.Internal != nil {
		return
	}
	l.doctor.Disconnected(sess.ID, l.KS.Now)
	l.forgetFault(c)
	l.linger(c)
}

// callOffRelay tells other masters that c no longer waits for their replies.
func (l *State) callOffRelay(c *server.Client) {
	if Of(c).relay != nil {
		Of(c).relay.callOff()
	}
}

// forgetFault ends what rules still do to a client that has gone.
func (l *State) forgetFault(c *server.Client) {
	f := Of(c).Fault
	if f == nil {
		return
	}
	if f.parked && f.Rule != nil { // else LAB RESET forgot the rule
		l.noteRule(c, f.words, lab.NotExecuted)
		l.parked = slices.DeleteFunc(l.parked, func(p *server.Client) bool { return p == c })
	}
	if f.timer != nil {
		l.Timers.Cancel(f.timer)
	}
	for _, reply := range f.kept {
		l.Timers.Cancel(reply.timer)
	}
	for push := range f.pushes {
		l.Timers.Cancel(push.timer)
	}
}

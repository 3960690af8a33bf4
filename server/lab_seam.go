package server

import (
	"slices"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/reactor"
)

// Where the lab meets the rest of the server. install sets hooks and becomes the executor's observer:
//
//	the hook      runs                    the lab's function               does
//	do            for each request        doWithFaults (lab_request.go)    faults of requests
//	goOn          after a client's wait   executeAndRead (lab_clock.go)    what it sent meanwhile
//	runTimers     once in a pass          catchUp (lab_clock.go)           deadlines, one by one
//	accept        for a listener          acceptUnlessBlackhole (lab_net.go)
//	resume        reply after a wait      resumeWithFault                  faults of that reply
//	ServeOthers   during a slow script    serveOthersOfLab                 LAB CRASH, LAB HOLD WAIT
//	deaf          for each listener       refuses (lab_net.go)             LAB LISTEN OFF, LAB CRASH DOWN
//
//	the observer
//	Outgoing      a message               Outgoing (lab_push.go)           SKIP-PUSH, DELAY-PUSH
//	Answered, Called, Expired             lab_observe.go                   the log, the doctor
//	Left          a client has gone       Left                             forgets it
//
// A fault concerns one connection. No other client ever waits for it.

// install sets the hooks and the observer. It runs for every new executor.
func (l *LabState) install() error {
	h := &l.Hooks
	h.Do, h.goOn, h.runTimers, h.accept = l.doWithFaults, l.executeAndRead, l.catchUp, l.acceptUnlessBlackhole
	h.resume, h.ServeOthers, h.deaf = l.resumeWithFault, l.serveOthersOfLab, l.refuses
	l.Ex.Observer = l
	l.Loop.AfterSleep(l.BeginPass)
	return nil
}

// LabHooks let somebody see what the lab sees.
type LabHooks struct {
	Struck  func(client int64, r *lab.Rule, what string) // what is the request, reply or message that r strikes
	Expired func(key string)
}

// KeepConfig notes the configuration that LAB RESET goes back to.
func (l *LabState) KeepConfig() {
	l.config = l.Cfg.Clone()
}

// mem returns the bytes that the rules and the log take.
func (l *LabState) mem() int { return l.plan.Mem() + l.history.Mem() }

// Part is the place of the lab in a pass. Most of what it does replaces something: see install.
func (l *LabState) Part() Part {
	return Part{
		Self: l, Installed: l.install, Joined: l.setMuted, configured: l.configured, memory: l.mem, End: l.closeLingering,
	}
}

// labClient is what the lab knows of a client.
type labClient struct {
	Fault   *fault // what rules do to it; nil before the first one fires
	relay   *relay // masters whose replies it waits for, nil for none
	gate    int64  // the last byte of the stream that it gets, with LAB REPLICATION HOLD
	keysAt  int64  // ns, by Clock.Timeline: while it is withheld, it gets its keys then, with LAB REPLICATION LAG
	logged  int64  // its last request that has an entry in the log, with replicas
	control bool   // it has used LAB: what happens to other clients must not keep it from undoing that
}

// labKey is where a client keeps what the lab knows of it.
type labKey struct{}

// LabOf returns what the lab knows of c.
func LabOf(c *Client) *labClient {
	if known := c.attached(labKey{}); known != nil {
		return known.(*labClient)
	}
	known := &labClient{}
	c.attach(labKey{}, known)
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

	late   []*late            // replies that DELAY-REPLY keeps back, the oldest first
	pushes map[*late]struct{} // messages that DELAY-PUSH keeps back
}

// late is a reply or message that a rule keeps back until its timer runs.
type late struct {
	from  int // offset of a reply in the client's output; everything after it waits as well
	due   bool
	timer *reactor.Timer
}

// resumeWithFault is resumeBlocked. If a rule fired for the command that was blocked, the reply has a fault.
func (l *LabState) resumeWithFault(c *Client, reply []byte) {
	l.callOffRelay(c)
	if LabOf(c).Fault == nil || LabOf(c).Fault.Rule == nil {
		l.resumeBlocked(c, reply)
		return
	}
	reply = reply[:l.applyFault(c, len(c.Out.Buf), reply)]
	switch {
	case LabOf(c).Fault.silent: // it stays stopped
		if c.timer != nil {
			l.timers.Cancel(c.timer)
			c.timer = nil
		}
	case c.Sess.CloseAfterReply:
		l.stopHolding(c)
		l.watchInput(c)
		l.send(c, reply)
	default:
		l.push(c, reply)
		l.release(c)
	}
}

// serveOthersOfLab is processEventsWhileBlocked. If this pass got a LAB CRASH, the script is cut, and the crash comes
// next. One that keeps the keys waits for a script that has changed them. A LAB HOLD WAIT may time out, although no
// other timer runs.
func (l *LabState) serveOthersOfLab() (stop bool) {
	switch end := l.crashing; {
	case end == nil:
	case l.keepsKeys(end.lose) && l.Ex.HasHalf():
		for _, c := range end.by { // the reply comes after the crash
			c.protected = true
			l.unqueue(c)
		}
	default:
		l.Running.Ending = resetEnd
		l.close(l.Running)
		l.Deferred = slices.Insert(l.Deferred, 0, l.crash)
		l.Loop.Post(func() {}) // requests of the program around may be left for the next pass
		return true
	}
	l.endOverdue()
	return l.processEventsWhileBlocked()
}

// Left forgets a client that has gone.
func (l *LabState) Left(sess *command.Session) {
	c := l.Clients.of(sess)
	if c == nil {
		return // an internal request that had ended before
	}
	l.callOffRelay(c)
	if c.internal != nil {
		return
	}
	l.doctor.Disconnected(sess.ID, l.KS.Now)
	l.forgetFault(c)
	l.linger(c)
}

// callOffRelay tells other masters that c no longer waits for their replies.
func (l *LabState) callOffRelay(c *Client) {
	if LabOf(c).relay != nil {
		LabOf(c).relay.callOff()
	}
}

// forgetFault ends what rules still do to a client that has gone.
func (l *LabState) forgetFault(c *Client) {
	f := LabOf(c).Fault
	if f == nil {
		return
	}
	if f.parked && f.Rule != nil { // else LAB RESET forgot the rule
		l.noteRule(c, f.words, lab.NotExecuted)
		l.parked = slices.DeleteFunc(l.parked, func(p *Client) bool { return p == c })
	}
	if f.timer != nil {
		l.timers.Cancel(f.timer)
	}
	for _, reply := range f.late {
		l.timers.Cancel(reply.timer)
	}
	for push := range f.pushes {
		l.timers.Cancel(push.timer)
	}
}

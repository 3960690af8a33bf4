package server

import (
	"slices"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/reactor"
)

// Where the lab meets the rest of the server. install replaces functions of the server:
//
//	the server calls                     the lab's function               does
//	do            for each request       doWithFaults (lab_request.go)    faults of requests
//	goOn          after a client's wait  executeAndRead (lab_clock.go)    what it sent meanwhile
//	runTimers     once in a pass         catchUp (lab_clock.go)           deadlines, one by one
//	accept        for a listener         acceptUnlessBlackhole (lab_net.go)
//
//	the executor calls its Host
//	Resume        reply after a wait     labHost.Resume                   faults of that reply
//	ProcessEventsWhileBlocked            labHost                          LAB CRASH, LAB HOLD WAIT
//	Outgoing      a message              host.Outgoing (lab_push.go)      SKIP-PUSH, DELAY-PUSH
//	Answered, Called, Expired            host (lab_observe.go)            the log, the doctor
//	Left          a client has gone      host.Left                        forgets it
//
// A fault concerns one connection. No other client ever waits for it.

// install replaces what a pass and the executor call. It runs for every new executor.
func (l *labState) install() {
	l.do, l.goOn, l.runTimers, l.accept = l.doWithFaults, l.executeAndRead, l.catchUp, l.acceptUnlessBlackhole
	l.ex.Host, l.ex.Observed = labHost{host{l.Server}}, true
	l.loop.AfterSleep(l.beginPass)
}

// labHost is the host of a server with a lab.
type labHost struct{ host }

// labClient is what the lab knows of a client.
type labClient struct {
	fault   *fault // what rules do to it; nil before the first one fires
	relay   *relay // masters whose replies it waits for, nil for none
	control bool   // it has used LAB: what happens to other clients must not keep it from undoing that
}

// fault is what rules do to one client.
type fault struct {
	rule    *lab.Rule      // that fired for the request under way, nil for none
	key     string         // of that request, as the log shows it
	words   []string       // of that request, while it is parked
	parked  bool           // the request is put back until the client is released
	silent  bool           // the client gets nothing any more
	decided bool           // the request at hand was looked at before it was put back
	timer   *reactor.Timer // of DELAY-EXEC

	late   []*late            // replies that DELAY-REPLY keeps back, the oldest first
	pushes map[*late]struct{} // messages that DELAY-PUSH keeps back
}

// late is a reply or message that a rule keeps back until its timer runs.
type late struct {
	from  int // offset of a reply in the client's output; everything behind it waits as well
	due   bool
	timer *reactor.Timer
}

// Resume is Server.resume. If a rule fired for the command that was blocked, the reply has a fault.
func (h labHost) Resume(sess *command.Session, reply []byte) {
	l := h.s.lab
	c := l.clientOf(sess)
	l.callOffRelay(c)
	if c.lab.fault == nil || c.lab.fault.rule == nil {
		l.resume(sess, reply)
		return
	}
	reply = reply[:l.applyFault(c, len(c.Out.Buf), len(reply))]
	switch {
	case c.lab.fault.silent: // it stays stopped
		if c.timer != nil {
			l.timers.Cancel(c.timer)
			c.timer = nil
		}
	case c.sess.CloseAfterReply:
		l.stopHolding(c)
		l.watchInput(c)
		l.send(c, reply)
	default:
		l.push(c, reply)
		l.release(c)
	}
}

// ProcessEventsWhileBlocked is Server.processEventsWhileBlocked. If this pass got a LAB CRASH, the
// script ends. A LAB HOLD WAIT may time out, although no other timer runs.
func (h labHost) ProcessEventsWhileBlocked() (stop bool) {
	l := h.s.lab
	if l.crashing != nil {
		l.running.ending = resetEnd
		l.close(l.running)
		return true
	}
	l.endOverdue()
	return l.processEventsWhileBlocked()
}

// Left forgets a client that has gone.
func (h host) Left(sess *command.Session) {
	l := h.s.lab
	c := l.clientOf(sess)
	if c == nil {
		return // an internal request that had ended before
	}
	l.callOffRelay(c)
	if c.internal != nil {
		return
	}
	l.doctor.Disconnected(sess.ID, l.ks.Now)
	l.forgetFault(c)
	l.linger(c)
}

// callOffRelay tells other masters that c no longer waits for their replies.
func (l *labState) callOffRelay(c *client) {
	if c.lab.relay != nil {
		c.lab.relay.callOff()
	}
}

// forgetFault ends what rules still do to a client that has gone.
func (l *labState) forgetFault(c *client) {
	f := c.lab.fault
	if f == nil {
		return
	}
	if f.parked && f.rule != nil { // else LAB RESET forgot the rule
		l.noteRule(c, f.words, lab.NotExecuted)
		l.parked = slices.DeleteFunc(l.parked, func(p *client) bool { return p == c })
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

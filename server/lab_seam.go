package server

import (
	"slices"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

// Where the lab meets the rest of the server. install puts the lab's functions in the place of
// the server's own:
//
//	executeAll ── doWithFaults
//	    │ beforeRequest: a rule fires for the request, or none does
//	    │    DROP-BEFORE RESET-BEFORE    the connection ends behind the replies before
//	    │    ERROR                       Executor.Refuse
//	    │    HOLD DELAY-EXEC             Session.Hold = Stopped: the request is put back, and
//	    │                                comes again when the client is released
//	    │ Executor.Do                    ERROR-AFTER in Host.Answered
//	    │ afterRequest: applyFault           DROP-REPLY RESET-AFTER CUT SILENT DELAY-REPLY
//	    ▼
//	the reply of a command that blocked ── labHost.Resume: applyFault
//
//	a message to a client ─────────────── Host.Outgoing: SKIP-PUSH DELAY-PUSH
//	a client that has gone ────────────── Host.Left
//	a pass inside a script ────────────── labHost.ProcessEventsWhileBlocked
//	the timers of a pass ──────────────── catchUp (lab_clock.go)
//	a client that goes on ─────────────── executeAndRead (lab_clock.go)
//	a new connection ──────────────────── acceptUnlessBlackhole (lab_net.go)
//
// A fault concerns one connection. No other client ever waits for it. DELAY-REPLY sets the barrier
// of a connection (ioworkers.Conn.Bar), and a timer lifts it.

// install replaces what a pass and the executor call. It runs whenever there is a new executor.
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
	rule    *lab.Rule      // fired for the request under way, nil for none
	key     string         // of that request, as the log shows it
	words   []string       // of that request, while it is parked
	parked  bool           // the request is put back until the client is released
	silent  bool           // the client gets nothing any more
	decided bool           // the request at hand was looked at before it was put back
	timer   *reactor.Timer // of DELAY-EXEC

	late   []*late            // replies that DELAY-REPLY keeps back, the oldest first
	pushes map[*late]struct{} // messages that DELAY-PUSH keeps back
}

// late is output that a rule keeps back until its timer runs.
type late struct {
	from  int // offset of a reply in the client's output: everything behind it waits as well
	due   bool
	timer *reactor.Timer
}

// lateSize is about the bytes that it takes to keep back a piece of output.
const lateSize = 256

// keepBack counts n bytes that are in no output yet, and what it takes to keep a piece back.
func (c *client) keepBack(n int) {
	c.delayed.messages++
	c.delayed.bytes += n + lateSize
}

func (c *client) sentLate(n int) {
	c.delayed.messages--
	c.delayed.bytes -= n + lateSize
}

// doWithFaults is Executor.Do with the faults that rules have for the request.
func (l *labState) doWithFaults(by *command.Session, args [][]byte, w *resp.Writer) {
	c := l.order[by.Index]
	if l.armed || c.lab.fault != nil {
		mark := len(w.Buf)
		if l.beforeRequest(c, args) {
			l.ex.Do(by, args, w)
		}
		l.afterRequest(c, mark)
	} else {
		l.ex.Do(by, args, w)
	}
	if len(l.partitions) > 0 {
		l.setMuted(c) // it may have another name now
	}
}

// beforeRequest reports whether the request is to be executed now.
func (l *labState) beforeRequest(c *client, args [][]byte) bool {
	f := c.lab.fault
	if f != nil {
		if f.decided {
			f.decided = false
			return true
		}
		f.rule = nil
	}
	if !l.plan.OnRequests() {
		return true
	}
	q := l.ruleRequest(c, args)
	if q == nil {
		return true
	}
	r := l.plan.Request(q)
	if r == nil {
		return true
	}
	f = c.faulty()
	f.rule, f.key = r, l.logKey(q.Calls)
	switch r.Action {
	case lab.DropBefore:
		l.noteRule(c, lab.Words(args), lab.NotExecuted)
		c.endAfterReply(finEnd)
	case lab.ResetBefore:
		l.noteRule(c, lab.Words(args), lab.NotExecuted)
		c.endAfterReply(resetEnd)
	case lab.Error:
		l.ex.Refuse(&c.sess, args, &c.Out, store.Error(r.Text))
	case lab.Hold, lab.DelayExec:
		l.park(c, args)
	default:
		return true
	}
	return false
}

func (c *client) faulty() *fault {
	if c.lab.fault == nil {
		c.lab.fault = &fault{}
	}
	return c.lab.fault
}

func (c *client) endAfterReply(how ending) {
	c.ending = how
	c.sess.CloseAfterReply = true
}

// ruleRequest is a request as rules see it, nil for one that they do not.
func (l *labState) ruleRequest(c *client, args [][]byte) *lab.Request {
	cmd := l.ex.Table.Lookup(args)
	if cmd != nil && cmd.Group == labGroup || c.sess.WouldQueue(cmd) {
		return nil
	}
	q := &lab.Request{Client: c.sess.ID, Name: c.sess.Name, Control: c.lab.control}
	if cmd == nil {
		q.Calls = []lab.Call{{Cmd: strings.ToLower(string(args[0]))}}
		return q
	}
	q.Calls = append(q.Calls, l.ruleCall(cmd, args))
	if cmd.Flags&command.RunsQueue != 0 {
		for cmd, args := range c.sess.Queued() {
			q.Calls = append(q.Calls, l.ruleCall(cmd, args))
		}
	}
	return q
}

func (l *labState) ruleCall(cmd *command.Command, args [][]byte) lab.Call {
	call := lab.Call{Cmd: cmd.Name, Keys: cmd.AppendSubjects(nil, args)}
	if l.plan.OnScripts() {
		call.SHA, call.Body = l.ex.Scripts.Source(cmd, args)
	}
	return call
}

// afterRequest is called when a request was executed, or was kept from it. Its reply, if it has one
// already, is in the client's output from mark on.
func (l *labState) afterRequest(c *client, mark int) {
	f := c.lab.fault
	switch {
	case c.sess.Hold == command.Postponed:
		c.faulty().decided = true // the request comes again, but rules look at it only once
	case c.sess.Hold == command.NotHeld && f != nil && f.rule != nil:
		c.Out.Buf = c.Out.Buf[:mark+l.applyFault(c, mark, len(c.Out.Buf)-mark)]
	}
}

// applyFault does to a reply what the rule says that has fired for its request. The reply has n
// bytes, and goes to the client's output at mark. applyFault returns how many of its bytes to keep.
func (l *labState) applyFault(c *client, mark, n int) int {
	r := c.lab.fault.rule
	c.lab.fault.rule = nil
	switch r.Action {
	case lab.DropReply:
		c.endAfterReply(finEnd)
	case lab.ResetAfter:
		c.endAfterReply(resetEnd)
	case lab.Cut:
		c.endAfterReply(finEnd)
		return min(int(r.Bytes), n)
	case lab.Silent:
		c.lab.fault.silent = true
		c.sess.Hold, c.sess.CloseAfterReply = command.Stopped, false
		c.sess.Replies = command.ReplyOff // for MONITOR
	case lab.DelayReply:
		l.delayReply(c, mark, time.Duration(r.Millis)*time.Millisecond)
		return n
	default:
		return n
	}
	return 0
}

// delayReply keeps back, for d, the output of c from mark on.
func (l *labState) delayReply(c *client, mark int, d time.Duration) {
	f, reply := c.lab.fault, &late{from: mark}
	f.late = append(f.late, reply)
	c.keepBack(0)
	if len(f.late) == 1 {
		c.Bar(mark)
	}
	reply.timer = l.after(d, func() {
		reply.due = true
		l.sendLate(c)
	})
}

// sendLate moves the barrier to the oldest reply that is not due yet.
func (l *labState) sendLate(c *client) {
	f := c.lab.fault
	for len(f.late) > 0 && f.late[0].due {
		f.late[0] = nil
		f.late = f.late[1:]
		c.sentLate(0)
	}
	if len(f.late) > 0 {
		c.Bar(f.late[0].from)
	} else {
		c.Unbar()
	}
	l.wantWrite(c)
}

// Resume is Server.resume with the fault of a rule that has fired for the command that was blocked.
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
	case c.lab.fault.silent: // it stays held
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

// ProcessEventsWhileBlocked is a pass inside a script. A crash that was asked for in this pass cuts
// the script off. LAB HOLD WAIT may time out though no timer runs.
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

// Left is called when a client is freed.
func (h host) Left(sess *command.Session) {
	l := h.s.lab
	c := l.clientOf(sess)
	if c == nil {
		return // a visit that has ended before
	}
	l.callOffRelay(c)
	if c.visit != nil {
		return
	}
	l.doctor.Disconnected(sess.ID, l.ks.Now)
	l.forgetFault(c)
	l.linger(c)
}

func (l *labState) callOffRelay(c *client) {
	if c.lab.relay != nil {
		c.lab.relay.callOff()
	}
}

func (l *labState) forgetFault(c *client) {
	f := c.lab.fault
	if f == nil {
		return
	}
	if f.parked && f.rule != nil { // else LAB RESET has forgotten it
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

// Outgoing decides on a message to a client: a rule may keep it back.
func (h host) Outgoing(to *command.Session, message []byte) bool {
	l := h.s.lab
	if to.Index < 0 {
		return true
	}
	if f := l.order[to.Index].lab.fault; f != nil && f.silent {
		return false
	}
	if !l.plan.OnPushes() {
		return true
	}
	q := &lab.Request{Client: to.ID, Name: to.Name, Calls: pushCalls(message)}
	r := l.plan.Push(q)
	if r == nil {
		return true
	}
	e := l.newEntry(to, r.Name)
	e.Key, e.Reply, e.Outcome, e.DB = l.logKey(q.Calls), lab.Reply(message), lab.PushSkipped, 0 // channels are in none
	if len(q.Calls) > 0 {
		e.Cmd = []string{q.Calls[0].Cmd}
	}
	if r.Action == lab.DelayPush {
		e.Outcome = lab.PushLate
		l.pushLater(l.clientOf(to), slices.Clone(message), time.Duration(r.Millis)*time.Millisecond)
	}
	l.history.Add(e)
	return false
}

// pushLater adds a message to c's output when d has passed. Meanwhile others may overtake it.
func (l *labState) pushLater(c *client, message []byte, d time.Duration) {
	f, push := c.faulty(), &late{}
	if f.pushes == nil {
		f.pushes = map[*late]struct{}{}
	}
	f.pushes[push] = struct{}{}
	c.keepBack(len(message))
	push.timer = l.after(d, func() {
		delete(f.pushes, push)
		c.sentLate(len(message))
		if !f.silent {
			l.push(c, message)
		}
	})
	if c.outputMem() > l.ex.OutputTrigger {
		l.overOutputLimit(c)
	}
}

// pushCalls is a message as rules see it. What a RESP2 client hears of invalid keys comes
// as a message of a channel, and is both.
func pushCalls(message []byte) []lab.Call {
	words := lab.PushWords(message)
	if len(words) < 2 {
		return nil
	}
	kind, keys := string(words[0]), words[1:]
	switch {
	case kind == "pmessage":
		keys = words[2:3]
	case kind != "invalidate" && len(words) > 2:
		keys = words[1:2]
	}
	calls := []lab.Call{{Cmd: kind, Keys: keys}}
	if kind == "message" && string(words[1]) == "__redis__:invalidate" {
		calls = append(calls, lab.Call{Cmd: "invalidate", Keys: words[2:]})
	}
	return calls
}

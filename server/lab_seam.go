package server

import (
	"slices"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/store"
	"golang.org/x/sys/unix"
)

// Where faults are put in.
//
//	executeAll ── labDo
//	    │ labBefore: a rule fires for the request, or none
//	    │    DROP-BEFORE RESET-BEFORE    the connection ends behind the replies before
//	    │    ERROR                       Executor.Refuse
//	    │    HOLD DELAY-EXEC             Session.Hold = Parked: the request is put back, and
//	    │                                comes again when the client is released
//	    │ Executor.Do                    ERROR-AFTER in Host.Answered
//	    │ labAfter: spoil                DROP-REPLY RESET-AFTER CUT SILENT DELAY-REPLY
//	    ▼
//	resume, of a command that blocked ── labResume: spoil
//
//	Executor.post, a message ─────────── Host.Outgoing: SKIP-PUSH DELAY-PUSH
//
// All of it concerns one connection. Nobody else ever waits: who is held is not read from,
// and what is late lies beside the connection's output.

// fault is what the lab does to one client.
type fault struct {
	rule    *lab.Rule // that has fired for the request under way, nil for none
	key     string    // of that request, as the log shows it
	words   []string  // of it, while it is parked
	decided bool      // the request at hand was looked at before it was put back
	end     ending
	timer   *reactor.Timer // of DELAY-EXEC

	late   []*late            // output that waits, the oldest first
	edge   int                // in the client's output: what is behind waits as well
	pushes map[*late]struct{} // messages that wait, each by itself
	kept   int                // bytes of all that waits, and of what it takes to keep it
}

// lateSize is about the bytes that output takes which waits, beside its own.
const lateSize = 256

// ending is how a connection is closed. Behind a fault it has to be seen which way it was.
type ending uint8

const (
	plainEnd ending = iota
	finEnd          // what the client has sent is read, so that the kernel does not make it a reset
	resetEnd
)

// late is output that a rule keeps back, and, for a reply, what came behind it.
type late struct {
	b     []byte
	due   bool
	timer *reactor.Timer
}

// waits tells whether output of c lies beside its connection.
func (c *client) waits() bool { return c.fault != nil && len(c.fault.late) > 0 }

// keep puts b behind the output that waits.
func (f *fault) keep(b []byte) {
	last := f.late[len(f.late)-1]
	last.b = append(last.b, b...)
	f.kept += len(b)
}

// keepFrom is keep for what is in out behind the edge, and returns the rest.
func (f *fault) keepFrom(out []byte) []byte {
	if f.edge < len(out) {
		f.keep(out[f.edge:])
		out = out[:f.edge]
	}
	return out
}

// mem is the bytes that wait.
func (f *fault) mem() int {
	if f == nil {
		return 0
	}
	return f.kept
}

// waiting is how many pieces they are in.
func (f *fault) waiting() int {
	if f == nil {
		return 0
	}
	return len(f.late) + len(f.pushes)
}

// labDo is Executor.Do with the faults that rules have for the request.
func (s *Server) labDo(c *client, args [][]byte) {
	if !s.lab.armed && c.fault == nil {
		s.ex.Do(&c.sess, args, &s.w)
		return
	}
	mark := len(s.w.Buf)
	if s.labBefore(c, args) {
		s.ex.Do(&c.sess, args, &s.w)
	}
	s.labAfter(c, mark)
}

// labBefore tells whether the request is to be executed now.
func (s *Server) labBefore(c *client, args [][]byte) bool {
	f := c.fault
	if f != nil {
		if f.decided {
			f.decided = false
			return true
		}
		f.rule = nil
	}
	if !s.lab.plan.OnRequests() {
		return true
	}
	q := s.labRequest(c, args)
	if q == nil {
		return true
	}
	r := s.lab.plan.Request(q)
	if r == nil {
		return true
	}
	f = c.faulty()
	f.rule, f.key = r, s.labKey(q.Calls)
	switch r.Action {
	case lab.DropBefore:
		s.labNote(c, lab.Words(args), lab.NotExecuted)
		c.endAfterReply(finEnd)
	case lab.ResetBefore:
		s.labNote(c, lab.Words(args), lab.NotExecuted)
		c.endAfterReply(resetEnd)
	case lab.Error:
		s.ex.Refuse(&c.sess, args, &s.w, store.Error(r.Text))
	case lab.Hold, lab.DelayExec:
		s.park(c, args)
	default:
		return true
	}
	return false
}

func (c *client) faulty() *fault {
	if c.fault == nil {
		c.fault = &fault{}
	}
	return c.fault
}

func (c *client) endAfterReply(how ending) {
	c.fault.end = how
	c.sess.CloseAfterReply = true
}

// labRequest is a request as rules see it, nil for one that they do not.
func (s *Server) labRequest(c *client, args [][]byte) *lab.Request {
	cmd := s.ex.Table.Lookup(args)
	if cmd != nil && cmd.Group == labGroup || c.sess.WouldQueue(cmd) {
		return nil
	}
	q := &lab.Request{Client: c.sess.ID, Name: c.sess.Name, Control: c.control}
	if cmd == nil {
		q.Calls = []lab.Call{{Cmd: strings.ToLower(string(args[0]))}}
		return q
	}
	q.Calls = append(q.Calls, s.ruleCall(cmd, args))
	if cmd.Name == "exec" {
		for cmd, args := range c.sess.Queued() {
			q.Calls = append(q.Calls, s.ruleCall(cmd, args))
		}
	}
	return q
}

func (s *Server) ruleCall(cmd *command.Command, args [][]byte) lab.Call {
	call := lab.Call{Cmd: cmd.Name, Keys: cmd.AppendSubjects(nil, args)}
	if s.lab.plan.OnScripts() {
		call.SHA, call.Body = s.ex.Script(cmd, args)
	}
	return call
}

// labAfter is called when a request was executed, or was not; the reply, if there is one
// already, is in the writer behind mark.
func (s *Server) labAfter(c *client, mark int) {
	switch c.sess.Hold {
	case command.Postponed:
		c.faulty().decided = true // it comes again: to be looked at once is enough
		return
	case command.Blocked, command.Parked:
		return
	}
	f := c.fault
	if f == nil {
		return
	}
	reply := s.w.Buf[mark:]
	if f.rule != nil {
		reply = s.spoil(c, reply)
	}
	if c.waits() {
		f.keep(reply)
		f.edge, reply = mark, nil
	}
	s.w.Buf = s.w.Buf[:mark+len(reply)]
	s.limitKept(c, len(s.w.Buf))
}

// limitKept closes c when it has too much output, with what is kept back of it: that is memory
// as well, and the time at which it goes out may never come.
func (s *Server) limitKept(c *client, unsent int) {
	if unsent+c.fault.mem() > s.ex.OutputTrigger {
		s.overOutputLimit(c, unsent)
	}
}

// spoil does to the reply what the rule says that has fired for the request, and returns
// what of it is sent now.
func (s *Server) spoil(c *client, reply []byte) []byte {
	r := c.fault.rule
	c.fault.rule = nil
	switch r.Action {
	case lab.DropReply:
		c.endAfterReply(finEnd)
	case lab.ResetAfter:
		c.endAfterReply(resetEnd)
	case lab.Cut:
		c.endAfterReply(finEnd)
		return reply[:min(int(r.Bytes), len(reply))]
	case lab.Silent:
		c.sess.Hold, c.sess.CloseAfterReply = command.Silenced, false
	case lab.DelayReply:
		l := &late{b: slices.Clone(reply)}
		c.fault.late = append(c.fault.late, l)
		c.fault.kept += len(reply) + lateSize
		l.timer = s.after(time.Duration(r.Millis)*time.Millisecond, func() {
			l.due = true
			s.sendLate(c)
		})
	default:
		return reply
	}
	return nil
}

// sendLate sends what is due, in the order in which it was kept back.
func (s *Server) sendLate(c *client) {
	f := c.fault
	for len(f.late) > 0 && f.late[0].due {
		b := f.late[0].b
		f.late[0] = nil
		f.late = f.late[1:]
		f.kept -= len(b) + lateSize
		if !c.closed {
			s.send(c, b)
		}
	}
}

// labResume is resume for a client whose command was blocked, and a rule has fired for it.
func (s *Server) labResume(c *client, reply []byte) {
	reply = s.spoil(c, reply)
	switch {
	case c.sess.Hold == command.Silenced:
		s.stopTimer(c)
	case c.sess.CloseAfterReply:
		c.sess.Hold = command.NotHeld
		s.held--
		s.stopTimer(c)
		if c.waits() {
			c.fault.keep(reply)
			s.limitKept(c, c.Unsent())
		} else {
			s.loop.Unwatch(c.FD, reactor.HangUp)
			s.send(c, reply)
		}
	default:
		s.push(c, reply)
		s.release(c)
	}
}

func (s *Server) stopTimer(c *client) {
	if c.timer != nil {
		s.cancel(c.timer)
		c.timer = nil
	}
}

// labGone is called when c is freed.
func (s *Server) labGone(c *client) {
	f := c.fault
	if f == nil {
		return
	}
	if c.sess.Hold == command.Parked && f.rule != nil { // else LAB RESET has forgotten it
		s.labNote(c, f.words, lab.NotExecuted)
		s.lab.parked = slices.DeleteFunc(s.lab.parked, func(p *client) bool { return p == c })
	}
	if f.timer != nil {
		s.cancel(f.timer)
	}
	for _, l := range f.late {
		s.cancel(l.timer)
	}
	for l := range f.pushes {
		s.cancel(l.timer)
	}
}

// hangUp closes a socket the way that a rule says, if one does. Bytes that nobody has read
// would turn the end into a reset.
func (e ending) hangUp(fd int) {
	switch e {
	case resetEnd:
		_ = unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
	case finEnd:
		var waste [4096]byte
		for range 1024 {
			if n, err := unix.Read(fd, waste[:]); n <= 0 || err != nil {
				break
			}
		}
	}
	_ = unix.Close(fd)
}

// Outgoing decides on a message to a client: a rule may keep it back.
func (h host) Outgoing(to *command.Session, message []byte) bool {
	s := h.s
	if !s.lab.plan.OnPushes() || to.Index < 0 {
		return true
	}
	q := &lab.Request{Client: to.ID, Name: to.Name, Calls: pushCalls(message)}
	r := s.lab.plan.Push(q)
	if r == nil {
		return true
	}
	e := s.labEntry(to, r.Name)
	e.Key, e.Reply, e.Outcome, e.DB = s.labKey(q.Calls), lab.Reply(message), lab.PushSkipped, 0 // channels are in none
	if len(q.Calls) > 0 {
		e.Cmd = []string{q.Calls[0].Cmd}
	}
	if r.Action == lab.DelayPush {
		e.Outcome = lab.PushLate
		s.pushLater(s.clientOf(to), slices.Clone(message), time.Duration(r.Millis)*time.Millisecond)
	}
	s.lab.history.Add(e)
	return false
}

func (s *Server) pushLater(c *client, message []byte, d time.Duration) {
	f, l := c.faulty(), &late{b: message}
	if f.pushes == nil {
		f.pushes = map[*late]struct{}{}
	}
	f.pushes[l] = struct{}{}
	f.kept += len(message) + lateSize
	l.timer = s.after(d, func() {
		delete(f.pushes, l)
		f.kept -= len(message) + lateSize
		s.push(c, message)
	})
	s.limitKept(c, c.Unsent())
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

package lab

import (
	"strings"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/server/repl"
	"github.com/miniredisd/miniredisd/store"
)

// The faults of requests:
//
//	doWithFaults
//	    │ beforeRequest: a rule fires for the request, or none does
//	    │    DROP-BEFORE RESET-BEFORE    the connection ends after the replies before
//	    │    ERROR                       Executor.Refuse
//	    │    HOLD DELAY-EXEC             Session.Hold = Stopped: the request is put back, and
//	    │                                comes again when the client is released
//	    │ Executor.Do                    ERROR-AFTER in Answered
//	    │ afterRequest: applyFault       DROP-REPLY RESET-AFTER CUT SILENT
//	    │                                DELAY-REPLY BANDWIDTH JITTER SLICE: slowDown (slow.go)
//	    ▼
//	resumeWithFault: applyFault          for the reply of a command that blocked

// doWithFaults is Executor.Do, with the fault of a rule that fires for the request.
func (l *State) doWithFaults(by *command.Session, args [][]byte, w *resp.Writer) {
	c := l.Clients.Order[by.Index]
	known := Of(c)
	known.came = 0
	if l.ruled || known.Fault != nil {
		mark := len(w.Buf)
		if l.beforeRequest(c, known, args) {
			l.Ex.Do(by, args, w)
		}
		l.afterRequest(c, known, mark)
	} else {
		l.Ex.Do(by, args, w)
	}
	if by.Hold == command.Blocked {
		known.came = monotonic()
	}
	if len(l.partitions) > 0 {
		l.setMuted(c) // the request may have changed its name
	}
}

// beforeRequest finds the rule that fires for a request. It reports whether to execute the request
// now.
func (l *State) beforeRequest(c *server.Client, known *labClient, args [][]byte) bool {
	f := known.Fault
	if f != nil {
		if f.Decided {
			f.Decided = false
			return true
		}
		f.Rule = nil
	}
	if !l.plan.OnRequests() || repl.ReplicaOf(c) != nil || repl.PeerOf(c) != nil {
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
	f = faulty(c)
	f.Rule, f.key = r, l.logKey(q.Calls)
	if r.Action.BeforeRun() {
		l.Shown.Struck(c.Sess.ID, r, trace.Command(args))
	}
	switch r.Action {
	case lab.DropBefore:
		l.noteRule(c, lab.Words(args), lab.NotExecuted)
		endAfterReply(c, server.FinEnd)
	case lab.ResetBefore:
		l.noteRule(c, lab.Words(args), lab.NotExecuted)
		endAfterReply(c, server.ResetEnd)
	case lab.Error:
		l.Ex.Refuse(&c.Sess, args, &c.Out, store.Error(r.Text))
	case lab.Hold, lab.DelayExec:
		l.park(c, args)
	default:
		return true
	}
	return false
}

// faulty returns the faults of c, and makes them if c had none yet.
func faulty(c *server.Client) *fault {
	if Of(c).Fault == nil {
		Of(c).Fault = &fault{}
	}
	return Of(c).Fault
}

// endAfterReply closes c once its output is written.
func endAfterReply(c *server.Client, how server.Ending) {
	c.Ending = how
	c.Sess.CloseAfterReply = true
}

// ruleRequest describes a request in the terms of rules. It returns nil for a request that no rule
// can match: LAB itself, and commands that MULTI queues.
func (l *State) ruleRequest(c *server.Client, args [][]byte) *lab.Request {
	cmd := l.Ex.Table.Lookup(args)
	if cmd != nil && cmd.Group == labGroup || c.Sess.WouldQueue(cmd) {
		return nil
	}
	q := &lab.Request{Client: c.Sess.ID, Name: c.Sess.Name, Control: Of(c).control}
	if cmd == nil {
		q.Calls = []lab.Call{{Cmd: strings.ToLower(string(args[0]))}}
		return q
	}
	q.Calls = append(q.Calls, l.ruleCall(cmd, args))
	if cmd.Flags&command.RunsQueue != 0 {
		for cmd, args := range c.Sess.Queued() {
			q.Calls = append(q.Calls, l.ruleCall(cmd, args))
		}
	}
	return q
}

func (l *State) ruleCall(cmd *command.Command, args [][]byte) lab.Call {
	call := lab.Call{Cmd: cmd.Name, Keys: cmd.AppendSubjects(nil, args)}
	if l.plan.OnScripts() {
		call.SHA, call.Body = l.Ex.Scripts.Source(cmd, args)
		call.Unknown = call.SHA != "" && call.Body == ""
	}
	if l.plan.OnOrder() {
		call.Args = args
	}
	return call
}

// afterRequest applies the fault to the reply of a request. The reply is in the client's output from
// mark on. A request that has to wait has no reply yet.
func (l *State) afterRequest(c *server.Client, known *labClient, mark int) {
	f := known.Fault
	switch {
	case c.Sess.Hold == command.Postponed:
		faulty(c).Decided = true // the request comes again, but rules look at it only once
	case c.Sess.Hold == command.NotHeld && f != nil && f.Rule != nil:
		c.Out.Buf = c.Out.Buf[:mark+l.applyFault(c, mark, c.Out.Buf[mark:])]
	}
}

// applyFault applies the action of the rule that fired to the reply. The reply is, or
// will be, at mark in the client's output. applyFault returns how many of its bytes to keep.
func (l *State) applyFault(c *server.Client, mark int, reply []byte) int {
	r := Of(c).Fault.Rule
	Of(c).Fault.Rule = nil
	kept := l.strike(c, r, reply)
	if r.Pace != (lab.Pace{}) && kept > 0 {
		l.slowDown(c, mark, mark+kept, r.Pace)
	}
	return kept
}

// strike is applyFault without what slows the reply down.
func (l *State) strike(c *server.Client, r *lab.Rule, reply []byte) int {
	if !r.Action.BeforeRun() && r.Action != lab.ErrorAfter { // those have struck before
		l.Shown.Struck(c.Sess.ID, r, trace.Shown(reply))
	}
	switch r.Action {
	case lab.DropReply:
		endAfterReply(c, server.FinEnd)
	case lab.ResetAfter:
		endAfterReply(c, server.ResetEnd)
	case lab.Cut:
		endAfterReply(c, server.FinEnd)
		return min(int(r.Bytes), len(reply))
	case lab.Silent:
		Of(c).Fault.silent = true
		c.Sess.Hold, c.Sess.CloseAfterReply = command.Stopped, false
		c.Sess.Replies = command.ReplyOff // for MONITOR
	default:
		return len(reply)
	}
	return 0
}

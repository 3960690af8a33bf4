package command

import (
	"strings"

	"github.com/miniredisd/miniredisd/internal/trace"
)

// What the executor shows of itself while a pass records details. A command that runs other commands encloses
// them: EXEC stands between its own Executes and Replied, and the commands of its queue between the two.
//
//	Do, run      request, call     Executes    a command runs, is queued, or is refused
//	run          result            Replied     a command of EXEC or of a script is done
//	finish       reply             Replied     a request has its reply, or has to wait
//	post         message           Messaged    a message goes to a client

// Show is what the server tells the executor for its events, and learns from them.
type Show struct {
	ex    *Executor
	Hides func(cmd *Command, args [][]byte) bool // a request over no connection that is not shown

	Settle  func() // is called before a reply is shown
	Taken   int64  // requests since the server started
	Inside  int64  // commands of EXEC and of scripts
	Waited  int64  // commands that ran after a wait
	Request        // under way
}

// Request is what an event needs to know of a request that is under way.
type Request struct {
	Again bool  // it was held back before
	Began int64 // monotonic ns
	Refs  int   // bytes in the Refs of its writer before
}

// hides reports whether a request is not shown. A page that asks the lab for news every second would fill the
// picture with its own requests.
func (sh *Show) hides(s *Session, cmd *Command, args [][]byte) bool {
	return s.ID < 0 && cmd != nil && sh.Hides(cmd, args)
}

// request shows a request that does not run. by is one of trace.ToQueue and trace.Refused.
func (sh *Show) request(by int64, s *Session, cmd *Command, args [][]byte) {
	ex := sh.ex
	if !ex.Trace.Detailed() || sh.hides(s, cmd, args) {
		return
	}
	if ex.retrying == nil {
		sh.Taken++
	}
	ex.Trace.Event(trace.Event{
		Point: trace.Executes, Client: s.ID, A: s.Commands, B: by, Text: trace.Command(args), Args: args,
		Name: nameOf(cmd, args),
	}, nil)
}

// nameOf is the name of a command for breakpoints: as the client wrote it if it is unknown.
func nameOf(cmd *Command, args [][]byte) string {
	if cmd == nil {
		return strings.ToLower(string(args[0]))
	}
	return cmd.Name
}

// call shows a command that is about to run. within says that EXEC or a script runs it.
func (sh *Show) call(c *Call, within bool) {
	ex := sh.ex
	if sh.hides(c.Sess, c.Cmd, c.Args) {
		return
	}
	by := int64(trace.ByClient)
	switch {
	case within && ex.Scripts.run.on:
		by = trace.ByScript
	case within:
		by = trace.ByExec
	case ex.retrying != nil || sh.Again:
		by = trace.AfterWait
	case c.Sess.Master:
		by = trace.ByMaster
	case c.Sess.ID == 0:
		by = trace.ByFile
	case c.Sess.ID < 0:
		by = trace.Internally
	}
	switch by {
	case trace.ByClient, trace.Internally, trace.ByMaster:
		sh.Taken++
	case trace.AfterWait:
		sh.Waited++
	case trace.ByExec, trace.ByScript:
		sh.Inside++
	}
	ex.Trace.Event(trace.Event{
		Point: trace.Executes, Client: c.Sess.ID, A: c.Sess.Commands, B: by,
		Text: trace.Command(c.Args), Args: c.Args, Name: c.Cmd.Name,
	}, nil)
	if !within && ex.retrying == nil {
		sh.Began = ex.Clock.Mono() // the event takes time, too
	}
}

// result shows what EXEC or a script gets from a command.
func (sh *Show) result(c *Call, reply []byte) {
	ex := sh.ex
	sh.Settle()
	ex.Trace.Event(trace.Event{
		Point: trace.Replied, Client: c.Sess.ID, A: int64(len(reply)), B: trace.ReplyKind(reply),
		Text: trace.Shown(reply), Args: c.Args, Name: c.Cmd.Name,
	}, nil)
}

// reply shows the reply to a request, or that there is none yet.
func (sh *Show) reply(r *reply) {
	ex := sh.ex
	if !ex.Trace.Detailed() || sh.hides(r.to, r.cmd, r.args) {
		return
	}
	sh.Settle()
	reply := r.w.Buf[min(r.mark, len(r.w.Buf)):]
	e := trace.Event{
		Point: trace.Replied, Client: r.to.ID, A: int64(len(reply)), B: trace.ReplyKind(reply),
		Text: trace.Shown(reply), Args: r.args, Name: nameOf(r.cmd, r.args),
	}
	if !r.unblocked {
		e.A += int64(max(r.w.RefLen-sh.Refs, 0))
		e.Dur = ex.Clock.Mono() - sh.Began
	}
	switch {
	case r.to.Master:
		e.A, e.B = 0, trace.ReplyToMaster
	case r.to.Hold == Blocked:
		e.B = trace.ReplyBlocked
	case r.over:
		e.B = trace.ReplyUnblocked
	}
	ex.Trace.Event(e, nil)
}

// postponed shows a request that CLIENT PAUSE holds back.
func (sh *Show) postponed(s *Session, args [][]byte) {
	ex := sh.ex
	if !ex.Trace.Detailed() {
		return
	}
	ex.Trace.Event(trace.Event{
		Point: trace.Replied, Client: s.ID, B: trace.ReplyHeld, Text: trace.Command(args), Args: args,
		Name: nameOf(s.Last, args),
	}, nil)
}

// message shows bytes for a client that are no reply.
func (sh *Show) message(where int64, to *Session, message []byte) {
	ex := sh.ex
	if !ex.Trace.Detailed() {
		return
	}
	ex.Trace.Event(trace.Event{
		Point: trace.Messaged, Client: to.ID, A: int64(len(message)), B: where, Text: trace.Shown(message),
	}, nil)
}

package command

import "github.com/miniredisd/miniredisd/glass"

// What the executor shows of commands that no request asks for at once: those of EXEC and scripts, and
// those of clients that were blocked. The server shows the requests themselves.

func (ex *Executor) showCall(c *Call) {
	by := glass.ByExec
	switch {
	case ex.Scripts.run.on:
		by = glass.ByScript
	case ex.Depth == 0:
		by = glass.AfterWait
	}
	ex.Trace.Event(glass.Event{
		Point: glass.Executes, Client: c.Sess.ID, A: c.Sess.Commands, B: int64(by),
		Text: glass.Command(c.Args), Args: c.Args, Name: c.Cmd.Name,
	}, nil)
}

func (ex *Executor) showReply(c *Call, reply []byte) {
	e := glass.Event{
		Point: glass.Replied, Client: c.Sess.ID, A: int64(len(reply)), B: glass.ReplyKind(reply),
		Text: glass.Shown(reply), Args: c.Args, Name: c.Cmd.Name,
	}
	if c.Sess.Hold == Blocked {
		e.B = glass.ReplyBlocked
	}
	ex.Trace.Event(e, nil)
}

package command

import "github.com/miniredisd/miniredisd/watch"

// What the executor shows of commands that no request asks for at once: those of EXEC and scripts, and
// those of clients that were blocked. The server shows the requests themselves.

func (ex *Executor) showCall(c *Call) {
	by := watch.ByExec
	switch {
	case ex.Scripts.run.on:
		by = watch.ByScript
	case ex.Depth == 0:
		by = watch.AfterWait
	}
	ex.Trace.Event(watch.Event{
		Point: watch.Executes, Client: c.Sess.ID, A: c.Sess.Commands, B: int64(by),
		Text: watch.Command(c.Args), Args: c.Args, Name: c.Cmd.Name,
	}, nil)
}

func (ex *Executor) showReply(c *Call, reply []byte) {
	e := watch.Event{
		Point: watch.Replied, Client: c.Sess.ID, A: int64(len(reply)), B: watch.ReplyKind(reply),
		Text: watch.Shown(reply), Args: c.Args, Name: c.Cmd.Name,
	}
	if c.Sess.Hold == Blocked {
		e.B = watch.ReplyBlocked
	}
	ex.Trace.Event(e, nil)
}

package command

import "github.com/miniredisd/miniredisd/resp"

// sizeLogs are the two logs that Valkey keeps beside the slow log: of large requests and of large replies
// (commandlog.c). Redis has neither.
type sizeLogs struct {
	on                bool // the server has them, and at least one is not off
	requests, replies Slowlog

	exec int // where the reply of the running EXEC begins
}

// configure follows the directives. has tells whether the server has the logs.
func (l *sizeLogs) configure(ex *Executor, has bool) {
	cfg := ex.Cfg
	l.on = has && (cfg.CommandlogRequestLargerThan >= 0 || cfg.CommandlogReplyLargerThan >= 0)
	l.requests.keeps, l.replies.keeps = true, true
	l.requests.configure(cfg.CommandlogRequestLargerThan, cfg.CommandlogLargeRequestMaxLen)
	l.replies.configure(cfg.CommandlogReplyLargerThan, cfg.CommandlogLargeReplyMaxLen)
}

// noteSizes notes a large request or reply (commandlog.c: commandlogPushCurrentCommand). The reply begins at mark.
//
// Valkey counts a command of a transaction with the size of EXEC and with all replies since EXEC, and a command of
// a script without a request.
func (ex *Executor) noteSizes(cmd *Command, s *Session, args [][]byte, w *resp.Writer, mark int) {
	if cmd.Flags&SkipSlowlog != 0 {
		return
	}
	l, cfg := &ex.sizes, ex.Cfg
	run := &ex.Scripts.run
	received := args
	switch {
	case run.on:
		received = nil
	case ex.Depth > 0 && !run.busy:
		received, mark = ex.calls[0].Args, l.exec
	}
	if limit := cfg.CommandlogRequestLargerThan; limit >= 0 {
		if n := int64(resp.RequestLen(received)); n >= limit {
			l.requests.add(ex.slowEntry(cmd, s, args, n), cfg.CommandlogLargeRequestMaxLen)
		}
	}
	if limit := cfg.CommandlogReplyLargerThan; limit >= 0 {
		n := int64(w.LenFrom(mark))
		if s.Replies != ReplyOn {
			n = 0
		}
		if n >= limit {
			l.replies.add(ex.slowEntry(cmd, s, args, n), cfg.CommandlogLargeReplyMaxLen)
		}
	}
}

package command

import "github.com/miniredisd/miniredisd/resp"

// logs are the slow log, and the two logs that Valkey keeps beside it: of large requests and of large replies
// (commandlog.c). Redis has only the first.
type logs struct {
	ex    *Executor
	sized bool // the server has the other two, and at least one is not off

	slow, requests, replies Slowlog

	exec int // where the reply of the running EXEC begins
}

// configure follows the directives.
func (l *logs) configure() {
	cfg, t := l.ex.Cfg, l.ex.Table
	l.slow.keeps = t.Manners.keepsLog
	l.slow.configure(cfg.SlowlogSlowerThan, cfg.SlowlogMaxLen)
	l.sized = t.byName["commandlog"] != nil && (cfg.CommandlogRequestLargerThan >= 0 || cfg.CommandlogReplyLargerThan >= 0)
	l.requests.keeps, l.replies.keeps = true, true
	l.requests.configure(cfg.CommandlogRequestLargerThan, cfg.CommandlogLargeRequestMaxLen)
	l.replies.configure(cfg.CommandlogReplyLargerThan, cfg.CommandlogLargeReplyMaxLen)
}

// noteSlow notes a slow command in SLOWLOG and LATENCY (slowlog.c: slowlogPushEntryIfNeeded;
// latency.h: latencyAddSampleIfNeeded).
func (l *logs) noteSlow(cmd *Command, s *Session, args [][]byte, took int64) {
	cfg := l.ex.Cfg
	if limit := cfg.SlowlogSlowerThan; limit >= 0 && took/1e3 >= limit && cmd.Flags&SkipSlowlog == 0 {
		l.slow.add(l.entry(cmd, s, args, took/1e3), cfg.SlowlogMaxLen)
	}
	event := "command"
	if cmd.Flags&Fast != 0 {
		event = "fast-command"
	}
	l.ex.Latency.Note(event, took)
}

// noteSizes notes a large request or reply (commandlog.c: commandlogPushCurrentCommand). The reply begins at mark.
//
// Valkey counts a command of a transaction with the size of EXEC and with all replies since EXEC, and a command of
// a script without a request.
func (l *logs) noteSizes(cmd *Command, s *Session, args [][]byte, w *resp.Writer, mark int) {
	if cmd.Flags&SkipSlowlog != 0 {
		return
	}
	ex, cfg := l.ex, l.ex.Cfg
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
			l.requests.add(l.entry(cmd, s, args, n), cfg.CommandlogLargeRequestMaxLen)
		}
	}
	if limit := cfg.CommandlogReplyLargerThan; limit >= 0 {
		n := int64(w.LenFrom(mark))
		if s.Replies != ReplyOn {
			n = 0
		}
		if n >= limit {
			l.replies.add(l.entry(cmd, s, args, n), cfg.CommandlogLargeReplyMaxLen)
		}
	}
}

// entry makes an entry. A command of a script comes from a client without an address. Valkey names the client of
// the script.
func (l *logs) entry(cmd *Command, s *Session, args [][]byte, value int64) slowEntry {
	ex := l.ex
	e := slowEntry{unix: ex.KS.Now / 1000, value: value, args: slowlogCopy(redact(cmd, args)), addr: s.Addr, name: s.Name}
	if ex.Scripts.run.on && !ex.Table.Manners.logsCaller {
		e.addr, e.name = "", ""
	}
	return e
}

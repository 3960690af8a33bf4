package server

import (
	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
	"golang.org/x/sys/unix"
)

// What the lab sees of commands, for its log and for the doctor. It does not look at LAB itself, nor at
// requests without a connection.

// Answered shows the doctor and the log a request that has its reply.
func (h host) Answered(
	sess *command.Session, cmd *command.Command, args [][]byte, w *resp.Writer, mark int, ran bool,
) {
	l := h.s.lab
	if !l.armed && cmd != nil && !l.doctor.Concerns(cmd.Name, sess.DB, args, "") {
		return // the usual case while no test uses the lab
	}
	if sess.Index < 0 || cmd != nil && cmd.Group == labGroup {
		return
	}
	if ran {
		l.doctorSees(sess, cmd, args, w.Buf[mark:], "")
	}
	c := l.order[sess.Index]
	switch {
	case c.lab.fault != nil && c.lab.fault.rule != nil:
		l.logFired(c, args, w, mark, ran)
	case l.armed && cmd != nil && (ran || !sess.WouldQueue(cmd)):
		l.logWatched(sess, cmd, args, w.Buf[mark:], "", ran)
	}
}

// logFired logs a request that a rule fired for. ERROR-AFTER replaces its reply.
func (l *labState) logFired(c *client, args [][]byte, w *resp.Writer, mark int, ran bool) {
	r, reply := c.lab.fault.rule, w.Buf[mark:]
	e := l.newEntry(&c.sess, r.Name)
	e.Cmd, e.Key, e.Outcome, e.Reply = lab.Words(args), c.lab.fault.key, outcome(r, reply, ran), lab.Reply(reply)
	l.history.Add(e)
	if r.Action == lab.ErrorAfter {
		w.Buf = w.Buf[:mark]
		w.Error(r.Text)
	}
}

// Called shows them a command that EXEC or a script has run.
func (h host) Called(sess *command.Session, cmd *command.Command, args [][]byte, reply []byte, by string) {
	l := h.s.lab
	if sess.Index < 0 || cmd.Group == labGroup {
		return
	}
	l.doctorSees(sess, cmd, args, reply, by)
	if l.armed {
		l.logWatched(sess, cmd, args, reply, by, true)
	}
}

// logWatched logs a command on a watched key that no rule fired for.
func (l *labState) logWatched(
	sess *command.Session, cmd *command.Command, args [][]byte, reply []byte, by string, ran bool,
) {
	if len(l.history.Globs()) == 0 {
		return
	}
	key := l.history.Watched(cmd.AppendSubjects(nil, args))
	if key == nil && cmd.Flags&command.AllKeys == 0 {
		return
	}
	e := l.newEntry(sess, lab.EventCommand)
	e.Cmd, e.Key, e.By = lab.Words(args), printable(key), by
	e.Outcome, e.Reply = outcome(nil, reply, ran), lab.Reply(reply)
	l.history.Add(e)
}

// Expired shows them a key whose time has come.
func (h host) Expired(db *store.DB, key string) {
	l := h.s.lab
	l.doctorExpired(db, key)
	if l.trace.Detailed() {
		l.watching.noteExpired(key)
	}
	if l.history.Watched([][]byte{[]byte(key)}) != nil {
		e := l.newEntry(nil, lab.EventExpired)
		e.Key, e.DB, e.Outcome = lab.Printable(key), db.ID, lab.Executed
		l.history.Add(e)
	}
}

// outcome says what the client sees of a request. r is the rule that changes the reply, nil for none.
func outcome(r *lab.Rule, reply []byte, ran bool) lab.Outcome {
	if !ran {
		return lab.NotExecuted
	}
	if r != nil {
		switch r.Action {
		case lab.DropReply, lab.ResetAfter, lab.Silent, lab.ErrorAfter:
			return lab.ReplyLost
		case lab.DelayReply:
			return lab.ReplyLate
		case lab.Cut:
			return lab.ReplyCut
		}
	}
	if len(reply) > 0 && reply[0] == '-' {
		return lab.Failed
	}
	return lab.Executed
}

// newEntry makes an entry with the time and the client.
func (l *labState) newEntry(by *command.Session, event string) lab.Entry {
	e := lab.Entry{Time: l.ex.Now.Wall / 1e6, Mono: monotonic(), Event: event}
	if by != nil {
		e.Client, e.Name, e.DB = by.ID, lab.Printable(by.Name), by.DB
	}
	return e
}

// noteRule logs that a rule fired for a request of c that has not run.
func (l *labState) noteRule(c *client, words []string, outcome lab.Outcome) {
	e := l.newEntry(&c.sess, c.lab.fault.rule.Name)
	e.Cmd, e.Key, e.Outcome = words, c.lab.fault.key, outcome
	l.history.Add(e)
}

// logKey returns the key that the log shows for a request: the first watched key, or the first key.
func (l *labState) logKey(calls []lab.Call) string {
	var first []byte
	for _, call := range calls {
		if key := l.history.Watched(call.Keys); key != nil {
			return printable(key)
		}
		if first == nil && len(call.Keys) > 0 {
			first = call.Keys[0]
		}
	}
	return printable(first)
}

// monotonic is real time in us, the same for all processes of this machine.
func monotonic() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // never fails
	return t.Nano() / 1000
}

package server

import (
	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
	"golang.org/x/sys/unix"
)

// What the lab sees of the commands that run, for its log and for the doctor. Those of the
// lab itself, and of who came in by no connection, are not its business.

// Answered shows the doctor and the log a request that has its reply.
func (h host) Answered(
	sess *command.Session, cmd *command.Command, args [][]byte, w *resp.Writer, mark int, ran bool,
) {
	s := h.s
	if !s.lab.armed && cmd != nil && !s.lab.doctor.Concerns(cmd.Name, sess.DB, args, "") {
		return // most there is, as long as the lab is not used
	}
	if sess.Index < 0 || cmd != nil && cmd.Group == labGroup {
		return
	}
	if ran {
		s.doctorSees(sess, cmd, args, w.Buf[mark:], "")
	}
	c := s.order[sess.Index]
	switch {
	case c.lab.fault != nil && c.lab.fault.rule != nil:
		s.labFired(c, args, w, mark, ran)
	case s.lab.armed && cmd != nil && (ran || !sess.WouldQueue(cmd)):
		s.labWatched(sess, cmd, args, w.Buf[mark:], "", ran)
	}
}

// labFired logs a request that a rule has fired for, and exchanges its reply if the rule
// says so.
func (s *Server) labFired(c *client, args [][]byte, w *resp.Writer, mark int, ran bool) {
	r, reply := c.lab.fault.rule, w.Buf[mark:]
	e := s.labEntry(&c.sess, r.Name)
	e.Cmd, e.Key, e.Outcome, e.Reply = lab.Words(args), c.lab.fault.key, outcome(r, reply, ran), lab.Reply(reply)
	s.lab.history.Add(e)
	if r.Action == lab.ErrorAfter {
		w.Buf = w.Buf[:mark]
		w.Error(r.Text)
	}
}

// Called shows them a command that EXEC or a script has run.
func (h host) Called(sess *command.Session, cmd *command.Command, args [][]byte, reply []byte, by string) {
	s := h.s
	if sess.Index < 0 || cmd.Group == labGroup {
		return
	}
	s.doctorSees(sess, cmd, args, reply, by)
	if s.lab.armed {
		s.labWatched(sess, cmd, args, reply, by, true)
	}
}

// labWatched logs a command that no rule has fired for, if it is about a watched key.
func (s *Server) labWatched(sess *command.Session, cmd *command.Command, args [][]byte, reply []byte, by string, ran bool) {
	if len(s.lab.history.Globs()) == 0 {
		return
	}
	key := s.lab.history.Watched(cmd.AppendSubjects(nil, args))
	if key == nil && !touchesAllKeys(cmd) {
		return
	}
	e := s.labEntry(sess, lab.EventCommand)
	e.Cmd, e.Key, e.By, e.Outcome, e.Reply = lab.Words(args), lab.Printable(string(key)), by, outcome(nil, reply, ran), lab.Reply(reply)
	s.lab.history.Add(e)
}

// touchesAllKeys tells the commands that change watched keys without naming them.
func touchesAllKeys(cmd *command.Command) bool {
	switch cmd.Name {
	case "flushall", "flushdb", "swapdb":
		return true
	}
	return false
}

// Expired shows them a key whose time has come.
func (h host) Expired(db *store.DB, key string) {
	s := h.s
	s.doctorExpired(db, key)
	if s.lab.history.Watched([][]byte{[]byte(key)}) != nil {
		e := s.labEntry(nil, lab.EventExpired)
		e.Key, e.DB, e.Outcome = lab.Printable(key), db.ID, lab.Executed
		s.lab.history.Add(e)
	}
}

// outcome is what the client sees of a request, with what r, if it is not nil, does to the
// answer.
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

// labEntry begins an entry.
func (s *Server) labEntry(by *command.Session, event string) lab.Entry {
	e := lab.Entry{Time: s.ex.WallMicros() / 1000, Mono: monotonic(), Event: event}
	if by != nil {
		e.Client, e.Name, e.DB = by.ID, lab.Printable(by.Name), by.DB
	}
	return e
}

// labNote adds an entry for the rule that has fired for the request of c, which has not run.
func (s *Server) labNote(c *client, words []string, outcome lab.Outcome) {
	e := s.labEntry(&c.sess, c.lab.fault.rule.Name)
	e.Cmd, e.Key, e.Outcome = words, c.lab.fault.key, outcome
	s.lab.history.Add(e)
}

// labKey is the key of a request for the log: the first that is watched, or just the first.
func (s *Server) labKey(calls []lab.Call) string {
	var first []byte
	for _, call := range calls {
		if key := s.lab.history.Watched(call.Keys); key != nil {
			return lab.Printable(string(key))
		}
		if first == nil && len(call.Keys) > 0 {
			first = call.Keys[0]
		}
	}
	return lab.Printable(string(first))
}

// monotonic is a real time in us that the servers of all processes agree on.
func monotonic() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // never fails
	return t.Nano() / 1000
}

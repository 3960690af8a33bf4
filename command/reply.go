package command

import (
	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/resp"
)

// reply is the reply to one request on its way to the client.
type reply struct {
	to        *Session
	cmd       *Command // nil for an unknown command
	args      [][]byte
	w         *resp.Writer
	mark      int  // the reply begins here in w
	ran       bool // the command ran: it was neither refused nor queued
	unblocked bool // the command had blocked: w is not the client's output, and Host.Resume takes the bytes
	over      bool // the wait has ended, and the command did not run again
}

// unblockedReply begins the reply to a command that had blocked.
func (ex *Executor) unblockedReply(s *Session) reply {
	w := &ex.unblocked
	w.Buf, w.Proto = w.Buf[:0], s.Proto
	return reply{to: s, cmd: s.Wait.cmd, args: s.Wait.args, w: w, ran: true, unblocked: true}
}

// isPlain reports whether finish and sendPending have nothing to do for a reply to s. Most replies are plain.
// Asking first saves 5 of the 85 ns of a GET.
func (ex *Executor) isPlain(s *Session) bool {
	return ex.Observer == nil && s.Replies == ReplyOn && s.Tracker == nil && len(ex.messages.behind) == 0
}

// finish is the end of every reply: of a command that has run or was refused, at once or after a
// wait. A command that has just blocked has no reply yet.
func (ex *Executor) finish(r *reply) {
	s := r.to
	if s.Hold != NotHeld {
		if r.unblocked {
			ex.Host.Waits(s)
		}
		if ex.Observer != nil && s.Hold == Blocked {
			ex.Observer.Blocked(s, r.cmd, r.args)
		}
		ex.Show.reply(r)
		return
	}
	if ex.Observer != nil {
		ex.Observer.Answered(s, r.cmd, r.args, r.w, r.mark, r.ran)
	}
	if s.Replies != ReplyOn {
		suppress(s, r.w, r.mark, r.cmd)
	}
	ex.Show.reply(r)
	if s.Tracker != nil {
		s.endAnnounced(r.cmd)
	}
	if r.unblocked {
		ex.Host.Resume(s, r.w.Buf)
		if cap(r.w.Buf) > keepMessage {
			*r.w = resp.Writer{}
		}
	}
}

// sendPending ends the turn of a client. It sends the messages that have waited for the end of the
// client's command.
func (ex *Executor) sendPending(r *reply) {
	ex.running, ex.executing = nil, false
	if r.to.Tracker != nil {
		ex.Tracking.tellPending(r.to)
	}
	if m := &ex.messages; len(m.behind) > 0 {
		if r.unblocked {
			ex.Host.Deliver(r.to, m.behind)
		} else {
			r.w.Buf = append(r.w.Buf, m.behind...)
		}
		m.sent()
	}
}

// Refuse answers a request of s with err instead of running it. Like any refusal it aborts the
// transaction that the request belongs to.
func (ex *Executor) Refuse(s *Session, args [][]byte, w *resp.Writer, err error) {
	s.Commands++
	r := reply{to: s, cmd: ex.Table.Lookup(args), args: args, w: w, mark: len(w.Buf)}
	ex.Show.request(trace.Refused, s, r.cmd, args)
	_ = ex.refuse(s, r.cmd, args, err) // would word the error of an EXEC differently
	ex.fail(w, r.mark, err)
	ex.finish(&r)
}

// refuse notes that a request was refused, and returns the error to answer. A transaction that the
// request belongs to is aborted. An EXEC ends its own transaction (server.c: rejectCommand).
func (ex *Executor) refuse(s *Session, cmd *Command, args [][]byte, err error) error {
	if cmd != nil {
		ex.Table.Calls(cmd).Rejected++
	}
	if cmd != nil && cmd.Flags&RunsQueue != 0 {
		ex.EndTransaction(s)
		if _, away := err.(Redirect); away {
			return err
		}
		if ex.Monitored { // monitors must see the end of the transaction
			ex.Host.FeedMonitors(s, args)
		}
		return execAborted(err)
	}
	if s.InMulti() && err != errNoOrder { // the rest of a master's transaction is as good as without it
		s.Tx.aborted = true
	}
	return err
}

// fail removes what the command has appended and writes the error instead.
func (ex *Executor) fail(w *resp.Writer, mark int, err error) {
	w.Truncate(mark)
	text := err.Error()
	w.Error(text)
	ex.Stats.countError(text)
}

// suppress removes the reply of a client that wants none (CLIENT REPLY).
func suppress(s *Session, w *resp.Writer, mark int, cmd *Command) {
	if cmd == nil || cmd.Flags&AnswersByPush == 0 {
		w.Truncate(mark)
	}
	switch s.Replies {
	case ReplySkipNext:
		s.Replies = ReplySkip
	case ReplySkip:
		s.Replies = ReplyOn
	}
}

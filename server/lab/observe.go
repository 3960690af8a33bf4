package lab

import (
	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/store"
)

// What the log of the lab and the doctor see of commands. They see neither LAB itself nor requests
// without a connection.

// Answered shows the doctor and the log a request that has its reply.
func (l *State) Answered(
	sess *command.Session, cmd *command.Command, args [][]byte, w *resp.Writer, mark int, ran bool,
) {
	if sess.Master { // the log of the master has it
		l.logHidden(sess, cmd, args, nil)
		return
	}
	concerns := cmd != nil && l.doctor.Concerns(cmd.Name, sess.DB, args, "")
	if !l.armed && cmd != nil && !concerns {
		return // the usual case while no test uses the lab
	}
	reply := w.Buf[mark:]
	if sess.Index < 0 || cmd != nil && cmd.Group == labGroup {
		l.logHidden(sess, cmd, args, reply)
		return
	}
	refused := !ran && len(reply) > 0 && reply[0] == '-'
	var rule *lab.Rule
	if l.ruled {
		rule = l.ruleOf(sess)
	}
	if concerns && (ran || refused) {
		l.doctorSees(sess, cmd, args, reply, "", ran, lab.OutcomeOf(rule, reply, ran).Unknown())
	}
	switch {
	case rule != nil:
		l.logFired(l.Clients.Order[sess.Index], cmd, args, w, mark, ran)
	case l.armed && cmd != nil && (ran || refused || !sess.WouldQueue(cmd)):
		l.logWatched(sess, cmd, args, reply, "", ran)
	}
}

// logFired logs a request that a rule fired for. ERROR-AFTER replaces its reply.
func (l *State) logFired(c *server.Client, cmd *command.Command, args [][]byte, w *resp.Writer, mark int, ran bool) {
	r, reply := Of(c).Fault.Rule, w.Buf[mark:]
	e := l.newEntry(&c.Sess, r.Name)
	e.Key, e.Outcome = Of(c).Fault.key, lab.OutcomeOf(r, reply, ran)
	l.describe(&e, cmd, args, reply)
	e.Changes = l.changed(lab.ByCommand)
	l.history.Add(e)
	if r.Action == lab.ErrorAfter {
		l.Shown.Struck(c.Sess.ID, r, trace.Shown(reply))
		w.Buf = w.Buf[:mark]
		w.Error(r.Text)
	}
}

// Called shows the doctor and the log a command that EXEC or a script has run.
func (l *State) Called(sess *command.Session, cmd *command.Command, args [][]byte, reply []byte, by string) {
	if sess.Index < 0 || cmd.Group == labGroup || sess.Master {
		l.logHidden(sess, cmd, args, reply)
		return
	}
	l.doctorSees(sess, cmd, args, reply, by, true, false)
	if l.armed {
		l.logWatched(sess, cmd, args, reply, by, true)
	}
}

// logWatched logs a command on a watched key that no rule fired for.
func (l *State) logWatched(
	sess *command.Session, cmd *command.Command, args [][]byte, reply []byte, by string, ran bool,
) {
	waits := by == "" && l.waits(cmd)
	if len(l.history.Globs()) == 0 || cmd.Flags&command.AllKeys == 0 && !waits && len(l.touches.all) == 0 &&
		!l.history.MayWatch(args[1:]) {
		return
	}
	var few [8][]byte
	key := l.history.Watched(cmd.AppendSubjects(few[:0], args))
	waits = waits && Of(l.Clients.Order[sess.Index]).logged >= sess.Commands-1
	changes := l.changed(lab.ByCommand)
	if key == nil && cmd.Flags&command.AllKeys == 0 && !waits && len(changes) == 0 {
		return
	}
	e := l.newEntry(sess, lab.EventCommand)
	e.Key, e.By, e.Outcome, e.Changes = printable(key), by, lab.OutcomeOf(nil, reply, ran), changes
	if key == nil && cmd.Flags&command.AllKeys == 0 && len(changes) > 0 {
		e.Key = changes[0].Key
	}
	if sess.Hold == command.Blocked {
		e.Outcome = lab.Held
	}
	l.describe(&e, cmd, args, reply)
	if by != "" {
		e.Run = l.inside.number(by, sess.ID, l.Ex.Now.Mono)
	}
	l.history.Add(e)
}

// waits reports whether a command asks replicas for what its client has written.
func (l *State) waits(cmd *command.Command) bool {
	return l.Cfg.Replicas > 0 && (cmd.Name == "wait" || cmd.Name == "waitaof")
}

// Blocked shows the doctor and the log a WAIT that has no reply yet, and perhaps never gets one. The log also has any
// command that has changed a watched key before it blocks.
func (l *State) Blocked(sess *command.Session, cmd *command.Command, args [][]byte) {
	switch {
	case sess.Index < 0 || sess.Master:
		l.logHidden(sess, cmd, args, nil)
		return
	case l.waits(cmd):
		l.doctorSees(sess, cmd, args, nil, "", false, false)
	case len(l.touches.all) == 0:
		return
	}
	if l.armed {
		l.logWatched(sess, cmd, args, nil, "", false)
	}
}

// describe adds the command and its reply to an entry. cmd is nil if there is no such command.
func (l *State) describe(e *lab.Entry, cmd *command.Command, args [][]byte, reply []byte) {
	e.Cmd, e.Reply, e.Kind = lab.Words(args), lab.Reply(reply), lab.Kind(reply)
	if cmd != nil {
		e.Keys = l.history.AllWatched(args, cmd.AppendSubjects(nil, args))
	}
}

// inside is the script or EXEC whose commands are being logged. Each gets a number, so that a reader of
// the log sees where it ends.
type inside struct {
	by     string
	client int64
	began  int64 // by the executor's clock
	run    int64
}

// number returns the number of a script or EXEC.
func (in *inside) number(by string, client, began int64) int64 {
	if next := (inside{by, client, began, in.run}); next != *in {
		next.run++
		*in = next
	}
	return in.run
}

// Expired shows the doctor and the log a key whose TTL has ended.
func (l *State) Expired(db *store.DB, key string) {
	l.expired(db, key, l.changedKey(db.ID, key, lab.ByExpiry))
}

func (l *State) expired(db *store.DB, key string, changes []lab.Change) {
	l.doctorExpired(db, key)
	l.Shown.Expired(key)
	l.logGone(lab.EventExpired, db, key, changes)
}

// FieldsExpired shows the log a hash that has lost fields.
func (l *State) FieldsExpired(db *store.DB, key string) {
	l.logGone(lab.EventFields, db, key, l.changedKey(db.ID, key, lab.ByExpiry))
}

// Evicted shows the log a key that was deleted for memory.
func (l *State) Evicted(db *store.DB, key string) {
	l.doctorEvicted(db, key)
	l.logGone(lab.EventEvicted, db, key, l.changedKey(db.ID, key, lab.ByEviction))
}

// logGone logs what has happened to a watched key without a command.
func (l *State) logGone(what string, db *store.DB, key string, changes []lab.Change) {
	if l.history.Watches([]byte(key)) {
		e := l.newEntry(nil, what)
		e.Key, e.DB, e.Outcome, e.Changes = lab.Printable(key), db.ID, lab.Executed, changes
		l.history.Add(e)
	}
}

// ruleOf returns the rule that fired for the request of a client, nil for none.
func (l *State) ruleOf(sess *command.Session) *lab.Rule {
	if f := Of(l.Clients.Order[sess.Index]).Fault; f != nil {
		return f.Rule
	}
	return nil
}

// newEntry makes an entry with the time and the client.
func (l *State) newEntry(by *command.Session, event string) lab.Entry {
	e := lab.Entry{Time: l.Ex.Now.Wall / 1e6, Mono: monotonic(), Event: event, Offset: l.effect()}
	if by != nil {
		e.Client, e.Name, e.DB = by.ID, lab.Printable(by.Name), by.DB
		l.numbered(&e, by, by.Commands)
		if by.Index >= 0 {
			e.Came = Of(l.Clients.Order[by.Index]).came
		}
	}
	return e
}

// numbered gives an entry the number of its request.
func (l *State) numbered(e *lab.Entry, by *command.Session, request int64) {
	if c := l.Clients.Of(by); c != nil && l.Cfg.Replicas > 0 {
		e.Request, Of(c).logged = request, request
	}
}

// noteRule logs that a rule fired for a request of c that has not run.
func (l *State) noteRule(c *server.Client, words []string, outcome lab.Outcome) {
	e := l.newEntry(&c.Sess, Of(c).Fault.Rule.Name)
	l.numbered(&e, &c.Sess, c.Sess.Commands+1) // the executor has not counted it
	e.Cmd, e.Key, e.Outcome = words, Of(c).Fault.key, outcome
	l.history.Add(e)
}

// logKey returns the key that the log shows for a request: the first watched key, or the first key.
func (l *State) logKey(calls []lab.Call) string {
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

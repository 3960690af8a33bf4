package command

import "github.com/miniredisd/miniredisd/store"

func transactionRows() []Row {
	const flags = NoScript | Loading | Stale
	return []Row{
		{"multi", "",
			1, flags | Fast | AllowBusy | NotQueued, nil, "transactions", "1.2.0",
			"O(1)",
			"Begins a transaction: what follows is queued.", multi},
		{"exec", "",
			1, flags | SkipSlowlog | NotQueued, nil, "transactions", "1.2.0",
			"That of the commands queued",
			"Runs what was queued, unless a watched key has changed.", exec},
		{"discard", "",
			1, flags | Fast | AllowBusy | NotQueued, nil, "transactions", "2.0.0",
			"O(N) in the commands queued",
			"Ends a transaction without running it.", discard},
		{"watch", "key ...",
			-2, flags | Fast | AllowBusy | NotQueued, keys(span(1, -1, 1, RO)), "transactions", "2.2.0",
			"O(N) in the keys given",
			"Has the next transaction run only if the keys stay as they are.", watch},
		{"unwatch", "",
			1, flags | Fast | AllowBusy, nil, "transactions", "2.2.0",
			"O(1)",
			"Forgets the watched keys.", unwatch},
	}
}

const (
	errNestedMulti  store.Error = "ERR MULTI calls can not be nested"
	errExecAlone    store.Error = "ERR EXEC without MULTI"
	errDiscardAlone store.Error = "ERR DISCARD without MULTI"
	errWatchInMulti store.Error = "ERR WATCH inside MULTI is not allowed"
	errNotInMulti   store.Error = "ERR Command not allowed inside a transaction"
	errExecAbort    store.Error = "EXECABORT Transaction discarded because of previous errors."
)

// Transaction is what a session has queued and watches. It stays with the session
// once it has been needed, for its memory.
type Transaction struct {
	Open  bool // between MULTI and EXEC
	Dirty bool // a watched key has changed

	queue   requests
	room    [][]byte // for the arguments of the queued command that runs
	aborted bool     // a command was refused: EXEC will be, too
	flags   Flag     // of all commands in the queue

	watches    []*watched
	watchBytes int // of their keys
}

// keepQueue is the bytes up to which the memory of a queue is used again.
const keepQueue = 8 << 10

// add queues a request.
func (t *Transaction) add(cmd *Command, args [][]byte, flags Flag) {
	if t.Dirty || t.aborted {
		return // it will not run
	}
	t.queue.add(cmd, args)
	t.flags |= flags
}

// Mem is about the bytes that the queue and the watched keys take.
func (t *Transaction) Mem() int {
	if t == nil {
		return 0
	}
	return t.queue.held + 24*cap(t.room) + memWatch*len(t.watches) + t.watchBytes
}

// QueueMem is the bytes of the arguments that are queued (CLIENT LIST: multi-mem).
func (t *Transaction) QueueMem() int {
	if t == nil {
		return 0
	}
	return t.queue.sent
}

// Len is the number of commands that are queued.
func (t *Transaction) Len() int { return t.queue.len }

func (s *Session) transaction() *Transaction {
	if s.Tx == nil {
		s.Tx = &Transaction{}
	}
	return s.Tx
}

// InMulti tells whether what s sends is queued.
func (s *Session) InMulti() bool { return s.Tx != nil && s.Tx.Open }

// endTransaction makes s as if it had never said MULTI or WATCH.
func (ex *Executor) endTransaction(s *Session) {
	t := s.Tx
	if t == nil {
		return
	}
	ex.unwatch(t)
	t.Open, t.Dirty, t.aborted, t.flags = false, false, false, 0
	t.queue.reset()
	if 24*cap(t.room) > keepQueue {
		t.room = nil
	}
}

// refuse notes that a command of s was not let in. A transaction it belongs to will
// not run; an EXEC that was not let in itself ends its own (server.c: rejectCommand).
func (ex *Executor) refuse(s *Session, cmd *Command, args [][]byte, err error) error {
	if cmd != nil && cmd.Name == "exec" {
		ex.endTransaction(s)
		if ex.MonitorFeed != nil { // who follows the commands has to see the end of the transaction
			ex.MonitorFeed(s, args)
		}
		return execAborted(err)
	}
	if s.InMulti() {
		s.Tx.aborted = true
	}
	return err
}

// flagsOf are those of cmd; for EXEC also those of what it would run, for a script
// those that it declares.
func (ex *Executor) flagsOf(s *Session, cmd *Command, args [][]byte) Flag {
	switch {
	case cmd.Name == "exec" && s.Tx != nil:
		return cmd.Flags | s.Tx.flags
	case cmd.Group == "scripting":
		return ex.scriptFlags(cmd, args)
	}
	return cmd.Flags
}

// needsMemory tells whether cmd is refused when there is none. A queue takes some,
// whatever is put into it.
func (ex *Executor) needsMemory(s *Session, cmd *Command, args [][]byte) bool {
	if ex.flagsOf(s, cmd, args)&DenyOOM != 0 {
		return true
	}
	return s.InMulti() && (cmd.Flags&NotQueued == 0 || cmd.Name == "multi" || cmd.Name == "watch")
}

// MULTI (multi.c: multiCommand)
func multi(c *Call) error {
	t := c.Sess.transaction()
	if t.Open {
		return errNestedMulti
	}
	t.Open = true
	c.OK()
	return nil
}

// DISCARD (multi.c: discardCommand)
func discard(c *Call) error {
	if !c.Sess.InMulti() {
		return errDiscardAlone
	}
	c.Ex.endTransaction(c.Sess)
	c.OK()
	return nil
}

// EXEC (multi.c: execCommand)
// exec runs the queue, every command with a reply of its own. c is the executor's
// only Call: it is each of those commands' in turn.
func exec(c *Call) error {
	ex, s, w := c.Ex, c.Sess, c.Writer
	if !s.InMulti() {
		return errExecAlone
	}
	t := s.Tx
	switch {
	case t.aborted:
		ex.endTransaction(s)
		return errExecAbort
	case t.Dirty || ex.watchedIsDue(t):
		ex.endTransaction(s)
		w.NullArray()
		return nil
	}
	ex.unwatch(t) // its own changes are not news to it
	w.Array(t.queue.len)
	start := ex.mono
	ex.Depth++
	for cmd, args := range t.queue.all(t.room) {
		if cap(args) > cap(t.room) {
			t.room = args
		}
		if !ex.allows(s, cmd, args) { // not any more
			ex.fail(w, len(w.Buf), ex.errNoPermInExec(s, cmd, args))
			continue
		}
		mark := len(w.Buf)
		start = ex.run(cmd, s, args, w, mark, start)
		if ex.Observer != nil {
			ex.Observer.Called(s, cmd, args, w.Buf[mark:], "exec")
		}
	}
	ex.Depth--
	ex.endTransaction(s)
	return nil
}

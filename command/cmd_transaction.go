package command

import "github.com/miniredisd/miniredisd/store"

func transactionRows() []Row {
	const (
		flags      = NoScript | Loading | Stale
		conditions = "IFEQ ifeq-key@,9.2.0:key/key value | IFNE ifne-key@,9.2.0:key/key value " +
			"| NX nx-key@,9.2.0:key/key | XX xx-key@,9.2.0:key/key"
	)
	return []Row{
		{"multi", "",
			1, flags | Fast | AllowBusy | NotQueued, nil, "transactions", "1.2.0",
			"O(1)",
			"Starts a transaction: the commands that follow are queued.", multi},
		{"exec", "[condition: " + conditions + "] ...",
			-1, flags | SkipSlowlog | NotQueued | RunsQueue | EndsMulti,
			keys(KeySpec{Flags: RO | Access, Find: conditionKeys}), "transactions", "1.2.0",
			"Depends on the queued commands.",
			"Runs the queued commands, unless a watched key has changed.", exec},
		{"discard", "",
			1, flags | Fast | AllowBusy | NotQueued | EndsMulti, nil, "transactions", "2.0.0",
			"O(N) for N queued commands",
			"Ends a transaction without running its commands.", discard},
		{"watch", "key ...",
			-2, flags | Fast | AllowBusy | NotQueued, keys(span(1, -1, 1, RO)), "transactions", "2.2.0",
			"O(N) for N keys",
			"Makes EXEC fail if one of the keys changes before it.", watchKeys},
		{"unwatch", "",
			1, flags | Fast | AllowBusy, nil, "transactions", "2.2.0",
			"O(1)",
			"Forgets all watched keys.", unwatch},
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

// MULTI (multi.c: multiCommand)
func multi(c *Call) error {
	t := c.Sess.transaction()
	if t.Open {
		return errNestedMulti
	}
	t.Open, t.began = true, c.Sess.Commands
	c.OK()
	return nil
}

// DISCARD (multi.c: discardCommand)
func discard(c *Call) error {
	if !c.Sess.InMulti() {
		return errDiscardAlone
	}
	c.Ex.EndTransaction(c.Sess)
	c.OK()
	return nil
}

// EXEC [IFEQ key value | IFNE key value | NX key | XX key] ... (multi.c: execCommand)
// Each queued command has a reply of its own.
func exec(c *Call) error {
	ex, s := c.Ex, c.Sess
	if !s.InMulti() {
		return errExecAlone
	}
	t := s.Tx
	if runs, err := c.mayExec(t); !runs {
		ex.EndTransaction(s)
		if err == nil {
			c.NullArray()
		}
		return err
	}
	ex.watchers.unwatch(t) // the transaction's own changes must not abort it
	ex.logs.exec = len(c.Buf)
	c.Array(t.queue.len)
	start := ex.Now.Mono
	ex.enter()
	for cmd, args := range t.queue.all(t.room) {
		if cap(args) > cap(t.room) {
			t.room = args
		}
		mark := len(c.Buf)
		if err := ex.permissions.check(s, cmd, args, fromExec); err != nil { // may have changed since
			ex.fail(c.Writer, mark, err)
			continue
		}
		start = ex.runInside(cmd, s, args, c.Writer, start)
		if ex.Observer != nil {
			ex.Observer.Called(s, cmd, args, c.Buf[mark:], "exec")
		}
		if ex.Cut {
			break
		}
	}
	ex.Depth--
	ex.EndTransaction(s)
	return nil
}

// WATCH key ... (multi.c: watchCommand)
func watchKeys(c *Call) error {
	t := c.Sess.transaction()
	if t.Open {
		return errWatchInMulti
	}
	if !t.Dirty { // a dirty transaction fails in any case
		for _, key := range c.Args[1:] {
			c.Ex.watchers.watch(t, c.DB, key)
		}
	}
	c.OK()
	return nil
}

// UNWATCH (multi.c: unwatchCommand)
func unwatch(c *Call) error {
	if t := c.Sess.Tx; t != nil {
		c.Ex.watchers.unwatch(t)
		t.Dirty = false
	}
	c.OK()
	return nil
}

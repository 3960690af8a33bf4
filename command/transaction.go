package command

import (
	"iter"
	"slices"
)

// Transaction is what a session has queued since MULTI, and the keys that it watches
// (server.h: multiState). It stays with the session for its memory.
type Transaction struct {
	Open  bool // between MULTI and EXEC
	Dirty bool // a watched key has changed (server.h: CLIENT_DIRTY_CAS)

	began   int64 // the number of the MULTI, as Session.Commands counts
	queue   requests
	room    [][]byte // for the arguments of a queued command that runs
	aborted bool     // a command was refused, so EXEC will fail (server.h: CLIENT_DIRTY_EXEC)
	flags   Flag     // of all queued commands
	lacking Flag     // that at least one of them lacks (server.h: cmd_inv_flags)

	watches    []*watched
	watchBytes int // of the watched keys
}

// keepQueue is the size up to which the memory of a queue is used again.
const keepQueue = 8 << 10

// transaction returns the transaction of s. The first call makes it.
func (s *Session) transaction() *Transaction {
	if s.Tx == nil {
		s.Tx = &Transaction{}
	}
	return s.Tx
}

// InMulti reports whether s is between MULTI and EXEC.
func (s *Session) InMulti() bool { return s.Tx != nil && s.Tx.Open }

// WouldQueue reports whether a request of s for cmd would be queued (server.c: processCommand).
func (s *Session) WouldQueue(cmd *Command) bool {
	return s.InMulti() && cmd != nil && cmd.Flags&NotQueued == 0
}

// add queues a request, unless EXEC will fail anyway.
func (t *Transaction) add(cmd *Command, args [][]byte, flags Flag) {
	if t.Dirty || t.aborted {
		return
	}
	t.queue.add(cmd, args)
	t.flags |= flags
	t.lacking |= ^flags
}

// Queued yields the commands that an EXEC of s would run, with their arguments.
func (s *Session) Queued() iter.Seq2[*Command, [][]byte] {
	return func(yield func(*Command, [][]byte) bool) {
		if !s.InMulti() {
			return
		}
		for cmd, args := range s.Tx.queue.all(nil) {
			if !yield(cmd, slices.Clone(args)) {
				return
			}
		}
	}
}

// EndTransaction undoes MULTI and WATCH (multi.c: discardTransaction).
func (ex *Executor) EndTransaction(s *Session) {
	t := s.Tx
	if t == nil {
		return
	}
	ex.watchers.unwatch(t)
	t.Open, t.Dirty, t.aborted, t.flags, t.lacking = false, false, false, 0, 0
	t.queue.reset()
	if memArg*cap(t.room) > keepQueue {
		t.room = nil
	}
}

// Len returns the number of queued commands.
func (t *Transaction) Len() int { return t.queue.len }

// Watching returns the number of watched keys.
func (t *Transaction) Watching() int { return len(t.watches) }

// Mem estimates the bytes that the queue and the watched keys take.
func (t *Transaction) Mem() int {
	if t == nil {
		return 0
	}
	return t.queue.held + memArg*cap(t.room) + memWatch*len(t.watches) + t.watchBytes
}

// QueueMem returns the bytes of the queued arguments (CLIENT LIST: multi-mem).
func (t *Transaction) QueueMem() int {
	if t == nil {
		return 0
	}
	return t.queue.sent
}

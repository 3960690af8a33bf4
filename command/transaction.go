package command

import (
	"iter"
	"slices"
)

// Queued are the commands that an EXEC of s would run.
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

// WouldQueue tells whether a request of s for cmd would be queued.
func (s *Session) WouldQueue(cmd *Command) bool {
	return s.InMulti() && cmd != nil && cmd.Flags&NotQueued == 0
}

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

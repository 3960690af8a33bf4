package command

import (
	"encoding/binary"
	"iter"
)

// requests is what a transaction will run. A block holds commands and the bytes of their
// arguments, each behind its length, so that a million queued commands cost little more than
// what the client has sent: a full block is never copied, and holds hardly a pointer.
type requests struct {
	blocks []*queueBlock
	len    int // commands
	sent   int // bytes of their arguments
	held   int // bytes of all blocks
}

type queueBlock struct {
	cmds  []queuedCommand
	bytes []byte
}

type queuedCommand struct {
	cmd  *Command
	args int
}

const (
	queueBlockCmds  = 512
	queueBlockBytes = 32 << 10
	queuedMem       = 16 // of a queuedCommand
	argHead         = 4  // bytes of an argument's length
)

func (q *requests) add(cmd *Command, args [][]byte) {
	size := 0
	for _, arg := range args {
		size += argHead + len(arg)
	}
	b := q.room(size)
	q.held -= b.mem()
	for _, arg := range args {
		b.bytes = binary.LittleEndian.AppendUint32(b.bytes, uint32(len(arg)))
		b.bytes = append(b.bytes, arg...)
	}
	b.cmds = append(b.cmds, queuedCommand{cmd, len(args)})
	q.held += b.mem()
	q.len++
	q.sent += size - argHead*len(args)
}

// room is the last block, or a new one when a command of that size does not fit.
func (q *requests) room(size int) *queueBlock {
	if n := len(q.blocks); n > 0 {
		b := q.blocks[n-1]
		if len(b.cmds) == 0 || len(b.cmds) < queueBlockCmds && len(b.bytes)+size <= queueBlockBytes {
			return b
		}
	}
	b := &queueBlock{}
	if size > queueBlockBytes {
		b.bytes = make([]byte, 0, size)
	}
	q.blocks = append(q.blocks, b)
	q.held += b.mem()
	return b
}

func (b *queueBlock) mem() int { return cap(b.bytes) + queuedMem*cap(b.cmds) }

// reset empties the queue. The memory of an ordinary one is used again.
func (q *requests) reset() {
	if len(q.blocks) > 1 || q.held > keepQueue {
		*q = requests{}
		return
	}
	for _, b := range q.blocks {
		clear(b.cmds)
		b.cmds, b.bytes = b.cmds[:0], b.bytes[:0]
	}
	q.len, q.sent = 0, 0
}

// all are the commands in their order. The slice of a command's arguments is room's, which
// the next command uses again; the arguments themselves are the queue's.
func (q *requests) all(room [][]byte) iter.Seq2[*Command, [][]byte] {
	return func(yield func(*Command, [][]byte) bool) {
		for _, b := range q.blocks {
			rest := b.bytes
			for _, queued := range b.cmds {
				args := room[:0]
				for range queued.args {
					n := int(binary.LittleEndian.Uint32(rest))
					args = append(args, rest[argHead:argHead+n:argHead+n])
					rest = rest[argHead+n:]
				}
				if cap(args) > cap(room) {
					room = args
				}
				if !yield(queued.cmd, args[:len(args):len(args)]) {
					return
				}
			}
		}
	}
}

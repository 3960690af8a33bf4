package command

import (
	"encoding/binary"
	"iter"
)

// requests is the queue of a transaction. A block holds commands and the bytes of their arguments, each
// after its length. So a million queued commands take little more memory than the client has sent: a
// full block is never copied, and it holds few pointers.
type requests struct {
	blocks []*queueBlock
	len    int // queued commands
	sent   int // bytes of the arguments
	held   int // memory of all blocks
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
	queuedMem       = 16 // bytes of a queuedCommand
	argHead         = 4  // bytes of the length before an argument
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

// room returns the last block, or a new one if a command of so many bytes does not fit.
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

// reset empties the queue. It keeps the memory of a small queue.
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

// all yields the commands in order. The arguments point into the queue. The slice that holds them is in
// room and is used again for the next command.
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

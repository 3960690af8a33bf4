package ioworkers

import "github.com/miniredisd/miniredisd/internal/trace"

// Pool moves the bytes of many connections at once: with threads, when Start has
// been called and there is enough to do, without them otherwise. The zero Pool is
// ready, and has none.
//
// It also keeps the buffers of connections that need none at the moment, so that
// ten thousand idle ones cost little and the busy ones share what is in cache.
// These belong to main: it lends before it fans out. They are no part of used_memory, as
// little as what an allocator keeps is in Redis.
type Pool struct {
	Trace *trace.Thread // of main; nil while nothing is recorded

	threads []*thread // thread 0 is main, which is not in here
	join    *join
	reads   bool // threads read, too

	perThread int // connections that a thread is woken for

	Active bool // the last writes were shared out
	Alone  bool // main does everything for now

	// Dedicated tells that the process is there for these threads, and that the runtime
	// has a processor to give to each of them. It is set before Start.
	Dedicated bool

	// Frugal has large output buffers freed once they are written, in place of being kept
	// for the next reply: memory is scarce.
	Frugal bool

	inputs  []*input
	outputs [][]byte

	// The fewest unused buffers there were since the last Trim: that many nobody has needed.
	idleInputs, idleOutputs int
}

// maxSpare bounds how many unused buffers of each kind are kept.
const maxSpare = 1024

// ReplyRoom is the size up to which an output buffer is kept when memory is scarce, and the room
// that a client is counted with that is about to have a reply, whatever it has
// (server.h: PROTO_REPLY_CHUNK_BYTES).
const ReplyRoom = 16 << 10

// keepBatch bounds the room for arguments that an unused input keeps.
const keepBatch = 64 << 10

// Lend gives c an input to read into, if it has none.
func (p *Pool) Lend(c *Conn) {
	if c.in != nil {
		return
	}
	if n := len(p.inputs); n > 0 {
		c.in, p.inputs = p.inputs[n-1], p.inputs[:n-1]
		p.idleInputs = min(p.idleInputs, n-1)
		return
	}
	c.in = &input{buf: make([]byte, 0, readChunk)}
}

// LendOutput gives c a buffer to reply into, if it has none.
func (p *Pool) LendOutput(c *Conn) {
	if c.Out != nil {
		return
	}
	if n := len(p.outputs); n > 0 {
		c.Out, p.outputs = p.outputs[n-1], p.outputs[:n-1]
		p.idleOutputs = min(p.idleOutputs, n-1)
	}
}

// Reclaim takes back what c does not need: the input once every byte in it has
// been executed, the output once all of it is written.
func (p *Pool) Reclaim(c *Conn) {
	if in := c.in; in != nil {
		in.compact()
		if len(in.buf) == 0 {
			c.in = nil
			if len(p.inputs) < maxSpare && cap(in.buf) == readChunk && in.batch.Mem() <= keepBatch {
				p.inputs = append(p.inputs, in)
			}
		}
	}
	if len(c.Out) == 0 && c.Out != nil {
		most := keepOutput
		if p.Frugal {
			most = ReplyRoom
		}
		if len(p.outputs) < maxSpare && cap(c.Out) <= most {
			p.outputs = append(p.outputs, c.Out)
		}
		c.Out = nil
	}
}

// Trim frees half of the buffers that nobody has needed since the last Trim.
func (p *Pool) Trim() {
	for range (p.idleInputs + 1) / 2 {
		last := len(p.inputs) - 1
		p.inputs[last], p.inputs = nil, p.inputs[:last]
	}
	for range (p.idleOutputs + 1) / 2 {
		last := len(p.outputs) - 1
		p.outputs[last], p.outputs = nil, p.outputs[:last]
	}
	p.idleInputs, p.idleOutputs = len(p.inputs), len(p.outputs)
}

// Read has every connection read and parse. It tells whether threads have helped.
func (p *Pool) Read(conns []*Conn) (shared bool) {
	if p.reads && p.pays(len(conns)) {
		p.share(conns, reading)
		return true
	}
	reading.run(conns, p.Trace)
	return false
}

// Write has every connection write. It tells whether threads have helped.
func (p *Pool) Write(conns []*Conn) (shared bool) {
	if len(conns) == 0 {
		return false
	}
	if p.Active = p.pays(len(conns)); p.Active {
		p.share(conns, writing)
		return true
	}
	writing.run(conns, p.Trace)
	return false
}

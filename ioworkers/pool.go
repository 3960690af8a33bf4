package ioworkers

import (
	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/resp"
)

// Pool reads and writes many connections in one call. It shares them out to threads if Start was
// called and there are enough connections. Otherwise main does the work. The zero Pool is ready and
// has no threads. Only main may call its methods.
//
// The Pool also keeps buffers that no connection uses at the moment. So ten thousand idle
// connections hold no buffers, and busy connections reuse buffers that are in the processor's cache.
// Main lends buffers before it shares out connections. used_memory does not count the unused
// buffers, as Redis does not count what its allocator keeps.
type Pool struct {
	Trace *trace.Thread // main's row; nil while nothing is recorded

	threads []*thread // without main
	join    *join
	reads   bool // threads read as well as write

	perThread int // connections that pay for waking a thread

	Active bool // threads did the last writes
	Alone  bool // main does everything for now

	// Stepping lends even a single connection to a thread, which does not pay: somebody wants to see it.
	Stepping bool

	// Dedicated means that the process serves these threads only, and that Go's scheduler has a
	// processor for each of them. Set it before Start.
	Dedicated bool

	// Frugal frees large buffers once they are empty, because memory is scarce.
	Frugal bool

	inputs  []*input
	outputs []output

	large largeInputs // large.go

	// The smallest number of unused buffers since the last Trim. No connection needed these.
	idleInputs, idleOutputs int
}

// output is the memory that output needs.
type output struct {
	buf  []byte
	refs []resp.Ref
}

// maxSpare is how many unused buffers of each kind the Pool keeps.
const maxSpare = 1024

// ReplyRoom is the size up to which a Frugal Pool keeps an output buffer. It is also the room that
// a client about to get a reply is charged for (server.h: PROTO_REPLY_CHUNK_BYTES).
const ReplyRoom = 16 << 10

// keepBatch is the largest room for arguments that an unused input keeps, in bytes.
const keepBatch = 64 << 10

// Lend gives c an input to read into, unless it has one.
func (p *Pool) Lend(c *Conn) {
	if c.in != nil {
		return
	}
	if c.large > 0 {
		if c.in = p.takeLarge(c.large); c.in != nil {
			return
		}
	}
	if n := len(p.inputs); n > 0 {
		c.in, p.inputs = p.inputs[n-1], p.inputs[:n-1]
		p.idleInputs = min(p.idleInputs, n-1)
		return
	}
	c.in = &input{buf: make([]byte, 0, readChunk)}
}

// LendOutput gives c a buffer for replies, unless it has one or no buffer is spare.
func (p *Pool) LendOutput(c *Conn) {
	if c.Out.Buf != nil {
		return
	}
	if n := len(p.outputs); n > 0 {
		c.Out.Buf, c.Out.Refs, p.outputs = p.outputs[n-1].buf, p.outputs[n-1].refs, p.outputs[:n-1]
		p.idleOutputs = min(p.idleOutputs, n-1)
	}
}

// Reclaim takes back the buffers that c no longer needs: the input once every command in it is
// executed, and the output once all of it is written.
func (p *Pool) Reclaim(c *Conn) {
	if in := c.in; in != nil {
		in.compact()
		if len(in.buf) == 0 {
			c.in = nil
			if len(p.inputs) < maxSpare && p.keeps(cap(in.buf)) && in.batch.Mem() <= keepBatch {
				p.inputs = append(p.inputs, in)
			} else if c.large > 0 {
				p.keepLarge(in)
			}
		}
	}
	if c.Unsent() == 0 && c.Out.Buf != nil {
		most := keepOutput
		if p.Frugal {
			most = ReplyRoom
		}
		if len(p.outputs) < maxSpare && cap(c.Out.Buf) <= most {
			p.outputs = append(p.outputs, output{c.Out.Buf, c.Out.Refs})
		}
		c.Out.Buf, c.Out.Refs = nil, nil
	}
}

// keeps reports whether an input buffer of that size is used again.
func (p *Pool) keeps(size int) bool {
	return size == readChunk || !p.Frugal && (size == largeChunk || size == mostChunk)
}

// Trim frees half of the buffers that no connection needed since the last Trim.
func (p *Pool) Trim() {
	for range (p.idleInputs + 1) / 2 {
		last := len(p.inputs) - 1
		p.inputs[last], p.inputs = nil, p.inputs[:last]
	}
	for range (p.idleOutputs + 1) / 2 {
		last := len(p.outputs) - 1
		p.outputs[last], p.outputs = output{}, p.outputs[:last]
	}
	p.idleInputs, p.idleOutputs = len(p.inputs), len(p.outputs)
	p.trimLarge()
}

// Read reads and parses every connection (networking.c: handleClientsWithPendingReadsUsingThreads). It reports
// whether threads did the work.
func (p *Pool) Read(conns []*Conn) (shared bool) {
	if p.reads && p.pays(len(conns)) {
		p.share(conns, reading)
		return true
	}
	reading.run(conns, p.Trace)
	return false
}

// Write writes the output of every connection (networking.c: handleClientsWithPendingWritesUsingThreads). It
// reports whether threads did the work.
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

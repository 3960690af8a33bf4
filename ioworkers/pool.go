package ioworkers

import "github.com/miniredisd/miniredisd/trace"

// Pool moves the bytes of many connections at once: with threads, when Start has
// been called and there is enough to do, without them otherwise. The zero Pool is
// ready, and has none.
//
// It also keeps the buffers of connections that need none at the moment, so that
// ten thousand idle ones cost little and the busy ones share what is in cache.
// These belong to main: it lends before it fans out.
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

	inputs  []*input
	outputs [][]byte
}

// spare bounds how many unused buffers of each kind are kept.
const spare = 1024

// Lend gives c an input to read into, if it has none.
func (p *Pool) Lend(c *Conn) {
	if c.in != nil {
		return
	}
	if n := len(p.inputs); n > 0 {
		c.in, p.inputs = p.inputs[n-1], p.inputs[:n-1]
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
	}
}

// Reclaim takes back what c does not need: the input once every byte in it has
// been executed, the output once all of it is written.
func (p *Pool) Reclaim(c *Conn) {
	if in := c.in; in != nil {
		in.compact()
		if len(in.buf) == 0 {
			c.in = nil
			if len(p.inputs) < spare && cap(in.buf) == readChunk {
				p.inputs = append(p.inputs, in)
			}
		}
	}
	if len(c.Out) == 0 && c.Out != nil {
		if len(p.outputs) < spare && cap(c.Out) <= keepOutput {
			p.outputs = append(p.outputs, c.Out)
		}
		c.Out = nil
	}
}

// Spare is the bytes of the buffers that are kept.
func (p *Pool) Spare() int {
	sum := len(p.inputs) * readChunk
	for _, b := range p.outputs {
		sum += cap(b)
	}
	return sum
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

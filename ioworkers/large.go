package ioworkers

import "slices"

// A SET of a large value copies nothing: the command keeps the memory that the value was read into
// (networking.c: processMultibulkBuffer, PROTO_MBULK_BIG_ARG). A reader can skip this file. A Conn without it
// would only be slower.
//
//	makeRoom   gives a large argument a buffer of its size             conn.go
//	LargeArg   finds the argument that fills its buffer                before the command
//	LeaveInput leaves the buffer to the command that has kept it       after the command
//	Pool.Keep  takes the memory of the value that was replaced         for the next large command
//
// server/large.go calls these, and command.Call.keep takes the argument.

// largeArg is the length from which on an argument can keep the input buffer as its memory
// (server.h: PROTO_MBULK_BIG_ARG).
const largeArg = 32 << 10

// spareKeys is room for what stands before the values of some 20 commands. The memory of a value that is
// replaced becomes the buffer of the next command, and the next value begins that much later in it.
const spareKeys = 1 << 10

// LargeArg returns the argument that takes nearly all of the input buffer, if the buffer holds one command.
// Otherwise it returns nil. A command may keep these bytes, and change those up to their capacity once main
// has called LeaveInput.
func (c *Conn) LargeArg() []byte {
	in := c.in
	if in == nil || cap(in.buf) < largeArg || in.next > 0 || in.batch.Len() != 1 {
		return nil
	}
	args := in.batch.Args(0)
	for i, arg := range args {
		if len(arg) >= largeArg && cap(in.buf)-len(arg) <= len(arg)/16 {
			if i == len(args)-1 {
				arg = in.withRoom(arg)
			}
			return arg
		}
	}
	return nil
}

// withRoom returns the last argument of the buffer with the room that lies behind it.
func (in *input) withRoom(arg []byte) []byte {
	end := in.taken - len("\r\n")
	if long := in.buf[end-len(arg) : end : cap(in.buf)]; &long[0] == &arg[0] {
		return long
	}
	return arg // of an inline command
}

// LeaveInput leaves the input buffer to the command that has kept the LargeArg in it. What is not parsed
// yet goes to a new buffer.
func (c *Conn) LeaveInput() {
	c.large = c.in.taken
	rest := c.in.buf[c.in.taken:]
	c.in = nil
	if len(rest) > 0 {
		c.in = &input{buf: append(make([]byte, 0, readChunk), rest...)}
	}
}

// largeInputs are buffers for large commands, in the memory of replaced values. The last one is the warmest.
type largeInputs struct {
	inputs []*input
	mem    int // bytes of inputs
	idle   int // the smallest number of inputs since the last Trim
}

// maxLarge is how many bytes the Pool keeps in buffers for large commands.
const maxLarge = 32 * megabyte

// Keep takes memory that nobody else uses any more, for the input of a large command.
func (p *Pool) Keep(buf []byte) {
	if buf != nil {
		p.keepLarge(&input{buf: buf[:0]})
	}
}

// keepLarge keeps an empty input. A small one, or more than maxLarge, goes to the collector.
func (p *Pool) keepLarge(in *input) {
	size := cap(in.buf)
	if size >= largeArg && p.large.mem+size <= maxLarge && !p.Frugal && in.batch.Mem() <= keepBatch {
		p.large.inputs = append(p.large.inputs, in)
		p.large.mem += size
	}
}

// mostTried is how many inputs takeLarge looks at. A client pays for that with each read once it has sent a
// large command.
const mostTried = 8

// takeLarge returns the warmest input in which a command of that many bytes can leave its argument, or nil.
func (p *Pool) takeLarge(size int) *input {
	for i := len(p.large.inputs) - 1; i >= max(0, len(p.large.inputs)-mostTried); i-- {
		if in := p.large.inputs[i]; cap(in.buf) >= size && cap(in.buf) <= size+size/16 {
			p.dropLarge(i)
			p.large.idle = min(p.large.idle, len(p.large.inputs))
			return in
		}
	}
	return nil
}

func (p *Pool) dropLarge(i int) {
	p.large.mem -= cap(p.large.inputs[i].buf)
	p.large.inputs = slices.Delete(p.large.inputs, i, i+1)
}

// trimLarge is Trim for the large buffers.
func (p *Pool) trimLarge() {
	for range (p.large.idle + 1) / 2 {
		p.dropLarge(0)
	}
	p.large.idle = len(p.large.inputs)
}

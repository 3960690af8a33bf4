package ioworkers

import (
	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/internal/trace"
)

// Unsent returns how many bytes of output wait to be written, on either side of the barrier (networking.c:
// clientHasPendingReplies).
func (c *Conn) Unsent() int { return len(c.Out.Buf) - c.sent + c.Out.RefLen }

// OutputRoom returns the bytes that the output takes, references included.
func (c *Conn) OutputRoom() int { return cap(c.Out.Buf) + c.Out.RefLen }

// Sendable returns how many of the unsent bytes Write may send.
func (c *Conn) Sendable() int {
	if c.barred {
		return c.barrier - c.sent
	}
	return c.Unsent()
}

// Drained reports whether all output is written and no barrier is set.
func (c *Conn) Drained() bool { return c.Unsent() == 0 && !c.barred }

// Bar sets the barrier: until Unbar, Write sends no byte of Out.Buf from this offset on. The offset
// must not lie before a byte that is already written. The output must have no references.
func (c *Conn) Bar(offset int) { c.barrier, c.barred = offset, true }

// Unbar takes the barrier away.
func (c *Conn) Unbar() {
	c.barred = false
	c.reuseOutput()
}

// Barred reports whether a barrier is set.
func (c *Conn) Barred() bool { return c.barred }

// DropOutput forgets all output that is not written yet, and the barrier in it.
func (c *Conn) DropOutput() {
	c.Out.Buf, c.sent, c.barred = nil, 0, false
	c.Out.Refs, c.Out.RefLen, c.ref = nil, 0, 0
	if c.TLS != nil {
		c.TLS.owed = 0
	}
}

// Write does one write(2) of up to writeLimit bytes, or one writev(2) of up to refsLimit bytes (networking.c:
// writeToClient). The rest stays for the next call. With TLS it writes a record at a time, of up to writeLimit
// bytes in all.
func (c *Conn) Write(t *trace.Thread) {
	n, errno := 0, unix.Errno(0)
	if c.ref == len(c.Out.Refs) {
		n, errno = c.send(c.Out.Buf[c.sent : c.sent+min(c.Sendable(), writeLimit)])
	} else {
		n, errno = c.writeRefs()
	}
	c.traceWrite(t, n, errno)
	switch {
	case errno == unix.EAGAIN || errno == unix.EINTR:
	case errno != 0:
		c.Lost = true
	default:
		c.advance(n)
		c.NetOut += int64(n)
		c.reuseOutput()
	}
	if t.Detailed() {
		c.showWritten(t, n, errno)
	}
}

// Interject writes a few bytes ahead of an output of which nothing is written yet. They get lost if the socket is full.
func (c *Conn) Interject(text string) {
	n, errno := c.send([]byte(text))
	switch {
	case errno == unix.EAGAIN || errno == unix.EINTR:
		if c.TLS != nil {
			c.TLS.owed = 0 // they are no part of the output
		}
	case errno != 0:
		c.Lost = true
	default:
		c.NetOut += int64(n)
	}
}

// maxPieces is the number of pieces that one writev(2) gets.
const maxPieces = 32

// writeRefs writes output that is only in part in Out.Buf.
func (c *Conn) writeRefs() (int, unix.Errno) {
	var pieces [maxPieces][]byte
	n, left := 0, refsLimit
	if c.TLS != nil {
		left = writeLimit
	}
	add := func(p []byte) {
		if len(p) > 0 && left > 0 && n < maxPieces {
			pieces[n] = p[:min(len(p), left)]
			left -= len(p)
			n++
		}
	}
	from := c.sent
	for _, r := range c.Out.Refs[c.ref:] {
		if left <= 0 || n == maxPieces {
			break
		}
		add(c.Out.Buf[from:r.At])
		add(r.Bytes)
		from = r.At
	}
	if last := len(c.Out.Refs) - 1; from == c.Out.Refs[last].At {
		add(c.Out.Buf[from:])
	}
	return c.sendAll(pieces[:n])
}

// advance notes that the next n bytes are written (networking.c: _writevToClient). References to written bytes
// are dropped, so that the collector can free the bytes.
func (c *Conn) advance(n int) {
	for ; n > 0 && c.ref < len(c.Out.Refs); c.ref++ {
		r := &c.Out.Refs[c.ref]
		head := min(n, r.At-c.sent)
		c.sent += head
		body := min(n-head, len(r.Bytes))
		r.Bytes = r.Bytes[body:]
		c.Out.RefLen -= body
		n -= head + body
		if c.sent < r.At || len(r.Bytes) > 0 {
			return
		}
		r.Bytes = nil
	}
	c.sent += n
}

// reuseOutput empties the output buffer once all of it is written. Behind a barrier it must not:
// the barrier is an offset in the buffer.
func (c *Conn) reuseOutput() {
	if !c.Drained() {
		return
	}
	c.sent, c.ref = 0, 0
	c.Out.Buf, c.Out.Refs = c.Out.Buf[:0], c.Out.Refs[:0]
	if cap(c.Out.Buf) > keepOutput {
		c.Out.Buf = nil
	}
	if cap(c.Out.Refs) > keepRefs {
		c.Out.Refs = nil
	}
}

// traceWrite records a write of n bytes, or one that failed. If nothing is left to write, it also records which
// request was the last to be answered.
func (c *Conn) traceWrite(t *trace.Thread, n int, errno unix.Errno) {
	if t == nil {
		return
	}
	through := int64(0)
	if n == c.Unsent() {
		through = c.Answered
	}
	t.Lap(trace.Write, c.ID, through, moved(n, errno))
	if t.Traces() && n < c.Unsent() {
		t.Unfinished()
	}
}

// moved is the result of a read or a write as a trace has it: bytes, or a negative errno.
func moved(n int, errno unix.Errno) int {
	if errno != 0 {
		return -int(errno)
	}
	return max(n, 0)
}

// Package ioworkers is the half of a client that a thread other than main may
// touch: a socket, the bytes read from it, the arguments found in them, and the
// bytes to be written; and the pool of threads that this half is lent to.
//
//	main                               io_thd_1            io_thd_2
//	 │ lend buffers                     │ asleep            │ asleep
//	 │ share out, ring ─ *Conn 0,2,4 ──>│                   │
//	 │               └── *Conn 1,3,5 ───┼──────────────────>│
//	 │ asleep                           │ Conn.Read 0,2,4:  │ Conn.Read 1,3,5:
//	 │                                  │ read(2), parse    │ read(2), parse
//	 │<─────── join: the last one rings ┴───────────────────┤
//	 │                                  │ asleep            │ asleep
//	 │ execute every command: Conn.Next, one client after another
//	 │                                  │                   │
//	 │ share out, ring ─ *Conn ... ────>│                   │
//	 │               └── *Conn ... ─────┼──────────────────>│
//	 │ asleep                           │ Conn.Write:       │ Conn.Write:
//	 │                                  │ write(2)          │ write(2)
//	 │<─────── join: the last one rings ┴───────────────────┤
//	 │ close what is to be closed       │ asleep            │ asleep
//
// A Conn belongs to main, and to one thread from the ring to the join. It leads
// nowhere: no callback, no map, no session, nothing of the keyspace can be reached
// from it, nor from what a thread is started with. A thread that finds a protocol
// error, the end of the input or a lost connection notes it; main answers, closes
// and counts, when all threads are back. So commands need no locks, and neither do
// connections: at any time, one thread has each.
//
// That is Redis's model of 6.0 to 7.4. There a readable client is put on a list
// instead of being read (networking.c: postponeClientRead); before the loop sleeps,
// main deals the list out and waits until all of it is read
// (handleClientsWithPendingReadsUsingThreads, ...WritesUsingThreads). The threads
// only write unless io-threads-do-reads is on.
//
// What Redis does differently: its threads get the whole client (IOThreadMain), a
// global says what they are allowed to do with it right now, and they answer
// protocol errors themselves. They parse one command of a client and leave the
// others in its buffer to main; here they parse all. And they spin: a million
// looks for work, and on a mutex when they are sent to bed, while main spins until
// the last one is done, so that threads without cores of their own take turns at
// waiting for each other. Here who waits sleeps in the kernel after a few looks
// (see bell), and threads without work use no processor at all.
//
// Redis's main is one of its I/O threads and does a part of the work. Here it is not:
// what the threads are for is main's processor time, of which there is no second
// helping, and its own part was most of what was left of it. For the same reason as
// many threads are woken as there are eights of clients, not all or none, and a pass
// with fewer waits a moment for more (server: gather). Measured on two cores with
// 50 connections at pipeline 1 (bench/report), main's time for a request is under
// half of what it is without threads; with a part for main, all threads for every
// pass and no waiting it was four fifths.
//
// Left out is what valkey 8 does: handing single clients to threads through rings,
// and going on executing while they work. It saves main the wait at the join, which
// is time and not processor, and helps where cores are idle meanwhile. It would cost
// the picture above, in which whatever main looks at is its own.
package ioworkers

import (
	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/resp"
	"golang.org/x/sys/unix"
)

const (
	// readChunk and writeLimit bound what one connection may move in a pass, so
	// that a busy one does not starve the others
	// (server.h: PROTO_IOBUF_LEN, NET_MAX_WRITES_PER_EVENT).
	readChunk  = 16 << 10
	writeLimit = 64 << 10

	// keepOutput is the size up to which an output buffer is used again.
	keepOutput = 256 << 10
)

// Conn is one connection's socket and bytes.
type Conn struct {
	FD     int
	ID     int64 // of the client
	Parser resp.Parser

	in     *input // nil while nothing is buffered
	Out    []byte // replies that are not written yet, behind what sent counts
	sent   int    // bytes of Out that are written
	NetIn  int64  // bytes read, until somebody counts them and sets it to 0
	NetOut int64  // bytes written, in the same way

	// For the trace: the number of the last request that was parsed, and of the last whose
	// reply is all in Out.
	parsed   int64
	Answered int64

	// What ended reading: Wrong is to be answered, ReadErr is the system's, EOF tells
	// that the other side has stopped sending. Lost tells that writing failed.
	Wrong   resp.ErrProtocol
	ReadErr unix.Errno
	EOF     bool
	Lost    bool
}

// input is what reading needs. Connections that wait for their client have none.
type input struct {
	buf   []byte // read and not yet given back
	taken int    // bytes of buf whose commands are in batch
	batch resp.Batch
	next  int // command of batch to be executed next
}

func (in *input) mem() int { return cap(in.buf) + in.batch.Mem() }

// Read takes what the socket has, up to readChunk, and parses every command that
// is complete. The Conn must have been lent its input.
func (c *Conn) Read(t *trace.Thread) {
	in := c.in
	in.compact()
	in.makeRoom(c.Parser.Needs())
	n, errno := read(c.FD, in.room(c.Parser.Needs()))
	t.Lap(trace.Read, c.ID, 0, max(n, 0))
	switch {
	case errno == unix.EAGAIN || errno == unix.EINTR:
		return
	case errno != 0:
		c.ReadErr = errno
		return
	case n == 0:
		c.EOF = true
		return
	}
	in.buf = in.buf[:len(in.buf)+n]
	c.NetIn += int64(n)
	c.Parse(t)
	if needs := c.Parser.Needs(); in.taken+needs > cap(in.buf) {
		in.makeRoom(needs) // now, as Redis, so that it counts at once
	}
}

// Parse looks for further commands in what was read before. Read calls it; main
// does again when the commands before have been executed and the parser's limits
// may have changed by that.
func (c *Conn) Parse(t *trace.Thread) {
	in := c.in
	if in == nil || c.Wrong != "" {
		return
	}
	in.compact()
	before := in.batch.Len()
	n, err := c.Parser.Parse(in.buf[in.taken:], &in.batch)
	in.taken += n
	found := in.batch.Len() - before
	c.parsed += int64(found)
	t.Lap(trace.Parse, c.ID, c.parsed, found)
	if err != nil {
		c.Wrong = err.(resp.ErrProtocol) // Parse returns no other
	}
}

// Next returns the arguments of the next command to be executed; nil when there
// is none. They are good until the next Read.
func (c *Conn) Next() [][]byte {
	in := c.in
	if in == nil || in.next == in.batch.Len() {
		return nil
	}
	in.next++
	return in.batch.Args(in.next - 1)
}

// AppendRequests appends the commands of at least two words that are waiting to
// be executed, as far as requests has room for.
func (c *Conn) AppendRequests(requests [][][]byte) [][][]byte {
	in := c.in
	if in == nil {
		return requests
	}
	for i := in.next; i < in.batch.Len() && len(requests) < cap(requests); i++ {
		if args := in.batch.Args(i); len(args) > 1 {
			requests = append(requests, args)
		}
	}
	return requests
}

// Unread takes the last Next back: the command has to wait.
func (c *Conn) Unread() { c.in.next-- }

// Buffered is the bytes held in the input: room, and those that are not executed.
func (c *Conn) Buffered() (room, used int) {
	if c.in == nil {
		return 0, 0
	}
	return cap(c.in.buf) + c.Parser.Mem(), len(c.in.buf) - c.in.taken
}

// Mem is the bytes of the buffers of the connection, when its output has so much room.
func (c *Conn) Mem(room int) int {
	if c.in == nil {
		return room + c.Parser.Mem()
	}
	return max(room, ReplyRoom) + c.Parser.Mem() + c.in.mem()
}

// Query is what CLIENT LIST shows of the input: the bytes in the buffer, the room behind them,
// and the bytes of the arguments that have arrived of a command that has not yet. These are
// in the buffer; Redis takes each out of it (networking.c: processMultibulkBuffer).
func (c *Conn) Query() (used, free, args int) {
	in := c.in
	if in == nil {
		return 0, 0, 0
	}
	used, free = len(in.buf), cap(in.buf)-len(in.buf)
	if in.taken > 0 { // commands are being executed
		return used, free, 0
	}
	args, at := c.Parser.Arrived()
	return used - at, free, args
}

// Unsent is the bytes of output that are waiting to be written.
func (c *Conn) Unsent() int { return len(c.Out) - c.sent }

// Write writes up to writeLimit bytes. What is left stays for the next call.
func (c *Conn) Write(t *trace.Thread) {
	n, errno := write(c.FD, c.Out[c.sent:min(len(c.Out), c.sent+writeLimit)])
	c.traceWrite(t, n)
	switch {
	case errno == unix.EAGAIN || errno == unix.EINTR:
		return
	case errno != 0:
		c.Lost = true
		return
	}
	c.sent += n
	c.NetOut += int64(n)
	if c.sent < len(c.Out) {
		return
	}
	c.sent = 0
	c.Out = c.Out[:0]
	if cap(c.Out) > keepOutput {
		c.Out = nil
	}
}

// traceWrite tells which requests are answered once the last byte of output is out.
func (c *Conn) traceWrite(t *trace.Thread, n int) {
	if t == nil {
		return
	}
	through := int64(0)
	if n == c.Unsent() {
		through = c.Answered
	}
	t.Lap(trace.Write, c.ID, through, max(n, 0))
}

// compact drops the bytes whose commands have been executed.
func (in *input) compact() {
	if in.next < in.batch.Len() || in.taken == 0 { // all of it may be one command, and long
		return
	}
	rest := copy(in.buf, in.buf[in.taken:])
	in.buf, in.taken, in.next = in.buf[:rest], 0, 0
	in.batch.Reset()
}

// trusted is how many bytes of room a client gets for each that it has sent, of a command
// whose length it has announced: an announcement alone costs it no more than a few bytes.
const trusted = 32

// makeRoom makes room for the next read, unless there is enough for it or for the command.
func (in *input) makeRoom(needs int) {
	free := cap(in.buf) - len(in.buf)
	if free >= readChunk/4 {
		return
	}
	if end := in.taken + needs; free == 0 || end <= len(in.buf) || end > cap(in.buf) {
		in.grow(needs)
	}
}

// room is where the next read goes: the rest of a large command, or at most readChunk. A buffer that
// has grown must not let its client send more commands in a pass than others.
func (in *input) room(needs int) []byte {
	room := in.buf[len(in.buf):cap(in.buf)]
	return room[:min(len(room), max(readChunk, in.taken+needs-len(in.buf)))]
}

// grow makes room for another readChunk. For a large command it makes exactly the room that the
// command needs (networking.c: processMultibulkBuffer), as far as the client is trusted. Otherwise,
// and where that would be a small growth, it doubles the room.
func (in *input) grow(needs int) {
	now := cap(in.buf)
	room := max(2*now, len(in.buf)+readChunk)
	if end := in.taken + needs; end-now > now/8 && (end <= room || end/trusted <= len(in.buf)) {
		room = end
	}
	bigger := make([]byte, len(in.buf), room)
	copy(bigger, in.buf)
	in.buf = bigger
}

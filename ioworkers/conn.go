// Package ioworkers is the half of a client that an I/O thread may borrow, and the pool of threads
// that borrow it. That half is a socket, the bytes read from it, the arguments found in those
// bytes, and the bytes to write.
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
// # Who owns a connection
//
// A Conn belongs to one thread from the ring to the join, and to main at any other time. So neither
// commands nor connections need locks.
//
// A Conn leads nowhere: it holds no callback, no map, no session and nothing of the keyspace. The
// same is true of everything that a thread is started with. internal/test/archtest proves both. A
// thread that meets a protocol error, the end of the input or a lost connection only notes it in
// the Conn. Main answers, closes and counts after the join.
//
// The reply to a large string is not copied into the output: the Conn refers to the stored bytes
// (resp.Ref). A thread that writes them sees bytes and no key. Main changes nothing meanwhile. Later
// it does not change these bytes either: store.Key.Lend says how.
//
// # What Redis does
//
// This is Redis's model from 6.0 to 7.2. A readable client goes on a list instead of being read at
// once (networking.c: postponeClientRead). Before the loop sleeps, main deals the list out and
// waits until all of it is read (handleClientsWithPendingReadsUsingThreads,
// handleClientsWithPendingWritesUsingThreads). The threads only write unless io-threads-do-reads
// is on.
//
// Four things differ:
//
//   - Redis's threads get the whole client, and a global says what they may do with it
//     (IOThreadMain). They answer protocol errors themselves.
//   - Redis's threads parse one command of each client and leave the rest to main. Here they parse
//     all complete commands.
//   - Redis's threads spin while they wait, and so does main. On a machine without a core for each,
//     they take processor time from one another. Here a waiting thread sleeps: see bell.
//   - Redis's main reads and writes a share of the sockets. Here it does not, because the threads
//     are there to save main's processor time. Here one thread is woken for every eight
//     connections, not all or none. A pass with fewer clients waits a moment for more
//     (server: gather).
//
// Measured on two cores with 50 connections at pipeline 1 (bench/report): main's processor time for
// a request is less than half of what it is without threads. With a share for main, all threads
// woken in every pass and no waiting, it was four fifths.
//
// Left out is Valkey 8's way: main hands single clients to threads through ring buffers and continues
// executing. That saves main the wait at the join. It saves time but no processor time, and it helps
// where cores are idle. It would cost the picture above, where main only looks at what it owns.
//
// # TLS
//
// A connection with TLS has a [TLS] between its Conn and its socket. Conn.Read and Conn.Write go through
// receive and send, which look for it. Nothing else here or in main knows of it, and a connection without
// TLS pays one comparison. Redis has a table of functions for each kind of connection instead
// (connection.h: ConnectionType). The comment of TLS has the picture, and server/tls.go the handshake.
package ioworkers

import (
	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/resp"
)

const (
	// readChunk and writeLimit bound the bytes that one connection moves in a pass, so that a busy
	// connection does not starve the others (server.h: PROTO_IOBUF_LEN, NET_MAX_WRITES_PER_EVENT).
	readChunk  = 16 << 10
	largeChunk = 4 * readChunk // room for one large command
	mostChunk  = 8 * readChunk // room for several large commands
	writeLimit = 64 << 10

	// refsLimit is the limit of a write that has references: the value of a few large requests. Redis has
	// no limit there, because a large value is one block (networking.c: _writevToClient). With TLS writeLimit
	// counts, because each byte takes time to encrypt.
	refsLimit = 256 << 10

	megabyte = 1 << 20

	// keepOutput and keepRefs are the size of the largest output buffer that is used again.
	keepOutput = 256 << 10
	keepRefs   = 64
)

// Conn is the socket of one connection and its bytes in both directions.
type Conn struct {
	FD     int
	ID     int64 // the client's id
	TLS    *TLS  // nil for a connection without TLS
	Parser resp.Parser

	in     *input      // nil while nothing is buffered
	large  int         // bytes of the last command that kept the input buffer; the next one may be as long
	last   int         // bytes of the last command if it came alone and was longer than readChunk, else 0
	Out    resp.Writer // replies and messages
	sent   int         // bytes of Out.Buf that are already written
	ref    int         // the first of Out.Refs that is not yet written
	NetIn  int64       // bytes read since main last counted them
	NetOut int64       // bytes written since main last counted them

	barrier int  // while barred: the offset in Out.Buf up to which Write may send
	barred  bool // main has set a barrier

	// For the trace. Requests of a connection are numbered from 1.
	parsed   int64 // the last request that was parsed
	Answered int64 // the last request whose reply is complete in Out

	// Why the connection ends. Threads set these, main acts on them.
	Wrong   resp.ErrProtocol // the client broke the protocol: main replies with this
	ReadErr unix.Errno       // read(2) failed
	EOF     bool             // the other side has stopped sending
	Lost    bool             // write(2) failed
}

// input is the memory that reading needs. An idle connection has none.
type input struct {
	buf   []byte // bytes read, from the first command that is not yet dropped
	taken int    // bytes of buf whose commands are in batch
	batch resp.Batch
	next  int // the command of batch to execute next
}

func (in *input) mem() int { return cap(in.buf) + in.batch.Mem() }

// Read does one read(2) and parses every complete command (networking.c: readQueryFromClient). It reads at
// most readChunk bytes. Within a large command it reads the rest, or mostChunk. After a large command it
// reads mostChunk, too: the next command may be as long, and one read(2) is cheaper than two. Pool.Lend must
// have given the Conn an input.
func (c *Conn) Read(t *trace.Thread) {
	in := c.in
	in.compact()
	in.makeRoom(c.Parser.Needs())
	n, errno := c.receive()
	t.Lap(trace.Read, c.ID, int64(c.FD), moved(n, errno))
	if n > 0 {
		in.buf = in.buf[:len(in.buf)+n]
		c.NetIn += int64(n)
	}
	if t.Detailed() {
		c.showRead(t, n, errno)
	}
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
	c.Parse(t)
	if needs := c.Parser.Needs(); needs > cap(in.buf) {
		in.makeRoom(needs) // now, as in Redis, so that limits count the room at once
	}
}

// needs returns the length that the command at the end of the input has, or may have: 0 if unknown.
func (c *Conn) needs() int {
	if len(c.in.buf) == c.in.taken {
		return min(c.last, mostChunk)
	}
	return c.Parser.Needs()
}

// Parse looks for further commands in the bytes that are already read (networking.c: processInputBuffer). Read
// calls it. Main calls it again after executing commands, because they may have changed the parser's limits.
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
	if found > 0 {
		c.last = 0
		if found == 1 && n > readChunk {
			c.last = n
		}
	}
	c.parsed += int64(found)
	t.Lap(trace.Parse, c.ID, c.parsed, found)
	if t.Traces() && in.taken < len(in.buf) {
		t.Unfinished()
	}
	if err != nil {
		c.Wrong = err.(resp.ErrProtocol) // Parse returns no other
	}
	if t.Detailed() {
		c.showParsed(t, found)
	}
}

// Next returns the arguments of the next command to execute, or nil after the last one. They are
// valid until the next Read.
func (c *Conn) Next() [][]byte {
	in := c.in
	if in == nil || in.next == in.batch.Len() {
		return nil
	}
	in.next++
	return in.batch.Args(in.next - 1)
}

// AppendRequests appends the commands of at least two words that wait to be executed. It stops when
// requests is full.
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

// Unread undoes the last Next, because the command has to wait.
func (c *Conn) Unread() { c.in.next-- }

// Buffered returns the size of the input buffer, and how many bytes in it are not parsed yet.
func (c *Conn) Buffered() (room, used int) {
	if c.in == nil {
		return 0, 0
	}
	return cap(c.in.buf) + c.Parser.Mem(), len(c.in.buf) - c.in.taken
}

// Mem returns the bytes of the connection's buffers.
func (c *Conn) Mem() int {
	room := c.OutputRoom()
	if c.in == nil {
		return room + c.Parser.Mem()
	}
	return max(room, ReplyRoom) + c.Parser.Mem() + c.in.mem()
}

// Query returns what CLIENT LIST shows of the input, in bytes: qbuf, qbuf-free and argv-mem. args
// counts the arguments that have arrived of a command that is not complete. They are still in the
// buffer here. Redis moves each out of it (networking.c: processMultibulkBuffer).
func (c *Conn) Query() (used, free, args int) {
	in := c.in
	if in == nil {
		return 0, 0, 0
	}
	used, free = len(in.buf), cap(in.buf)-len(in.buf)
	if in.taken > 0 { // the pass executes commands of this input
		return used, free, 0
	}
	args, at := c.Parser.Arrived()
	return used - at, free, args
}

// compact drops the bytes of executed commands from the front of the buffer (networking.c:
// processInputBuffer).
func (in *input) compact() {
	if in.next < in.batch.Len() || in.taken == 0 { // with nothing taken, do not copy a long command onto itself
		return
	}
	if rest := in.buf[in.taken:]; len(in.buf) == largeChunk && cap(in.buf) == largeChunk {
		in.buf = append(make([]byte, 0, mostChunk), rest...) // for a pipeline of large commands
	} else {
		in.buf = in.buf[:copy(in.buf, rest)]
	}
	in.taken, in.next = 0, 0
	in.batch.Reset()
}

// trusted is how many bytes of room a client gets for each byte that it has sent of a command with
// an announced length. A client announces a length with a few bytes, so an announcement alone must
// not reserve memory. Until the client has sent enough, the buffer doubles, and each copy holds other clients up: the
// last one is of 4 MB, for an argument of 512 MB.
const trusted = 128

// makeRoom makes room for the next read, unless the buffer has room for it or for the whole command
// (networking.c: readQueryFromClient). needs is the length of the command that is still arriving, 0 if
// unknown.
func (in *input) makeRoom(needs int) {
	free := cap(in.buf) - len(in.buf)
	if free >= readChunk/4 {
		return
	}
	if end := in.taken + needs; free == 0 || end <= len(in.buf) || end > cap(in.buf) {
		in.grow(needs)
	}
}

// room is where the next read goes (networking.c: readQueryFromClient): the rest of a large command, or a
// chunk. A buffer that has grown must not let its client send many more commands in a pass than others. Large
// commands are few, so a chunk may be larger while one of them arrives.
func (in *input) room(needs int) []byte {
	room, chunk := in.buf[len(in.buf):cap(in.buf)], readChunk
	if needs > readChunk/4 {
		chunk = mostChunk
	}
	return room[:min(len(room), max(chunk, in.taken+needs-len(in.buf)))]
}

// grow makes room for another readChunk. For a large command of a trusted client it makes exactly
// the room that the command needs (networking.c: processMultibulkBuffer), or a largeChunk if that is
// enough. Otherwise it doubles the room. A large argument gets room to grow, because it may become a
// value: the first APPEND would otherwise copy all of it, and the value's memory could not become the
// buffer of the next command, whose value begins a few bytes later.
func (in *input) grow(needs int) {
	now := cap(in.buf)
	room := max(2*now, len(in.buf)+readChunk)
	end := in.taken + needs
	switch fair := end <= room || end/trusted <= len(in.buf); {
	case fair && needs > readChunk/4 && end <= largeChunk/2:
		room = largeChunk
	case fair && end-now > now/8:
		room = end
		if end >= largeArg {
			room += min(end/64+spareKeys, megabyte)
		}
	}
	bigger := make([]byte, len(in.buf), room)
	copy(bigger, in.buf)
	in.buf = bigger
}

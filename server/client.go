package server

import (
	"slices"

	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/ioworkers"
	"github.com/miniredisd/miniredisd/reactor"
)

// client is a connection and its session: the only place where the two meet.
//
// A client is in one of these states. Session.Hold, CloseAfterReply and closed say which.
//
//	state         said by                    its input                 its output      ends with
//	normal        Hold = NotHeld             read and executed         written
//	postponed     Hold = Postponed           watched for hang-up       written         unpause
//	blocked       Hold = Blocked             watched for hang-up       written         Executor.Unblock
//	stopped       Hold = Stopped             watched for hang-up       written         release
//	last reply    CloseAfterReply            not read                  written         close
//	closed        closed, Server.closing     not read                  not written     free
//
// These come on top of a state:
//
//	full          the socket takes no more: replyHandler goes on writing
//	barred        Conn.Bar: output behind the barrier is not written yet
//	protected     its script runs while others are served: neither read nor written
//	muted         neither read nor written, and nothing of it is executed
//	withheld      not written yet
//
// The lists that a pass works through are marked as well: pendingRead is for Server.pendingReads,
// pendingWrite for Server.pendingWrites.
type client struct {
	ioworkers.Conn
	sess command.Session

	LAddr         string // the address of the server's side
	unix          bool
	created       int64 // monotonic ns
	active        int64 // monotonic ns of the last request
	netIn         int64 // bytes that countTraffic has counted
	CountedNetOut int64

	weight int   // the bytes that it held when it was last weighed
	place  place // its place among the clients that may be evicted

	softSince int64   // monotonic ns since which its output is above the soft limit, 0 if it is not
	delayed   delayed // messages that are not in its output yet

	readable func()           // readHandler for this client, made once
	timer    *reactor.Timer   // ends the wait of a blocked client; nil for no timeout
	ending   ending           // how its socket is closed
	internal *internalRequest // set if this is a request without a connection
	counts   *counting        // another way to count its output; nil for none
	known    []attachment     // what parts know of it

	pendingRead  bool
	pendingWrite bool
	full         bool
	protected    bool
	closed       bool
	muted        bool
	withheld     bool
}

// stopped reports whether nothing of c may be executed now.
func (c *client) stopped() bool { return c.sess.Hold != command.NotHeld || c.muted }

// attachment is what a part knows of a client. Its key has a type of the part's own, as in package context.
type attachment struct{ key, value any }

// attached returns what a part has attached to c, nil for nothing.
func (c *client) attached(key any) any {
	for _, a := range c.known {
		if a.key == key {
			return a.value
		}
	}
	return nil
}

// attach keeps what a part knows of c. A part attaches one value.
func (c *client) attach(key, value any) { c.known = append(c.known, attachment{key, value}) }

// counting says how the output of a client counts that is fed from elsewhere.
type counting struct {
	outputMem  func() int   // bytes, as client.outputMem has them
	leastLimit func() int64 // bytes: no hard limit of its output is smaller
}

// delayed counts the messages to a client that a timer adds to its output later.
type delayed struct{ messages, bytes int }

// outputMem returns the bytes of output that the limits count
// (networking.c: getClientOutputBufferMemoryUsage).
func (c *client) outputMem() int {
	if c.counts != nil {
		return c.counts.outputMem()
	}
	return c.Unsent() + c.delayed.bytes
}

// ending is how a socket is closed.
type ending uint8

const (
	plainEnd ending = iota
	finEnd          // as plainEnd, but never by a reset: what the client sent is read first
	resetEnd        // by a reset
	keptOpen        // not at all: the socket has another owner
)

// close closes fd. The kernel turns a close into a reset if bytes are left that nobody has read.
func (e ending) close(fd int) {
	switch e {
	case keptOpen:
		return
	case resetEnd:
		_ = unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
	case finEnd:
		var waste [4096]byte
		for range 1024 {
			if n, err := unix.Read(fd, waste[:]); n <= 0 || err != nil {
				break
			}
		}
	}
	_ = unix.Close(fd)
}

// adopt makes a client of a connected socket (networking.c: createClient).
func (s *Server) adopt(fd int, addr, laddr string, isUnix bool) *client {
	s.clients.lastID++
	c := &client{LAddr: laddr, unix: isUnix, created: s.now, active: s.now}
	c.FD, c.ID = fd, s.clients.lastID
	c.Out.MayRefer = s.Ex.Observer == nil
	c.sess = command.Session{
		ID: s.clients.lastID, Index: len(s.clients.order), Addr: addr, Local: isUnix || isLoopback(addr),
		Proto: 2, Name: s.names.take(addr),
	}
	s.Ex.Anonymous(&c.sess)
	c.Parser.Limits.Unauthenticated = s.Ex.MustAuthenticate(&c.sess)
	c.Parser.Limits.MaxBulk = int(s.Cfg.ProtoMaxBulkLen)
	c.readable = func() { s.readHandler(c) }
	if err := s.Loop.Watch(fd, reactor.Readable, c.readable); err != nil {
		s.Log('#', "Error registering fd event for the new client connection: %v", err)
		_ = unix.Close(fd)
		return nil
	}
	s.clients.byID[c.sess.ID] = c
	s.clients.order = append(s.clients.order, c)
	s.clients.weigh(c)
	s.trace.Lap(trace.Accept, c.ID, int64(c.FD), 0)
	for _, fn := range s.Parts.joined {
		fn(c)
	}
	return c
}

// close marks c to be freed at the end of the pass. Its descriptor stays open until then, so that
// no new client of this pass gets the same number (networking.c: freeClientAsync).
func (s *Server) close(c *client) {
	switch {
	case c.internal != nil:
		c.internal.end(errorReply(errDropped))
	case !c.closed:
		c.closed = true
		s.clients.weigh(c)
		s.Ex.Waiters.Remove(&c.sess)
		s.closing = append(s.closing, c)
	}
}

// leave closes c and forgets at once what it listened to, so that PUBLISH no longer counts it in this pass
// (networking.c: unlinkClient, freeClientAsync).
func (s *Server) leave(c *client) {
	s.Ex.Leave(&c.sess)
	s.close(c)
}

// free undoes adopt and takes c out of everything that knows it (networking.c: freeClient).
func (s *Server) free(c *client) {
	s.Loop.Unwatch(c.FD, reactor.Readable|reactor.Writable|reactor.HangUp)
	s.Ex.Gone(&c.sess)
	if c.ending == plainEnd || c.ending == finEnd {
		c.SayGoodbye()
	}
	c.ending.close(c.FD)
	if c.timer != nil {
		s.timers.Cancel(c.timer)
	}
	if c.sess.Hold != command.NotHeld {
		s.held--
		s.pausing.postponed = slices.DeleteFunc(s.pausing.postponed, func(p *client) bool { return p == c })
	}
	s.clients.belowSoftLimit(c)
	s.countTraffic(c)
	s.clients.mem -= c.weight
	c.leaveBucket()
	for _, fn := range s.Parts.left {
		fn(c)
	}
	last := s.clients.order[len(s.clients.order)-1]
	last.sess.Index = c.sess.Index
	s.clients.order[c.sess.Index] = last
	s.clients.order[len(s.clients.order)-1] = nil
	s.clients.order = s.clients.order[:len(s.clients.order)-1]
	delete(s.clients.byID, c.sess.ID)
}

// push appends bytes to c's output that answer nothing: a message, a line of MONITOR, or the reply
// to a command that blocked. A client about to be closed gets none.
func (s *Server) push(c *client, b []byte) {
	if !c.closed && !c.sess.CloseAfterReply {
		s.send(c, b)
	}
	s.grown(c)
}

// pushMessage is push for a message that does not come from the executor, such as a line of MONITOR.
func (s *Server) pushMessage(c *client, message []byte) {
	s.push(c, message)
	if fn := s.Hooks.pushed; fn != nil {
		fn(c, message)
	}
}

// send appends b to c's output and has it written at the end of the pass (networking.c: addReplyProto).
func (s *Server) send(c *client, b []byte) {
	s.pool.LendOutput(&c.Conn)
	c.Out.Buf = append(c.Out.Buf, b...)
	if c.outputMem() > s.Ex.OutputTrigger && s.clients.overOutputLimit(c) {
		return
	}
	s.wantWrite(c)
}

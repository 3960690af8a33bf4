package server

import (
	"slices"

	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/ioworkers"
	"github.com/miniredisd/miniredisd/reactor"
)

// Client is a connection and its session: the only place where the two meet.
//
// A client is in one of these states. Session.Hold, CloseAfterReply and Closed say which.
//
//	state         said by                    its input                 its output      ends with
//	normal        Hold = NotHeld             read and executed         written
//	postponed     Hold = Postponed           watched for hang-up       written         unpause
//	blocked       Hold = Blocked             watched for hang-up       written         Executor.Unblock
//	stopped       Hold = Stopped             watched for hang-up       written         release
//	last reply    CloseAfterReply            not read                  written         close
//	closed        Closed, Server.Closing     not read                  what waits      free
//
// These come on top of a state:
//
//	full          the socket takes no more: replyHandler continues to write
//	barred        Conn.Bar: output behind the barrier is not written yet
//	protected     its script runs while others are served: neither read nor written
//	muted         neither read nor written, and nothing of it is executed
//	withheld      not written yet
//
// The lists that a pass works through are marked as well: PendingRead is for Server.PendingReads,
// pendingWrite for Server.PendingWrites.
type Client struct {
	ioworkers.Conn
	Sess command.Session

	LAddr         string // the address of the server's side
	Unix          bool
	Created       int64 // monotonic ns
	Active        int64 // monotonic ns of the last request
	netIn         int64 // bytes that CountTraffic has counted
	CountedNetOut int64

	weight int   // the bytes that it held when it was last weighed
	place  place // its place among the clients that may be evicted

	softSince int64   // monotonic ns since which its output is above the soft limit, 0 if it is not
	Delayed   delayed // messages that are not in its output yet

	Readable func()           // readHandler for this client, made once
	Timer    *reactor.Timer   // ends the wait of a blocked client; nil for no timeout
	Ending   Ending           // how its socket is closed
	Internal *InternalRequest // set if this is a request without a connection
	Counts   *Counting        // another way to count its output; nil for none
	known    []attachment     // what parts know of it

	PendingRead  bool
	pendingWrite bool
	Full         bool
	Protected    bool
	Closed       bool
	Muted        bool
	Withheld     bool
}

// Stopped reports whether nothing of c may be executed now.
func (c *Client) Stopped() bool { return c.Sess.Hold != command.NotHeld || c.Muted }

// attachment is what a part knows of a client. Its key has a type of the part's own, as in package context.
type attachment struct{ key, value any }

// Attached returns what a part has attached to c, nil for nothing.
func (c *Client) Attached(key any) any {
	for _, a := range c.known {
		if a.key == key {
			return a.value
		}
	}
	return nil
}

// Attach keeps what a part knows of c. A part attaches one value.
func (c *Client) Attach(key, value any) { c.known = append(c.known, attachment{key, value}) }

// Counting says how the output of a client counts that is fed from elsewhere.
type Counting struct {
	OutputMem  func() int   // bytes, as Client.OutputMem has them
	LeastLimit func() int64 // bytes: no hard limit of its output is smaller
}

// delayed counts the messages to a client that a timer adds to its output later.
type delayed struct{ Messages, Bytes int }

// OutputMem returns the bytes of output that the limits count
// (networking.c: getClientOutputBufferMemoryUsage).
func (c *Client) OutputMem() int {
	if c.Counts != nil {
		return c.Counts.OutputMem()
	}
	return c.Unsent() + c.Delayed.Bytes
}

// Ending is how a socket is closed.
type Ending uint8

const (
	PlainEnd Ending = iota // by close(2)
	FinEnd                 // as PlainEnd, but never by a reset: what the client sent is read first
	ResetEnd               // by a reset
	KeptOpen               // not at all: the socket has another owner
)

// Close closes fd. The kernel turns a close into a reset if bytes are left that nobody has read.
func (e Ending) Close(fd int) {
	switch e {
	case KeptOpen:
		return
	case ResetEnd:
		_ = unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
	case FinEnd:
		var waste [4096]byte
		for range 1024 {
			if n, err := unix.Read(fd, waste[:]); n <= 0 || err != nil {
				break
			}
		}
	}
	_ = unix.Close(fd)
}

// Adopt makes a client of a connected socket (networking.c: createClient).
func (s *Server) Adopt(fd int, addr, laddr string, isUnix bool) *Client {
	s.Clients.lastID++
	c := &Client{LAddr: laddr, Unix: isUnix, Created: s.Now, Active: s.Now}
	c.FD, c.ID = fd, s.Clients.lastID
	c.Out.MayRefer = s.Ex.Observer == nil
	c.Sess = command.Session{
		ID: s.Clients.lastID, Index: len(s.Clients.Order), Addr: addr, Local: isUnix || IsLoopback(addr),
		Proto: 2, Name: s.names.take(addr),
	}
	s.Ex.Anonymous(&c.Sess)
	c.Parser.Limits.Unauthenticated = s.Ex.MustAuthenticate(&c.Sess)
	c.Parser.Limits.MaxBulk = int(s.Cfg.ProtoMaxBulkLen)
	c.Readable = func() { s.readHandler(c) }
	if err := s.Loop.Watch(fd, reactor.Readable, c.Readable); err != nil {
		s.Log('#', "Error registering fd event for the new client connection: %v", err)
		_ = unix.Close(fd)
		return nil
	}
	s.Clients.ByID[c.Sess.ID] = c
	s.Clients.Order = append(s.Clients.Order, c)
	s.Clients.Weigh(c)
	s.Trace.Lap(trace.Accept, c.ID, int64(c.FD), 0)
	for _, fn := range s.Parts.joined {
		fn(c)
	}
	return c
}

// CloseClient marks c to be freed at the end of the pass. Its descriptor stays open until then, so that
// no new client of this pass gets the same number (networking.c: freeClientAsync).
func (s *Server) CloseClient(c *Client) {
	switch {
	case c.Internal != nil:
		c.Internal.End(ErrorReply(errDropped))
	case !c.Closed:
		c.Closed = true
		s.Clients.Weigh(c)
		s.Ex.Waiters.Remove(&c.Sess)
		s.Closing = append(s.Closing, c)
	}
}

// Leave closes c and forgets at once what it listened to, so that PUBLISH no longer counts it in this pass
// (networking.c: unlinkClient, freeClientAsync).
func (s *Server) Leave(c *Client) {
	s.Ex.Leave(&c.Sess)
	s.CloseClient(c)
}

// free undoes Adopt and takes c out of everything that knows it (networking.c: freeClient).
func (s *Server) free(c *Client) {
	s.Loop.Unwatch(c.FD, reactor.Readable|reactor.Writable|reactor.HangUp)
	s.Ex.Gone(&c.Sess)
	if c.Ending == PlainEnd || c.Ending == FinEnd {
		c.SayGoodbye()
	}
	c.Ending.Close(c.FD)
	if c.Timer != nil {
		s.Timers.Cancel(c.Timer)
	}
	if c.Sess.Hold != command.NotHeld {
		s.Held--
		s.Pausing.postponed = slices.DeleteFunc(s.Pausing.postponed, func(p *Client) bool { return p == c })
	}
	s.Clients.belowSoftLimit(c)
	s.CountTraffic(c)
	s.Clients.mem -= c.weight
	c.leaveBucket()
	for _, fn := range s.Parts.left {
		fn(c)
	}
	last := s.Clients.Order[len(s.Clients.Order)-1]
	last.Sess.Index = c.Sess.Index
	s.Clients.Order[c.Sess.Index] = last
	s.Clients.Order[len(s.Clients.Order)-1] = nil
	s.Clients.Order = s.Clients.Order[:len(s.Clients.Order)-1]
	delete(s.Clients.ByID, c.Sess.ID)
}

// Push appends bytes to c's output that answer nothing: a message, a line of MONITOR, or the reply
// to a command that blocked. A client about to be closed gets none.
func (s *Server) Push(c *Client, b []byte) {
	if !c.Closed && !c.Sess.CloseAfterReply {
		s.Send(c, b)
	}
	s.grown(c)
}

// PushMessage is Push for a message that does not come from the executor, such as a line of MONITOR.
func (s *Server) PushMessage(c *Client, message []byte) {
	s.Push(c, message)
	if fn := s.Hooks.Pushed; fn != nil {
		fn(c, message)
	}
}

// Send appends b to c's output and has it written at the end of the pass (networking.c: addReplyProto).
func (s *Server) Send(c *Client, b []byte) {
	s.Pool.LendOutput(&c.Conn)
	c.Out.Buf = append(c.Out.Buf, b...)
	if c.OutputMem() > s.Ex.OutputTrigger && s.Clients.OverOutputLimit(c) {
		return
	}
	s.WantWrite(c)
}

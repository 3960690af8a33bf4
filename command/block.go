package command

import (
	"slices"
	"time"
	"unsafe"

	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

// How a command blocks (blocked.c).
//
//	BLPOP q 0, and q does not exist       LPUSH q x
//	  │ blockOn: a Wait, a place in the     │ the keyspace: q exists now (OnNew)
//	  │ queue of q, Session.Hold = Blocked  │   the queue of q joins Waiters.toServe
//	  ▼                                     ▼ Do: the command, EXEC or the script is over
//	 no reply; the server stops            ServeReady: first come, first served
//	 reading, and sets a timer               └─ retry: BLPOP q 0 runs again, as if it
//	                                            came now, and Host.Resume gets its reply
//
// A blocked command simply runs again, under the rules of that moment. It may find another of its
// keys first, it may be refused, and it may block again. It is counted, logged and shown to monitors
// once: only the time of its reply differs from a command that did not wait.

// Wait is the state of a blocked session. It stays with the session for its memory.
type Wait struct {
	Deadline int64 // ns, by Clock.Timeline; 0 for none
	Retry    int64 // when the command may find something although its keys are as they were; 0 for never

	cmd          *Command
	args         [][]byte // a copy of the request: the input buffer is used again
	bytes        []byte   // args point into it
	took         int64    // ns of execution so far
	timeoutReply func(*resp.Writer)

	typ    store.Type // the type that a key must have
	orGone bool       // a deleted key also ends the wait (XREADGROUP)
	places []place
	since  []store.StreamID // the last IDs of streams when $ was read
}

// keepWait is the size up to which the memory of a Wait is used again.
const keepWait = 4 << 10

// block makes the client wait for its reply. After ms milliseconds, if ms is not 0, timeoutReply
// writes the reply.
func (c *Call) block(ms int64, timeoutReply func(*resp.Writer)) *Wait {
	s := c.Sess
	s.Hold = Blocked
	if s.Wait == nil {
		s.Wait = &Wait{}
	}
	w := s.Wait
	w.Retry = 0
	if c.Ex.retrying == w {
		return w // the deadline stays
	}
	w.copyRequest(c.Args)
	w.cmd, w.timeoutReply, w.took, w.Deadline, w.since = c.Cmd, timeoutReply, 0, 0, w.since[:0]
	if ms > 0 {
		w.Deadline = c.Ex.Clock.Timeline(c.Ex.Now.Mono) + ms*int64(time.Millisecond)
	}
	return w
}

// blockOn is block until one of keys holds a value of type typ. With orGone, a key that is deleted
// or gets another type ends the wait as well. The reply after a timeout is null
// (blocked.c: blockForKeys).
func (c *Call) blockOn(typ store.Type, keys [][]byte, ms int64, orGone bool) *Wait {
	w := c.block(ms, (*resp.Writer).NullArray)
	w.typ, w.orGone = typ, orGone
	w.places = slices.Grow(w.places[:0], len(keys)) // places do not move
	for _, key := range keys {
		c.Ex.Waiters.enqueue(c.Sess, c.DB.ID, key)
	}
	return w
}

// Await blocks the client until the server calls Executor.Answer. CLIENT UNBLOCK also ends the wait:
// then timeoutReply writes the reply.
func (c *Call) Await(timeoutReply func(*resp.Writer)) { c.block(0, timeoutReply) }

// AwaitFor is Await that ends after ms milliseconds, unless ms is 0.
func (c *Call) AwaitFor(ms int64, timeoutReply func(*resp.Writer)) { c.block(ms, timeoutReply) }

// mayBlock reports whether the command may block. Inside EXEC and scripts a wait ends at once, as if
// its timeout had passed.
func (c *Call) mayBlock() bool { return c.Ex.Depth == 0 }

func (w *Wait) copyRequest(args [][]byte) {
	size := 0
	for _, arg := range args {
		size += len(arg)
	}
	if cap(w.bytes)+memArg*cap(w.args) > keepWait {
		w.args, w.bytes = nil, nil
	}
	w.args, w.bytes = w.args[:0], slices.Grow(w.bytes[:0], size)
	for _, arg := range args {
		from := len(w.bytes)
		w.bytes = append(w.bytes, arg...)
		w.args = append(w.args, w.bytes[from:len(w.bytes):len(w.bytes)])
	}
}

// The sizes of the elements of the slices that a session keeps, in bytes.
const (
	memArg      = int(unsafe.Sizeof([]byte(nil)))
	memPlace    = int(unsafe.Sizeof(place{}))
	memStreamID = int(unsafe.Sizeof(store.StreamID{}))
)

// On returns the first key that the wait is for, "" if it is for something else.
func (w *Wait) On() string {
	if len(w.places) == 0 || w.places[0].in == nil {
		return ""
	}
	return w.places[0].in.key
}

// Mem estimates the bytes that a wait takes.
func (w *Wait) Mem() int {
	if w == nil {
		return 0
	}
	return cap(w.bytes) + memArg*cap(w.args) + memPlace*cap(w.places) + memStreamID*cap(w.since)
}

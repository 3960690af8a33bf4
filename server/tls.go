package server

import (
	"container/list"
	"time"

	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/ioworkers"
	"github.com/miniredisd/miniredisd/reactor"
)

// TLS stands between accept and adopt. A connection becomes a client once its handshake is over:
//
//	loop       accept ─ shake ─> silent ─ hello ─> giveTurns ┐   ┌─ waits ─> giveTurns ┐   ┌─ shaken ─ adopt
//	goroutine                                                └───┘                     └───┘
//	                                                         Handshake computes, and asks the loop to wait
//
// Redis does a handshake in its event loop, one step whenever the socket is ready (tls.c: connTLSAccept).
// OpenSSL returns to the loop where it would wait. The handshake of crypto/tls waits where it is, so it has a
// goroutine. This goroutine stands still while the loop waits for the socket. All other clients go on while
// it computes a signature, which takes longer than a hundred requests.
//
// The loop gives out few turns at a time, so that it always finds a processor free (turnLimit). A goroutine
// reaches the socket only while it has a turn. So the loop closes a socket at any other time, and a handshake
// needs no second descriptor.
//
// A handshake has one of the places that maxclients counts, but it holds this place only until somebody else
// needs it (takePlace). So connections that never finish a handshake keep nobody out.
//
// Another way is a goroutine for the life of each connection, which copies between crypto/tls and a pair
// of sockets. The server would need no change at all. But each request would cross the kernel twice as
// often and switch goroutines twice, with three descriptors for a connection. The pair would also hide
// what the lab needs to see: resets, half-closed connections, and sockets without room. docs/tls.md has
// figures.
type handshake struct {
	fd          int // -1 once it is closed
	addr, laddr string
	tls         *ioworkers.TLS
	timer       *reactor.Timer
	place       *list.Element // in silent or begun
	had         int           // turns
	goOn        chan bool     // ends a wait of the goroutine: true gives it a turn, false ends it; nil without one
	gone        bool          // given up
	ending      Ending        // how its socket is closed then
}

// handshakeLimit bounds a handshake, unless the directive timeout is shorter. Redis has only the latter.
const handshakeLimit = 10 * time.Second

func (hs *handshakes) longest() time.Duration {
	if limit := time.Duration(hs.s.Cfg.Timeout) * time.Second; 0 < limit && limit < handshakeLimit {
		return limit
	}
	return handshakeLimit
}

// shake waits for the first bytes of a new connection.
func (hs *handshakes) shake(fd int, from unix.Sockaddr) {
	local, _ := unix.Getsockname(fd)
	h := &handshake{fd: fd, addr: AddrString(from), laddr: AddrString(local)}
	hs.s.Log('-', "Accepted %s", h.addr)
	if err := hs.s.Loop.Watch(fd, reactor.Readable, func() { hs.hello(h) }); err != nil {
		hs.s.Log('#', "Accepting client connection: %v", err)
		_ = unix.Close(fd)
		return
	}
	h.place = hs.silent.PushBack(h)
	h.timer = hs.s.Loop.After(hs.longest(), func() time.Duration { return hs.tooLong(h) })
}

// hello begins a handshake: the client has sent something, or has gone.
func (hs *handshakes) hello(h *handshake) {
	hs.s.Loop.Unwatch(h.fd, reactor.Readable)
	hs.silent.Remove(h.place)
	h.place = hs.begun.PushBack(h)
	hs.wantTurn(h)
}

// waits follows up on a turn at whose end the handshake has to wait for its client.
func (hs *handshakes) waits(h *handshake, room bool) {
	hs.endTurn(h)
	if h.gone {
		hs.hangUp(h)
		return
	}
	event := reactor.Readable
	if room {
		event = reactor.Writable
	}
	err := hs.s.Loop.Watch(h.fd, event, func() {
		hs.s.Loop.Unwatch(h.fd, event)
		hs.wantTurn(h)
	})
	if err != nil {
		hs.giveUp(h, PlainEnd)
		hs.logFailure(h, ReasonOf(err))
	}
}

// shaken makes a client of a connection whose handshake is over (networking.c: clientAcceptHandler). The
// client may have sent requests after it, which nothing would report again.
func (hs *handshakes) shaken(h *handshake, err error) {
	hs.endTurn(h)
	if h.gone {
		hs.hangUp(h)
		return
	}
	hs.leavePlace(h)
	if err != nil {
		hs.hangUp(h)
		hs.logFailure(h, ReasonOf(err))
		return
	}
	if c := hs.s.Listeners.welcome(h.fd, h.addr, h.laddr, h.tls); c != nil {
		hs.s.readHandler(c)
	}
}

// tooLong ends a handshake whose time is over. It is a timer.
func (hs *handshakes) tooLong(h *handshake) (again time.Duration) {
	if hs.turns[h] {
		return time.Millisecond
	}
	hs.giveUp(h, PlainEnd)
	hs.logFailure(h, "the handshake took too long")
	return 0
}

// loggedFailures is how many failed handshakes of a second have a line in the log. Redis logs all of them.
const loggedFailures = 10

// logFailure logs that a handshake has failed. A line at the end of the second counts those without a line.
func (hs *handshakes) logFailure(h *handshake, why string) {
	failed := &hs.failed
	if *failed++; *failed == 1 {
		hs.s.Loop.After(time.Second, hs.sumUpFailures)
	}
	if *failed <= loggedFailures {
		hs.s.Log('#', "Error accepting a client connection: %s (addr=%s laddr=%s)", why, h.addr, h.laddr)
	}
}

func (hs *handshakes) sumUpFailures() (again time.Duration) {
	if more := hs.failed - loggedFailures; more > 0 {
		hs.s.Log('#', "Error accepting a client connection: %d more handshakes have failed", more)
	}
	hs.failed = 0
	return 0
}

package server

import (
	"context"
	"errors"
	"time"

	"github.com/miniredisd/miniredisd/ioworkers"
	"golang.org/x/sys/unix"
)

// TLS stands between accept and adopt. A connection becomes a client once its handshake is over:
//
//	loop        accept ─ shake ┐                         ┌─ shaken ─ adopt ─> a client like any other
//	handshake                  └─ Handshake: waits ─ Post ┘
//
// The goroutine of a handshake ends with it. It reaches a second descriptor of the socket, and a
// tls.Config that nobody changes. From then on the connection is a Conn with a TLS (ioworkers/tls.go).
// Main or an I/O thread encrypts its bytes, and no other line of the server knows of TLS.
//
// Redis does a handshake in its event loop, one step whenever the socket is ready (tls.c: connTLSAccept).
// OpenSSL returns to the loop where it would wait. The handshake of crypto/tls waits, so it cannot run in
// the loop. The goroutine has a good side: all other clients go on while it computes a signature, which
// takes longer than a hundred requests.
//
// Another way is a goroutine for the life of each connection, which copies between crypto/tls and a pair
// of sockets. The server would need no change at all. But each request would cross the kernel twice as
// often and switch goroutines twice, with three descriptors for a connection. The pair would also hide
// what the lab needs to see: resets, half-closed connections, and sockets without room. docs/tls.md has
// figures.
type handshake struct {
	fd          int
	addr, laddr string
	tls         *ioworkers.TLS
	cancel      context.CancelFunc
}

// handshakeLimit bounds a handshake, unless the directive timeout is shorter. Redis has only the latter.
const handshakeLimit = 10 * time.Second

func (s *Server) handshakeTime() time.Duration {
	if limit := time.Duration(s.cfg.Timeout) * time.Second; 0 < limit && limit < handshakeLimit {
		return limit
	}
	return handshakeLimit
}

// shake begins the handshake of a new connection.
func (s *Server) shake(fd int, from unix.Sockaddr) {
	t, err := ioworkers.NewTLS(fd, s.tls)
	if err != nil {
		s.log('#', "Accepting client connection: %v", err)
		_ = unix.Close(fd)
		return
	}
	local, _ := unix.Getsockname(fd)
	h := &handshake{fd: fd, addr: addrString(from), laddr: addrString(local), tls: t}
	s.log('-', "Accepted %s", h.addr)
	ctx, cancel := context.WithTimeout(context.Background(), s.handshakeTime())
	h.cancel = cancel
	s.handshakes[h] = struct{}{}
	go func() {
		err := t.Handshake(ctx)
		cancel()
		s.loop.Post(func() { s.shaken(h, err) })
	}()
}

// shaken makes a client of a connection whose handshake is over (networking.c: clientAcceptHandler). The
// client may have sent requests behind it, which nothing would report again.
func (s *Server) shaken(h *handshake, err error) {
	if _, waited := s.handshakes[h]; !waited { // dropHandshakes has closed it
		return
	}
	delete(s.handshakes, h)
	if err != nil {
		s.log('#', "Error accepting a client connection: %s (addr=%s laddr=%s)", handshakeError(err), h.addr, h.laddr)
		_ = unix.Close(h.fd)
		return
	}
	if c := s.welcome(h.fd, h.addr, h.laddr, h.tls); c != nil {
		s.lab.muteNew(c)
		s.readHandler(c)
	}
}

// handshakeError returns the reason of a failed handshake.
func handshakeError(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "the handshake took too long"
	}
	return reason(err)
}

// dropHandshakes resets the connections that have no client yet.
func (s *Server) dropHandshakes() {
	for h := range s.handshakes {
		h.cancel()
		resetEnd.close(h.fd)
	}
	clear(s.handshakes)
}

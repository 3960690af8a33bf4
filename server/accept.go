package server

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/miniredisd/miniredisd/ioworkers"
	"github.com/miniredisd/miniredisd/reactor"
	"golang.org/x/sys/unix"
)

// acceptLimit bounds the connections accepted in one pass (networking.c: MAX_ACCEPTS_PER_CALL).
const acceptLimit = 1000

// acceptHandler accepts waiting connections (networking.c: acceptTcpHandler).
func (s *Server) acceptHandler(l *listener) {
	s.trace.Mark()
	for range acceptLimit {
		fd, sa, err := accept(l.fd)
		switch {
		case err == nil:
			s.accepted(l, fd, sa)
		case errors.Is(err, unix.EAGAIN):
			return
		case !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.ECONNABORTED):
			s.pauseAccept(l, err)
			return
		}
	}
}

// pauseAccept stops listening for a moment. Without a free descriptor or memory the listener would
// stay readable, and the loop would spin.
func (s *Server) pauseAccept(l *listener, err error) {
	s.log('#', "Accepting client connection: %v", err)
	s.loop.Unwatch(l.fd, reactor.Readable)
	s.loop.After(100*time.Millisecond, func() time.Duration {
		if !slices.Contains(s.listeners, l) {
			return 0
		}
		if err := s.watchListener(l); err != nil {
			s.log('#', "Accepting client connection: %v", err)
		}
		return 0
	})
}

// watchListener watches l for new connections.
func (s *Server) watchListener(l *listener) error {
	return s.loop.Watch(l.fd, reactor.Readable, func() { s.accept(l) })
}

// accepted makes a client of a new connection, or refuses it (networking.c: acceptCommonHandler). With TLS
// there is no text for a client that is one too many, because nothing can be sent before the handshake.
func (s *Server) accepted(l *listener, fd int, sa unix.Sockaddr) {
	switch {
	case len(s.clients)+len(s.handshakes) >= s.cfg.MaxClients:
		if !l.tls {
			_, _ = unix.Write(fd, []byte("-ERR max number of clients reached\r\n"))
		}
		_ = unix.Close(fd)
		s.stats.Rejected++
	case l.unix:
		s.stats.Connections++
		s.adopt(fd, l.addr+":0", l.addr+":0", true)
	case l.tls:
		s.shake(fd, sa)
	default:
		local, _ := unix.Getsockname(fd)
		s.welcome(fd, addrString(sa), addrString(local), nil)
	}
}

// welcome makes a client of a new TCP connection (networking.c: clientAcceptHandler). Protected mode
// refuses those of other machines; then welcome returns nil. t is nil without TLS.
func (s *Server) welcome(fd int, addr, laddr string, t *ioworkers.TLS) *client {
	s.stats.Connections++
	if s.cfg.ProtectedMode && s.ex.Users.Default.NoPass && !isLoopback(addr) {
		refused := ioworkers.Conn{FD: fd, TLS: t}
		refused.Refuse(deniedProtected)
		_ = unix.Close(fd)
		s.stats.Rejected++
		return nil
	}
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	if s.cfg.TCPKeepAlive > 0 {
		keepAlive(fd, s.cfg.TCPKeepAlive)
	}
	if t == nil {
		s.log('-', "Accepted %s", addr)
	}
	c := s.adopt(fd, addr, laddr, false)
	if c != nil && t != nil {
		c.TLS, c.Out.MayRefer = t, false // encryption copies the bytes anyway
	}
	return c
}

// keepAlive makes the kernel probe a silent connection after interval seconds (anet.c:
// anetKeepAlive).
func keepAlive(fd, interval int) {
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1)
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, tcpKeepIdle, interval)
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, max(interval/3, 1))
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPCNT, 3)
}

func addrString(sa unix.Sockaddr) string {
	switch sa := sa.(type) {
	case *unix.SockaddrInet4:
		return fmt.Sprintf("%s:%d", netip.AddrFrom4(sa.Addr), sa.Port)
	case *unix.SockaddrInet6:
		return fmt.Sprintf("[%s]:%d", netip.AddrFrom16(sa.Addr), sa.Port)
	}
	return ""
}

package server

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/ioworkers"
	"github.com/miniredisd/miniredisd/reactor"
)

// acceptLimit bounds the connections accepted in one pass (networking.c: MAX_ACCEPTS_PER_CALL).
const acceptLimit = 1000

// acceptLimitTLS is acceptLimit for a tls-port. Each of these connections may take the place of a handshake,
// which costs several system calls.
const acceptLimitTLS = 50

// AcceptHandler accepts waiting connections (networking.c: acceptTcpHandler).
func (s *Server) AcceptHandler(l *Listener) {
	s.Trace.Mark()
	limit := acceptLimit
	if l.TLS {
		limit = acceptLimitTLS
	}
	for range limit {
		fd, sa, err := accept(l.FD)
		switch {
		case err == nil:
			s.Listeners.accepted(l, fd, sa)
		case errors.Is(err, unix.EAGAIN):
			return
		case errors.Is(err, unix.EMFILE) && s.Handshakes.takePlace():
		case !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.ECONNABORTED):
			s.Listeners.pause(l, err)
			return
		}
	}
}

// pause stops listening for a moment. Without a free descriptor or memory the listener would
// stay readable, and the loop would spin.
func (ls *listeners) pause(l *Listener, err error) {
	ls.s.Log('#', "Accepting client connection: %v", err)
	ls.s.Loop.Unwatch(l.FD, reactor.Readable)
	ls.s.Loop.After(100*time.Millisecond, func() time.Duration {
		if !slices.Contains(ls.All, l) {
			return 0
		}
		if err := ls.Watch(l); err != nil {
			ls.s.Log('#', "Accepting client connection: %v", err)
		}
		return 0
	})
}

// Watch watches l for new connections.
func (ls *listeners) Watch(l *Listener) error {
	return ls.s.Loop.Watch(l.FD, reactor.Readable, func() { ls.s.Hooks.Accept(l) })
}

// accepted makes a client of a new connection, or refuses it (networking.c: acceptCommonHandler). With TLS
// there is no text for a client that is one too many, because nothing can be sent before the handshake.
func (ls *listeners) accepted(l *Listener, fd int, sa unix.Sockaddr) {
	switch {
	case !ls.s.Clients.HasPlace():
		if !l.TLS {
			text := "-ERR max number of clients reached\r\n"
			if ls.s.Cfg.ClusterEnabled {
				text = "-ERR max number of clients + cluster connections reached\r\n"
			}
			_, _ = unix.Write(fd, []byte(text))
		}
		_ = unix.Close(fd)
		ls.s.Stats.Rejected++
	case l.Unix:
		ls.s.Stats.Connections++
		ls.s.Adopt(fd, l.Addr+":0", l.Addr+":0", true)
	case l.TLS:
		ls.s.Handshakes.shake(fd, sa)
	default:
		local, _ := unix.Getsockname(fd)
		ls.welcome(fd, AddrString(sa), AddrString(local), nil)
	}
}

// HasPlace reports whether maxclients allows another connection. Handshakes make room for it.
func (cs *clients) HasPlace() bool {
	if len(cs.ByID) >= cs.s.Cfg.MaxClients {
		return false
	}
	for len(cs.ByID)+cs.s.Handshakes.places() >= cs.s.Cfg.MaxClients {
		if !cs.s.Handshakes.takePlace() {
			return false
		}
	}
	return true
}

// welcome makes a client of a new TCP connection (networking.c: clientAcceptHandler). Protected mode
// refuses those of other machines; then welcome returns nil. t is nil without TLS.
func (ls *listeners) welcome(fd int, addr, laddr string, t *ioworkers.TLS) *Client {
	ls.s.Stats.Connections++
	if ls.s.Cfg.ProtectedMode && ls.s.Ex.Users.Default.NoPass && !IsLoopback(addr) {
		refused := ioworkers.Conn{FD: fd, TLS: t}
		refused.Refuse(deniedProtected)
		_ = unix.Close(fd)
		ls.s.Stats.Rejected++
		return nil
	}
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	if ls.s.Cfg.TCPKeepAlive > 0 {
		keepAlive(fd, ls.s.Cfg.TCPKeepAlive)
	}
	if t == nil {
		ls.s.Log('-', "Accepted %s", addr)
	}
	c := ls.s.Adopt(fd, addr, laddr, false)
	if c != nil {
		c.TLS = t
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

// AddrString returns host:port, "" for an address of another kind.
func AddrString(sa unix.Sockaddr) string {
	switch sa := sa.(type) {
	case *unix.SockaddrInet4:
		return fmt.Sprintf("%s:%d", netip.AddrFrom4(sa.Addr), sa.Port)
	case *unix.SockaddrInet6:
		return fmt.Sprintf("[%s]:%d", netip.AddrFrom16(sa.Addr), sa.Port)
	}
	return ""
}

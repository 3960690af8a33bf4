package server

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/reactor"
	"golang.org/x/sys/unix"
)

// listener is one socket that clients connect to.
type listener struct {
	fd   int
	addr string // host:port, or the path of a unix socket
	unix bool
}

// acceptLimit bounds the connections taken in one pass
// (networking.c: MAX_ACCEPTS_PER_CALL).
const acceptLimit = 1000

// listen opens all listeners of the configuration, or none.
func (s *Server) listen() error {
	if s.cfg.Port >= 0 {
		for _, host := range s.cfg.Bind {
			optional := strings.HasPrefix(host, "-")
			if err := s.listenTCP(strings.TrimPrefix(host, "-")); err != nil && !optional {
				return err
			}
		}
	}
	if s.cfg.UnixSocket != "" {
		if err := s.listenUnix(s.cfg.UnixSocket); err != nil {
			return err
		}
	}
	for _, l := range s.listeners {
		if err := s.loop.Watch(l.fd, reactor.Readable, func() { s.accept(l) }); err != nil {
			return err
		}
	}
	return nil
}

func (s *Server) listenTCP(host string) error {
	if host == "*" {
		host = "0.0.0.0"
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return fmt.Errorf("could not create server TCP listening socket %s:%d: %w", host, s.cfg.Port, err)
	}
	family, sa := sockaddr(netip.AddrPortFrom(addr, uint16(s.cfg.Port)))
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("socket: %w", err)
	}
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	if family == unix.AF_INET6 {
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 1)
	}
	err = unix.Bind(fd, sa)
	if err == nil {
		err = unix.Listen(fd, s.cfg.TCPBacklog)
	}
	if err != nil {
		_ = unix.Close(fd)
		return fmt.Errorf("could not create server TCP listening socket %s:%d: %w", host, s.cfg.Port, err)
	}
	bound, _ := unix.Getsockname(fd)
	s.listeners = append(s.listeners, &listener{fd: fd, addr: addrString(bound)})
	return nil
}

func (s *Server) listenUnix(path string) error {
	_ = os.Remove(path)
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("socket: %w", err)
	}
	err = unix.Bind(fd, &unix.SockaddrUnix{Name: path})
	if err == nil {
		err = unix.Listen(fd, s.cfg.TCPBacklog)
	}
	if err != nil {
		_ = unix.Close(fd)
		return fmt.Errorf("opening Unix socket %s: %w", path, err)
	}
	s.listeners = append(s.listeners, &listener{fd: fd, addr: path, unix: true})
	return nil
}

func (s *Server) closeListeners() {
	for _, l := range s.listeners {
		s.loop.Unwatch(l.fd, reactor.Readable)
		_ = unix.Close(l.fd)
		if l.unix {
			_ = os.Remove(l.addr)
		}
	}
	s.listeners = nil
}

// accept is the accept handler: it takes the connections that are waiting.
func (s *Server) accept(l *listener) {
	for range acceptLimit {
		fd, sa, err := unix.Accept4(l.fd, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		switch {
		case err == nil:
			s.welcome(l, fd, sa)
		case errors.Is(err, unix.EAGAIN):
			return
		case errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE):
			s.pauseAccept(l, err)
			return
		case !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.ECONNABORTED):
			s.log('#', "Accepting client connection: %v", err)
			return
		}
	}
}

// pauseAccept stops listening for a moment: with no descriptor left, the
// listener would stay readable and the loop would spin.
func (s *Server) pauseAccept(l *listener, err error) {
	s.log('#', "Accepting client connection: %v", err)
	s.loop.Unwatch(l.fd, reactor.Readable)
	s.loop.After(100*time.Millisecond, func() time.Duration {
		if err := s.loop.Watch(l.fd, reactor.Readable, func() { s.accept(l) }); err != nil {
			s.log('#', "Accepting client connection: %v", err)
		}
		return 0
	})
}

func (s *Server) welcome(l *listener, fd int, sa unix.Sockaddr) {
	if len(s.clients) >= s.cfg.MaxClients {
		_, _ = unix.Write(fd, []byte("-ERR max number of clients reached\r\n"))
		_ = unix.Close(fd)
		s.stats.Rejected++
		return
	}
	s.stats.Connections++
	if l.unix {
		s.adopt(fd, l.addr+":0", l.addr+":0", true)
		return
	}
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	if s.cfg.TCPKeepAlive > 0 {
		keepAlive(fd, s.cfg.TCPKeepAlive)
	}
	local, _ := unix.Getsockname(fd)
	s.adopt(fd, addrString(sa), addrString(local), false)
}

// keepAlive has the kernel probe a silent connection after interval seconds
// (anet.c: anetKeepAlive).
func keepAlive(fd, interval int) {
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1)
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, interval)
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, max(interval/3, 1))
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPCNT, 3)
}

func sockaddr(ap netip.AddrPort) (family int, sa unix.Sockaddr) {
	if ap.Addr().Is4() {
		return unix.AF_INET, &unix.SockaddrInet4{Port: int(ap.Port()), Addr: ap.Addr().As4()}
	}
	return unix.AF_INET6, &unix.SockaddrInet6{Port: int(ap.Port()), Addr: ap.Addr().As16()}
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

package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/reactor"
)

// listeners are the sockets that clients connect to.
type listeners struct {
	s    *Server
	All  []*Listener
	kept []int // sockets that keep the ports while the lab refuses connections, or in a bubble
}

// Listener is one socket that clients connect to.
type Listener struct {
	FD   int
	Addr string // host:port, or the path of a unix socket
	Unix bool
	TLS  bool
}

// Open opens all listeners of the configuration, or none. Its errors are the lines that redis-server
// logs before it exits.
func (ls *listeners) Open() error {
	if err := ls.openPort(); err != nil {
		return err
	}
	if ls.s.Cfg.TLSPort != 0 {
		if err := ls.openTLS(); err != nil {
			return err
		}
	}
	if ls.s.Cfg.UnixSocket != "" {
		if err := ls.openUnix(ls.s.Cfg.UnixSocket); err != nil {
			return fmt.Errorf("Failed opening Unix socket: bind: %s", config.ErrorText(err))
		}
	}
	if len(ls.All) == 0 {
		return errors.New("Configured to not listen anywhere, exiting.")
	}
	for _, l := range ls.All {
		if err := ls.Watch(l); err != nil {
			return err
		}
	}
	return nil
}

// isDeaf reports whether somebody has ordered that the server refuses connections.
func (ls *listeners) isDeaf() bool { return ls.s.Hooks.Deaf != nil && ls.s.Hooks.Deaf() }

// Relisten moves the TCP listeners to the addresses in the configuration. It closes the old ones
// first, because the new ones may have the same addresses. If this fails, CONFIG SET restores the
// old configuration and calls relisten again.
func (ls *listeners) Relisten() error {
	if ls.s.Bubble != nil {
		return nil // there is no TCP
	}
	var unixOnes []*Listener
	for _, l := range ls.All {
		if l.Unix {
			unixOnes = append(unixOnes, l)
			continue
		}
		ls.s.Loop.Unwatch(l.FD, reactor.Readable)
		_ = unix.Close(l.FD)
	}
	ls.All = nil
	if ls.s.Cfg.Port == 0 {
		ls.s.Cfg.Port = -1 // port 0 means any port only at the start
	}
	var err error
	if ls.s.Cfg.Port > 0 && !ls.isDeaf() {
		err = ls.openTCP(&ls.s.Cfg.Port, false)
	}
	if ls.s.Cfg.TLSPort > 0 && !ls.isDeaf() && err == nil {
		err = ls.openTLS()
	}
	for _, l := range ls.All {
		if err == nil {
			err = ls.Watch(l)
		}
	}
	ls.All = append(ls.All, unixOnes...)
	return err
}

// openPort listens on the port of the configuration. In a bubble the port is only a name.
func (ls *listeners) openPort() error {
	if ls.s.Bubble != nil {
		return ls.keepName()
	}
	ls.freePorts()
	if ls.s.Cfg.Port < 0 {
		return nil
	}
	return ls.openTCP(&ls.s.Cfg.Port, false)
}

const MaxPort = 65535 // the greatest port of TCP

// freePortTries is how often to try a port that the system chose for the first address. It may be taken
// on another address.
const freePortTries = 10

// openTLS listens on tls-port, once the server has certificates.
func (ls *listeners) openTLS() error {
	if !ls.s.Handshakes.Configure(false) {
		return errors.New("Failed to configure TLS. Check logs for more info.")
	}
	return ls.openTCP(&ls.s.Cfg.TLSPort, true)
}

// openTCP listens on a port of the configuration. It writes the port there that the system chose, if it
// was to choose one.
func (ls *listeners) openTCP(port *int, withTLS bool) error {
	all, err := ls.bindAll(*port)
	for try := 1; *port <= 0 && errors.Is(err, unix.EADDRINUSE) && try < freePortTries; try++ {
		all, err = ls.bindAll(*port)
	}
	if err != nil {
		kind := "tcp"
		if withTLS {
			kind = "tls"
		}
		return fmt.Errorf("Failed listening on port %d (%s), aborting.", max(*port, 0), kind)
	}
	for _, l := range all {
		l.TLS = withTLS
		if ap, err := netip.ParseAddrPort(l.Addr); err == nil && *port <= 0 { // else it is not written to: Port reads it
			*port = int(ap.Port())
		}
	}
	ls.All = append(ls.All, all...)
	return nil
}

// bindAll listens on every address of the directive bind, on the same port. Without a port the system
// chooses one.
func (ls *listeners) bindAll(asked int) (all []*Listener, err error) {
	port := max(asked, 0)
	for _, entry := range ls.s.Cfg.Bind {
		host, optional := strings.CutPrefix(entry, "-")
		l, err := bindTCP(host, port, ls.s.Cfg.TCPBacklog)
		if err == nil {
			all = append(all, l)
			if ap, err := netip.ParseAddrPort(l.Addr); err == nil {
				port = int(ap.Port())
			}
			continue
		}
		skipped := noProtocol(err) || optional && errors.Is(err, unix.EADDRNOTAVAIL)
		if skipped || asked > 0 { // else the next port may do
			ls.s.Log('#', "Warning: Could not create server TCP listening socket %s:%d: %s", host, port, bindError(err))
		}
		if !skipped {
			for _, l := range all {
				_ = unix.Close(l.FD)
			}
			return nil, err
		}
	}
	return all, nil
}

// bindError is the reason in the words of anet.c: _anetTcpServer.
func bindError(err error) string {
	var errno unix.Errno
	switch known := errors.As(err, &errno); {
	case !known: // of the resolver
		return "Name or service not known"
	case noProtocol(err):
		return fmt.Sprintf("unable to bind socket, errno: %d", int(errno))
	}
	return "bind: " + config.ErrorText(err)
}

// noProtocol reports whether err comes from a system without IPv6. redis-server ignores that
// (server.c: listenToPort).
func noProtocol(err error) bool {
	for _, e := range []unix.Errno{
		unix.ENOPROTOOPT, unix.EPROTONOSUPPORT, unix.ESOCKTNOSUPPORT, unix.EPFNOSUPPORT, unix.EAFNOSUPPORT,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

func bindTCP(host string, port, backlog int) (*Listener, error) {
	switch host {
	case "*":
		host = "0.0.0.0"
	case "::*":
		host = "::"
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		addr, err = resolve(host)
	}
	if err != nil {
		return nil, err
	}
	fd, err := bound(netip.AddrPortFrom(addr, uint16(port)))
	if err != nil {
		return nil, err
	}
	if err := unix.Listen(fd, backlog); err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	at, err := unix.Getsockname(fd)
	return &Listener{FD: fd, Addr: AddrString(at)}, err
}

// bound returns a socket with this address that does not listen.
func bound(ap netip.AddrPort) (int, error) {
	family, sa := sockaddr(ap)
	fd, err := newSocket(family)
	if err != nil {
		return -1, err
	}
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	if family == unix.AF_INET6 {
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 1)
	}
	if err := unix.Bind(fd, sa); err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// resolve returns the address of a name such as localhost. As in Redis, clients wait meanwhile.
func resolve(host string) (netip.Addr, error) {
	addrs, err := net.DefaultResolver.LookupNetIP(context.Background(), "ip4", host)
	if err != nil {
		return netip.Addr{}, err
	}
	return addrs[0].Unmap(), nil
}

func (ls *listeners) openUnix(path string) error {
	_ = os.Remove(path)
	fd, err := newSocket(unix.AF_UNIX)
	if err != nil {
		return err
	}
	err = unix.Bind(fd, &unix.SockaddrUnix{Name: path})
	if err == nil {
		err = unix.Listen(fd, ls.s.Cfg.TCPBacklog)
	}
	if err != nil {
		_ = unix.Close(fd)
		return err
	}
	ls.All = append(ls.All, &Listener{FD: fd, Addr: path, Unix: true})
	if ls.s.Cfg.UnixSocketPerm == 0 {
		return nil
	}
	return os.Chmod(path, os.FileMode(ls.s.Cfg.UnixSocketPerm))
}

// Close closes all sockets on which clients connect.
func (ls *listeners) Close() {
	for _, l := range ls.All {
		ls.s.Loop.Unwatch(l.FD, reactor.Readable)
		_ = unix.Close(l.FD)
		if l.Unix {
			_ = os.Remove(l.Addr)
		}
	}
	ls.All = nil
	ls.freePorts()
}

// Refuse closes the listeners and keeps their ports until open or close. The system would give a port to somebody who
// asks for any port, and clients that try to come back would reach a stranger.
func (ls *listeners) Refuse() {
	all, kept := ls.All, ls.kept
	ls.kept = nil
	ls.Close()
	for _, l := range all {
		ap, err := netip.ParseAddrPort(l.Addr)
		if err != nil { // a unix socket
			continue
		}
		if fd, err := bound(ap); err == nil {
			kept = append(kept, fd)
		}
	}
	ls.kept = kept
}

// ResetWaiting resets the connections that nobody has accepted yet.
func (ls *listeners) ResetWaiting() {
	for _, l := range ls.All {
		for {
			fd, _, err := accept(l.FD)
			if err == nil {
				ResetEnd.Close(fd)
			} else if !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.ECONNABORTED) {
				break
			}
		}
	}
}

func (ls *listeners) freePorts() {
	for _, fd := range ls.kept {
		_ = unix.Close(fd)
	}
	ls.kept = nil
}

func sockaddr(ap netip.AddrPort) (family int, sa unix.Sockaddr) {
	if ap.Addr().Is4() {
		return unix.AF_INET, &unix.SockaddrInet4{Port: int(ap.Port()), Addr: ap.Addr().As4()}
	}
	return unix.AF_INET6, &unix.SockaddrInet6{Port: int(ap.Port()), Addr: ap.Addr().As16()}
}

// Port returns the TCP port of s: without one, the tls-port, or 0. In a bubble nobody listens there. Call it before
// Run.
func (s *Server) Port() int {
	if s.Cfg.Port > 0 {
		return s.Cfg.Port
	}
	return max(s.Cfg.TLSPort, 0)
}

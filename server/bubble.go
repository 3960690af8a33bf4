package server

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/store"
)

// With config.Config.Bubble, a server lives in the bubble of testing/synctest in which it is made: its time
// is the bubble's. Package miniredistest sets it. Only goroutines of the bubble may use the server. There are
// no TCP connections, because a goroutine that waits for one keeps the time from moving on. Dial connects
// by a socket of the Unix domain (reactor/bubble.go says how both sides wait). To clients the server still has an
// address of TCP. They resolve what else they are given, and a resolver may not be asked in two bubbles.

const errNoBubble store.Error = "Dial is for servers in a testing/synctest bubble: connect to the address"

// enterBubble makes a server live in the bubble that its maker is in (config.Config.Bubble).
func (s *Server) enterBubble() {
	s.Bubble = s.Loop.EnterBubble()
	s.Cfg.TLSPort = 0
	s.Cfg.IOThreads = 1 // I/O threads wait in the kernel
	s.Cfg.UnixSocket = filepath.Join(os.TempDir(), "miniredisd-"+s.Figures.RunID[:16])
}

// keepName gives a server of a bubble the port of its name. With port 0 it is one that the system gives to nobody else
// while the server lives. So servers differ, and a client that does not use Dial is refused.
func (ls *listeners) keepName() error {
	if ls.s.Cfg.Port > 0 {
		return nil
	}
	fd, err := bound(netip.AddrPortFrom(netip.MustParseAddr(PeerHost), 0))
	if err != nil {
		return err
	}
	ls.kept = append(ls.kept, fd)
	at, err := unix.Getsockname(fd)
	if in, ok := at.(*unix.SockaddrInet4); ok {
		ls.s.Cfg.Port = in.Port
	}
	return err
}

// InBubble reports whether the server lives in a bubble.
func (s *Server) InBubble() bool { return s.Bubble != nil }

// Dial connects to a server of a bubble. Any goroutine of the bubble may call it.
func (s *Server) Dial() (net.Conn, error) {
	if s.Bubble == nil {
		return nil, errNoBubble
	}
	c := &bubbleConn{
		loop: s.Bubble, changed: make(chan struct{}), addr: net.TCPAddr{IP: net.ParseIP(PeerHost), Port: s.PeerPort},
	}
	var err error
	if c.fd, err = newSocket(unix.AF_UNIX); err != nil {
		return nil, err
	}
	_, err = c.try(&c.writeBy, func(fd int) (int, error) {
		err := unix.Connect(fd, &unix.SockaddrUnix{Name: s.Cfg.UnixSocket})
		if errors.Is(err, unix.ENOENT) { // it is gone while nobody listens
			err = unix.ECONNREFUSED
		}
		return 0, err
	})
	if err != nil {
		_ = c.Close()
		return nil, c.failed("dial", os.NewSyscallError("connect", err))
	}
	return c, nil
}

// bubbleConn is a client's end of a connection in a bubble.
type bubbleConn struct {
	loop *reactor.Bubble
	addr net.TCPAddr // of the server

	mu              sync.Mutex // guards the rest, never held in a wait
	fd              int        // -1 once it is closed
	readBy, writeBy time.Time
	changed         chan struct{} // closed by Close, and when a deadline changes
}

// try calls do until it does more than EAGAIN. Between two calls it waits until the loop has made a
// pass.
func (c *bubbleConn) try(by *time.Time, do func(fd int) (int, error)) (int, error) {
	for {
		passed := c.loop.Passed()
		c.mu.Lock()
		fd, end, changed := c.fd, *by, c.changed
		if fd < 0 {
			c.mu.Unlock()
			return 0, net.ErrClosed
		}
		if !end.IsZero() && !time.Now().Before(end) {
			c.mu.Unlock()
			return 0, os.ErrDeadlineExceeded
		}
		n, err := do(fd)
		c.mu.Unlock()
		if !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR) {
			c.loop.Ring() // there are bytes, or there is room for them
			return n, err
		}
		var timeout <-chan time.Time
		if !end.IsZero() {
			timeout = time.After(time.Until(end))
		}
		select {
		case <-passed:
		case <-changed:
		case <-timeout:
		}
	}
}

func (c *bubbleConn) Read(b []byte) (int, error) {
	n, err := c.try(&c.readBy, func(fd int) (int, error) { return unix.Read(fd, b) })
	switch {
	case err != nil:
		return 0, c.failed("read", err)
	case n == 0 && len(b) > 0:
		return 0, io.EOF
	}
	return n, nil
}

func (c *bubbleConn) Write(b []byte) (written int, err error) {
	for written < len(b) {
		n, err := c.try(&c.writeBy, func(fd int) (int, error) { return unix.Write(fd, b[written:]) })
		if err != nil {
			return written, c.failed("write", err)
		}
		written += n
	}
	return written, nil
}

func (c *bubbleConn) failed(op string, err error) error {
	return &net.OpError{Op: op, Net: "tcp", Addr: &c.addr, Err: err}
}

// Close closes the connection. Reads and writes that wait end.
func (c *bubbleConn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fd < 0 {
		return net.ErrClosed
	}
	err := unix.Close(c.fd)
	c.fd = -1
	c.change()
	c.loop.Ring()
	return err
}

func (c *bubbleConn) change() {
	close(c.changed)
	c.changed = make(chan struct{})
}

func (c *bubbleConn) LocalAddr() net.Addr  { return &net.TCPAddr{IP: c.addr.IP} }
func (c *bubbleConn) RemoteAddr() net.Addr { return &c.addr }

func (c *bubbleConn) SetDeadline(t time.Time) error {
	_ = c.SetReadDeadline(t)
	return c.SetWriteDeadline(t)
}

func (c *bubbleConn) SetReadDeadline(t time.Time) error  { return c.set(&c.readBy, t) }
func (c *bubbleConn) SetWriteDeadline(t time.Time) error { return c.set(&c.writeBy, t) }

func (c *bubbleConn) set(by *time.Time, t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	*by = t
	c.change()
	return nil
}

// PeerHost is the host of all servers of the process.
const PeerHost = "127.0.0.1"

// PeerAddr is the address of s as its peers see it.
func (s *Server) PeerAddr() string { return fmt.Sprintf("%s:%d", PeerHost, s.PeerPort) }

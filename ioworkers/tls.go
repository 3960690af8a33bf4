package ioworkers

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// TLS is the encryption of one connection: crypto/tls between a Conn and its socket.
//
//	               Conn.Read             Conn.Write
//	                  │ plain bytes         │ plain bytes
//	TLS               │ read                │ write       as read(2) and write(2): they never wait
//	  layer        tls.Conn              tls.Conn
//	  socket          │ records             │ records
//	               read(2)               write(2)
//
// A Conn without TLS has a nil TLS, and its bytes go straight to the socket (receive, send). A TLS has the
// owner of its Conn, so I/O threads encrypt and decrypt as well. Before that, it belongs to the goroutine
// of its handshake.
//
// A tls.Conn may be used without waiting, because two of its promises are enough. A read that runs into
// its deadline can be repeated. A write gives all its records to the socket before it returns. So socket
// reports a deadline when the kernel has no bytes, and keeps the records that the kernel does not take.
type TLS struct {
	layer  *tls.Conn
	socket socket
	owed   int     // bytes of output that are encrypted, but not reported as written yet
	one    [1]byte // see read
}

// NewTLS makes the server's side of TLS for a connected socket. Handshake comes next.
func NewTLS(fd int, config *tls.Config) (*TLS, error) {
	own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	waiting := os.NewFile(uintptr(own), "TLS handshake")
	return &TLS{layer: tls.Server(&carrier{waiting}, config), socket: socket{fd: fd}}, nil
}

// Handshake agrees on keys with the client. It waits for the client until ctx ends, so it runs in a
// goroutine of its own. It uses a second descriptor of the socket, which it closes. The caller may close
// the first one meanwhile.
func (t *TLS) Handshake(ctx context.Context) error {
	under := t.layer.NetConn().(*carrier)
	err := t.layer.HandshakeContext(ctx)
	_ = under.Close()
	if err == nil { // else a goroutine of crypto/tls may be about to close it, too
		under.ReadWriteCloser = &t.socket
	}
	return err
}

// receive is read(2) into the input buffer. With TLS the buffer may grow, because records end where they
// like.
func (c *Conn) receive() (int, unix.Errno) {
	if c.TLS != nil {
		return c.TLS.read(c.in, c.Parser.Needs())
	}
	return read(c.FD, c.in.room(c.Parser.Needs()))
}

// send is write(2).
func (c *Conn) send(p []byte) (int, unix.Errno) {
	if c.TLS != nil {
		return c.TLS.write(p)
	}
	return write(c.FD, p)
}

// Refuse sends a text to a client that gets nothing else.
func (c *Conn) Refuse(text string) {
	_, _ = c.send([]byte(text))
	c.SayGoodbye()
}

// SayGoodbye tells the client that nothing more will come, as TLS demands before the end of a connection
// (tls.c: connTLSClose). Without TLS it does nothing.
func (c *Conn) SayGoodbye() {
	if c.TLS != nil {
		_ = c.TLS.layer.CloseWrite()
	}
}

// read reads from the socket at most what Conn.Read would, and decrypts every complete record. So bytes that
// nobody has looked at are always in the kernel, and the loop reports them. Redis decrypts one record and
// keeps a list of connections that have more (tls.c: pending_list).
//
// The end of the input may come behind other bytes. Then read shuts the socket, so that the loop reports
// the end in its next pass.
func (t *TLS) read(in *input, needs int) (n int, errno unix.Errno) {
	t.socket.begin(max(len(in.room(needs)), readChunk) + readChunk/16)
	before := len(in.buf)
	var err error
	for err == nil {
		err = t.readRecord(in)
	}
	n, in.buf = len(in.buf)-before, in.buf[:before]
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded) && n == 0:
		return 0, unix.EAGAIN
	case errors.Is(err, os.ErrDeadlineExceeded):
		return n, 0
	case n > 0:
		_ = unix.Shutdown(t.socket.fd, unix.SHUT_RD)
		return n, 0
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return 0, 0
	case errors.As(err, &errno):
		return 0, errno
	}
	return 0, unix.EPROTO // bytes that are no TLS: the client has got an alert
}

// readRecord appends the bytes of one record to the buffer, or a part of them. The buffer grows only for a
// byte that is already there.
func (t *TLS) readRecord(in *input) error {
	if len(in.buf) < cap(in.buf) {
		n, err := t.layer.Read(in.buf[len(in.buf):cap(in.buf)])
		in.buf = in.buf[:len(in.buf)+n]
		return err
	}
	n, err := t.layer.Read(t.one[:])
	if n > 0 {
		in.grow(0)
		in.buf = append(in.buf, t.one[0])
	}
	return err
}

// write encrypts p and writes the records. While the socket is full, write reports EAGAIN, and the caller
// has to come back with the same bytes, as with OpenSSL. They are encrypted only once.
func (t *TLS) write(p []byte) (int, unix.Errno) {
	if errno := t.socket.flush(); errno != 0 {
		return 0, errno
	}
	if t.owed == 0 {
		if _, err := t.layer.Write(p); err != nil {
			return 0, unix.EPIPE
		}
		t.owed = len(p)
	}
	if len(t.socket.rest) > 0 {
		return 0, unix.EAGAIN
	}
	n := min(t.owed, len(p))
	t.owed = 0
	return n, 0
}

// socket is what a tls.Conn reads and writes. It never waits.
type socket struct {
	fd    int
	may   int    // bytes that this pass may still read
	empty bool   // the kernel has no more bytes
	rest  []byte // records that the kernel has not taken yet
}

// begin allows limit bytes to be read.
func (s *socket) begin(limit int) { s.may, s.empty = limit, false }

func (s *socket) Read(p []byte) (int, error) {
	if s.empty || s.may == 0 {
		return 0, os.ErrDeadlineExceeded
	}
	p = p[:min(len(p), s.may)]
	n, errno := read(s.fd, p)
	switch {
	case errno == unix.EAGAIN || errno == unix.EINTR:
		return 0, os.ErrDeadlineExceeded
	case errno != 0:
		return 0, errno
	case n == 0:
		return 0, io.EOF
	}
	s.may -= n
	s.empty = n < len(p) // saves a read(2) that finds nothing
	return n, nil
}

// Write never writes a part: it keeps what the kernel does not take.
func (s *socket) Write(p []byte) (int, error) {
	n := 0
	if len(s.rest) == 0 {
		var errno unix.Errno
		n, errno = write(s.fd, p)
		switch {
		case errno == unix.EAGAIN || errno == unix.EINTR:
			n = 0
		case errno != 0:
			return 0, errno
		}
	}
	s.rest = append(s.rest, p[n:]...)
	return len(p), nil
}

// flush writes what was kept.
func (s *socket) flush() unix.Errno {
	if len(s.rest) == 0 {
		return 0
	}
	n, errno := write(s.fd, s.rest)
	if errno != 0 {
		return errno
	}
	if s.rest = s.rest[n:]; len(s.rest) > 0 {
		return unix.EAGAIN
	}
	s.rest = nil
	return 0
}

// Close does nothing: the server closes the socket.
func (s *socket) Close() error { return nil }

// carrier is the net.Conn of a tls.Conn: first a file that waits, then a socket that does not.
type carrier struct{ io.ReadWriteCloser }

func (c *carrier) LocalAddr() net.Addr              { return nil }
func (c *carrier) RemoteAddr() net.Addr             { return nil }
func (c *carrier) SetDeadline(time.Time) error      { return nil }
func (c *carrier) SetReadDeadline(time.Time) error  { return nil }
func (c *carrier) SetWriteDeadline(time.Time) error { return nil }

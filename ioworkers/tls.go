package ioworkers

import (
	"crypto/tls"
	"errors"
	"io"
	"os"

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
// of its handshake (tls_handshake.go).
//
// A tls.Conn may be used without waiting, because two of its promises are enough. A read that runs into
// its deadline can be repeated. A write gives all its records to the socket before it returns. So socket
// reports a deadline when the kernel has no bytes, and keeps the records that the kernel does not take.
//
// Output is encrypted a record at a time, and only while the kernel takes it. So a client that does not read
// costs one record, beside its replies. These refer to stored bytes, as without TLS.
type TLS struct {
	layer  *tls.Conn
	socket socket
	owed   int     // bytes of output that are encrypted, but not reported as written yet
	one    [1]byte // see read
}

// receive is read(2) into the input buffer (connection.h: connRead). With TLS the buffer may grow, because
// records end where they like.
func (c *Conn) receive() (int, unix.Errno) {
	if c.TLS != nil {
		return c.TLS.read(c.in, c.needs())
	}
	return read(c.FD, c.in.room(c.needs()))
}

// send is write(2) (connection.h: connWrite, connWritev).
func (c *Conn) send(p []byte) (int, unix.Errno) {
	if c.TLS != nil {
		return c.TLS.write(p)
	}
	return write(c.FD, p)
}

// sendAll is writev(2).
func (c *Conn) sendAll(pieces [][]byte) (int, unix.Errno) {
	if c.TLS != nil {
		return c.TLS.write(pieces...)
	}
	return writev(c.FD, pieces)
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
		c.TLS.SayGoodbye()
	}
}

// SayGoodbye tells the other side that nothing more will come.
func (t *TLS) SayGoodbye() { _ = t.layer.CloseWrite() }

// read reads from the socket at most what Conn.Read would, and decrypts every complete record. So bytes that
// nobody has looked at are always in the kernel, and the loop reports them. Redis decrypts one record and
// keeps a list of connections that have more (tls.c: pending_list).
//
// The end of the input may come after other bytes. Then read shuts the socket, so that the loop reports
// the end in its next pass.
func (t *TLS) read(in *input, needs int) (n int, errno unix.Errno) {
	t.socket.begin(max(len(in.room(needs)), readChunk) + readChunk/16)
	before := len(in.buf)
	var err error
	for err == nil {
		err = t.readRecord(in)
	}
	n, in.buf = len(in.buf)-before, in.buf[:before]
	return t.outcome(n, err)
}

// outcome is what read(2) would return after n bytes and an error.
func (t *TLS) outcome(n int, err error) (int, unix.Errno) {
	errno := unix.Errno(0)
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

// Receive is read(2) for a connection that is no Conn. p must have room for several records.
func (t *TLS) Receive(p []byte) (int, unix.Errno) {
	t.socket.begin(len(p) - 2*record) // with a part of a record that came before, all fits
	n := 0
	var err error
	for err == nil {
		var got int
		got, err = t.layer.Read(p[n:])
		n += got
	}
	return t.outcome(n, err)
}

// Send is write(2) for a connection that is no Conn. What it has not taken must come again.
func (t *TLS) Send(p []byte) (int, unix.Errno) { return t.write(p) }

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

// record is how many bytes a record holds.
const record = 16 << 10

// write encrypts the pieces and writes the records, until the socket is full. It returns how many bytes the
// socket has taken. The caller has to come back with the same bytes after these, as with OpenSSL: those of
// one record may be encrypted already.
func (t *TLS) write(pieces ...[]byte) (n int, errno unix.Errno) {
	if errno := t.socket.flush(); errno != 0 {
		return 0, errno
	}
	earlier := t.owed // bytes at the front that an earlier call has encrypted
	t.owed = 0
	for i, p := range pieces {
		skip := min(earlier, len(p))
		earlier, n = earlier-skip, n+skip
		for p = p[skip:]; len(p) > 0; {
			chunk := p[:min(len(p), record)]
			p = p[len(chunk):]
			t.socket.more = len(p) > 0 || i < len(pieces)-1
			if _, err := t.layer.Write(chunk); err != nil {
				return 0, unix.EPIPE
			}
			t.owed += len(chunk)
			switch {
			case t.socket.full && n == 0:
				return 0, unix.EAGAIN
			case t.socket.full:
				return n, 0
			case len(t.socket.rest) == 0:
				n, t.owed = n+t.owed, 0
			}
		}
	}
	return n, 0
}

// socket is what a tls.Conn reads and writes. It never waits.
type socket struct {
	fd    int
	may   int    // bytes that this pass may still read
	empty bool   // the kernel has no more bytes
	rest  []byte // records that the kernel has not got yet
	full  bool   // it takes no more
	more  bool   // the next record follows at once
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

const (
	shortRecord = 1 << 10  // such a record waits for the next one, so that a reply is one packet
	mostRest    = 64 << 10 // records that a client may leave in rest
)

// Write takes all of p. It keeps what the kernel does not take, and sends that first the next time. The
// server's output stops at a full socket, but crypto/tls itself also answers some records of a client. A
// client that sends such records and reads nothing would make rest grow without bound. So Write returns
// ENOBUFS when rest has more than mostRest bytes.
func (s *socket) Write(p []byte) (int, error) {
	switch {
	case len(s.rest) > mostRest:
		return 0, unix.ENOBUFS
	case s.full || s.more && len(p) < shortRecord:
		s.rest = append(s.rest, p...)
		return len(p), nil
	}
	n, errno := 0, unix.Errno(0)
	if len(s.rest) > 0 {
		n, errno = writev(s.fd, [][]byte{s.rest, p})
	} else {
		n, errno = write(s.fd, p)
	}
	if errno != 0 && errno != unix.EAGAIN && errno != unix.EINTR {
		return 0, errno
	}
	n = max(n, 0) // -1 after an error
	taken := min(n, len(s.rest))
	s.keep(append(s.rest[taken:], p[n-taken:]...))
	return len(p), nil
}

// keep notes what the kernel has not taken.
func (s *socket) keep(rest []byte) {
	if s.rest, s.full = rest, len(rest) > 0; !s.full {
		s.rest = nil
	}
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
	if s.keep(s.rest[n:]); s.full {
		return unix.EAGAIN
	}
	return 0
}

// Close does nothing: the server closes the socket.
func (s *socket) Close() error { return nil }

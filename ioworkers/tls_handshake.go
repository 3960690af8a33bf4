package ioworkers

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// NewTLS makes the server's side of TLS for a connected socket that never blocks. Handshake comes next.
func NewTLS(fd int, config *tls.Config) *TLS {
	t := &TLS{socket: socket{fd: fd}}
	t.layer = tls.Server(&carrier{}, config)
	return t
}

// NewClientTLS is NewTLS for the client's side.
func NewClientTLS(fd int, config *tls.Config) *TLS {
	t := &TLS{socket: socket{fd: fd}}
	t.layer = tls.Client(&carrier{}, config)
	return t
}

// Handshake agrees on keys with the client. It runs in a goroutine of its own. Where it needs the client, it
// calls wait, which returns once the socket has bytes to read, or room if room is set. If wait returns false,
// Handshake fails, and uses the socket no more.
func (t *TLS) Handshake(wait func(room bool) bool) error {
	under := t.layer.NetConn().(*carrier)
	p := &patient{socket: &t.socket, wait: wait}
	under.ReadWriteCloser = p
	err := t.layer.Handshake()
	if err == nil {
		err = p.flush()
	}
	under.ReadWriteCloser = &t.socket
	return err
}

// patient is the socket of a handshake: it waits for its client.
type patient struct {
	*socket
	wait func(room bool) bool
	gone bool // wait has returned false
}

func (p *patient) pause(room bool) error {
	if p.gone = p.gone || !p.wait(room); p.gone {
		return net.ErrClosed
	}
	return nil
}

// Read first makes sure that the client has all that it has to answer.
func (p *patient) Read(b []byte) (int, error) {
	if err := p.flush(); err != nil {
		return 0, err
	}
	for {
		p.begin(len(b))
		n, err := p.socket.Read(b)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		if err := p.pause(false); err != nil {
			return 0, err
		}
	}
}

// Write is also called for the alert of a handshake that was given up. Its descriptor may belong to another
// connection by then.
func (p *patient) Write(b []byte) (int, error) {
	if p.gone {
		return 0, net.ErrClosed
	}
	return p.socket.Write(b)
}

func (p *patient) flush() error {
	for {
		switch errno := p.socket.flush(); errno {
		case 0:
			return nil
		case unix.EAGAIN, unix.EINTR:
		default:
			return errno
		}
		if err := p.pause(true); err != nil {
			return err
		}
	}
}

// carrier is the net.Conn of a tls.Conn: first a patient, then a socket that does not wait.
type carrier struct{ io.ReadWriteCloser }

func (c *carrier) LocalAddr() net.Addr              { return nil }
func (c *carrier) RemoteAddr() net.Addr             { return nil }
func (c *carrier) SetDeadline(time.Time) error      { return nil }
func (c *carrier) SetReadDeadline(time.Time) error  { return nil }
func (c *carrier) SetWriteDeadline(time.Time) error { return nil }

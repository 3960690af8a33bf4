package redistest

import (
	"bufio"
	"crypto/tls"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/miniredisd/miniredisd/resp"
)

// Limit is how long a test waits for a server. A server that never answers fails the test instead of
// hanging it. On a busy machine a reply may take half of this time.
const Limit = time.Minute

// Conn is one client connection, for one goroutine. Do and Read fail the test on an I/O error. Send and
// TryRead return the error, for tests that expect one.
type Conn struct {
	// Net is for tests of half-closed sockets and timeouts.
	Net net.Conn
	t   testing.TB
	r   *bufio.Reader
}

// Dial connects. The connection is closed when the test ends.
func Dial(t testing.TB, addr string) *Conn {
	t.Helper()
	c, err := Connect(addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	c.t = t
	return c
}

// DialTLS is Dial for the tls-port of a server.
func DialTLS(t testing.TB, addr string, config *tls.Config) *Conn {
	t.Helper()
	c, err := tls.Dial("tcp", addr, config)
	if err != nil {
		t.Fatal(err)
	}
	return Wrap(t, c)
}

// Wrap makes a Conn of a connection. The connection is closed when the test ends.
func Wrap(t testing.TB, c net.Conn) *Conn {
	t.Cleanup(func() { c.Close() })
	return &Conn{Net: c, t: t, r: bufio.NewReader(c)}
}

// Connect is Dial for goroutines and for connections that the server may refuse. Only Send, TryRead and
// Close work.
func Connect(addr string) (*Conn, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &Conn{Net: c, r: bufio.NewReader(c)}, nil
}

// Do sends one command and returns its reply, which may be an error reply.
func (c *Conn) Do(args ...string) resp.Value {
	c.t.Helper()
	if err := c.Send(AppendCommand(nil, args...)); err != nil {
		c.t.Fatalf("sending %q: %v", args, err)
	}
	v, err := c.TryRead()
	if err != nil {
		c.t.Fatalf("reply to %q: %v", args, err)
	}
	return v
}

// Send writes raw bytes.
func (c *Conn) Send(raw []byte) error {
	c.Net.SetWriteDeadline(time.Now().Add(Limit))
	_, err := c.Net.Write(raw)
	return err
}

// Read returns the next reply or push message.
func (c *Conn) Read() resp.Value {
	c.t.Helper()
	v, err := c.TryRead()
	if err != nil {
		c.t.Fatalf("reading a reply: %v", err)
	}
	return v
}

// TryRead is Read, but returns an error. io.EOF means that the server has closed the connection.
func (c *Conn) TryRead() (resp.Value, error) {
	c.Net.SetReadDeadline(time.Now().Add(Limit))
	return resp.ReadReply(c.r)
}

// Close closes the connection before the test ends.
func (c *Conn) Close() { c.Net.Close() }

// AppendCommand appends args to dst as one multibulk request.
func AppendCommand(dst []byte, args ...string) []byte {
	dst = append(dst, '*')
	dst = strconv.AppendInt(dst, int64(len(args)), 10)
	dst = append(dst, "\r\n"...)
	for _, a := range args {
		dst = append(dst, '$')
		dst = strconv.AppendInt(dst, int64(len(a)), 10)
		dst = append(dst, "\r\n"...)
		dst = append(dst, a...)
		dst = append(dst, "\r\n"...)
	}
	return dst
}

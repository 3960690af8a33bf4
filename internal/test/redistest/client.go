package redistest

import (
	"crypto/tls"
	"net"
	"testing"
	"time"

	"github.com/miniredisd/miniredisd/internal/respclient"
	"github.com/miniredisd/miniredisd/resp"
)

// Limit is how long a test waits for a server. A server that never answers fails the test instead of
// hanging it. On a busy machine a reply may take half of this time.
const Limit = time.Minute

// Until asks again and again until done reports true. The test fails if that takes longer than Limit. Between two
// questions it leaves the processor to what it waits for.
func Until(t testing.TB, done func() bool) {
	t.Helper()
	pause := 20 * time.Microsecond
	for end := time.Now().Add(Limit); !done(); pause = min(2*pause, 2*time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the condition stays false")
		}
		time.Sleep(pause)
	}
}

// Conn is one client connection, for one goroutine. Do and Read fail the test on an I/O error. Send and
// TryRead return the error, for tests that expect one. Every wait is bounded by Limit.
type Conn struct {
	*respclient.Conn
	t testing.TB
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

// Until is the function of that name, for the test of c.
func (c *Conn) Until(done func() bool) {
	c.t.Helper()
	Until(c.t, done)
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
	return bounded(respclient.New(c, respclient.SmallBuffer), t)
}

// Connect is Dial for goroutines and for connections that the server may refuse. Only Send, TryRead and
// Close work.
func Connect(addr string) (*Conn, error) {
	c, err := respclient.Dial(addr)
	if err != nil {
		return nil, err
	}
	return bounded(c, nil), nil
}

func bounded(c *respclient.Conn, t testing.TB) *Conn {
	c.Limit = Limit
	return &Conn{c, t}
}

// Do sends one command and returns its reply, which may be an error reply.
func (c *Conn) Do(args ...string) resp.Value {
	c.t.Helper()
	v, err := c.Conn.Do(args...)
	if err != nil {
		c.t.Fatalf("%q: %v", args, err)
	}
	return v
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
func (c *Conn) TryRead() (resp.Value, error) { return c.Conn.Read() }

// WaitForArrival is Arrive, and fails the test on an error.
func (c *Conn) WaitForArrival() {
	c.t.Helper()
	if err := c.Arrive(); err != nil {
		c.t.Fatalf("waiting until the server has what was sent: %v", err)
	}
}

// Close closes the connection before the test ends.
func (c *Conn) Close() { c.Net.Close() }

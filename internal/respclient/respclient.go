// Package respclient is a blocking client, for tools and tests.
//
//	Do ──> Send ──> one write(2) ──> server
//	  └──> Read <─────────────────── one reply
//
// It has no pool, tries nothing twice and sends nothing of its own. So a tool that measures a server, or shows
// what clients do wrong, knows every byte of the connection. A program that just uses Redis wants a real client.
//
// One goroutine may send while another one reads. Otherwise a Conn belongs to one goroutine.
package respclient

import (
	"bufio"
	"bytes"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/miniredisd/miniredisd/resp"
)

// Conn is one connection to a server.
type Conn struct {
	Net net.Conn
	In  *bufio.Reader // what the server has sent; for callers that look at the bytes of a reply

	// Limit bounds each Send and each Read in real time. 0 means no bound: then the caller may set deadlines of
	// its own.
	Limit time.Duration
}

// SmallBuffer is the buffer of Dial, in bytes: tests open thousands of connections.
const SmallBuffer = 4 << 10

// Dial connects to a TCP address.
func Dial(addr string) (*Conn, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return New(c, SmallBuffer), nil
}

// New makes a Conn of a connection. It reads up to buffer bytes at once.
func New(c net.Conn, buffer int) *Conn { return &Conn{Net: c, In: bufio.NewReaderSize(c, buffer)} }

// Close closes the connection.
func (c *Conn) Close() error { return c.Net.Close() }

// Do sends one request and reads its reply. An error reply is a Value, and no error.
func (c *Conn) Do(words ...string) (resp.Value, error) {
	if err := c.Send(resp.AppendRequest(nil, words...)); err != nil {
		return resp.Value{}, err
	}
	return c.Read()
}

// Send writes bytes: requests of resp.AppendRequest, or whatever else a server should meet.
func (c *Conn) Send(raw []byte) error {
	if c.Limit > 0 {
		if err := c.Net.SetWriteDeadline(time.Now().Add(c.Limit)); err != nil {
			return err
		}
	}
	_, err := c.Net.Write(raw)
	return err
}

// Read returns the next reply or push message. The errors are those of resp.ReadReply and of the connection.
func (c *Conn) Read() (resp.Value, error) {
	if err := c.await(); err != nil {
		return resp.Value{}, err
	}
	return resp.ReadReply(c.In)
}

func (c *Conn) await() error {
	if c.Limit == 0 {
		return nil
	}
	return c.Net.SetReadDeadline(time.Now().Add(c.Limit))
}

// SendLarge sends a request with one more argument, which is size times the letter x. It never holds all of it.
func (c *Conn) SendLarge(size int, words ...string) error {
	const last = "$0\r\n\r\n"
	head := resp.AppendRequest(nil, append(slices.Clone(words), "")...)
	head = append(head[:len(head)-len(last)], '$')
	if err := c.Send(append(strconv.AppendInt(head, int64(size), 10), "\r\n"...)); err != nil {
		return err
	}
	piece := bytes.Repeat([]byte("x"), min(size, 1<<20))
	for left := size; left > 0; left -= len(piece) {
		if err := c.Send(piece[:min(left, len(piece))]); err != nil {
			return err
		}
	}
	return c.Send([]byte("\r\n"))
}

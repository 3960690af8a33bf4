package claims

import (
	"bufio"
	"errors"
	"io"
	"net"
	"strconv"
	"syscall"
	"time"

	"github.com/miniredisd/miniredisd/resp"
)

// client is a TCP connection to a master of the stage. Nothing helps it: each send is one write(2), and
// it reads only when the story says so. A mistake ends the story: see stage.check.
type client struct {
	s    *stage
	name string
	id   int64
	conn *net.TCPConn
	in   *bufio.Reader
}

// patience bounds every wait for a reply in real time. A story that works never comes near it.
const patience = 20 * time.Second

// client connects a client and gives it a name. The server's history begins later, at stage.begin.
func (s *stage) client(name string) *client { return s.clientOf(0, name) }

// clientOf connects a client to a master, counted from 0.
func (s *stage) clientOf(master int, name string) *client {
	c := s.dial(master)
	c.name = name
	c.do("CLIENT", "SETNAME", name)
	c.id = c.do("CLIENT", "ID").Int
	if master == s.watched {
		s.record.Clients[name] = c.id
	}
	return c
}

// dial connects a client without a name.
func (s *stage) dial(master int) *client {
	c := &client{s: s}
	if s.err != nil {
		return c
	}
	conn, err := net.Dial("tcp", s.masters[master].Addrs()[0])
	s.check(err)
	if err != nil {
		return c
	}
	c.conn = conn.(*net.TCPConn)
	c.in = bufio.NewReader(conn)
	s.clients = append(s.clients, c)
	s.check(conn.SetDeadline(time.Now().Add(patience)))
	return c
}

// request returns a command in RESP.
func request(words ...string) []byte {
	b := append(strconv.AppendInt([]byte("*"), int64(len(words)), 10), "\r\n"...)
	for _, w := range words {
		b = append(strconv.AppendInt(append(b, '$'), int64(len(w)), 10), "\r\n"...)
		b = append(append(b, w...), "\r\n"...)
	}
	return b
}

// send sends a command, and does not wait for its reply.
func (c *client) send(words ...string) { c.write(request(words...)) }

// write sends bytes by one write(2).
func (c *client) write(b []byte) {
	if c.s.err != nil {
		return
	}
	_, err := c.conn.Write(b)
	c.s.check(err)
}

// arrive waits until all that c has sent is in the server's socket.
func (c *client) arrive() {
	if c.s.err == nil {
		c.s.check(arrived(c.conn))
	}
}

// reply reads the next reply. A connection that has ended gives a Value of the kind 0.
func (c *client) reply() resp.Value {
	if c.s.err != nil {
		return resp.Value{}
	}
	v, err := resp.ReadReply(c.in)
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) {
		return resp.Value{}
	}
	c.s.check(err)
	return v
}

// replies reads n replies.
func (c *client) replies(n int) {
	for range n {
		c.reply()
	}
}

// do sends a command and waits for its reply.
func (c *client) do(words ...string) resp.Value {
	c.send(words...)
	return c.reply()
}

// ended reports whether v stands for the end of a connection.
func ended(v resp.Value) bool { return v.Kind == 0 }

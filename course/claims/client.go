package claims

import (
	"errors"
	"io"
	"syscall"
	"time"

	"github.com/miniredisd/miniredisd/internal/respclient"
	"github.com/miniredisd/miniredisd/resp"
)

// client is a TCP connection to a master of the story. Each send is one write(2), and it reads only when the
// story says so. A mistake ends the story: see story.check.
type client struct {
	s    *story
	name string
	id   int64
	conn *respclient.Conn
}

// patience bounds every wait for a reply in real time. A story that works never comes near it, not even under the
// race detector on a busy machine, where a script takes half a minute.
const patience = 5 * time.Minute

// client connects a client and gives it a name. The server's history begins later, at story.begin.
func (s *story) client(name string) *client { return s.clientOf(1, name) }

// clientOf connects a client to a master.
func (s *story) clientOf(master int, name string) *client {
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
func (s *story) dial(master int) *client {
	c := &client{s: s}
	if s.err != nil {
		return c
	}
	conn, err := respclient.Dial(s.servers.Addrs[master-1])
	s.check(err)
	if err != nil {
		return c
	}
	conn.Limit = patience
	c.conn = conn
	s.clients = append(s.clients, c)
	return c
}

// send sends a command, and does not wait for its reply.
func (c *client) send(words ...string) { c.write(resp.AppendRequest(nil, words...)) }

// write sends bytes by one write(2).
func (c *client) write(b []byte) {
	if c.s.err == nil {
		c.s.check(c.conn.Send(b))
	}
}

// arrive waits until all that c has sent is in the server's socket.
func (c *client) arrive() {
	if c.s.err == nil {
		c.s.check(c.conn.Arrive())
	}
}

// reply reads the next reply. A connection that has ended gives a Value of the kind 0.
func (c *client) reply() resp.Value {
	if c.s.err != nil {
		return resp.Value{}
	}
	v, err := c.conn.Read()
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

package main

import (
	"net"

	"github.com/miniredisd/miniredisd/internal/respclient"
	"github.com/miniredisd/miniredisd/resp"
)

// attacker sends what a row says. A connection that the server ends answers nothing any more, and the row goes
// on: to end it may be the defence.
type attacker struct {
	addr    string
	n       int // size of the attack
	main    *conn
	conns   []*conn // open until the attack is measured
	refused string
	same    []string
}

// conn is one client. It has no connection if the server has refused it.
type conn struct {
	net *respclient.Conn
	x   *attacker
}

const readBuffer = 64 << 10

// dial opens a further connection.
func (x *attacker) dial() *conn { return x.dialWith(respclient.SmallBuffer) }

func (x *attacker) dialWith(buffer int) *conn {
	c := &conn{x: x}
	if n, err := net.Dial("tcp", x.addr); err == nil {
		c.net = respclient.New(n, buffer)
		x.conns = append(x.conns, c)
	}
	return c
}

// first is the connection of do.
func (x *attacker) first() *conn {
	if x.main == nil {
		x.main = x.dialWith(readBuffer)
	}
	return x.main
}

func (x *attacker) close() {
	for _, c := range x.conns {
		_ = c.net.Close()
	}
}

// do sends one command and reads its reply.
func (x *attacker) do(args ...string) reply { return x.first().do(args...) }

// eval runs a script; {n} in it is the size of the attack.
func (x *attacker) eval(script string, args ...string) reply {
	return x.do(append([]string{"EVAL", expand(script, x.n), "0"}, args...)...)
}

// alike is do for a reply that both servers must give.
func (x *attacker) alike(r reply) { x.same = append(x.same, string(r.kind)+r.text) }

// big sends a command whose last argument is size bytes long.
func (x *attacker) big(size int, args ...string) reply {
	c := x.first()
	if c.net != nil {
		_ = c.net.SendLarge(size, args...) // read says how the connection ended
	}
	return c.read()
}

// pipe sends count commands without a wait and reads all replies.
func (x *attacker) pipe(count int, command func(i int) []string) {
	c := x.first()
	go c.pour(count, command)
	for range count {
		if c.read().kind == 0 {
			return
		}
	}
}

func (c *conn) do(args ...string) reply {
	c.send(resp.AppendRequest(nil, args...))
	return c.read()
}

// pour sends count commands and reads nothing. It reports whether the server took all of them.
func (c *conn) pour(count int, command func(i int) []string) bool {
	var buf []byte
	for i := range count {
		buf = resp.AppendRequest(buf, command(i)...)
		if len(buf) >= readBuffer || i == count-1 {
			if !c.send(buf) {
				return false
			}
			buf = buf[:0]
		}
	}
	return true
}

// send reports whether the connection took the bytes.
func (c *conn) send(raw []byte) bool { return c.net != nil && c.net.Send(raw) == nil }

func (c *conn) read() reply {
	if c.net == nil {
		return reply{}
	}
	kind, text, err := c.net.Skim()
	r := reply{kind, text}
	if err != nil {
		r.text = "connection closed: " + err.Error()
	}
	if c.x.refused == "" && (err != nil || r.failed()) {
		c.x.refused = r.text
	}
	return r
}

// reply is what respclient.Skim keeps of a reply.
type reply struct {
	kind byte // 0 when the connection ended
	text string
}

func (r reply) failed() bool { return r.kind == '-' || r.kind == '!' }

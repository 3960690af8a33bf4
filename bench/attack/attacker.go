package main

import (
	"bufio"
	"net"
	"strings"
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

// conn is one client.
type conn struct {
	net net.Conn
	r   *bufio.Reader
	x   *attacker
}

const readBuffer = 64 << 10

// dial opens a further connection.
func (x *attacker) dial() *conn {
	c := &conn{x: x}
	if n, err := net.Dial("tcp", x.addr); err == nil {
		c.net, c.r = n, bufio.NewReader(n)
		x.conns = append(x.conns, c)
	}
	return c
}

// first is the connection of do.
func (x *attacker) first() *conn {
	if x.main == nil {
		x.main = x.dial()
		x.main.r = bufio.NewReaderSize(x.main.net, readBuffer)
	}
	return x.main
}

func (x *attacker) close() {
	for _, c := range x.conns {
		c.net.Close()
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
	head := appendCommand(nil, append(args, "")...)
	head = append(head[:len(head)-len("$0\r\n\r\n")], "$"+itoa(size)+"\r\n"...)
	c.send(head)
	piece := []byte(strings.Repeat("x", 1<<20))
	for ; size > 0; size -= len(piece) {
		c.send(piece[:min(size, len(piece))])
	}
	c.send([]byte("\r\n"))
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
	c.send(appendCommand(nil, args...))
	return c.read()
}

// pour sends count commands and reads nothing. It reports whether the server took all of them.
func (c *conn) pour(count int, command func(i int) []string) bool {
	var buf []byte
	for i := range count {
		buf = appendCommand(buf, command(i)...)
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
func (c *conn) send(raw []byte) bool {
	if c.net == nil {
		return false
	}
	_, err := c.net.Write(raw)
	return err == nil
}

func (c *conn) read() reply {
	if c.net == nil {
		return reply{}
	}
	r, err := readReply(c.r)
	if err != nil {
		r.text = "connection closed: " + err.Error()
	}
	if c.x.refused == "" && (err != nil || r.failed()) {
		c.x.refused = r.text
	}
	return r
}

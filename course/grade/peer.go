package grade

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/internal/respclient"
	"github.com/miniredisd/miniredisd/resp"
)

// service is the student's program as a server.
type service struct {
	*program
	addr, port string
}

// peer is a TCP client of a service. Each write is one write(2), and it reads only when the story says so.
type peer struct {
	conn *respclient.Conn
	v    *service
	tcp  *net.TCPConn // the same connection, for what only TCP has
}

// dial connects a client.
func (v *service) dial() *peer {
	conn, err := net.DialTimeout("tcp", v.addr, v.s.run.AnswerLimit)
	if err != nil {
		v.lost(err)
	}
	c := &peer{conn: respclient.New(conn, 64<<10), v: v, tcp: conn.(*net.TCPConn)}
	c.conn.Limit = v.s.run.AnswerLimit
	v.s.peers = append(v.s.peers, c)
	return c
}

// lost ends the test after a connection ended that should not.
func (v *service) lost(err error) {
	state := ""
	select {
	case <-v.over:
		state = v.state
	case <-time.After(100 * time.Millisecond):
	}
	f := &failure{args: []any{err}, tail: v.errors.lines(),
		why: say{"Your server ended the connection: %v.", "服务器断开了连接：%v。"}}
	if state != "" {
		f.args = []any{state}
		f.why = say{"Your server has ended (%s).", "服务器进程结束了（%s）。"}
	}
	panic(f)
}

// write sends bytes.
func (c *peer) write(b []byte) {
	switch err := c.conn.Send(b); {
	case errors.Is(err, os.ErrDeadlineExceeded):
		panic(&failure{kind: hang, args: []any{c.v.s.run.AnswerLimit},
			why: say{"Your server has not read a request for %v.", "服务器已经 %v 没有读请求了。"}})
	case err != nil:
		c.v.lost(err)
	}
}

// expect reads a reply, byte for byte. what says which request it answers.
func (c *peer) expect(want string, what say) {
	c.await(what)
	c.limit()
	for i := range len(want) {
		b, err := c.conn.In.ReadByte()
		if err != nil {
			c.missing(err, i > 0, what)
		}
		if b != want[i] {
			rest, _ := c.conn.In.Peek(min(c.conn.In.Buffered(), 40)) // what has come so far
			got := want[max(0, i-20):i] + string(b) + string(rest)
			c.v.s.fail(say{"%s: the reply is %q, and should be %q.", "%s：回复是 %q，应为 %q。"},
				what.in(c.v.s.run.Lang), cut(got), cut(want[max(0, i-20):]))
		}
	}
}

// arrives waits for the next byte, or for the end of the connection. It returns false if neither comes, also
// before the limit, if the program is at rest: it has no answer in the making then.
func (c *peer) arrives() bool {
	const step, steps = 250 * time.Millisecond, 4
	if c.conn.In.Buffered() > 0 || c.readable(step) {
		return true
	}
	rests := 0
	for end := time.Now().Add(c.v.s.run.AnswerLimit - step); time.Now().Before(end) && rests < steps; {
		rested := c.v.resting()
		if c.readable(min(step, time.Until(end))) {
			return true
		}
		if rests++; !rested() {
			rests = 0
		}
	}
	return false
}

// await waits for the next byte of a reply.
func (c *peer) await(what say) {
	if !c.arrives() {
		c.silent(what)
	}
	c.v.s.run.spoke = true
}

// limit bounds the wait for what is read next.
func (c *peer) limit() { c.v.s.check(c.tcp.SetReadDeadline(time.Now().Add(c.v.s.run.AnswerLimit))) }

// missing ends the test because a reply did not come, or a part of it.
func (c *peer) missing(err error, part bool, what say) {
	switch {
	case !errors.Is(err, os.ErrDeadlineExceeded):
		c.gone(err, what)
	case part:
		c.v.s.fail(say{"%s: a part of the reply came, and the rest is missing.", "%s：回复只来了一部分，其余没有来。"},
			what.in(c.v.s.run.Lang))
	default:
		c.silent(what)
	}
}

// line reads a reply of one line, and returns it without its end.
func (c *peer) line(what say) string {
	c.await(what)
	c.limit()
	line, err := c.conn.In.ReadSlice('\n')
	if err != nil {
		c.missing(err, len(line) > 0, what)
	}
	return strings.TrimSuffix(string(line), "\r\n")
}

// longestBulk is in bytes: more than any reply that is read with bulk. A program may announce any length.
const longestBulk = 1 << 20

// bulk reads a bulk string.
func (c *peer) bulk(what say) []byte {
	head := c.line(what)
	n, err := strconv.Atoi(strings.TrimPrefix(head, "$"))
	if err != nil || n < 0 || n > longestBulk {
		c.v.s.fail(say{"%s: the reply has %q where a bulk string should begin.", "%s：回复里是 %q，应为一个字符串的开头。"},
			what.in(c.v.s.run.Lang), head)
	}
	text := make([]byte, n+2)
	if _, err := io.ReadFull(c.conn.In, text); err != nil {
		c.missing(err, true, what)
	}
	return text[:n]
}

// silent ends the test because no reply came. A server whose only client has never got one is not worth further
// tests.
func (c *peer) silent(what say) {
	f := &failure{kind: hang, args: []any{what.in(c.v.s.run.Lang)}, tail: c.v.errors.lines(),
		why: say{"%s: no reply came.", "%s：没有等到回复。"}}
	if !c.v.s.run.spoke && c.v.s.number == 1 && len(c.v.s.peers) == 1 {
		f.kind = mute
	}
	panic(f)
}

// gone ends the test because the connection ended where a reply should be.
func (c *peer) gone(err error, what say) {
	select {
	case <-c.v.over:
		c.v.lost(err)
	case <-time.After(100 * time.Millisecond):
	}
	panic(&failure{args: []any{what.in(c.v.s.run.Lang), err}, tail: c.v.errors.lines(),
		why: say{"%s: the connection ended instead of a reply (%v).", "%s：没有回复，连接断开了（%v）。"}})
}

// do sends a request and expects a reply.
func (c *peer) do(want string, what say, words ...string) {
	c.write(resp.AppendRequest(nil, words...))
	c.expect(want, what)
}

// ping proves that the server still serves this client. when says what else goes on.
func (c *peer) ping(when say) { c.do("+PONG\r\n", when, "PING") }

// end expects the end of the connection, and nothing before it.
func (c *peer) end(what say) {
	c.limit()
	b, err := c.conn.In.ReadByte()
	switch {
	case err == nil:
		c.v.s.fail(say{"%s: %q came instead of the end.", "%s：收到了 %q，应为连接结束。"}, what.in(c.v.s.run.Lang), string(b))
	case errors.Is(err, os.ErrDeadlineExceeded):
		panic(&failure{kind: hang, args: []any{what.in(c.v.s.run.Lang), c.v.s.run.AnswerLimit},
			why: say{"%s: your server has not closed the connection within %v.", "%s：服务器在 %v 内没有关闭连接。"}})
	}
}

// readable waits for at most d, and reports whether a byte has come or the connection has ended.
func (c *peer) readable(d time.Duration) bool {
	c.v.s.check(c.tcp.SetReadDeadline(time.Now().Add(d)))
	_, err := c.conn.In.Peek(1)
	return err == nil || !errors.Is(err, os.ErrDeadlineExceeded)
}

// fills waits until the first reply has come, which nobody reads, and a moment longer. The replies behind it
// fill the socket then, mostly.
func (c *peer) fills() {
	if !c.readable(c.v.s.run.AnswerLimit) {
		c.silent(say{"GET of a value of 1 MB", "GET 一个 1 MB 的值"})
	}
	time.Sleep(100 * time.Millisecond)
}

// bulk returns a bulk string in RESP.
func bulk(text string) string { return "$" + strconv.Itoa(len(text)) + "\r\n" + text + "\r\n" }

// quoted shows bytes as Go writes them.
func quoted(b []byte) string { return strconv.Quote(string(b)) }

// many returns a request n times.
func many(n int, words ...string) []byte { return bytes.Repeat(resp.AppendRequest(nil, words...), n) }

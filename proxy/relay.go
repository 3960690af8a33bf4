package proxy

import (
	"bufio"
	"bytes"
	"context"
	"errors"

	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/resp"
)

// LAB for other upstreams than that of the client: LAB ALL, LAB MASTER, and LAB over HTTP. Such a request comes over no
// connection. It belongs to a pair without sockets, which counts as ended, so nothing is ever written to it:
//
//	LAB ALL at one port ──> send ── a pair without sockets ──> execute, for each upstream
//	     reply <── answer <── tell, the last one <──────────────┘
//
// Ask is for other goroutines. Everything else here runs in the loop.

// errEnded is for those who ask a proxy that has ended.
const errEnded later = "ERR the proxy has ended"

// Ask executes LAB for an upstream, counted from 1; 0 means any. Any goroutine may call it. An error reply is an error.
func (p *Proxy) Ask(ctx context.Context, n int, args []string) (resp.Value, error) {
	return p.ask(ctx, n, 3, args)
}

func (p *Proxy) ask(ctx context.Context, n, proto int, args []string) (resp.Value, error) {
	got := make(chan []byte, 1)
	var c *pair
	p.loop.Post(func() {
		words := make([][]byte, len(args))
		for i, arg := range args {
			words[i] = []byte(arg)
		}
		c = p.upstreams[max(n-1, 0)].lab.send(words, proto, func(reply []byte) { got <- reply })
	})
	select {
	case reply := <-got:
		v, err := resp.ReadReply(bufio.NewReader(bytes.NewReader(reply)))
		if err == nil && v.Kind == '-' {
			err = errors.New(v.Str)
		}
		return v, err
	case <-p.ended:
		return resp.Value{}, errEnded
	case <-ctx.Done():
		p.loop.Post(func() { c.up.lab.forgetWaits(func(w *wait) bool { return w.c == c }) })
		return resp.Value{}, ctx.Err()
	}
}

// relayed is a LAB ALL or LAB MASTER, and the connection that it has come over.
type relayed struct {
	c *pair
	d *due
}

// send executes LAB without a connection, and calls tell with the reply.
func (l *labState) send(args [][]byte, proto int, tell func(reply []byte)) *pair {
	return l.sendFor(nil, args, proto, tell)
}

// sendFor is send for a part of LAB ALL or LAB MASTER.
func (l *labState) sendFor(whole *relayed, args [][]byte, proto int, tell func(reply []byte)) *pair {
	c := &pair{p: l.p, up: l.turn.u, ended: true, tell: tell, relayed: whole,
		session: session{proto: proto, control: true}}
	c.requests.c, c.replies.c = c, c
	l.execute(c, args)
	return c
}

// relayToAll is LAB ALL verb [argument ...].
func (l *labState) relayToAll(c *pair, d *due, args [][]byte) []byte {
	l.relay(c, d, "all", l.p.upstreams, args, func(w *resp.Writer, replies [][]byte) {
		w.Array(len(replies))
		for _, reply := range replies {
			w.Raw(reply)
		}
	})
	return nil
}

// relayToOne is LAB MASTER number verb [argument ...].
func (l *labState) relayToOne(c *pair, d *due, args [][]byte) []byte {
	all := l.p.upstreams
	n, isNumber := ascii.ParseInt(args[0])
	switch {
	case !isNumber:
		l.fail(c, d, "master", "expects the number of an upstream, not '%s'", lab.Printable(string(args[0])))
	case n < 1 || n > int64(len(all)):
		l.fail(c, d, "master", "there is no upstream %d, only 1 to %d", n, len(all))
	default:
		l.relay(c, d, "master", all[n-1:n], args[1:], func(w *resp.Writer, replies [][]byte) { w.Raw(replies[0]) })
	}
	return nil
}

// relay sends a verb to upstreams. The reply comes with the last one of theirs.
func (l *labState) relay(
	c *pair, d *due, how string, to []*upstream, verb [][]byte, write func(w *resp.Writer, replies [][]byte),
) {
	is := func(word string) bool { return ascii.EqualFold(verb[0], word) }
	if is("all") || is("master") || is("verdict") {
		l.fail(c, d, how, "expects a verb for a single upstream, not '%s'", lab.Printable(string(verb[0])))
		return
	}
	args := [][]byte{[]byte("LAB")}
	for _, arg := range verb {
		args = append(args, bytes.Clone(arg)) // the bytes of a request do not stay
	}
	replies, missing := make([][]byte, len(to)), len(to)
	for i, u := range to {
		u.lab.sendFor(&relayed{c, d}, args, c.proto, func(reply []byte) {
			replies[i] = reply
			if missing--; missing == 0 {
				l.answer(c, d, func(w *resp.Writer) { write(w, replies) })
			}
		})
	}
}

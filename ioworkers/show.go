package ioworkers

import (
	"strconv"

	"github.com/miniredisd/miniredisd/glass"
	"golang.org/x/sys/unix"
)

// What a connection and the pool show of themselves while a pass records details (glass.Event). The
// thread that has borrowed the connection calls it.

// showRead shows a read(2) of n bytes.
func (c *Conn) showRead(t *glass.Thread, n int, errno unix.Errno) {
	e := glass.Event{Point: glass.ReadDone, Client: c.ID, Dur: t.Took(), A: int64(n), B: -1}
	if errno != 0 {
		e.A = -int64(errno)
	} else {
		e.Text = glass.Shown(c.in.buf[len(c.in.buf)-n:])
	}
	if left, _ := c.Queues(); n > 0 {
		e.B = int64(left)
	}
	t.Event(e, c.Show)
}

// showParsed shows how many commands Parse has found.
func (c *Conn) showParsed(t *glass.Thread, found int) {
	rest := c.in.buf[c.in.taken:]
	t.Event(glass.Event{
		Point: glass.Parsed, Client: c.ID, Dur: t.Took(),
		A: int64(found), B: int64(len(rest)), Text: glass.Partial(rest),
	}, c.Show)
}

// showWritten shows a write(2) of n bytes.
func (c *Conn) showWritten(t *glass.Thread, n int, errno unix.Errno) {
	e := glass.Event{Point: glass.Written, Client: c.ID, Dur: t.Took(), A: int64(n), B: int64(c.Unsent())}
	if errno != 0 {
		e.A = -int64(errno)
	}
	t.Event(e, c.Show)
}

// showLent shows which connections each thread is about to get.
func (p *Pool) showLent(threads []*thread, ph phase) {
	for i, t := range threads {
		text := []byte("read")
		if ph == writing {
			text = []byte("write")
		}
		for _, c := range t.conns {
			text = strconv.AppendInt(append(text, ' '), c.ID, 10)
		}
		p.Trace.Event(glass.Event{
			Point: glass.Lent, Thread: i + 1, A: int64(len(t.conns)), Text: string(text),
		}, nil)
	}
}

// mostShown is the number of waiting commands in a glass.Client.
const mostShown = 4

// Show describes the connection for a snapshot.
func (c *Conn) Show() glass.Client {
	v := glass.Client{
		ID: c.ID, FD: c.FD, Output: c.Unsent(), Multi: -1, Next: []string{},
		Out: glass.Shown(c.Out.Buf[c.sent:]),
	}
	v.RecvQ, v.SendQ = c.Queues()
	if in := c.in; in != nil {
		rest := in.buf[in.taken:]
		v.Buffered, v.Partial = len(rest), glass.Partial(rest)
		v.Commands = in.batch.Len() - in.next
		for i := in.next; i < in.batch.Len() && len(v.Next) < mostShown; i++ {
			v.Next = append(v.Next, glass.Command(in.batch.Args(i)))
		}
	}
	return v
}

// Lent returns the clients that each thread had in the last phase.
func (p *Pool) Lent() (threads [][]int64) {
	for _, t := range p.threads {
		ids := []int64{}
		for _, c := range t.conns {
			ids = append(ids, c.ID)
		}
		threads = append(threads, ids)
	}
	return threads
}

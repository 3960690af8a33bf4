package ioworkers

import (
	"strconv"

	"github.com/miniredisd/miniredisd/watch"
	"golang.org/x/sys/unix"
)

// What a connection and the pool show of themselves while a pass records details (watch.Event). The
// thread that has borrowed the connection calls it.

// showRead shows a read(2) of n bytes.
func (c *Conn) showRead(t *watch.Thread, n int, errno unix.Errno) {
	e := watch.Event{Point: watch.ReadDone, Client: c.ID, Dur: t.Took(), A: int64(n), B: -1}
	if errno != 0 {
		e.A = -int64(errno)
	} else {
		e.Text = watch.Shown(c.in.buf[len(c.in.buf)-n:])
	}
	if left, _ := c.Queues(); n > 0 {
		e.B = int64(left)
	}
	t.Event(e, c.Show)
}

// showParsed shows how many commands Parse has found.
func (c *Conn) showParsed(t *watch.Thread, found int) {
	rest := c.in.buf[c.in.taken:]
	t.Event(watch.Event{
		Point: watch.Parsed, Client: c.ID, Dur: t.Took(),
		A: int64(found), B: int64(len(rest)), Text: watch.Partial(rest),
	}, c.Show)
}

// showWritten shows a write(2) of n bytes.
func (c *Conn) showWritten(t *watch.Thread, n int, errno unix.Errno) {
	e := watch.Event{Point: watch.Written, Client: c.ID, Dur: t.Took(), A: int64(n), B: int64(c.Unsent())}
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
		p.Trace.Event(watch.Event{
			Point: watch.Lent, Thread: i + 1, A: int64(len(t.conns)), Text: string(text),
		}, nil)
	}
}

// mostShown is the number of waiting commands in a watch.Client.
const mostShown = 4

// Show describes the connection for a snapshot.
func (c *Conn) Show() watch.Client {
	v := watch.Client{
		ID: c.ID, FD: c.FD, Output: c.Unsent(), Multi: -1, Next: []string{},
		Out: watch.Shown(c.Out.Buf[c.sent:]),
	}
	v.RecvQ, v.SendQ = c.Queues()
	if in := c.in; in != nil {
		rest := in.buf[in.taken:]
		v.Buffered, v.Partial = len(rest), watch.Partial(rest)
		v.Commands = in.batch.Len() - in.next
		for i := in.next; i < in.batch.Len() && len(v.Next) < mostShown; i++ {
			v.Next = append(v.Next, watch.Command(in.batch.Args(i)))
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

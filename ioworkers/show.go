package ioworkers

import (
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/internal/trace"
)

// What a connection and the pool show of themselves while a pass records details (trace.Event). The
// thread that has borrowed the connection calls it.

// showRead shows a read(2) of n bytes.
func (c *Conn) showRead(t *trace.Thread, n int, errno unix.Errno) {
	e := trace.Event{Point: trace.ReadDone, Client: c.ID, Dur: t.Took(), A: int64(n), B: -1}
	if errno != 0 {
		e.A = -int64(errno)
	} else {
		e.Text = trace.Shown(c.in.buf[len(c.in.buf)-n:])
	}
	if left, _ := c.Queues(); n > 0 {
		e.B = int64(left)
	}
	t.Event(e, c.Show)
}

// showParsed shows how many commands Parse has found.
func (c *Conn) showParsed(t *trace.Thread, found int) {
	rest := c.in.buf[c.in.taken:]
	e := trace.Event{
		Point: trace.Parsed, Client: c.ID, Dur: t.Took(), A: int64(found), B: int64(len(rest)), Text: trace.Partial(rest),
	}
	if c.Wrong != "" {
		e.B, e.Text = -1, trace.Shown([]byte(c.Wrong))
	}
	t.Event(e, c.Show)
}

// showWritten shows a write(2) of n bytes.
func (c *Conn) showWritten(t *trace.Thread, n int, errno unix.Errno) {
	e := trace.Event{Point: trace.Written, Client: c.ID, Dur: t.Took(), A: int64(n), B: int64(c.Unsent())}
	switch {
	case errno != 0:
		e.A = -int64(errno)
	case e.B > 0 && (n == writeLimit || n == refsLimit):
		e.Text = "limit"
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
		p.Trace.Event(trace.Event{
			Point: trace.Lent, Thread: i + 1, A: int64(len(t.conns)), Text: string(text),
		}, nil)
	}
}

// mostShown is the number of waiting commands in a trace.Client.
const mostShown = 4

// Show describes the connection for a snapshot.
func (c *Conn) Show() trace.Client {
	v := trace.Client{
		ID: c.ID, FD: c.FD, Output: c.Unsent(), Multi: -1, Next: []string{},
		Out: trace.Shown(c.Out.Buf[c.sent:]),
	}
	v.RecvQ, v.SendQ = c.Queues()
	if in := c.in; in != nil {
		rest := in.buf[in.taken:]
		v.Buffered, v.Partial = len(rest), trace.Partial(rest)
		v.Commands = in.batch.Len() - in.next
		for i := in.next; i < in.batch.Len() && len(v.Next) < mostShown; i++ {
			v.Next = append(v.Next, trace.Command(in.batch.Args(i)))
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

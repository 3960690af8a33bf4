package server

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/glass"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/resp"
)

// The events that main shows. All functions here run only in passes that record details.

// woke shows what the wait has found.
func (v *watchState) woke(slept int64) {
	v.fired, v.at = v.fired[:0], -1
	why, list := "timer", []byte(nil)
	v.findByFD()
	v.loop.Fired(func(fd int, mask reactor.Mask) {
		c, kind := v.handlerOf(fd, mask)
		ready := glass.Ready{FD: fd, Mask: letters(mask)}
		if c != nil {
			ready.Client = c.sess.ID
		}
		v.fired = append(v.fired, ready)
		if kind == "wake" && why == "timer" {
			why = "posted"
		} else if kind != "wake" {
			why = "event"
		}
		list = append(strconv.AppendInt(append(list, ' '), int64(fd), 10), ready.Mask...)
	})
	v.finished = v.pace()
	v.trace.Event(glass.Event{
		Point: glass.Woke, A: int64(len(v.fired)), B: max(v.now-slept, 0) / 1000, Text: why + string(list),
	}, nil)
}

func letters(mask reactor.Mask) string {
	text := ""
	for i, letter := range []string{"r", "w", "h"} {
		if mask&(1<<i) != 0 {
			text += letter
		}
	}
	return text
}

// handlerOf returns the client that a descriptor belongs to, if any, and the name of its handler.
func (v *watchState) handlerOf(fd int, mask reactor.Mask) (*client, string) {
	if c := v.clientOf(fd); c != nil {
		if mask&reactor.Writable != 0 && mask&(reactor.Readable|reactor.HangUp) == 0 {
			return c, "reply"
		}
		return c, "read"
	}
	if slices.ContainsFunc(v.listeners, func(l *listener) bool { return l.fd == fd }) {
		return nil, "accept"
	}
	return nil, "wake"
}

// findByFD notes which client each descriptor belongs to, so that a pass of n clients takes time O(n).
func (v *watchState) findByFD() {
	clear(v.byFD)
	for _, c := range v.order {
		if c.FD >= len(v.byFD) {
			v.byFD = append(v.byFD, make([]*client, c.FD+1-len(v.byFD))...)
		}
		v.byFD[c.FD] = c
	}
}

// clientOf returns the client of a descriptor, nil for none. A slow script accepts and closes clients in
// the middle of a pass.
func (v *watchState) clientOf(fd int) *client {
	if fd < len(v.byFD) {
		if c := v.byFD[fd]; c != nil && !c.closed {
			return c
		}
	}
	if at := slices.IndexFunc(v.order, func(c *client) bool { return c.FD == fd }); at >= 0 {
		return v.order[at]
	}
	return nil
}

func (v *watchState) showHandler(i, fd int, mask reactor.Mask) {
	v.at = i
	e := glass.Event{Point: glass.Handler, A: int64(i), B: int64(fd)}
	c, kind := v.handlerOf(fd, mask)
	if c != nil {
		e.Client = c.sess.ID
	}
	e.Text = kind
	v.trace.Event(e, nil)
}

func (v *watchState) accepted(c *client) {
	v.trace.Event(glass.Event{
		Point: glass.Accepted, Client: c.sess.ID, Dur: v.trace.Took(), A: int64(c.FD), Text: c.sess.Addr,
	}, nil)
}

func (v *watchState) closed(c *client) {
	why := "closed by the server"
	switch {
	case c.Lost:
		why = "writing failed"
	case c.ReadErr != 0:
		why = "reading failed: " + c.ReadErr.Error()
	case c.Wrong != "":
		why = c.Wrong.Error()
	case c.EOF:
		why = "the client has hung up"
	case c.sess.CloseAfterReply:
		why = "closed after the last reply"
	}
	v.trace.Event(glass.Event{Point: glass.Closed, Client: c.sess.ID, A: int64(c.FD), Text: why}, nil)
}

func (v *watchState) noteExpired(key string) { v.due = append(v.due, strings.Clone(key)) }

// expired shows the keys that have expired. The store must not be in the middle of a change: a snapshot
// looks at all keys.
func (v *watchState) expired() {
	if len(v.due) == 0 {
		return
	}
	names := make([][]byte, len(v.due))
	for i, key := range v.due {
		names[i] = []byte(key)
	}
	v.due = v.due[:0]
	v.trace.Event(glass.Event{
		Point: glass.Expired, A: int64(len(names)), Text: glass.Command(names), Args: names,
	}, nil)
}

// doShown is do, with the points execute and replied around it.
func (v *watchState) doShown(
	do func(*command.Session, [][]byte, *resp.Writer), by *command.Session, args [][]byte, w *resp.Writer,
) {
	t := v.ex.Trace
	if !t.Detailed() {
		do(by, args, w)
		return
	}
	name := strings.ToLower(string(args[0]))
	cmd := v.ex.Table.Lookup(args)
	if cmd != nil {
		name = cmd.Name
	}
	e := glass.Event{
		Point: glass.Executes, Client: by.ID, A: by.Commands + 1, B: v.asker(by), Text: glass.Command(args),
		Args: args, Name: name,
	}
	t.Event(e, nil)
	keys := v.subjects(by, cmd, args)
	mark, refs, dirty, begin := len(w.Buf), w.RefLen, v.ks.Stats.Dirty, v.ex.Clock.Mono()
	do(by, args, w)
	v.touch(by, keys, v.ks.Stats.Dirty != dirty)
	v.expired()
	reply := w.Buf[min(mark, len(w.Buf)):]
	e.Point, e.Dur = glass.Replied, v.ex.Clock.Mono()-begin
	e.A, e.B, e.Text = int64(len(reply)+max(w.RefLen-refs, 0)), glass.ReplyKind(reply), glass.Shown(reply)
	switch by.Hold {
	case command.Blocked:
		e.B = glass.ReplyBlocked
	case command.Postponed, command.Stopped:
		e.B = glass.ReplyHeld
	}
	t.Event(e, nil)
}

// asker says who asks for a request.
func (v *watchState) asker(by *command.Session) int64 {
	if by.Index < 0 {
		return glass.Internally
	}
	if f := v.order[by.Index].lab.fault; f != nil && f.decided {
		return glass.AfterWait
	}
	return glass.ByClient
}

func (v *watchState) pace() pace {
	return pace{
		reads: v.stats.Reads, writes: v.stats.Writes, commands: v.ex.Stats.Commands, executing: v.stats.Executing,
		reading: v.trace.Spent(glass.Reading), writing: v.trace.Spent(glass.Writing),
	}
}

// sleeps shows the end of a pass.
func (v *watchState) sleeps(d time.Duration) {
	was, is := v.finished, v.pace()
	timeout := int64(-1)
	if d >= 0 {
		timeout = int64((d + time.Millisecond - 1) / time.Millisecond)
	}
	v.trace.Event(glass.Event{
		Point: glass.Asleep, Dur: max(v.asleep-v.now, 0), A: timeout, B: is.commands - was.commands,
		Text: fmt.Sprintf("reads=%d writes=%d read_us=%d execute_us=%d write_us=%d looked=%d", is.reads-was.reads,
			is.writes-was.writes, (is.reading-was.reading)/1000, (is.executing-was.executing)/1000,
			(is.writing-was.writing)/1000, v.loop.Looked()),
	}, nil)
}

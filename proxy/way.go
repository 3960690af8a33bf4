package proxy

import (
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/ioworkers"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/resp"
)

const (
	// chunk is how many bytes a way reads at once. It does so once in a pass, so that all pairs get their turn.
	chunk = 64 << 10

	// mostHeld is how many bytes a way reads into: a chunk, and the front of a request before it.
	mostHeld = longestFront + chunk

	// mostSpare bounds the buffers of this size that wait for use.
	mostSpare = 16
)

// way is one direction of a pair. Its bytes:
//
//	held   . . . . . . . . . . . . . . .
//	             sent ^     done ^
//
// held[:sent] are written, and held[:done] need not be looked at any more. What both have behind them is dropped. So a
// request is sent while it arrives, and yet read whole. A shy way sends nothing behind done.
type way struct {
	c        *pair
	from, to int            // descriptors
	in, out  *ioworkers.TLS // of them, nil without TLS
	held     []byte
	sent     int
	done     int
	shy      bool
	begun    bool   // it has read something
	full     bool   // the other side takes no more: nothing is read until it does
	over     bool   // nothing more will be read
	ends     ending // once it is over: how the connection ends
	listed   bool   // in Proxy.ready
}

// isRequests reports whether w leads to the upstream.
func (w *way) isRequests() bool { return w == &w.c.requests }

// read reads a chunk and passes it on.
func (w *way) read() {
	w.begun = true
	buf := w.c.p.scratch
	front := copy(buf, w.held) // of a request
	n, err := receiveFrom(w.from, w.in, buf[front:front+chunk])
	switch {
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
		return
	case err != nil:
		w.ends = reset
		w.stop()
	case n == 0:
		if !w.isRequests() && w.c.cutter.Inside() != 0 && !w.c.raw {
			w.c.up.fails("has ended a connection inside a reply")
		}
		w.flushKept()
		w.stop()
	case w.isRequests():
		w.pass(buf[:front+n])
	default:
		w.pass(w.c.names.pass(buf[:front+n]))
	}
	w.finish()
}

// flushKept passes on what was kept of a reply that ends here.
func (w *way) flushKept() {
	if kept := w.c.kept; !w.isRequests() && len(kept) > 0 {
		w.c.kept = nil
		w.write(w.deliver(kept))
	}
}

// stop ends the reading.
func (w *way) stop() {
	w.over = true
	w.rewatch()
}

// rewatch watches what w has to know of the sender: bytes that it may read, or the end of a client that waits.
func (w *way) rewatch() {
	if w.c.ended || w.c.connecting {
		return
	}
	loop, stopped := w.c.p.loop, len(w.c.waiting) > 0 || w.c.under != nil && w.c.under.answered ||
		w.c.orphan
	if w.isRequests() {
		stopped = w.c.isStopped() || w.c.waitsForTurn() && len(w.held) > 0
	}
	var err error
	switch watched := loop.Watched(w.from); {
	case w.over || w.full || stopped || w.isRequests() && w.c.muted:
		loop.Unwatch(w.from, reactor.Readable)
	case watched&reactor.Readable == 0:
		err = loop.Watch(w.from, reactor.Readable, w.read)
		w.readFirst()
	}
	switch watched := loop.Watched(w.from); {
	case !w.isRequests() || w.over || w.c.muted || w.c.parked == nil && !w.c.last:
		loop.Unwatch(w.from, reactor.HangUp)
	case watched&reactor.HangUp == 0 && err == nil:
		err = loop.Watch(w.from, reactor.HangUp, func() { w.c.end(fin) })
	}
	if err != nil {
		w.c.end(reset)
	}
}

// pass looks at the bytes that have come, and writes them. buf has the held ones before them.
func (w *way) pass(buf []byte) {
	if w.isRequests() {
		buf = w.passRequests(buf)
	} else {
		buf = w.passReplies(buf)
	}
	w.write(buf)
	w.rewatch()
}

// again looks at bytes that had to wait.
func (w *way) again() {
	if w.c.ended {
		return
	}
	buf := w.held
	w.held = nil
	if w.isRequests() {
		buf = w.passRequests(buf)
	} else {
		waiting := w.c.waiting
		w.c.waiting = nil
		buf = append(slices.Clone(buf[w.sent:]), w.deliver(waiting)...)
		w.sent, w.done = 0, len(buf)
	}
	w.write(buf)
	w.rewatch()
	w.finish()
}

// passRequests finds the requests in buf, and decides on each if there are rules. It returns what is to be sent or
// held.
func (w *way) passRequests(buf []byte) []byte {
	c, b := w.c, &w.c.p.batch
	for w.shy = false; w.done < len(buf); {
		switch {
		case c.isStopped(), c.waitsForTurn():
			w.shy = true
			return buf
		case c.unparsed:
			w.done = len(buf)
			continue
		case c.inLarge:
			n, kind, err := c.large.Cut(buf[w.done:])
			w.done += n
			c.inLarge, c.unparsed = kind == 0 && err == nil, err != nil
			c.unpaired = c.unpaired || c.unparsed
			continue
		}
		b.Reset()
		n, err := c.parser.Parse(buf[w.done:], b)
		buf = w.passBatch(buf, b, n)
		switch front := buf[w.done:]; {
		case c.isStopped(), c.waitsForTurn():
		case err != nil:
			c.unparsed, c.unpaired = true, true // the upstream says so to the client
		case len(front) > longestFront, c.parser.Needs() > longestFront:
			if !c.unpaired && !c.up.turn.takes(c) || c.granted && !c.looksAtAll() {
				continue
			}
			c.asked++
			c.names.asks(nil)
			if c.granted {
				c.up.turn.sent(c, false)
			}
			c.inLarge, c.large, c.parser = true, resp.Cutter{}, newParser()
		default:
			w.shy = len(front) > 0 && w.sent <= w.done && !c.unpaired &&
				(!c.up.turn.free || c.up.lab.plan.OnRequests() || mayBecomeLab(front))
			return buf
		}
	}
	return buf
}

// passBatch passes the whole requests of a batch on, which are n bytes of buf behind done. It returns the new buf.
func (w *way) passBatch(buf []byte, b *resp.Batch, n int) []byte {
	c, start, gone := w.c, w.done, 0
	gated := c.isGated(b)
	if gated && w.sent > w.done { // the upstream has the front of the first one
		start, gone = w.done+firstEnd(buf[w.done:]), 1
	}
	if !gated || start < w.sent {
		start, gone = w.done+n, b.Len()
	}
	for i := range gone {
		c.passesBy(b.Args(i))
		c.names.asks(b.Args(i))
		c.up.lab.hears(b.Args(i))
		raw, hears := c.track(b.Args(i))
		c.raw = raw || c.raw
		c.expects(hears)
		c.renamed()
	}
	if gone == b.Len() {
		w.done += n
		return buf
	}
	out, rest := c.gateAll(b, gone)
	buf = slices.Concat(buf[w.sent:start], out, rest, buf[w.done+n:])
	w.sent, w.done = 0, start-w.sent+len(out)
	c.parser = newParser()
	return buf
}

// passReplies finds the replies in buf. It returns what the client gets.
func (w *way) passReplies(buf []byte) []byte {
	c := w.c
	if buf = c.keep(buf); len(buf) == 0 || c.dying || c.ended {
		w.done = 0
		return nil
	}
	if len(c.due) > 0 || c.silent {
		buf = w.deliver(buf)
	} else if n, err := c.cutReplies(buf); err != nil {
		w.refuse(err)
		buf = buf[:n]
	}
	w.done = len(buf)
	return buf
}

// deliver is pair.deliver. What has to wait is kept.
func (w *way) deliver(in []byte) []byte {
	out, rest, err := w.c.deliver(in)
	if err != nil {
		w.refuse(err)
	}
	w.c.waiting = slices.Clone(rest)
	return out
}

// refuse ends a connection on which the upstream has sent what is no reply.
func (w *way) refuse(err error) {
	w.c.up.fails(fmt.Sprintf("has sent what is no reply: %v", err))
	w.ends = reset
	w.stop()
}

// later calls again when the handlers of this pass have run.
func (w *way) later() {
	if !w.listed {
		w.listed = true
		w.c.p.ready = append(w.c.p.ready, w)
	}
}

// write writes what is not yet written, and keeps the rest.
func (w *way) write(buf []byte) {
	limit := len(buf)
	if w.shy {
		limit = w.done
	}
	if w.c.muted && !w.isRequests() {
		w.hold(buf)
		return
	}
	for w.sent < limit {
		n, err := sendTo(w.to, w.out, buf[w.sent:limit])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if errors.Is(err, unix.EAGAIN) {
			break
		}
		if err != nil {
			w.broken()
			return
		}
		w.sent += n
	}
	drop := min(w.sent, w.done)
	w.keep(buf[drop:])
	w.wait(w.sent < limit)
	w.sent, w.done = w.sent-drop, w.done-drop
}

// hold keeps bytes for a client that gets nothing now.
func (w *way) hold(buf []byte) {
	rest := buf[w.sent:]
	w.keep(rest)
	w.sent, w.done = 0, len(rest)
	w.wait(len(rest) > 0)
}

// keep holds the rest of the bytes.
func (w *way) keep(rest []byte) {
	if len(rest) > 0 && len(rest) <= cap(w.held) {
		w.held = w.held[:copy(w.held[:cap(w.held)], rest)]
		return
	}
	w.release()
	if len(rest) > 0 {
		w.held = append(w.c.p.buffer(len(rest)), rest...)
	}
}

// wait stops reading while the other side takes nothing.
func (w *way) wait(full bool) {
	if full == w.full {
		return
	}
	w.full = full
	if loop := w.c.p.loop; !full {
		loop.Unwatch(w.to, reactor.Writable)
	} else if w.isRequests() || !w.c.muted {
		w.watchFull()
	}
	w.rewatch()
}

// watchFull waits until the other side takes bytes again.
func (w *way) watchFull() {
	if err := w.c.p.loop.Watch(w.to, reactor.Writable, w.flush); err != nil {
		w.c.end(reset)
	}
}

// flush writes what is held, when the other side takes bytes again.
func (w *way) flush() {
	w.write(w.held)
	w.finish()
}

// finish passes the end of a connection on, once all bytes are.
func (w *way) finish() {
	if !w.isRequests() {
		w.c.settle()
	}
	switch {
	case !w.over || w.full || w.c.ended:
	case !w.isRequests():
		w.c.end(w.ends)
	case w.ends == reset:
		w.c.end(reset)
	case !w.c.last:
		if w.out != nil {
			w.out.SayGoodbye()
		}
		_ = unix.Shutdown(w.to, unix.SHUT_WR)
	}
}

// broken runs when a side is gone that is to get bytes. An upstream that is gone may have said why, and the client is
// to read it.
func (w *way) broken() {
	if !w.isRequests() {
		w.c.end(reset)
		return
	}
	w.release()
	w.sent, w.done = 0, 0
	w.over = true
	w.wait(false)
	w.rewatch()
}

// release gives the buffer back.
func (w *way) release() {
	if cap(w.held) == mostHeld && len(w.c.p.spare) < mostSpare {
		w.c.p.spare = append(w.c.p.spare, w.held[:0])
	}
	w.held = nil
}

// buffer returns an empty buffer with room for n bytes. A short front of a request gets no more than it needs: many
// clients may never send the rest.
func (p *Proxy) buffer(n int) []byte {
	if last := len(p.spare) - 1; n > longestFront && n <= mostHeld && last >= 0 {
		b := p.spare[last]
		p.spare = p.spare[:last]
		return b
	}
	if n > longestFront {
		n = max(n, mostHeld)
	}
	return make([]byte, 0, n)
}

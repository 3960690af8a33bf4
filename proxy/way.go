package proxy

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/reactor"
)

const (
	// chunk is how many bytes a way reads at once. It does so once in a pass, so that all pairs get their turn.
	chunk = 64 << 10

	// mostHeld is how many bytes a way can hold: what it has read in addition to the front of a request.
	mostHeld = longestFront + chunk

	// mostSpare bounds the buffers of this size that wait for use.
	mostSpare = 16
)

// way is one direction of a pair. Its bytes:
//
//	held   . . . . . . . . . . . . . . .
//	             sent ^     done ^
//
// held[:sent] are written, and held[:done] are whole requests. What both have behind them is dropped. So a request is
// sent while it arrives, and yet read whole.
type way struct {
	c        *pair
	from, to int // descriptors
	held     []byte
	sent     int
	done     int
	full     bool // the other side takes no more: nothing is read until it does
	over     bool // nothing more will be read
	lost     bool // the sender has reset the connection
}

func (w *way) watch() error { return w.c.p.loop.Watch(w.from, reactor.Readable, w.read) }

// isRequests reports whether w leads to the upstream.
func (w *way) isRequests() bool { return w == &w.c.requests }

// read reads a chunk and passes it on.
func (w *way) read() {
	buf := w.c.p.scratch
	front := copy(buf, w.held) // of a request
	n, err := unix.Read(w.from, buf[front:front+chunk])
	switch {
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
		return
	case err != nil:
		w.lost = true
		w.stop()
	case n == 0:
		w.stop()
	default:
		w.pass(buf[:front+n])
	}
	w.finish()
}

// stop ends the reading.
func (w *way) stop() {
	w.over = true
	w.c.p.loop.Unwatch(w.from, reactor.Readable)
}

// pass looks at the bytes that have come, and writes them. buf has the held ones before them.
func (w *way) pass(buf []byte) {
	if w.isRequests() {
		w.done = w.c.cutRequests(buf, w.done)
	} else if n, err := w.c.cutReplies(buf); err != nil {
		w.c.up.fails(fmt.Sprintf("has sent what is no reply: %v", err))
		w.lost = true
		w.stop()
		buf, w.done = buf[:n], n
	} else {
		w.done = n
	}
	w.write(buf)
}

// write writes what is not yet written, and keeps the rest.
func (w *way) write(buf []byte) {
	for w.sent < len(buf) {
		n, err := unix.Write(w.to, buf[w.sent:])
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
	w.sent, w.done = w.sent-drop, w.done-drop
	w.wait(w.sent < len(w.held))
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
	loop := w.c.p.loop
	var err error
	switch {
	case full:
		loop.Unwatch(w.from, reactor.Readable)
		err = loop.Watch(w.to, reactor.Writable, w.flush)
	default:
		loop.Unwatch(w.to, reactor.Writable)
		if !w.over {
			err = w.watch()
		}
	}
	if err != nil {
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
	switch {
	case !w.over || w.full || w.c.ended:
	case !w.isRequests():
		if !w.lost && w.c.cutter.Inside() && !w.c.raw {
			w.c.up.fails("has ended a connection inside a reply")
		}
		w.c.end(w.ending())
	case w.lost:
		w.c.end(reset)
	default:
		_ = unix.Shutdown(w.to, unix.SHUT_WR)
	}
}

func (w *way) ending() ending {
	if w.lost {
		return reset
	}
	return fin
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
	w.stop()
	w.wait(false)
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
	if last := len(p.spare) - 1; n > longestFront && last >= 0 {
		b := p.spare[last]
		p.spare = p.spare[:last]
		return b
	}
	if n > longestFront {
		n = mostHeld
	}
	return make([]byte, 0, n)
}

package proxy

import (
	"cmp"
	"crypto/tls"
	"errors"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/ioworkers"
	"github.com/miniredisd/miniredisd/reactor"
)

// TLS between clients and the proxy, and between the proxy and an upstream. The layer of package ioworkers stands
// between a way and its socket, and never waits. Only a handshake computes for long, so each has a goroutine:
//
//	the loop                              its goroutine
//	begin ──────────────────────────────> TLS.Handshake
//	waits <── Post ───────────────────────  it needs the other side
//	   │ the socket is ready, or it is given up
//	   └── goOn ────────────────────────>   goes on, or fails
//	done  <── Post ───────────────────────  over
//
// While it runs, the socket belongs to the goroutine, and nobody closes it. A client has its handshake before the proxy
// connects to the upstream for it.

// handshakeLimit ends a handshake with a side that says nothing.
const handshakeLimit = 10 * time.Second

const errHandshakeSlow later = "the TLS handshake takes longer than 10 s"

// handshakes are those under way.
type handshakes struct {
	loop    *reactor.Loop
	all     map[*handshake]struct{}
	running sync.WaitGroup
}

type handshake struct {
	of    *handshakes
	fd    int
	goOn  chan bool // room for a turn and for the end
	timer *reactor.Timer
	waits bool  // its goroutine waits for goOn
	gone  error // why it was given up, nil if it was not
	then  func(err error)
}

// begin starts a handshake, and calls then in the loop when it is over.
func (hs *handshakes) begin(fd int, t *ioworkers.TLS, then func(err error)) *handshake {
	h := &handshake{of: hs, fd: fd, goOn: make(chan bool, 2), then: then}
	hs.all[h] = struct{}{}
	h.timer = hs.loop.After(handshakeLimit, func() time.Duration {
		h.giveUp(errHandshakeSlow)
		return 0
	})
	hs.running.Add(1)
	go func() {
		defer hs.running.Done()
		err := t.Handshake(func(room bool) bool {
			hs.loop.Post(func() { h.needs(room) })
			return <-h.goOn
		})
		hs.loop.Post(func() { h.done(err) })
	}()
	return h
}

// needs waits for bytes, or for room, on behalf of the goroutine.
func (h *handshake) needs(room bool) {
	if h.gone != nil {
		h.goOn <- false
		return
	}
	what := reactor.Readable
	if room {
		what = reactor.Writable
	}
	h.waits = true
	err := h.of.loop.Watch(h.fd, what, func() {
		h.of.loop.Unwatch(h.fd, what)
		h.waits = false
		h.goOn <- true
	})
	if err != nil {
		h.giveUp(err)
	}
}

// giveUp ends a handshake. The socket is free once then is called.
func (h *handshake) giveUp(why error) {
	if h.gone = cmp.Or(h.gone, why); h.waits {
		h.of.loop.Unwatch(h.fd, reactor.Readable|reactor.Writable)
		h.waits = false
		h.goOn <- false
	}
}

func (h *handshake) done(err error) {
	delete(h.of.all, h)
	h.of.loop.Cancel(h.timer)
	h.then(cmp.Or(h.gone, err))
}

// end ends all handshakes when the loop has stopped.
func (hs *handshakes) end() {
	for h := range hs.all {
		h.goOn <- false
	}
	hs.running.Wait()
	for h := range hs.all {
		h.done(errSilent)
	}
}

// welcome makes a pair of a new client, after its handshake.
func (p *Proxy) welcome(u *upstream, fd int) {
	if p.tls == nil {
		p.join(u, fd, nil)
		return
	}
	t := ioworkers.NewTLS(fd, p.tls)
	p.handshakes.begin(fd, t, func(err error) {
		switch {
		case errors.Is(err, errSilent):
			_ = unix.Close(fd)
		case err != nil:
			p.log('-', "Error accepting a client connection: %v", err)
			closeSocket(fd, fin)
		default:
			p.join(u, fd, t)
		}
	})
}

// secure calls then with the TLS layer of a connection to the upstream that has just come about; nil without TLS.
func (u *upstream) secure(fd int, then func(t *ioworkers.TLS, err error)) *handshake {
	if u.tls == nil {
		then(nil, nil)
		return nil
	}
	t := ioworkers.NewClientTLS(fd, u.tls)
	return u.p.handshakes.begin(fd, t, func(err error) { then(t, err) })
}

// secured returns the configuration for the connections to an upstream of this name, nil for none.
func secured(cfg *tls.Config, host string) *tls.Config {
	if cfg == nil {
		return nil
	}
	cfg = cfg.Clone()
	cfg.DynamicRecordSizingDisabled = true
	if cfg.ServerName == "" {
		cfg.ServerName = host // an address is verified, and not sent
	}
	return cfg
}

// readFirst reads what a handshake has read beyond its end: the kernel does not report it.
func (w *way) readFirst() {
	if w.in != nil && !w.begun {
		w.c.p.loop.Post(func() {
			if !w.c.ended && w.c.p.loop.Watched(w.from)&reactor.Readable != 0 {
				w.read()
			}
		})
	}
}

// receiveFrom is read(2), through TLS if there is some.
func receiveFrom(fd int, t *ioworkers.TLS, p []byte) (int, error) {
	if t == nil {
		return unix.Read(fd, p)
	}
	n, errno := t.Receive(p)
	if errno != 0 {
		return n, errno
	}
	return n, nil
}

// sendTo is write(2), through TLS if there is some.
func sendTo(fd int, t *ioworkers.TLS, p []byte) (int, error) {
	if t == nil {
		return unix.Write(fd, p)
	}
	n, errno := t.Send(p)
	if errno != 0 {
		return n, errno
	}
	return n, nil
}

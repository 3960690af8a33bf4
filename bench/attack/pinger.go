package main

import (
	"strings"
	"time"
)

// waits is how a client beside the attack fared.
type waits struct {
	longest time.Duration
	busy    int
	asked   bool // SCRIPT KILL was sent
}

// answered notes the answer to one PING.
func (w *waits) answered(r reply, after time.Duration) {
	w.longest = max(w.longest, after)
	if strings.HasPrefix(r.text, "BUSY") {
		w.busy++
	}
}

// pinger asks for PONGs on a connection of its own, again and again.
type pinger struct {
	quit chan struct{}
	seen chan waits
}

const pingEvery = 2 * time.Millisecond

// startPinger begins to ping. With kill, the first BUSY is answered by SCRIPT KILL and FUNCTION KILL.
func startPinger(addr string, kill bool) pinger {
	p := pinger{make(chan struct{}), make(chan waits, 1)}
	x := &attacker{addr: addr}
	c := x.dial()
	go func() {
		var w waits
		defer func() {
			x.close()
			p.seen <- w
		}()
		for {
			began := time.Now()
			r := c.do("PING")
			if r.kind == 0 {
				return
			}
			w.answered(r, time.Since(began))
			if kill && r.failed() {
				w.asked = true
				c.do("SCRIPT", "KILL")
				c.do("FUNCTION", "KILL")
			}
			select {
			case <-p.quit:
				return
			case <-time.After(pingEvery):
			}
		}
	}()
	return p
}

// stop returns what the pinger saw, its last PING included.
func (p pinger) stop() waits {
	close(p.quit)
	return <-p.seen
}

// ask sends one command on a fresh connection.
func ask(addr string, args ...string) reply {
	x := &attacker{addr: addr}
	defer x.close()
	return x.dial().do(args...)
}

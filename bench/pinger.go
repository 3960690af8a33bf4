package main

import "time"

// pinger sends PING again and again, on a connection of its own.
type pinger struct {
	quit chan struct{}
	seen chan gap
}

// gap is the longest time between a PING and its PONG.
type gap struct {
	longest time.Duration
	err     error
}

const pingEvery = time.Millisecond

func startPinger(addr string) (pinger, error) {
	p := pinger{make(chan struct{}), make(chan gap, 1)}
	c, err := dial(addr)
	if err != nil {
		return p, err
	}
	go func() {
		defer c.Close()
		var g gap
		ticks := time.NewTicker(pingEvery)
		defer ticks.Stop()
		for {
			began := time.Now()
			if g.err = c.pipe([][]string{{"PING"}}); g.err != nil {
				p.seen <- g
				return
			}
			g.longest = max(g.longest, time.Since(began))
			select {
			case <-p.quit:
				p.seen <- g
				return
			case <-ticks.C:
			}
		}
	}()
	return p, nil
}

// stop ends the pings after the next PONG, and returns the longest gap.
func (p pinger) stop() (time.Duration, error) {
	close(p.quit)
	g := <-p.seen
	return g.longest, g.err
}

package server

import (
	"container/list"
	"crypto/tls"
	"runtime"
	"sync"

	"github.com/miniredisd/miniredisd/ioworkers"
	"github.com/miniredisd/miniredisd/reactor"
)

// handshakes are the connections that are no clients yet. Their goroutines reach none of these fields but
// running.
type handshakes struct {
	s      *Server
	Config *tls.Config         // for new connections; nil before the first tls-port
	silent list.List           // have sent nothing, the oldest first
	begun  list.List           // have sent something, in the order of their first bytes
	ready  []*handshake        // have something to compute and no turn
	slow   []*handshake        // the same, after fairTurns turns
	turns  map[*handshake]bool // those whose goroutine may use its socket, given up or not
	failed int                 // in the second under way: see logFailure

	running sync.WaitGroup // for the goroutines
}

// places returns how many places of maxclients handshakes have.
func (hs *handshakes) places() int { return hs.silent.Len() + hs.begun.Len() }

// mostTurns is how many handshakes may compute at a time, on a machine with enough processors.
const mostTurns = 8

// turnLimit returns how many handshakes may compute now. One processor is left to the loop: a goroutine that
// computes keeps its processor for up to 10 ms while others wait.
func turnLimit() int { return max(1, min(mostTurns, runtime.GOMAXPROCS(0)-1)) }

// fairTurns is more than a handshake needs: it takes two, if each message arrives as a whole. Others have to
// wait for those that need fewer. So clients that send byte by byte do not hold up the rest.
const fairTurns = 4

// wantTurn lets h compute once it is its turn.
func (hs *handshakes) wantTurn(h *handshake) {
	if h.had < fairTurns {
		hs.ready = append(hs.ready, h)
	} else {
		hs.slow = append(hs.slow, h)
	}
	hs.giveTurns()
}

// next takes the handshake with the next turn out of its queue. It returns nil if none wants one.
func (hs *handshakes) next() *handshake {
	queue := &hs.ready
	if len(*queue) == 0 {
		queue = &hs.slow
	}
	if len(*queue) == 0 {
		return nil
	}
	h := (*queue)[0]
	(*queue)[0] = nil
	*queue = (*queue)[1:]
	return h
}

// endTurn takes the turn of h away, if it has one. From then on its goroutine does not use the socket.
func (hs *handshakes) endTurn(h *handshake) {
	delete(hs.turns, h)
	hs.giveTurns()
}

// giveTurns lets handshakes compute. The goroutine of a handshake starts with its first turn.
func (hs *handshakes) giveTurns() {
	for len(hs.turns) < turnLimit() {
		h := hs.next()
		switch {
		case h == nil:
			return
		case h.gone:
			continue
		}
		hs.turns[h] = true
		h.had++
		if h.goOn != nil {
			h.goOn <- true
			continue
		}
		h.tls = ioworkers.NewTLS(h.fd, hs.Config)
		h.goOn = make(chan bool, 2) // room for a turn and for the end
		hs.running.Add(1)
		go func() {
			defer hs.running.Done()
			err := h.tls.Handshake(func(room bool) bool {
				hs.s.Loop.Post(func() { hs.waits(h, room) })
				return <-h.goOn
			})
			hs.s.Loop.Post(func() { hs.shaken(h, err) })
		}()
	}
}

// takePlace gives up a handshake, because somebody else needs its place. It takes the oldest connection that
// has sent nothing, else the handshake that began first, but rather one without a turn. The descriptor of one
// with a turn is free a moment later: mostTurns of the server's own cover it. takePlace returns false if there
// are no handshakes.
func (hs *handshakes) takePlace() bool {
	for e := hs.silent.Front(); e != nil; e = hs.silent.Front() {
		h := e.Value.(*handshake)
		unread, _ := (&ioworkers.Conn{FD: h.fd}).Queues()
		if unread == 0 {
			hs.losePlace(h)
			return true
		}
		hs.hello(h) // the loop had no time to look at it
	}
	var found *handshake
	for e := hs.begun.Front(); e != nil && (found == nil || hs.turns[found]); e = e.Next() {
		found = e.Value.(*handshake)
	}
	if found == nil {
		return false
	}
	hs.losePlace(found)
	return true
}

// losePlace gives up h in favour of somebody else.
func (hs *handshakes) losePlace(h *handshake) {
	hs.giveUp(h, PlainEnd)
	hs.s.Stats.Rejected++
	hs.logFailure(h, "another client needs its place (maxclients)")
}

// leavePlace takes h out of the handshakes.
func (hs *handshakes) leavePlace(h *handshake) {
	hs.silent.Remove(h.place) // one of these does nothing
	hs.begun.Remove(h.place)
	hs.s.Loop.Cancel(h.timer)
}

// giveUp closes a handshake, at the end of its turn if it has one.
func (hs *handshakes) giveUp(h *handshake, how Ending) {
	hs.leavePlace(h)
	h.gone, h.ending = true, how
	if h.goOn != nil {
		h.goOn <- false
	}
	if !hs.turns[h] {
		hs.hangUp(h)
	}
}

// hangUp closes the socket of a handshake without a turn. A second hangUp does nothing.
func (hs *handshakes) hangUp(h *handshake) {
	if h.fd >= 0 {
		hs.s.Loop.Unwatch(h.fd, reactor.Readable|reactor.Writable)
		h.ending.Close(h.fd)
		h.fd = -1
	}
}

// Drop resets the connections that have no client yet.
func (hs *handshakes) Drop() {
	for _, all := range []*list.List{&hs.silent, &hs.begun} {
		for all.Len() > 0 {
			hs.giveUp(all.Front().Value.(*handshake), ResetEnd)
		}
	}
}

// end is drop when the loop has ended. It waits for those that compute.
func (hs *handshakes) end() {
	hs.Drop()
	hs.running.Wait()
	for h := range hs.turns {
		hs.hangUp(h)
	}
}

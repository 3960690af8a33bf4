package reactor

import (
	"sync"
	"time"
)

// Bubble is what a loop waits for in a bubble of testing/synctest. The time of a bubble moves on when
// all its goroutines wait for each other. A system call is not such a wait, so the loop asks the kernel
// without waiting, and then waits for a channel:
//
//	the loop's goroutine                    a client's goroutine
//	epoll_wait, for 0 ms                    read or write, without waiting
//	   │ nothing is ready                      │ EAGAIN
//	   ├── closes passed ─────────────────────>│ tries again
//	   │<──────────────────── bell ────────────┤ has written
//	epoll_wait, for 0 ms                       v
//
// Sockets of the Unix domain fit: bytes that one side has written are there for the other side at once.
//
// A socket may also connect two loops of the bubble. Each then asks the kernel again after every pass of the other
// one. A loop that finds nothing has made no pass, so this ends.
type Bubble struct {
	multiplexer
	bell       chan struct{} // has a place for one ring
	nudged     chan struct{} // likewise: a neighbour has made a pass
	neighbours []*Bubble

	mu     sync.Mutex
	passed chan struct{}
	closed bool
}

// EnterBubble makes the loop wait as a bubble demands. Call it before Run, in the bubble.
func (l *Loop) EnterBubble() *Bubble {
	l.bubble = &Bubble{
		multiplexer: l.api, bell: make(chan struct{}, 1), nudged: make(chan struct{}, 1), passed: make(chan struct{}),
	}
	l.api = l.bubble
	return l.bubble
}

// Ring ends the loop's wait: a descriptor may be ready. Any goroutine may call it.
func (b *Bubble) Ring() { fill(b.bell) }

func fill(bell chan struct{}) {
	select {
	case bell <- struct{}{}:
	default: // it rings already
	}
}

// Neighbours says which other loops of the bubble a socket may lead to. Call it before Run.
func (b *Bubble) Neighbours(others []*Bubble) { b.neighbours = others }

// Passed is closed once the loop has done what there was to do. A client that calls Passed and then finds
// its socket empty misses nothing if it waits for the channel. Any goroutine may call it.
func (b *Bubble) Passed() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.passed
}

// tell closes passed, and opens a new one unless the loop has ended.
func (b *Bubble) tell(ended bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	close(b.passed)
	if b.closed = ended; !ended {
		b.passed = make(chan struct{})
	}
}

func (b *Bubble) wait(found []ready, ms int, hidden bool) ([]ready, error) {
	b.tell(false)
	for _, other := range b.neighbours {
		fill(other.nudged)
	}
	found, err := b.multiplexer.wait(found, 0, hidden)
	if len(found) > 0 || ms == 0 || err != nil {
		return found, err
	}
	var timeout <-chan time.Time // nil waits without limit
	if ms > 0 {
		timer := time.NewTimer(time.Duration(ms) * time.Millisecond)
		defer timer.Stop()
		timeout = timer.C
	}
	for waits := true; waits && len(found) == 0 && err == nil; {
		select {
		case <-b.bell:
			waits = false
		case <-timeout:
			waits = false
		case <-b.nudged:
		}
		found, err = b.multiplexer.wait(found, 0, hidden)
	}
	return found, err
}

func (b *Bubble) close() {
	b.tell(true)
	b.multiplexer.close()
}

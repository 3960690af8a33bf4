package snapshot

import (
	"slices"
	"sync"
)

// pipeMax is how many bytes may wait to be taken before the writer waits.
const pipeMax = 1 << 20

// pipe leads from the writer back to the goroutine that executes commands.
type pipe struct {
	mu      sync.Mutex
	changed sync.Cond // of mu: there is room, or the end
	chunks  [][]byte
	waiting int // bytes of chunks
	closed  bool

	wake func() // there is something to take
}

func newPipe(wake func()) *pipe {
	p := &pipe{wake: wake}
	p.changed.L = &p.mu
	return p
}

// Write waits until there is room for b.
func (p *pipe) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.waiting >= pipeMax && !p.closed {
		p.changed.Wait()
	}
	if p.closed {
		return 0, ErrAborted
	}
	if len(p.chunks) == 0 {
		p.wake()
	}
	p.chunks = append(p.chunks, slices.Clone(b))
	p.waiting += len(b)
	return len(b), nil
}

func (p *pipe) take() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.chunks) == 0 {
		return nil
	}
	next := p.chunks[0]
	p.chunks[0] = nil
	p.chunks = p.chunks[1:]
	p.waiting -= len(next)
	p.changed.Signal()
	return next
}

// close makes every Write fail.
func (p *pipe) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.changed.Signal()
}

package snapshot

import "sync"

const (
	pipeMax   = 1 << 20   // bytes that may wait to be taken before the writer waits
	pieceSize = 128 << 10 // the writer writes fewer bytes at once, but for long strings
)

// pipe leads from the writer back to the goroutine that executes commands.
type pipe struct {
	mu      sync.Mutex
	changed sync.Cond // of mu: there is room, or the end
	pieces  [][]byte
	spare   [][]byte // for the next pieces
	waiting int      // bytes of pieces
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
	for from := 0; from < len(b); from += pieceSize {
		for p.waiting >= pipeMax && !p.closed {
			p.changed.Wait()
		}
		if p.closed {
			return 0, ErrAborted
		}
		if len(p.pieces) == 0 {
			p.wake()
		}
		piece := append(p.room(), b[from:min(from+pieceSize, len(b))]...)
		p.pieces = append(p.pieces, piece)
		p.waiting += len(piece)
	}
	return len(b), nil
}

// room returns an empty piece.
func (p *pipe) room() []byte {
	last := len(p.spare) - 1
	if last < 0 {
		return make([]byte, 0, pieceSize)
	}
	piece := p.spare[last]
	p.spare = p.spare[:last]
	return piece[:0]
}

func (p *pipe) take() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.pieces) == 0 {
		return nil
	}
	next := p.pieces[0]
	p.pieces[0] = nil
	p.pieces = p.pieces[1:]
	p.waiting -= len(next)
	p.changed.Signal()
	return next
}

// reuse takes back a piece that take has returned.
func (p *pipe) reuse(piece []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spare = append(p.spare, piece)
}

// close makes every Write fail.
func (p *pipe) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.changed.Signal()
}

package snapshot

import (
	"sync"

	"github.com/miniredisd/miniredisd/store"
)

// waitingMax is how many bytes may wait for the disk before Advance stops. What commands are about to change is
// copied all the same.
const waitingMax = 32 << 20

// ErrAborted is how an aborted snapshot ends.
const ErrAborted store.Error = "aborted"

// queue leads from the goroutine that executes commands to the writer.
type queue struct {
	mu      sync.Mutex
	changed sync.Cond // of mu: there is work, or the end
	copies  [][]store.Captured
	bytes   []int // of copies
	waiting int   // all bytes
	full    bool  // Advance has found that too much waits
	ended   bool  // nothing more will come
	aborted bool
	stop    chan struct{} // closed when it is aborted

	wake func() // full has become false
}

func (q *queue) put(copies []store.Captured, bytes int) {
	if len(copies) == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.copies, q.bytes = append(q.copies, copies), append(q.bytes, bytes)
	q.waiting += bytes
	q.changed.Signal()
}

// isFull reports whether too much waits for the disk. Then wake will be called.
func (q *queue) isFull() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.full = q.waiting >= waitingMax
	return q.full
}

// end says that nothing more will come.
func (q *queue) end(aborted bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	if aborted && !q.aborted {
		q.aborted = true
		close(q.stop)
	}
	q.changed.Signal()
}

// take waits for the next copies. It returns nil at the end.
func (q *queue) take() ([]store.Captured, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.copies) == 0 && !q.ended {
		q.changed.Wait()
	}
	if q.aborted {
		return nil, ErrAborted
	}
	if len(q.copies) == 0 {
		return nil, nil
	}
	next := q.copies[0]
	q.waiting -= q.bytes[0]
	q.copies[0] = nil
	q.copies, q.bytes = q.copies[1:], q.bytes[1:]
	if q.full && q.waiting < waitingMax/2 {
		q.full = false
		q.wake()
	}
	return next, nil
}

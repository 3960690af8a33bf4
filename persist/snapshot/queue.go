package snapshot

import (
	"sync"

	"github.com/miniredisd/miniredisd/store"
)

// waitingMax is how many bytes may wait for the disk before Advance stops. What commands are about to change is
// copied all the same.
const waitingMax = 8 << 20

// ErrAborted is how an aborted snapshot ends.
const ErrAborted store.Error = "aborted"

// queue leads from the goroutine that executes commands to the writer.
type queue struct {
	mu      sync.Mutex
	changed sync.Cond // of mu: there is work, or the end
	batches []*store.Batch
	written []*store.Batch // for the capture to use again
	waiting int            // bytes of batches
	full    bool           // Advance has found that too much waits
	ended   bool           // nothing more will come
	aborted bool
	stop    chan struct{} // closed when it is aborted

	wake func() // full has become false
}

// put hands the writer a batch, if it is not nil. It returns a batch that the writer is done with, or nil.
func (q *queue) put(b *store.Batch) *store.Batch {
	if b == nil {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.batches = append(q.batches, b)
	q.waiting += b.Bytes
	q.changed.Signal()
	last := len(q.written) - 1
	if last < 0 {
		return nil
	}
	b = q.written[last]
	q.written = q.written[:last]
	return b
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

// take waits for the next batch. It returns nil at the end. The caller is done with the batch before, which may be nil.
func (q *queue) take(before *store.Batch) (*store.Batch, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if before != nil {
		q.written = append(q.written, before)
	}
	for len(q.batches) == 0 && !q.ended {
		q.changed.Wait()
	}
	if q.aborted {
		return nil, ErrAborted
	}
	if len(q.batches) == 0 {
		return nil, nil
	}
	next := q.batches[0]
	q.waiting -= next.Bytes
	q.batches[0] = nil
	q.batches = q.batches[1:]
	if q.full && q.waiting < waitingMax/2 {
		q.full = false
		q.wake()
	}
	return next, nil
}

package snapshot

import (
	"io"

	"github.com/miniredisd/miniredisd/persist/disk"
	"github.com/miniredisd/miniredisd/persist/rdb"
	"github.com/miniredisd/miniredisd/store"
)

// Snapshot is a file that is being written, or bytes for replicas.
type Snapshot struct {
	capture *store.Capture
	queue   queue
	back    *pipe // nil for a file
	more    bool  // keys are still to be copied
	err     chan error
}

// Begin begins a snapshot of what the keyspace is now. The writer calls wake when Advance can go on, and ended when it
// has ended, both on its own goroutine.
func Begin(ks *store.Keyspace, on disk.FS, path string, saving *rdb.Saving, wake, ended func()) *Snapshot {
	write := func(fill func(to io.Writer) error) error { return rdb.SaveBy(on, path, fill) }
	return BeginBy(ks, write, saving, wake, ended)
}

// BeginBy is Begin for a writer that does more than to save a file. It calls fill to get the content of one.
func BeginBy(
	ks *store.Keyspace, write func(fill func(to io.Writer) error) error, saving *rdb.Saving, wake, ended func(),
) *Snapshot {
	s := capture(ks, wake)
	s.write(saving, ended, write)
	return s
}

// Stream is Begin without a file: Take returns what the writer has written. The writer also calls wake when there is
// something to take.
func Stream(ks *store.Keyspace, saving *rdb.Saving, wake, ended func()) *Snapshot {
	s := capture(ks, wake)
	s.back = newPipe(wake)
	s.write(saving, ended, func(fill func(to io.Writer) error) error { return fill(s.back) })
	return s
}

func capture(ks *store.Keyspace, wake func()) *Snapshot {
	s := &Snapshot{capture: ks.Capture(), more: true, err: make(chan error, 1)}
	s.queue.changed.L, s.queue.wake, s.queue.stop = &s.queue.mu, wake, make(chan struct{})
	return s
}

// write starts the writer. save calls fill with what gets the bytes.
func (s *Snapshot) write(saving *rdb.Saving, ended func(), save func(fill func(to io.Writer) error) error) {
	saving.Stop = s.queue.stop
	sizes := s.capture.Databases
	go func() {
		s.err <- save(func(to io.Writer) error { return s.queue.write(saving.Begin(to), sizes) })
		ended()
	}()
}

// IsStream reports whether the writer waits for Take, and uses no disk.
func (s *Snapshot) IsStream() bool { return s.back != nil }

// Take returns the next bytes of a Stream, nil while there are none. They belong to the caller, until Reuse.
func (s *Snapshot) Take() []byte { return s.back.take() }

// Reuse gives back what Take has returned. The writer fills it again.
func (s *Snapshot) Reuse(piece []byte) { s.back.reuse(piece) }

// write writes all that comes through the queue. The size of a database stands before its first key, as in a file of
// SAVE. Commands that run meanwhile may make the keys of two databases alternate.
func (q *queue) write(w rdb.Target, sizes []store.CapturedDB) error {
	unsized := make(map[int]store.CapturedDB, len(sizes))
	for _, db := range sizes {
		unsized[db.ID] = db
	}
	var batch *store.Batch
	selected := -1
	for {
		var err error
		if batch, err = q.take(batch); err != nil {
			return err
		}
		if batch == nil {
			return w.End()
		}
		for i := range batch.Keys {
			k := &batch.Keys[i]
			if k.DB != selected {
				selected = k.DB
				w.Select(selected)
				if db, ok := unsized[selected]; ok {
					w.Size(db.Keys, db.Expires)
					delete(unsized, selected)
				}
			}
			if err := w.Key(k.Name, k.Value, k.Past); err != nil {
				return err
			}
		}
	}
}

const (
	stepKeys  = 32       // keys between two looks at the clock
	takeBytes = 64 << 10 // the writer gets so much at once
)

// Advance copies keys until the time end by a clock, and hands the writer what was copied since the last call. It
// copies nothing while too much waits for the disk.
func (s *Snapshot) Advance(clock func() int64, end int64) {
	if !s.more {
		return
	}
	for s.more && clock() < end && !s.queue.isFull() {
		s.more = s.capture.Step(stepKeys)
		s.hand(takeBytes)
	}
	s.hand(0)
	if !s.more {
		s.queue.end(false)
	}
}

// hand hands the writer what was copied, if it is that many bytes.
func (s *Snapshot) hand(least int) {
	if written := s.queue.put(s.capture.Take(least)); written != nil {
		s.capture.Reuse(written)
	}
}

// Finish copies all keys that are left and waits for the end of the writer of a file. Nothing else uses the disk
// meanwhile, so the order of its operations is always the same.
func (s *Snapshot) Finish() error {
	for s.more {
		s.more = s.capture.Step(stepKeys)
		s.hand(takeBytes)
	}
	s.hand(0)
	s.queue.end(false)
	return s.Wait()
}

// CanAdvance reports whether keys are still to be copied, and the disk is fast enough for them.
func (s *Snapshot) CanAdvance() bool { return s.more && !s.queue.isFull() }

// Keys returns how many keys there are in the snapshot, and how many of them are copied.
func (s *Snapshot) Keys() (all, copied int) { return s.capture.Keys, s.capture.Copied }

// Abort stops the writer, which leaves the old file. It may be too late.
func (s *Snapshot) Abort() {
	s.more = false
	s.capture.End()
	s.queue.end(true)
	if s.back != nil {
		s.back.close()
	}
}

// Wait waits until the writer has ended, and returns why the file was not written, or nil. The snapshot is over.
func (s *Snapshot) Wait() error {
	err := <-s.err
	s.more = false
	s.capture.End()
	s.capture.Return()
	return err
}

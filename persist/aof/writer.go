package aof

import (
	"fmt"

	"github.com/miniredisd/miniredisd/persist/disk"
)

// Policy says when commands are fsynced (appendfsync).
type Policy uint8

const (
	EverySec Policy = iota // once a second, elsewhere, while commands go on
	Always                 // before anybody hears of them
	No                     // when the system does it by itself
)

// PolicyOf returns the policy that a value of appendfsync means.
func PolicyOf(word string) Policy {
	switch word {
	case "always":
		return Always
	case "no":
		return No
	}
	return EverySec
}

// Times in ms of a monotonic clock.
const (
	syncPeriod   = 1000   // from one fsync of EverySec to the next
	postponeMost = 2000   // how long a write waits for an fsync under way
	errorPeriod  = 30_000 // from one line about write errors to the next (aof.c: AOF_WRITE_LOG_ERROR_RATE)
)

// Writer appends commands to the last part (aof.c: flushAppendOnlyFile).
//
//	Append ──> buffer ── Flush ──> write ──> fsync, as Policy says
//
// Flush comes at the end of a pass, before the replies are written. So one fsync is enough for all commands of the
// pass, and with Always none of them is acknowledged before it.
//
// With EverySec the fsync runs elsewhere. A write during an fsync would wait for it, so Flush postpones the write for
// up to two seconds.
//
// After a failed fsync the page cache is clean and the bytes may be lost: nobody can try again. With Always that is
// the end. With EverySec the Writer writes nothing more, and Err says so, until Turn and Trust.
//
// Turn continues in another part. Nothing is written there before the old one is fsynced: what a crash loses is always
// the end. A write waits for that fsync for up to two seconds, and Flush waits after that.
//
// A Writer belongs to the goroutine that executes commands. Elsewhere, only the file is used.
type Writer struct {
	Policy Policy
	NoSync bool // for now, nothing is fsynced (no-appendfsync-on-rewrite)
	Log    func(level byte, format string, args ...any)

	// Elsewhere calls job in another goroutine, for an fsync of EverySec. Wake is called there when it is over: Flush
	// has to come again. Without Elsewhere, Flush does the work itself.
	Elsewhere func(job func())
	Wake      func()

	// Hurry ends an fsync elsewhere, for somebody who waits for it on this goroutine. It is for an Elsewhere without a
	// goroutine of its own.
	Hurry func()

	file     disk.File
	buffer   []byte
	size     int64 // of the part
	appended int64 // bytes since the Writer began, for all parts
	written  int64 // of them
	synced   int64 // of them

	former disk.File // the part before, until it is fsynced; nil for none
	turned int64     // what was written before the part

	results   chan error // of an fsync elsewhere
	syncing   bool       // one is under way
	reaches   int64      // what it makes synced
	lastSync  int64      // when the last one began
	postponed int64      // since when a write waits for it, 0 for not at all
	delayed   int64      // writes that did not wait any longer

	failed error // the last write, until one succeeds
	logged int64 // when that was logged, 0 for never
	broken error // the part cannot be trusted any more
	lost   error // nor can one before it
}

// NewWriter returns a Writer for a part of size bytes, all of them fsynced.
func NewWriter(part disk.File, size int64) *Writer {
	return &Writer{
		file: part, size: size, results: make(chan error, 1), lastSync: -syncPeriod,
		Log: func(byte, string, ...any) {},
	}
}

// Begin says that the time is now. The first fsync of EverySec comes a second later.
func (w *Writer) Begin(now int64) { w.lastSync = now }

// Annotation is the line that says when what follows it was appended (aof-timestamp-enabled).
func Annotation(unix int64) []byte { return fmt.Appendf(nil, "#TS:%d\r\n", unix) }

// Append adds whole commands to the buffer. They are copied.
func (w *Writer) Append(commands []byte) {
	w.appended += int64(len(commands))
	if w.broken == nil {
		w.buffer = append(w.buffer, commands...)
	}
}

// Flush writes the buffer and fsyncs, as Policy says. now is a monotonic time in ms. An error is the end: no command
// whose reply is not written yet may be acknowledged.
func (w *Writer) Flush(now int64) error {
	w.settle(w.Policy == Always) // else an fsync of EverySec could fail unseen
	if w.Policy == Always {
		return w.flushNow()
	}
	if w.broken != nil {
		return nil
	}
	if w.former != nil && !w.syncing {
		w.startSync(now)
	}
	if len(w.buffer) > 0 && !w.postpones(now) {
		w.write(now)
	}
	if w.Policy == EverySec && !w.NoSync && !w.syncing && w.synced < w.written && now-w.lastSync >= syncPeriod {
		w.startSync(now)
	}
	return nil
}

// flushNow is Flush for Always.
func (w *Writer) flushNow() error {
	if w.broken == nil && w.former != nil {
		w.release()
		w.broken = w.lost
	}
	if w.broken == nil && len(w.buffer) > 0 && !w.write(0) {
		w.broken = w.failed
	}
	if w.broken == nil && w.synced < w.written && !w.NoSync {
		w.reaches = w.written
		w.ended(w.file.Sync())
	}
	return w.broken
}

// postpones reports whether a write waits for an fsync under way.
func (w *Writer) postpones(now int64) bool {
	switch {
	case w.Policy != EverySec && w.former == nil || !w.syncing:
		return false
	case w.postponed == 0:
		w.postponed = now
		return true
	case now-w.postponed < postponeMost:
		return true
	case w.former != nil: // a write now could outlive what comes before it
		w.release()
	}
	w.delayed++
	w.Log('*', "Asynchronous AOF fsync is taking too long (disk is busy?). Writing the AOF buffer without waiting for "+
		"fsync to complete, this may slow down Redis.")
	return false
}

// keepBuffer is the size up to which the memory of the buffer is used again.
const keepBuffer = 1 << 20

// write writes the buffer. What could not be written stays there. The part may end in the middle of a command until
// the next write.
func (w *Writer) write(now int64) bool {
	n, err := w.file.Write(w.buffer)
	w.written += int64(n)
	w.size += int64(n)
	w.postponed = 0
	if err != nil {
		w.buffer = append(w.buffer[:0], w.buffer[n:]...)
		w.failed = err
		if w.logged == 0 || now-w.logged > errorPeriod {
			w.logged = now
			w.Log('#', "Error writing to the AOF file: %v", err)
		}
		return false
	}
	if w.buffer = w.buffer[:0]; cap(w.buffer) > keepBuffer {
		w.buffer = nil
	}
	if w.failed != nil {
		w.failed, w.logged = nil, 0
		w.Log('*', "AOF write error looks solved. The server can write again.")
	}
	return true
}

// startSync begins an fsync of all that was written, or of the former part.
func (w *Writer) startSync(now int64) {
	file := w.file
	if w.former != nil { // what waits for it must not wait for a second more
		file, w.reaches = w.former, w.turned
	} else {
		w.lastSync, w.reaches = now, w.written
	}
	if w.Elsewhere == nil {
		w.ended(file.Sync())
		return
	}
	w.syncing = true
	w.Elsewhere(func() {
		w.results <- file.Sync()
		w.Wake()
	})
}

// settle takes the result of an fsync elsewhere, if it has one. With wait it gets one.
func (w *Writer) settle(wait bool) {
	if !w.syncing {
		return
	}
	var err error
	if wait && w.Hurry != nil {
		if w.Hurry(); !w.syncing {
			return
		}
	}
	if wait {
		err = <-w.results
	} else {
		select {
		case err = <-w.results:
		default:
			return
		}
	}
	w.syncing = false
	w.ended(err)
}

// ended is told of the end of an fsync.
func (w *Writer) ended(err error) {
	if err == nil {
		w.synced = w.reaches
	} else {
		w.Log('#', "Fail to fsync the AOF file: %v", err)
	}
	switch {
	case w.former != nil && (err != nil || w.synced == w.turned):
		_ = w.former.Close()
		w.former = nil
		if err != nil {
			w.lost = err
		}
	case err != nil:
		w.broken, w.buffer = err, nil
	}
}

// release waits until the part before is fsynced.
func (w *Writer) release() {
	w.settle(true)
	if w.former != nil {
		w.reaches = w.turned
		w.ended(w.former.Sync())
	}
}

// Drain writes the buffer. Turn may follow if it could.
func (w *Writer) Drain(now int64) error {
	w.settle(w.Policy == Always)
	if w.former != nil {
		w.release()
	}
	if w.Policy == Always {
		return w.flushNow()
	}
	if w.broken == nil && len(w.buffer) > 0 {
		w.write(now)
	}
	return w.failed
}

// Turn continues in a new part, after Drain. If the old one cannot be trusted, Err says so until Trust.
func (w *Writer) Turn(to disk.File) {
	switch {
	case w.broken != nil:
		w.settle(true)
		w.lost, w.broken = w.broken, nil
		w.written = w.appended
		w.synced = w.written
		_ = w.file.Close()
	case w.syncing || w.synced < w.written:
		w.former, w.turned = w.file, w.written
	default:
		_ = w.file.Close()
	}
	w.file, w.size = to, 0
}

// Trust says that a new base has replaced the parts before this one.
func (w *Writer) Trust() { w.lost = nil }

// Drop gives up the part, without a word to the disk.
func (w *Writer) Drop() {
	w.release()
	w.settle(true)
	_ = w.file.Close()
	w.broken, w.lost, w.failed, w.buffer = w.lost, nil, nil, nil
}

// Next returns when Flush has to come again although nothing happens, and whether it has to. It is for an fsync that
// is due, for a write that was postponed, and for one that has failed.
func (w *Writer) Next(now int64) (at int64, ok bool) {
	switch {
	case w.broken != nil || w.Policy == Always:
		return 0, false
	case w.postponed != 0:
		return w.postponed + postponeMost, true
	case w.failed != nil:
		return now + syncPeriod, true
	case w.Policy == EverySec && !w.syncing && w.synced < w.written:
		return w.lastSync + syncPeriod, true
	}
	return 0, false
}

// Close writes and fsyncs what is left, whatever the policy.
func (w *Writer) Close() error {
	w.settle(true)
	w.NoSync = false
	err := w.flushNow()
	if closed := w.file.Close(); err == nil {
		err = closed
	}
	return err
}

// Err says why no command may change anything now, nil if all is well (server.c: writeCommandsDeniedByDiskError).
func (w *Writer) Err() error {
	switch {
	case w.broken != nil:
		return w.broken
	case w.lost != nil:
		return w.lost
	}
	return w.failed
}

// Broken reports whether the part cannot be trusted, so that a rewrite must not follow it.
func (w *Writer) Broken() bool { return w.broken != nil || w.lost != nil }

// State is what INFO shows of a Writer.
type State struct {
	Size     int64 // of the part, in bytes
	Synced   int64 // bytes that are fsynced, since the Writer began
	Unsynced int64 // bytes that are written, and not fsynced
	Buffered int   // bytes that are not written yet
	Syncing  bool  // an fsync is under way
	Delayed  int64 // writes that did not wait for it any longer
}

// State returns it.
func (w *Writer) State() State {
	return State{w.size, w.synced, w.written - w.synced, len(w.buffer), w.syncing, w.delayed}
}

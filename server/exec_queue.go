package server

import (
	"runtime"

	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/store"
)

// execQueue is --exec queue: a second goroutine executes, and the loop feeds it through a channel.
// It exists for comparison with --exec inline, where the goroutine of the loop executes as well.
//
//	loop       read, parse ─┐                               ┌─ write, close, epoll_wait ─>
//	                        │ requests: nil c1 c2 c3 nil    │ executed
//	executor   . . . . . . .└─ timers, c1, c2, c3, expire ──┘ . . . . . . . . . . . . . .
//
// An entry of requests is a client with all its complete commands. A nil begins the execute phase,
// and another nil ends its list of clients. With the first nil the loop lends the whole server to
// the executor: clients, keyspace, timers. The executor gets even the multiplexer, because a slow
// script looks for other clients (busy.go). Until the loop receives from executed, it uses only its
// own list and the two channels. So one goroutine owns the server at any time, and nothing needs a
// lock.
//
// The loop waits meanwhile. It cannot read on: a slow script reads other clients itself, and a
// command may close a client, change its limits or take its memory. So the second goroutine saves
// no time. It costs two switches between goroutines in each pass, and a send and a receive for each
// client. The executor gets one client at a time, so it cannot load the keys of other clients into
// the processor's cache (pass.go: prefetch). docs/threading-model.md has the figures.
//
// Redis has no such queue: processInputBuffer calls processCommand as soon as it has parsed a
// command (networking.c). The data has one owner with or without a queue, and commands run in the
// same order.
//
// The queue of bench/models has a loop that does not wait. It reads and writes while commands run.
// It has no scripts that serve other clients, no limits and no lab.
type execQueue struct {
	*Server
	requests chan *Client
	executed chan struct{} // gets a value when a phase is over
	ended    chan struct{} // closed when the executor has ended
	batch    []*Client     // the loop's own list of what it sends

	inside bool // the executor owns the server
	open   bool // requests may have clients of this phase
	taken  int  // clients of batch that the executor has taken

	main, exec *trace.Thread // the rows of the recording
	unnamed    bool          // the row main has no thread yet
}

// queueLength is the number of clients that may wait in the queue. While it is full, the loop waits
// for room. The executor waits for the loop only while the queue is empty.
const queueLength = 1024

// installQueue replaces what a pass calls.
func (s *Server) installQueue() {
	q := &execQueue{
		Server: s, requests: make(chan *Client, queueLength),
		executed: make(chan struct{}, 1), ended: make(chan struct{}),
	}
	s.Queue = q
	s.Hooks.execute, s.Hooks.executeReads = q.feed, q.takeReads
}

// start starts the executor, if there is a queue.
func (q *execQueue) start() {
	if q != nil {
		go q.run()
	}
}

// stop ends the executor and returns when it has ended.
func (q *execQueue) stop() {
	if q != nil {
		close(q.requests)
		<-q.ended
	}
}

// feed is the execute phase of a pass for the loop. It sends the clients that were read, and
// returns when the executor has done the phase.
func (q *execQueue) feed() {
	row := q.Trace
	row.Mark()
	q.batch, q.PendingReads = q.PendingReads, q.batch[:0]
	q.requests <- nil
	for _, c := range q.batch {
		q.requests <- c
	}
	q.requests <- nil
	<-q.executed
	clear(q.batch)
	if q.unnamed {
		q.unnamed = false
		q.main.Locked()
	}
	row.Lap(trace.Wait, 0, 0, 0)
}

// run is the executor's goroutine. With I/O threads, every goroutine of the server is locked to a
// thread, so that tools can tell the threads apart.
func (q *execQueue) run() {
	if q.Cfg.IOThreads > 1 {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		q.exec.Locked()
	}
	defer close(q.ended)
	for range q.requests { // the nil that begins a phase
		q.inside, q.open, q.taken = true, true, 0
		q.recordInto(q.exec)
		q.executePhase()
		q.recordInto(q.main)
		q.inside = false
		q.executed <- struct{}{}
	}
	each(q.Parts.last)
}

// takeReads executes the commands of all clients in the queue. A slow script calls it as well
// (busy.go). Its smaller pass has read further clients, which come after those in the queue.
func (q *execQueue) takeReads() {
	for q.open {
		c := <-q.requests
		if c == nil {
			q.open = false
			break
		}
		var room [store.PrefetchMax][][]byte
		q.Ex.Prefetch(c.Sess.DB, c.AppendRequests(room[:0]))
		c.PendingRead = false
		q.taken++
		q.ExecuteClient(c)
	}
	q.executeReadable()
}

// List returns the clients that the loop has sent in this phase, and how many are taken.
func (q *execQueue) List() (sent []*Client, taken int) {
	if q == nil || !q.inside {
		return nil, 0
	}
	return q.batch, q.taken
}

// Record adds the executor's row to a recording that begins with the row of main.
func (q *execQueue) Record() {
	if q == nil {
		return
	}
	q.main, q.exec = q.Trace, q.Recorder.Rows.Thread("exec")
	if q.inside { // DEBUG TRACE START
		q.recordInto(q.exec)
		q.unnamed = q.Cfg.IOThreads > 1
	}
}

// recordInto makes the server record into row, the one of the goroutine that owns it now.
func (q *execQueue) recordInto(row *trace.Thread) {
	if q.Trace != nil {
		q.Recorder.Into(row)
	}
}

// Package trace records what each thread does: one ring of events for each thread. Perfetto and
// chrome://tracing show a recording. It makes visible that commands run on one thread only.
//
//	main                     io_1                      io_2
//	 │ Mark, Lap, Span        │ Mark, Lap               │ Mark, Lap
//	 v                        v                         v
//	[ring]                   [ring]                    [ring]
//	 └────────────────────────┴────────────┬────────────┘
//	                                       v   on main, while the other threads sleep
//	                                   WriteJSON
//
// Only its own goroutine writes to a Thread, so there are no locks and nothing waits. Main adds rows and
// calls WriteJSON at moments when no other thread works.
//
// A nil *Thread records nothing. So instrumented code costs one comparison while there is no recording.
// An event is a few words in the ring and allocates nothing. When the ring is full, a new event replaces
// the oldest.
//
// The ring holds spans only. WriteJSON derives the rest of the file from them later (json.go,
// requests.go): the life of each request, the hand-over between threads, and the number of clients that
// wait.
//
// Redis has no such recording. perf(1) and its latency monitor come closest.
package trace

import "syscall"

// Kind is what a thread did in a span of time.
type Kind uint8

// The kinds. Reading and Writing are a whole phase of a pass on main, or a thread's share of it. Read,
// Parse, Execute and Write are work for one client.
const (
	Sleep Kind = iota
	Accept
	Gather // main waits for more readable clients
	Reading
	Read
	Parse
	Execute
	Expire
	Writing
	Write
	Wait // main waits for the threads, or for the executor of --exec queue
)

func (k Kind) String() string {
	return [...]string{"sleep", "accept", "gather", "read phase", "read", "parse", "execute", "expire",
		"write phase", "write", "wait"}[k]
}

// ringSize is the number of events in a ring. A ring takes 3.5 MiB.
const ringSize = 1 << 16

// event is one span.
type event struct {
	begin, end int64 // monotonic ns
	name       string
	client     int64 // 0 if the span belongs to no client
	seq        int64 // see Lap
	n          int32
	kind       Kind
}

// Trace is a recording.
type Trace struct {
	clock   func() int64
	since   int64
	threads []*Thread // main first
}

// New begins a recording. All threads call clock, which returns monotonic nanoseconds.
func New(clock func() int64) *Trace {
	return &Trace{clock: clock, since: clock()}
}

// Thread adds a row. The first row is main's.
func (tr *Trace) Thread(name string) *Thread {
	t := &Thread{
		clock: tr.clock, name: name, last: tr.since, floor: tr.since,
		id: unlocked + len(tr.threads), ring: make([]event, 0, ringSize),
	}
	tr.threads = append(tr.threads, t)
	return t
}

// unlocked is the first id of rows whose goroutine is not locked to a thread. It is above every thread
// id of the kernel.
const unlocked = 1 << 22

// Thread is one row.
type Thread struct {
	clock func() int64
	name  string
	id    int
	last  int64 // where the next Lap begins
	floor int64 // nothing begins earlier
	ring  []event
	next  int // the oldest event of a full ring, which is replaced next
}

// Locked gives the row the kernel's id of the calling thread. The calling goroutine must be locked to its
// thread.
func (t *Thread) Locked() {
	if t != nil {
		t.id = syscall.Gettid()
	}
}

// Mark sets the begin of the next Lap to now, and returns the time.
func (t *Thread) Mark() int64 {
	if t == nil {
		return 0
	}
	return t.mark()
}

func (t *Thread) mark() int64 {
	t.last = t.clock()
	return t.last
}

// Lap records a span for a client, from the last Mark or Lap until now. Requests of a client are
// numbered: seq is the last request that was parsed, or the last one that the write answers. n is the
// bytes read or written, or the requests parsed.
func (t *Thread) Lap(kind Kind, client, seq int64, n int) {
	if t != nil {
		t.lap(kind, client, seq, n)
	}
}

// lap is a function of its own so that the compiler inlines Lap, which then is one comparison.
func (t *Thread) lap(kind Kind, client, seq int64, n int) {
	begin := t.last
	t.add(event{begin: begin, end: t.mark(), client: client, seq: seq, n: int32(n), kind: kind})
}

// Span records a span of no single client. n is a number of clients or keys, by kind.
func (t *Thread) Span(kind Kind, begin, end int64, n int) {
	if t != nil {
		t.add(event{begin: begin, end: end, n: int32(n), kind: kind})
	}
}

// Execute records a command: a client's request, or a command that a script has called.
func (t *Thread) Execute(name string, begin, end, client, seq int64) {
	if t != nil {
		t.add(event{begin: begin, end: end, name: name, client: client, seq: seq, kind: Execute})
	}
}

// Raise moves the begin of later spans to now at the earliest. While a long script serves other clients,
// the clock of commands stands still, so their spans would begin with the script. Raise returns the
// argument for Lower.
func (t *Thread) Raise() (floor int64) {
	if t == nil {
		return 0
	}
	floor = t.floor
	t.floor = t.mark()
	return floor
}

// Lower undoes a Raise.
func (t *Thread) Lower(floor int64) {
	if t != nil {
		t.floor = floor
	}
}

func (t *Thread) add(e event) {
	e.begin = max(e.begin, t.floor)
	e.end = max(e.end, e.begin)
	if len(t.ring) < cap(t.ring) {
		t.ring = append(t.ring, e)
		return
	}
	t.ring[t.next] = e
	t.next++
	if t.next == len(t.ring) {
		t.next = 0
	}
}

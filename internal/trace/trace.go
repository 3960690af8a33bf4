// Package trace records who did what when: one ring of events for each thread. A
// recording can be looked at in Perfetto or chrome://tracing, and shows what is
// otherwise only claimed: that commands run on one thread whatever the others do.
//
//	main                     io_1                      io_2
//	 │ Mark, Lap, Span        │ Mark, Lap               │ Mark, Lap
//	 v                        v                         v
//	[ring]                   [ring]                    [ring]
//	 └────────────────────────┴────────────┬────────────┘
//	                                       v   on main, while the others are parked
//	                                   WriteJSON
//
// A Thread is written by its own goroutine alone, so nothing here is locked and
// nothing waits. Making rows and WriteJSON are for main, at moments when no other
// thread works.
//
// A nil *Thread records nothing: code that is instrumented costs one comparison
// while there is no recording. An event is a few words copied into the ring, with
// no allocation; when the ring is full the oldest go.
//
// Only spans are recorded. All else that is in the file, the life of each request,
// the hand-offs between threads, the number of clients that wait, follows from
// them and is worked out by WriteJSON (json.go, requests.go), when there is time.
//
// Redis has nothing like it; perf(1) and its latency monitor come closest.
package trace

import "syscall"

// Kind is what a thread did in a span.
type Kind uint8

// The phases of a pass. Reading and Writing are whole phases, of main or of a
// worker's share of them; Read, Parse and Write are what is done for one client.
const (
	Sleep Kind = iota
	Accept
	Gather // of main, for more to be read
	Reading
	Read
	Parse
	Execute
	Expire
	Writing
	Write
	Wait // of main, for the others
)

func (k Kind) String() string {
	return [...]string{"sleep", "accept", "gather", "read phase", "read", "parse", "execute", "expire", "write phase", "write", "wait"}[k]
}

// ringSize is how many events are kept of each thread: 3.5 MiB of them.
const ringSize = 1 << 16

// event is one span.
type event struct {
	begin, end int64 // monotonic ns
	name       string
	client     int64 // 0 for none
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

// New begins a recording. Clock is asked by all threads: monotonic nanoseconds.
func New(clock func() int64) *Trace {
	return &Trace{clock: clock, since: clock()}
}

// Thread adds a row. The first is main's.
func (tr *Trace) Thread(name string) *Thread {
	t := &Thread{
		clock: tr.clock, name: name, last: tr.since, floor: tr.since,
		id: unlocked + len(tr.threads), ring: make([]event, 0, ringSize),
	}
	tr.threads = append(tr.threads, t)
	return t
}

// unlocked is where the numbers begin of threads that are none to the kernel,
// because their goroutine is not bound to one: above every number it gives.
const unlocked = 1 << 22

// Thread is one row.
type Thread struct {
	clock func() int64
	name  string
	id    int
	last  int64 // where the next Lap begins
	floor int64 // nothing begins earlier
	ring  []event
	next  int // of ring, to be overwritten once it is full
}

// Locked tells that the goroutine that calls it is bound to its thread, whose
// number in the kernel then is the row's.
func (t *Thread) Locked() {
	if t != nil {
		t.id = syscall.Gettid()
	}
}

// Mark has the next Lap begin now, and returns the time.
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

// Lap records what was done for a client since the last Mark or Lap. Seq numbers
// the client's requests: the last one that was parsed, or that is answered by what
// was written. N is the bytes read or written, or the requests parsed.
func (t *Thread) Lap(kind Kind, client, seq int64, n int) {
	if t != nil {
		t.lap(kind, client, seq, n)
	}
}

// lap is apart so that Lap is inlined: one comparison.
func (t *Thread) lap(kind Kind, client, seq int64, n int) {
	begin := t.last
	t.add(event{begin: begin, end: t.mark(), client: client, seq: seq, n: int32(n), kind: kind})
}

// Span records what concerns no client or n of them.
func (t *Thread) Span(kind Kind, begin, end int64, n int) {
	if t != nil {
		t.add(event{begin: begin, end: end, n: int32(n), kind: kind})
	}
}

// Execute records a command of a client's request, or one that it has called.
func (t *Thread) Execute(name string, begin, end, client, seq int64) {
	if t != nil {
		t.add(event{begin: begin, end: end, name: name, client: client, seq: seq, kind: Execute})
	}
}

// Raise has nothing that is recorded from here on begin earlier than now. It
// returns what Lower wants, to end that.
func (t *Thread) Raise() (floor int64) {
	if t == nil {
		return 0
	}
	floor = t.floor
	t.floor = t.mark()
	return floor
}

// Lower takes a Raise back.
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

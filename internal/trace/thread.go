package trace

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
	Wait  // main waits for the threads, or for the executor of --exec queue
	Kinds // how many there are
)

func (k Kind) String() string {
	return [...]string{"sleep", "accept", "gather", "read phase", "read", "parse", "execute", "expire",
		"write phase", "write", "wait"}[k]
}

// ringSize is the number of spans in a ring. A ring takes 3.5 MiB.
const ringSize = 1 << 16

// span is what a thread did in a span of time.
type span struct {
	begin, end int64 // monotonic ns
	name       string
	client     int64 // 0 if the span belongs to no client
	seq        int64 // see Lap and Slept
	n          int32
	kind       Kind
	unfinished bool // see Unfinished
}

// keyRoom is how many bytes of a key are kept. The keys of a ring take 1.5 MiB.
const keyRoom = 24

// unlocked is the first id of rows whose goroutine is not locked to a thread. It is above every thread
// id of the kernel.
const unlocked = 1 << 22

// Thread is one row. Only its own goroutine calls its methods. A nil Thread records nothing.
type Thread struct {
	r      *Recorder
	name   string
	number int // 0 main, 1 and up the I/O threads, -1 an executor
	id     int // for the trace
	begin  int64
	last   int64 // where the next Lap begins
	floor  int64 // nothing begins earlier
	ring   []span
	next   int // the oldest span of a full ring, which is replaced next
	latest int // the newest span
	keys   [][keyRoom]byte
	counts [Kinds]int64
	ns     [Kinds]int64
}

// Mark sets the begin of the next Lap to now, and returns the time. It returns 0 while nothing is
// recorded.
func (t *Thread) Mark() int64 {
	if t == nil {
		return 0
	}
	return t.mark()
}

func (t *Thread) mark() int64 {
	if t.r.Mode.Load() == 0 {
		return 0
	}
	return t.now()
}

func (t *Thread) now() int64 {
	t.last = t.r.Clock()
	return t.last
}

// Lap records a span for a client, from the last Mark or Lap until now. Requests of a client are
// numbered: seq is the last request that was parsed, or the last one that the write answers. For Accept and
// Read it is the descriptor. n is the bytes read or written, or a negative errno, or the requests parsed.
func (t *Thread) Lap(kind Kind, client, seq int64, n int) {
	if t != nil {
		t.lap(kind, client, seq, n)
	}
}

// lap is a function of its own so that the compiler inlines Lap, which then is one comparison.
func (t *Thread) lap(kind Kind, client, seq int64, n int) {
	mode := t.r.Mode.Load()
	if mode == 0 {
		return
	}
	t.counts[kind]++
	if mode&(Spans|Details) == 0 {
		return
	}
	t.begin = t.last
	end := t.now()
	if mode&Spans != 0 {
		t.add(span{begin: t.begin, end: end, client: client, seq: seq, n: int32(n), kind: kind})
	}
}

// Took returns how long the last Lap was, in ns.
func (t *Thread) Took() int64 { return max(t.last-max(t.begin, t.floor), 0) }

// Span records a span of no single client. n is a number of clients or keys, by kind.
func (t *Thread) Span(kind Kind, begin, end int64, n int) {
	if t != nil {
		t.span(kind, begin, end, n)
	}
}

func (t *Thread) span(kind Kind, begin, end int64, n int) {
	mode := t.r.Mode.Load()
	if mode == 0 {
		return
	}
	t.counts[kind]++
	t.ns[kind] += max(end-begin, 0)
	if mode&Spans != 0 {
		t.add(span{begin: begin, end: end, n: int32(n), kind: kind})
	}
	if kind == Gather && mode&Details != 0 {
		t.Event(Event{Point: Gathered, Dur: end - begin, A: int64(n), B: (end - begin) / 1000}, nil)
	}
}

// Execute records a command: a client's request, or a command that a script has called.
func (t *Thread) Execute(name string, begin, end, client, seq int64) {
	if t != nil {
		t.execute(name, begin, end, client, seq)
	}
}

func (t *Thread) execute(name string, begin, end, client, seq int64) {
	mode := t.r.Mode.Load()
	if mode == 0 {
		return
	}
	t.counts[Execute]++
	t.ns[Execute] += end - begin
	if mode&Spans != 0 {
		t.add(span{begin: begin, end: end, name: name, client: client, seq: seq, kind: Execute})
	}
}

// Key adds the key of a command to the span of its Execute. Only its beginning is kept. Call it only if Traces.
func (t *Thread) Key(key []byte) {
	if t.keys == nil {
		t.keys = make([][keyRoom]byte, ringSize)
	}
	copy(t.keys[t.latest][:], key)
}

// Unfinished says of the last span that a part is missing: bytes of a command that is not complete, or output
// for which the socket has no room. Call it only if Traces.
func (t *Thread) Unfinished() { t.ring[t.latest].unfinished = true }

// NoDeadline is the until of Slept for a wait that nothing but a descriptor would have ended.
const NoDeadline = "no deadline"

// Slept says of the last Sleep how many descriptors were ready, the number of the pass that begins, and for
// what the loop would have woken by itself. Call it only if Traces.
func (t *Thread) Slept(ready int, pass int64, until string) {
	e := &t.ring[t.latest]
	e.n, e.seq, e.name = int32(ready), pass, until
}

// Raise moves the begin of later spans to now at the earliest. While a long script serves other clients,
// the clock of commands stands still, so their spans would begin with the script. Raise returns the
// argument for Lower.
func (t *Thread) Raise() (floor int64) {
	if t == nil {
		return 0
	}
	floor = t.floor
	t.floor = t.now()
	return floor
}

// Lower undoes a Raise.
func (t *Thread) Lower(floor int64) {
	if t != nil {
		t.floor = floor
	}
}

func (t *Thread) add(e span) {
	e.begin = max(e.begin, t.floor)
	e.end = max(e.end, e.begin)
	if len(t.ring) < cap(t.ring) {
		t.latest = len(t.ring)
		t.ring = append(t.ring, e)
		return
	}
	t.ring[t.next], t.latest = e, t.next
	if t.keys != nil {
		t.keys[t.next] = [keyRoom]byte{}
	}
	t.next++
	if t.next == len(t.ring) {
		t.next = 0
	}
}

// Spent returns how long this thread has spent in spans of a kind, in ns, while it was recorded.
func (t *Thread) Spent(kind Kind) int64 { return t.ns[kind] }

// Traces reports whether spans are kept.
func (t *Thread) Traces() bool { return t != nil && t.r.Mode.Load()&Spans != 0 }

// Detailed reports whether this pass records events. Only then may Event be called.
func (t *Thread) Detailed() bool { return t != nil && t.r.Mode.Load()&Details != 0 }

// Event records a point: Point, Client, A, B, Text and Dur of e, the words of a command for breakpoints.
// It returns when Recorder.Emit lets the thread go on. part describes the client for a snapshot of an I/O
// thread, which must not look at anything else.
func (t *Thread) Event(e Event, part func() Client) {
	if e.Thread == 0 { // main says of other threads what they get, and who was last
		e.Thread = t.number
	}
	e.At = t.r.Clock()
	t.r.Emit(&e, t.number <= 0, part)
	t.now() // the next span begins after a stop
}

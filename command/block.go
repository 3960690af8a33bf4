package command

import (
	"slices"
	"time"

	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

// How a command blocks (blocked.c).
//
//	BLPOP q 0, and there is no q          LPUSH q x
//	  │ blockOn: Wait, a place in q's       │ the keyspace: q is there (OnNew)
//	  │ queue, Session.Hold = Blocked       │   queue.ready, Executor.waiters.ready
//	  ▼                                     ▼ Do: the command, or EXEC, or the script is over
//	 no reply; the server stops            serveReady: who waits longest first
//	 reading, and sets a timer               └─ retry: BLPOP q 0 runs again, as if
//	                                            it came now, and Resume gets its reply
//
// A command that was blocked is simply run again, by the rules of that moment: what
// it finds then, which of its keys comes first, whether it may at all. It has a
// reply, or waits on. So that nothing but the time of the reply tells a command that
// waited from one that did not, it is counted, logged and shown to monitors once.

// Wait is what a session waits for while it is blocked. It stays with the session,
// for its memory.
type Wait struct {
	Deadline int64 // ns, by Clock.Timeline; 0 for none

	cmd     *Command
	args    [][]byte // a copy of the request: the input buffer is not its own
	bytes   []byte   // what args point into
	took    int64    // ns of execution up to now
	nothing func(*resp.Writer)

	typ    store.Type // that a key has to hold
	orGone bool       // a key that is there no more is worth another try, too
	places []place
	since  []store.StreamID // what $ stood for
}

// keepWait is the bytes up to which the memory of a Wait is used again.
const keepWait = 4 << 10

// block has the client wait for its reply: for ms milliseconds, if that is not 0,
// after which nothing writes it.
func (c *Call) block(ms int64, nothing func(*resp.Writer)) *Wait {
	s := c.Sess
	s.Hold = Blocked
	if s.Wait == nil {
		s.Wait = &Wait{}
	}
	w := s.Wait
	if c.Ex.retrying == w {
		return w // waits on, until the same time
	}
	w.remember(c.Args)
	w.cmd, w.nothing, w.took, w.Deadline, w.since = c.Cmd, nothing, 0, 0, w.since[:0]
	if ms > 0 {
		w.Deadline = c.Ex.Clock.Timeline(c.Ex.mono) + ms*int64(time.Millisecond)
	}
	return w
}

// blockOn is block until one of keys holds a value of type typ, or, with orGone, is
// deleted or holds another. The answer of the command is null then.
func (c *Call) blockOn(typ store.Type, keys [][]byte, ms int64, orGone bool) *Wait {
	w := c.block(ms, (*resp.Writer).NullArray)
	w.typ, w.orGone = typ, orGone
	w.places = slices.Grow(w.places[:0], len(keys)) // places do not move
	for _, key := range keys {
		c.Ex.enqueue(c.Sess, c.DB.ID, key)
	}
	return w
}

// mayBlock tells whether the client can be kept waiting. Inside EXEC and scripts a
// wait ends at once, as if its time were over.
func (c *Call) mayBlock() bool { return c.Ex.Depth == 0 }

func (w *Wait) remember(args [][]byte) {
	size := 0
	for _, arg := range args {
		size += len(arg)
	}
	if cap(w.bytes)+24*cap(w.args) > keepWait {
		w.args, w.bytes = nil, nil
	}
	w.args, w.bytes = w.args[:0], slices.Grow(w.bytes[:0], size)
	for _, arg := range args {
		from := len(w.bytes)
		w.bytes = append(w.bytes, arg...)
		w.args = append(w.args, w.bytes[from:len(w.bytes):len(w.bytes)])
	}
}

// Mem is about the bytes a wait takes.
func (w *Wait) Mem() int {
	if w == nil {
		return 0
	}
	return cap(w.bytes) + 24*cap(w.args) + 40*cap(w.places) + 16*cap(w.since)
}

// waiters is who waits for which key of which database. While nobody does, the
// keyspace does not report.
type waiters struct {
	dbs    []map[string]*queue
	keys   int      // queues
	orGone int      // of them, those with somebody who waits for the key to go, too
	ready  []*queue // of keys that have appeared, in that order
	born   int64    // queues there ever were
	bytes  int      // of the queues
}

// queue is who waits for one key: the first waits longest.
type queue struct {
	key         string
	db          int
	age         int64 // the smaller, the older
	first, last *place
	next        *place // to be served, while the queue is
	len, orGone int
	ready       bool // is in waiters.ready
}

// place is that of one session in one queue.
type place struct {
	of         *Session
	in         *queue
	prev, next *place
}

// enqueue puts s at the end of the queue for key; once, however often it names it.
func (ex *Executor) enqueue(s *Session, db int, key []byte) {
	ws := &ex.waiters
	if ws.dbs == nil {
		ws.dbs = make([]map[string]*queue, len(ex.KS.DBs))
	}
	of := ws.dbs[db]
	if of == nil {
		of = map[string]*queue{}
		ws.dbs[db] = of
	}
	q := of[string(key)]
	switch {
	case q == nil:
		ws.born++
		q = &queue{key: string(key), db: db, age: ws.born}
		of[q.key] = q
		ws.bytes += memQueue + len(key)
		ws.keys++
		if ws.keys == 1 {
			ex.configureReports()
		}
	case q.last.of == s:
		return
	}
	w := s.Wait
	w.places = append(w.places, place{of: s, in: q, prev: q.last})
	p := &w.places[len(w.places)-1]
	if q.last == nil {
		q.first = p
	} else {
		q.last.next = p
	}
	q.last = p
	q.len++
	if w.orGone {
		if q.orGone++; q.orGone == 1 {
			ws.orGone++
			ex.configureReports()
		}
	}
}

// dequeue takes s out of all queues.
func (ex *Executor) dequeue(s *Session) {
	w := s.Wait
	for i := range w.places {
		ex.withdraw(&w.places[i], w.orGone)
	}
	clear(w.places)
	w.places = w.places[:0]
}

func (ex *Executor) withdraw(p *place, orGone bool) {
	ws, q := &ex.waiters, p.in
	if q.next == p {
		q.next = p.next
	}
	if p.prev == nil {
		q.first = p.next
	} else {
		p.prev.next = p.next
	}
	if p.next == nil {
		q.last = p.prev
	} else {
		p.next.prev = p.prev
	}
	q.len--
	if orGone {
		if q.orGone--; q.orGone == 0 {
			ws.orGone--
			ex.configureReports()
		}
	}
	if q.len == 0 {
		delete(ws.dbs[q.db], q.key)
		ws.bytes -= memQueue + len(q.key)
		ws.keys--
		if ws.keys == 0 {
			ex.configureReports()
		}
	}
}

// BlockedKeys counts the keys somebody waits for, and those of them whose going is
// waited for, too (INFO: total_blocking_keys).
func (ex *Executor) BlockedKeys() (keys, orGone int) { return ex.waiters.keys, ex.waiters.orGone }

// ready notes that key has something new for those who wait for it.
func (ex *Executor) ready(db int, key []byte) {
	if ex.waiters.keys == 0 {
		return
	}
	if q := ex.waiters.dbs[db][string(key)]; q != nil {
		ex.waiters.note(q)
	}
}

// streamGone notes that what was in the stream key, or in its consumer groups, is
// there no longer.
func (ex *Executor) streamGone(db *store.DB, key []byte) {
	if ex.waiters.orGone == 0 {
		return
	}
	if q := ex.waiters.dbs[db.ID][string(key)]; q != nil && q.orGone > 0 {
		ex.waiters.note(q)
	}
}

func (ws *waiters) note(q *queue) {
	if !q.ready {
		q.ready = true
		ws.ready = append(ws.ready, q)
	}
}

// exchanged is ready and streamGone for all keys of a database that is another now, or is
// empty (db.c: scanDatabaseForReadyKeys).
func (ex *Executor) exchanged(db *store.DB) {
	if ex.waiters.keys == 0 {
		return
	}
	var queues []*queue
	for _, q := range ex.waiters.dbs[db.ID] {
		found := db.Lookup([]byte(q.key), store.LookupNoEffects)
		if found.Exists() || q.orGone > 0 {
			queues = append(queues, q)
		}
	}
	slices.SortFunc(queues, func(a, b *queue) int { return int(a.age - b.age) })
	for _, q := range queues {
		ex.waiters.note(q)
	}
}

// Await has the client wait for a reply that the server will have for it, by Answer, as
// long as that takes. CLIENT UNBLOCK ends the wait as well: nothing writes the reply then.
func (c *Call) Await(nothing func(*resp.Writer)) { c.block(0, nothing) }

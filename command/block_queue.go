package command

import (
	"slices"

	"github.com/miniredisd/miniredisd/store"
)

// Waiters holds the queues of clients that wait for keys. While all queues are empty, the keyspace
// does not report new keys.
type Waiters struct {
	ex      *Executor
	dbs     []map[string]*queue // by database and key; a map is nil before its first queue
	keys    int                 // queues
	orGone  int                 // queues with a client that also waits for the key to go
	toServe []*queue            // queues of keys that have something new, in that order
	born    int64               // queues that were ever made
	bytes   int                 // memory of the queues
}

// queue holds the clients that wait for one key. The first has waited longest.
type queue struct {
	key         string
	db          int
	age         int64 // the smaller, the older
	first, last *place
	next        *place // the next place to serve, while the queue is being served
	len, orGone int
	ready       bool // is in Waiters.toServe
}

// place is the place of one session in one queue.
type place struct {
	of         *Session
	in         *queue
	prev, next *place
}

// enqueue puts s at the end of the queue of key. A key that a request names twice counts once.
func (ws *Waiters) enqueue(s *Session, db int, key []byte) {
	queues := ws.dbs[db]
	if queues == nil {
		queues = map[string]*queue{}
		ws.dbs[db] = queues
	}
	q := queues[string(key)]
	switch {
	case q == nil:
		ws.born++
		q = &queue{key: string(key), db: db, age: ws.born}
		queues[q.key] = q
		ws.bytes += memQueue + len(key)
		ws.keys++
		if ws.keys == 1 {
			ws.ex.events.listen()
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
			ws.ex.events.listen()
		}
	}
}

// Remove takes s out of all queues. The server calls it for a client that is about to close, so that
// no element is popped for it.
func (ws *Waiters) Remove(s *Session) {
	w := s.Wait
	if w == nil {
		return
	}
	for i := range w.places {
		ws.withdraw(&w.places[i], w.orGone)
	}
	clear(w.places)
	w.places = w.places[:0]
}

func (ws *Waiters) withdraw(p *place, orGone bool) {
	q := p.in
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
			ws.ex.events.listen()
		}
	}
	if q.len == 0 {
		delete(ws.dbs[q.db], q.key)
		ws.bytes -= memQueue + len(q.key)
		ws.keys--
		if ws.keys == 0 {
			ws.ex.events.listen()
		}
	}
}

// Keys returns the number of keys that clients wait for, and how many of them a client also waits for
// to go (INFO: total_blocking_keys, total_blocking_keys_on_nokey).
func (ws *Waiters) Keys() (keys, orGone int) { return ws.keys, ws.orGone }

// ready notes that key has something new (blocked.c: signalKeyAsReady).
func (ws *Waiters) ready(db int, key []byte) {
	if ws.keys == 0 {
		return
	}
	if q := ws.dbs[db][string(key)]; q != nil {
		ws.note(q)
	}
}

// streamGone notes that the stream key, or a consumer group of it, was deleted
// (blocked.c: signalDeletedKeyAsReady).
func (ws *Waiters) streamGone(db *store.DB, key []byte) {
	if ws.orGone == 0 {
		return
	}
	if q := ws.dbs[db.ID][string(key)]; q != nil && q.orGone > 0 {
		ws.note(q)
	}
}

func (ws *Waiters) note(q *queue) {
	if !q.ready {
		q.ready = true
		ws.toServe = append(ws.toServe, q)
	}
}

// replaced is ready and streamGone for all keys of a database whose content was replaced or deleted
// (db.c: scanDatabaseForReadyKeys).
func (ws *Waiters) replaced(db *store.DB) {
	if ws.keys == 0 {
		return
	}
	var queues []*queue
	for _, q := range ws.dbs[db.ID] {
		if db.Lookup([]byte(q.key), store.LookupNoEffects).Exists() || q.orGone > 0 {
			queues = append(queues, q)
		}
	}
	slices.SortFunc(queues, func(a, b *queue) int { return int(a.age - b.age) })
	for _, q := range queues {
		ws.note(q)
	}
}

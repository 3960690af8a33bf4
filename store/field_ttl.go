package store

import (
	"strings"
	"unsafe"
)

// timedHash is the form of a hash from the moment on when a field gets a deadline: a table with a queue of
// the deadlines, earliest first. DB.fields knows the key by its earliest deadline. A hash without such a
// field has neither, and pays nothing.
//
//	DB.fields ──> node of the key          hashTable ──> | a | b | c |    nodes
//	                 │                                     ^       ^
//	                 └── timedHash.queue: | 12:00:01 ──────┘ | 12:00:09 ┘ |
type timedHash struct {
	hashTable                      // the first field: what knows of no deadlines sees the table
	queue     pages[fieldDeadline] // a binary heap
	places    pages[uint32]        // by node: 1 + its place in queue, 0 if it has no deadline
	packed    bool                 // Redis would keep the hash in a listpack

	// The key that holds the hash, for DB.fields. db is nil if no key does.
	db    *DB
	node  uint32
	filed int64 // the deadline under which node is in DB.fields, 0 if it is not
}

// fieldDeadline is the deadline of a node of the table, in unix ms.
type fieldDeadline struct {
	at   int64
	node uint32
}

func (e *entry) timedHash() *timedHash { return (*timedHash)(e.ref) }

func (t *timedHash) size() int {
	own := int(unsafe.Sizeof(*t) - unsafe.Sizeof(t.hashTable))
	return own + t.hashTable.size() + t.queue.bytes() + t.places.bytes()
}

// queued returns the place of a node in queue, and whether it has one. Nodes begin with chunk 1, and a small hash has
// no other.
func (t *timedHash) queued(node uint32) (place uint32, ok bool) {
	if node < chunkLen || int(node-chunkLen) >= t.places.len() {
		return 0, false
	}
	place = t.places.at(node - chunkLen)
	return place - 1, place != 0
}

// overdue reports whether the last millisecond of a field has passed.
func (t *timedHash) overdue(now int64) bool { return t.queue.len() > 0 && t.queue.at(0).at < now }

// spent reports whether the last millisecond of every field has passed.
func (t *timedHash) spent(now int64) bool {
	if !t.overdue(now) || t.queue.len() < t.Len() {
		return false
	}
	for i := range uint32(t.queue.len()) {
		if t.queue.at(i).at >= now {
			return false
		}
	}
	return true
}

// clone is a deep copy that no key holds.
func (t *timedHash) clone() *timedHash {
	return &timedHash{
		hashTable: *t.hashTable.clone(), packed: t.packed, queue: t.queue.clone(), places: t.places.clone(),
	}
}

func (t *timedHash) lend(to *loan) *timedHash {
	return &timedHash{
		hashTable: *t.hashTable.lend(to), packed: t.packed, queue: t.queue.lend(to), places: t.places.lend(to),
	}
}

// bind says which key holds the hash.
func (t *timedHash) bind(db *DB, node uint32) {
	t.db, t.node = db, node
	t.file()
}

// unbind takes the hash out of DB.fields: its key loses it.
func (t *timedHash) unbind() {
	if t.filed != 0 {
		t.db.fields.remove(t.node)
	}
	t.db, t.filed = nil, 0
}

// file keeps DB.fields up to date: it knows the earliest deadline.
func (t *timedHash) file() {
	first := int64(0)
	if t.queue.len() > 0 {
		first = t.queue.at(0).at
	}
	if t.db == nil || first == t.filed {
		return
	}
	w := &t.db.fields
	if w.count == 0 { // not after remove, which a turn of the wheel may be the reason of
		w.now = t.db.ks.Now
	}
	if t.filed != 0 {
		w.remove(t.node)
	}
	if first != 0 {
		w.add(t.node, first)
	}
	t.filed = first
}

// put gives a node of the table a deadline, in place of the one that it may have.
func (t *timedHash) put(node uint32, at int64) {
	at = max(at, 1) // 0 means never; both are long past
	place, known := t.queued(node)
	if !known {
		place = uint32(t.queue.len())
		t.queue.grow(int(place) + 1)
		t.places.grow(int(node-chunkLen) + 1)
	}
	t.settle(place, fieldDeadline{at, node})
	t.down(t.up(place))
	t.file()
}

// forget drops the deadline of a node and reports whether it had one.
func (t *timedHash) forget(node uint32) bool {
	place, known := t.queued(node)
	if known {
		t.take(place)
		t.file()
	}
	return known
}

// settle puts a deadline at a place of queue.
func (t *timedHash) settle(place uint32, d fieldDeadline) {
	t.queue.set(place, d)
	t.places.set(d.node-chunkLen, place+1)
}

// take removes the element at a place from queue.
func (t *timedHash) take(place uint32) {
	t.places.set(t.queue.at(place).node-chunkLen, 0)
	last := uint32(t.queue.len() - 1)
	moved := t.queue.at(last)
	t.queue.drop()
	if place != last {
		t.settle(place, moved)
		t.down(t.up(place))
	}
}

// up moves the element at a place towards the front, after all earlier ones. It returns its new place.
func (t *timedHash) up(place uint32) uint32 {
	for place > 0 {
		above := (place - 1) / 2
		if t.queue.at(above).at <= t.queue.at(place).at {
			break
		}
		t.swap(place, above)
		place = above
	}
	return place
}

// down moves the element at a place away from the front, before all later ones.
func (t *timedHash) down(place uint32) {
	n := uint32(t.queue.len())
	for {
		below := 2*place + 1
		if below >= n {
			return
		}
		if below+1 < n && t.queue.at(below+1).at < t.queue.at(below).at {
			below++
		}
		if t.queue.at(place).at <= t.queue.at(below).at {
			return
		}
		t.swap(place, below)
		place = below
	}
}

func (t *timedHash) swap(a, b uint32) {
	da, db := t.queue.at(a), t.queue.at(b)
	t.settle(a, db)
	t.settle(b, da)
}

// expireOverdue deletes up to most overdue fields and returns their number. gone, unless it is nil, is told of each.
func (t *timedHash) expireOverdue(now int64, most int, gone func(field []byte)) (n int) {
	for ; n < most && t.overdue(now); n++ {
		node := t.queue.at(0).node
		if gone != nil {
			gone(t.at(node).key())
		}
		t.take(0)
		t.drop(node)
	}
	t.file()
	return n
}

// dropOverdue deletes the overdue fields of a value that no key holds, and reports whether it is empty then.
func (e *entry) dropOverdue(now int64) (empty bool) {
	if e.timed&timedFields == 0 {
		return false
	}
	t := e.timedHash()
	t.expireOverdue(now, t.Len(), nil)
	return t.Len() == 0
}

// expireFields deletes up to most overdue fields of node i, and the key if all are overdue. It returns how
// much work that was.
func (db *DB) expireFields(i uint32, most int) (n int, gone bool) {
	node := db.keys.at(i)
	key := strings.Clone(node.Key())
	db.keep(i)
	db.ks.track(&node.Val)
	t := node.Val.timedHash()
	var tell func(field []byte)
	if fn := db.ks.OnFieldLate; fn != nil {
		tell = func(field []byte) { fn(db, key, field) }
	}
	if gone = t.spent(db.ks.passed()); gone {
		n = 1 // to drop the whole table takes no time
	} else {
		n = t.expireOverdue(db.ks.passed(), most, tell)
	}
	if gone {
		db.remove(i)
	}
	if n > 0 && db.ks.OnFieldsExpired != nil {
		db.ks.OnFieldsExpired(db, key, gone)
	}
	return n, gone
}

// fireKey is what DB.wheel does when a deadline has come.
func (db *DB) fireKey(i uint32) (work int) {
	work = 1
	if db.image != nil {
		work = 4 // the key is also copied
	}
	db.expireKey(i)
	return work
}

// fieldsAtOnce bounds the fields of one hash that the wheel deletes at once.
const fieldsAtOnce = 1000

// fireFields is what DB.fields does when a deadline has come. The hash is filed again under its next one.
func (db *DB) fireFields(i uint32) (work int) {
	work, _ = db.expireFields(i, fieldsAtOnce)
	db.ks.Settle()
	return max(work, 1)
}

// setTimed is Set for a hash with deadlines: a new value has none.
func (h *Hash) setTimed(field, value []byte) (added bool) {
	if added = h.SetKeepTTL(field, value); !added {
		t := h.e.timedHash()
		t.forget(t.find(field))
	}
	return added
}

// SetKeepTTL is Set that leaves the deadline of the field as it is.
func (h *Hash) SetKeepTTL(field, value []byte) (added bool) {
	if h.e.timed&timedFields == 0 {
		return h.Set(field, value)
	}
	added = h.e.timedHash().set(field, value)
	h.fitPack(field, value)
	return added
}

// fitPack finds out whether Redis would keep the hash in a listpack with this field.
func (h *Hash) fitPack(field, value []byte) {
	t, lim := h.e.timedHash(), &h.ks.Limits
	t.packed = t.packed && t.Len() <= lim.HashMaxListpackEntries &&
		max(len(field), len(value)) <= lim.HashMaxListpackValue
}

// Expire returns the unix time in ms at which a field expires, 0 for never. ok is false if there is no such
// field.
func (h *Hash) Expire(field []byte) (at int64, ok bool) {
	if h.e.timed&timedFields == 0 {
		_, ok = h.Get(field)
		return 0, ok
	}
	t := h.e.timedHash()
	i := t.find(field)
	return t.deadline(i), i != 0
}

// deadline is that of a node, 0 for none.
func (t *timedHash) deadline(node uint32) int64 {
	if place, known := t.queued(node); known {
		return t.queue.at(place).at
	}
	return 0
}

// AllTimed is All with the deadlines of the fields, 0 for none. A field of the hash has one.
func (h *Hash) AllTimed(yield func(field, value []byte, at int64) bool) {
	t := h.e.timedHash()
	for i := t.nextLive(0); i != 0; i = t.nextLive(i + 1) {
		if n := t.at(i); !yield(n.key(), n.Val.bytes(), t.deadline(i)) {
			return
		}
	}
}

// Timed is the number of fields with a deadline.
func (h *Hash) Timed() int {
	if h.e.timed&timedFields == 0 {
		return 0
	}
	return h.e.timedHash().queue.len()
}

// SetExpire makes a field expire at the unix time at, in ms. The field exists, and no key holds the hash:
// for any other hash there is Fields.
func (h *Hash) SetExpire(field []byte, at int64) {
	if h.e.timed&timedFields == 0 {
		h.convertTimed()
	}
	t := h.e.timedHash()
	t.put(t.find(field), at)
}

func (h *Hash) convertTimed() {
	packed := h.e.enc == encPack && h.ks.FieldsInPacks
	table := h.table()
	if table == nil {
		table = h.convert()
	}
	h.e.ref = unsafe.Pointer(&timedHash{hashTable: *table, packed: packed})
	h.e.timed |= timedFields
}

// Fields is the hash of a key for commands that set deadlines of fields. Hash is nil if the key is missing.
type Fields struct {
	*Hash
	at Key
}

// WriteFields is Write for deadlines of fields.
func WriteFields(db *DB, key []byte) (Fields, error) {
	k := db.Lookup(key, LookupWrite)
	h, err := WriteAt[*Hash](k)
	return Fields{h, k}, err
}

// Create stores an empty hash, because key is missing. The caller puts a field in before the command ends.
func (f *Fields) Create(key []byte) {
	f.Hash = collectionIn[*Hash](f.at.db.ks, putAt(f.at, key, empty[*Hash](f.at.db.ks)))
	f.at = f.at.db.Peek(key)
}

// SetExpire makes a field, which exists, expire at the unix time at, in ms.
func (f *Fields) SetExpire(field []byte, at int64) {
	f.Hash.SetExpire(field, at)
	f.Hash.e.timedHash().bind(f.at.db, f.at.node)
}

// Persist drops the deadline of a field and reports whether it had one.
func (f *Fields) Persist(field []byte) bool {
	if f.Hash.e.timed&timedFields == 0 {
		return false
	}
	t := f.Hash.e.timedHash()
	return t.forget(t.find(field))
}

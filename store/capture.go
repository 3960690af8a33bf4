package store

import "unsafe"

// Capture is the keyspace at one moment, copied piece by piece while commands change it. Redis forks a child for
// that (rdb.c: rdbSaveBackground). The heap of a Go program cannot be forked.
//
//	nodes of a table    | copied | copied | .. | kept | .. | kept | .. | newer | newer
//	                                      ^ next                       ^ limit
//
// Step copies the nodes in the order of their numbers. Whoever is about to change or delete a node calls
// DB.keep first, which copies the old value unless Step has done it. One bit for each node says that it was
// copied, or that its key is newer than the moment. A database without an image pays one comparison for that.
//
// Take returns the copies. Nobody changes them, so another goroutine may read them. Their memory is used again when
// Reuse gets it, so that a capture makes no garbage.
type Capture struct {
	Databases []CapturedDB
	Keys      int // at the moment
	Copied    int // keys so far

	ks       *Keyspace
	settings *Keyspace // those of the moment: values read them in the other goroutine
	images   []*image  // of the databases that Step has not finished
	batch    *Batch    // that Take has not returned yet
	spare    []*Batch  // nobody reads them any more
	loan     *loan     // of large collections
}

// Batch is some copies and their memory.
type Batch struct {
	Keys  []Captured
	Bytes int    // about how many bytes the copies have
	room  []byte // of small names and values
}

// CapturedDB is a database that was not empty.
type CapturedDB struct{ ID, Keys, Expires int }

// Captured is a copy of a key.
type Captured struct {
	DB    int // at the moment
	Name  string
	Value Value
	Past  Past
}

// image is what a capture knows of a database.
type image struct {
	of    *Capture
	id    int      // of the database at the moment
	db    *DB      // where the nodes are: after a flush no client sees it
	next  uint32   // all nodes before this one are copied
	limit uint32   // all nodes from this one on are newer
	done  []uint64 // one bit for each node: it was copied, or its key is newer
}

const (
	captureRoom     = 64 << 10 // bytes that copies of small values in a batch share
	captureOverhead = int(unsafe.Sizeof(Captured{}))
	lendAt          = 16 << 10 // a string of that many bytes is not copied, but lent: see also pagedAt
)

// Capture begins a capture. The one before must have ended.
func (ks *Keyspace) Capture() *Capture {
	c := &Capture{ks: ks, settings: &Keyspace{Seed: ks.Seed, Now: ks.Now, PackedThreshold: ks.PackedThreshold,
		Limits: ks.Limits, FieldsInPacks: ks.FieldsInPacks}, batch: &Batch{}, loan: &loan{}}
	for _, db := range ks.DBs {
		if db.Len() == 0 {
			continue
		}
		limit := uint32(len(db.keys.chunks)) << chunkBits
		db.image = &image{of: c, id: db.ID, db: db, limit: limit, done: make([]uint64, limit/64)}
		db.seen = true
		c.images = append(c.images, db.image)
		c.Databases = append(c.Databases, CapturedDB{db.ID, db.Len(), db.Expires()})
		c.Keys += db.Len()
	}
	return c
}

// Step copies up to that many keys. It reports whether there are more.
func (c *Capture) Step(keys int) bool {
	for len(c.images) > 0 {
		m := c.images[0]
		for ; keys > 0; keys-- {
			i := m.db.keys.nextLive(m.next)
			if i == 0 || i >= m.limit {
				break
			}
			m.keep(i)
			m.next = i + 1
		}
		if keys == 0 {
			return true
		}
		m.db.dropImage()
		c.images = c.images[1:]
	}
	return false
}

// End ends the capture. Nothing more is copied.
func (c *Capture) End() {
	for _, m := range c.images {
		m.db.dropImage()
	}
	c.images = nil
}

// Return says that nobody reads the copies any more.
func (c *Capture) Return() { c.loan.isOver, c.ks.lentTexts = true, nil }

// Take returns the copies that it has not returned yet, nil if these are fewer bytes than least, or none.
func (c *Capture) Take(least int) *Batch {
	b := c.batch
	if len(b.Keys) == 0 || b.Bytes < least {
		return nil
	}
	c.batch = &Batch{}
	if last := len(c.spare) - 1; last >= 0 {
		c.batch, c.spare = c.spare[last], c.spare[:last]
	}
	return b
}

// Reuse takes back a batch that Take has returned. Nobody may read it any more.
func (c *Capture) Reuse(b *Batch) {
	clear(b.Keys)
	b.Keys, b.Bytes, b.room = b.Keys[:0], 0, b.room[:0]
	c.spare = append(c.spare, b)
}

func (db *DB) dropImage() {
	db.image = nil
	db.seen = db.tellsTouches()
}

func (m *image) keep(i uint32) {
	if i < m.next || i >= m.limit || m.done[i/64]&(1<<(i%64)) != 0 {
		return
	}
	m.done[i/64] |= 1 << (i % 64)
	n := m.db.keys.at(i)
	key := Captured{DB: m.id, Name: n.Key(), Value: Value{n.Val, m.db.deadline(i), m.of.settings}}
	key.Past = m.of.ks.Past(key.Value)
	if n.size != longKey { // a long one is a string of its own, which never changes
		name := m.of.batch.copy(n.key())
		key.Name = unsafe.String(unsafe.SliceData(name), len(name))
	}
	key.Value.e = m.of.copyEntry(&n.Val)
	m.of.Copied++
	b := m.of.batch
	b.Keys = append(b.Keys, key)
	b.Bytes += captureOverhead + len(key.Name) + key.Value.e.size()
}

// copyEntry copies the value of e. Large collections and long strings are lent.
func (c *Capture) copyEntry(e *entry) entry {
	switch {
	case e.enc == encTable || e.typ == TypeStream:
		return e.lend(c.loan)
	case e.enc == encRaw && e.cap() >= pagedAt:
		return c.lendText(e)
	case e.enc == encRaw && e.cap() >= lendAt:
		e.enc = encLent
	}
	copied := *e
	copied.timed = 0
	if e.enc == encInt || e.enc == encLent || e.ref == nil {
		return copied
	}
	b := e.bytes()
	copied.setBytes(c.batch.copy(b[:cap(b)])[:len(b)]) // a pack knows its form by the size of its block
	return copied
}

// copy copies the bytes of a name or a small value.
func (b *Batch) copy(from []byte) []byte {
	if len(from) > cap(b.room)-len(b.room) {
		if len(from) > captureRoom/8 {
			return append(make([]byte, 0, len(from)), from...)[:len(from):len(from)]
		}
		b.room = make([]byte, 0, captureRoom)
	}
	at := len(b.room)
	b.room = append(b.room, from...)
	return b.room[at:len(b.room):len(b.room)]
}

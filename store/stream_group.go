package store

import (
	"bytes"
	"unsafe"
)

// StreamGroup is a consumer group: consumers that share the entries of a stream. Each entry goes to
// one of them. The group keeps its position and its pending entries, which are delivered but not
// acknowledged. For each pending entry it knows the consumer, the time and the number of
// deliveries. Pending entries stay when the stream is trimmed.
type StreamGroup struct {
	Name        string
	LastID      StreamID // the latest ID that was delivered
	EntriesRead int64    // of all entries ever added up to LastID; may be UnknownReads
	Consumers   Named[StreamConsumer]

	pending idMap[Delivery]
	held    *int // memory of all groups of the stream
}

// StreamConsumer is a member of a group. The details of its pending entries are in the group.
type StreamConsumer struct {
	Name   string
	Seen   int64 // unix ms of its latest request
	Active int64 // unix ms of its latest delivery, -1 for never

	pending idMap[struct{}]
}

// Delivery is what a group knows about a pending entry.
type Delivery struct {
	To    *StreamConsumer
	At    int64 // unix ms
	Count int64
}

// UnknownReads stands for an unknown number of entries read.
const UnknownReads = -1

const (
	groupOverhead    = int(unsafe.Sizeof(StreamGroup{}) + unsafe.Sizeof((*StreamGroup)(nil)))
	consumerOverhead = int(unsafe.Sizeof(StreamConsumer{}) + unsafe.Sizeof((*StreamConsumer)(nil)))
)

func (g *StreamGroup) compare(name []byte) int { return bytes.Compare(view(g.Name), name) }

// Group returns the group with that name, or nil.
func (s *Stream) Group(name []byte) *StreamGroup {
	return s.Groups.find(name, (*StreamGroup).compare)
}

// CreateGroup adds a group that gets the entries after last. It returns false if the name exists.
func (s *Stream) CreateGroup(name []byte, last StreamID, entriesRead int64) bool {
	if s.Group(name) != nil {
		return false
	}
	if s.groupBytes == nil {
		s.groupBytes = new(int)
	}
	g := &StreamGroup{Name: string(name), LastID: last, EntriesRead: entriesRead, held: s.groupBytes}
	g.pending.held = g.held
	s.Groups.insert(g, name, (*StreamGroup).compare)
	*g.held += groupOverhead + allocSize(len(name))
	return true
}

// DestroyGroup removes a group and reports whether it existed.
func (s *Stream) DestroyGroup(name []byte) bool {
	g := s.Groups.remove(name, (*StreamGroup).compare)
	if g == nil {
		return false
	}
	for c := range g.Consumers.All() {
		c.drop(g.held)
	}
	g.pending.clear()
	*g.held -= groupOverhead + allocSize(len(name))
	return true
}

func (c *StreamConsumer) compare(name []byte) int { return bytes.Compare(view(c.Name), name) }

// Consumer returns the consumer with that name, or nil.
func (g *StreamGroup) Consumer(name []byte) *StreamConsumer {
	return g.Consumers.find(name, (*StreamConsumer).compare)
}

// CreateConsumer returns the consumer with that name. created reports whether it is new.
func (g *StreamGroup) CreateConsumer(name []byte, now int64) (c *StreamConsumer, created bool) {
	if c = g.Consumer(name); c != nil {
		return c, false
	}
	c = &StreamConsumer{Name: string(name), Seen: now, Active: -1}
	c.pending.held = g.held
	g.Consumers.insert(c, name, (*StreamConsumer).compare)
	*g.held += consumerOverhead + allocSize(len(name))
	return c, true
}

// DeleteConsumer removes a consumer with its pending entries and returns their number.
func (g *StreamGroup) DeleteConsumer(name []byte) (pending int) {
	c := g.Consumers.remove(name, (*StreamConsumer).compare)
	if c == nil {
		return 0
	}
	pending = c.Len()
	it := c.pending.from(StreamID{})
	for id, val := it.next(); val != nil; id, val = it.next() {
		g.pending.remove(id)
	}
	c.drop(g.held)
	return pending
}

// drop subtracts a consumer from the accounts.
func (c *StreamConsumer) drop(held *int) {
	c.pending.clear()
	*held -= consumerOverhead + allocSize(len(c.Name))
}

// Len is the number of pending entries of the group.
func (g *StreamGroup) Len() int { return g.pending.len() }

// Len is the number of pending entries of the consumer.
func (c *StreamConsumer) Len() int { return c.pending.len() }

// Ends returns the lowest and the highest pending ID of the group, which must have one.
func (g *StreamGroup) Ends() (first, last StreamID) {
	blocks := g.pending.blocks
	end := blocks[len(blocks)-1].ids
	return blocks[0].ids[0], end[len(end)-1]
}

// Deliver records that c reads the entry id. The entry is pending from then on, unless noAck.
func (s *Stream) Deliver(g *StreamGroup, c *StreamConsumer, id StreamID, now int64, noAck bool) {
	if g.LastID.Less(id) {
		g.EntriesRead = s.readsWith(g, id)
		g.LastID = id
	}
	if noAck {
		return
	}
	d := g.Assign(id, c)
	d.At, d.Count = now, 1
	c.Active = now
}

// Delivery returns the delivery of a pending entry for reading, or nil. It is valid until the next change.
func (g *StreamGroup) Delivery(id StreamID) *Delivery { return g.pending.get(id) }

// Assign makes an entry pending for c, even if another consumer has it. After XGROUP SETID, entries
// are delivered again.
func (g *StreamGroup) Assign(id StreamID, c *StreamConsumer) *Delivery {
	d, added := g.pending.add(id)
	if added {
		d.Count = 1
	}
	if d.To != c {
		if d.To != nil {
			d.To.pending.remove(id)
		}
		d.To = c
		c.pending.add(id)
	}
	return d
}

// Acknowledge removes a pending entry. It returns false if the entry was not pending.
func (g *StreamGroup) Acknowledge(id StreamID) bool {
	d := g.pending.get(id)
	if d == nil {
		return false
	}
	d.To.pending.remove(id)
	return g.pending.remove(id)
}

// PendingIter iterates over the pending entries of a group or of one consumer. A change of the
// pending entries invalidates it.
type PendingIter struct {
	ID StreamID
	*Delivery

	g   *StreamGroup
	all idIter[Delivery]
	of  idIter[struct{}]
	own bool
}

// Pending begins with the first ID that is not below from. c is nil for all consumers.
func (g *StreamGroup) Pending(c *StreamConsumer, from StreamID) PendingIter {
	if c == nil {
		return PendingIter{g: g, all: g.pending.from(from)}
	}
	return PendingIter{g: g, of: c.pending.from(from), own: true}
}

// Next moves to the next entry, for reading. It returns false at the end.
func (it *PendingIter) Next() bool {
	if !it.own {
		it.ID, it.Delivery = it.all.next()
		return it.Delivery != nil
	}
	var more *struct{}
	if it.ID, more = it.of.next(); more == nil {
		return false
	}
	it.Delivery = it.g.pending.get(it.ID)
	return true
}

// Redeliver notes that the consumer reads the entry again.
func (it *PendingIter) Redeliver(now int64) {
	it.Delivery, _ = it.g.pending.add(it.ID)
	it.At = now
	it.Count++
}

// lendGroups gives a stream without groups those of s, with the same blocks.
func (s *Stream) lendGroups(to *Stream, under *loan) {
	for g := range s.Groups.All() {
		twin := &StreamGroup{
			Name: g.Name, LastID: g.LastID, EntriesRead: g.EntriesRead, pending: g.pending.lend(under),
		}
		to.Groups.insert(twin, view(g.Name), (*StreamGroup).compare)
		for c := range g.Consumers.All() {
			d := &StreamConsumer{Name: c.Name, Seen: c.Seen, Active: c.Active, pending: c.pending.lend(under)}
			twin.Consumers.insert(d, view(c.Name), (*StreamConsumer).compare)
		}
	}
}

// copyGroups copies the groups of s to a stream without groups.
func (s *Stream) copyGroups(to *Stream) {
	for g := range s.Groups.All() {
		to.CreateGroup(view(g.Name), g.LastID, g.EntriesRead)
		twin := to.Group(view(g.Name))
		for c := range g.Consumers.All() {
			d, _ := twin.CreateConsumer(view(c.Name), c.Seen)
			d.Active = c.Active
		}
		for it := g.Pending(nil, StreamID{}); it.Next(); {
			d := twin.Assign(it.ID, twin.Consumer(view(it.To.Name)))
			d.At, d.Count = it.At, it.Count
		}
	}
}

package rdb

import (
	"encoding/binary"
	"slices"

	"github.com/miniredisd/miniredisd/store"
)

func (p *reader) stream(kind byte) *store.Stream {
	s := store.NewStream(p.ks)
	for n := p.number(); n > 0 && !p.failed; n-- {
		p.streamNode(s)
	}
	length, last := p.number(), p.id()
	deleted, added := store.StreamID{}, length
	if kind >= typeStream2 {
		p.id() // the first, which is there to be seen
		deleted, added = p.id(), p.number()
	}
	p.require(length == uint64(s.Len()))
	if p.failed || !s.Complete(last, deleted, added) {
		p.failed = true
		return s
	}
	for n := p.number(); n > 0 && !p.failed; n-- {
		p.group(s, kind)
	}
	return s
}

func (p *reader) id() store.StreamID { return store.StreamID{Ms: p.number(), Seq: p.number()} }

// rawID reads an ID of 16 bytes.
func rawID(b []byte) store.StreamID {
	return store.StreamID{Ms: binary.BigEndian.Uint64(b), Seq: binary.BigEndian.Uint64(b[8:])}
}

// pendingID reads an ID of 16 bytes, zero if they are missing.
func (p *reader) pendingID() store.StreamID {
	if b := p.take(16); !p.failed {
		return rawID(b)
	}
	return store.StreamID{}
}

func (p *reader) streamNode(s *store.Stream) {
	key, pack := p.text(), readPack(p.text())
	if p.failed || len(key) != 16 {
		p.failed = true
		return
	}
	live, dead := pack.number(), pack.number()
	first := rawID(key)
	head := packedFields(pack, pack.number())
	if pack.number() != 0 || pack.failed || live < 0 || dead < 0 || !s.OpenNode(first, head) {
		p.failed = true
		return
	}
	for live+dead > 0 {
		isDead := p.streamEntry(s, pack, first, head)
		if p.failed {
			return
		}
		if isDead {
			dead--
		} else {
			live--
		}
	}
	p.require(live == 0 && dead == 0 && pack.done())
}

func (p *reader) streamEntry(s *store.Stream, pack *packReader, first store.StreamID, head [][]byte) (isDead bool) {
	flags := pack.number()
	id := store.StreamID{Ms: first.Ms + uint64(pack.number()), Seq: first.Seq + uint64(pack.number())}
	args, elements := head, int64(3+len(head)/2)
	if flags&entrySameFields != 0 {
		args = slices.Clone(head)
		for i := 1; i < len(args); i += 2 {
			args[i], _ = pack.next()
		}
	} else {
		args = packedPairs(pack, pack.number())
		elements = int64(4 + len(args))
	}
	p.require(pack.number() == elements && !pack.failed)
	isDead = flags&entryDead != 0
	p.require(!p.failed && s.PutEntry(id, args, isDead))
	return isDead
}

// packedFields reads n field names and leaves room for a value after each.
func packedFields(pack *packReader, n int64) (args [][]byte) {
	for ; n > 0 && !pack.failed; n-- {
		field, ok := pack.next()
		pack.failed = pack.failed || !ok
		args = append(args, field, nil)
	}
	pack.failed = pack.failed || n < 0
	return args
}

// packedPairs reads n fields and values.
func packedPairs(pack *packReader, n int64) (args [][]byte) {
	for ; n > 0 && !pack.failed; n-- {
		field, _ := pack.next()
		value, ok := pack.next()
		pack.failed = pack.failed || !ok
		args = append(args, field, value)
	}
	pack.failed = pack.failed || n < 0
	return args
}

// delivery is a pending entry of a group. Its consumer follows later in the payload.
type delivery struct {
	id        store.StreamID
	at, count int64
}

func (d delivery) compare(id store.StreamID) int { return d.id.Compare(id) }

// group reads a group. Groups are in the order of their names, and so are consumers.
func (p *reader) group(s *store.Stream, kind byte) {
	name, last := p.text(), p.id()
	read := s.Place(last)
	if kind >= typeStream2 {
		read = int64(p.number())
	}
	if last := s.Groups.Last(); last != nil {
		p.require(last.Name < string(name))
	}
	if p.failed || !s.CreateGroup(name, last, read) {
		p.failed = true
		return
	}
	g := s.Group(name)
	pending := p.deliveries()
	for n := p.number(); n > 0 && !p.failed; n-- {
		p.consumer(g, kind, pending)
	}
	p.require(g.Len() == len(pending))
}

// deliveries reads all pending entries of a group, sorted by ID.
func (p *reader) deliveries() (all []delivery) {
	for n := p.number(); n > 0 && !p.failed; n-- {
		d := delivery{id: p.pendingID()}
		d.at, d.count = int64(p.fixed()), int64(p.number())
		p.require(len(all) == 0 || all[len(all)-1].id.Less(d.id))
		all = append(all, d)
	}
	return all
}

// consumer reads a consumer and the IDs of its pending entries. Each pending entry of the group
// belongs to one consumer.
func (p *reader) consumer(g *store.StreamGroup, kind byte, pending []delivery) {
	name, seen := p.text(), int64(p.fixed())
	active := seen // before 7.2 nobody knew better
	if kind == typeStream3 {
		active = int64(p.fixed())
	}
	if last := g.Consumers.Last(); last != nil && last.Name >= string(name) || p.failed {
		p.failed = true
		return
	}
	c, _ := g.CreateConsumer(name, seen)
	c.Active = active
	for n := p.number(); n > 0 && !p.failed; n-- {
		id := p.pendingID()
		i, found := slices.BinarySearchFunc(pending, id, delivery.compare)
		if p.failed || !found || g.Delivery(id) != nil {
			p.failed = true
			return
		}
		d := g.Assign(id, c)
		d.At, d.Count = pending[i].at, pending[i].count
	}
}

package rdb

import (
	"iter"
	"math"
	"slices"
	"strconv"

	"github.com/miniredisd/miniredisd/store"
)

// Restore makes the value of a payload. It checks the payload like Redis with sanitize-dump-payload
// yes, and slightly more: elements must be in order and unique. own is the version that this server writes.
func Restore(ks *store.Keyspace, payload []byte, own int) (store.Value, error) {
	if !intact(payload, own) {
		return store.Value{}, ErrPayload
	}
	if payload[0] == typeHashTimed && own < VersionTimed {
		return store.Value{}, ErrFormat
	}
	p := reader{b: payload, ks: ks}
	v := p.value(p.take(1)[0])
	if p.failed {
		return store.Value{}, ErrFormat
	}
	return v, nil
}

func (p *reader) value(kind byte) store.Value {
	switch kind {
	case typeString:
		return store.TextValue(p.text())
	case typeList, typeListZiplist, typeListQuicklist, typeListQuicklist2:
		return store.ValueOf(p.list(kind))
	case typeSet, typeSetIntset, typeSetListpack:
		return store.ValueOf(p.set(kind))
	case typeZSet, typeZSet2:
		return store.ValueOf(p.zset(p.scored(p.count(), kind == typeZSet2)).Finish())
	case typeZSetZiplist, typeZSetListpack:
		return store.ValueOf(p.zset(p.scoredPairs(p.pairs(p.elements(kind)))).FinishPacked())
	case typeHash, typeHashZipmap:
		return store.ValueOf(p.hash(p.pairs(p.elements(kind)), (*store.Hash).Set))
	case typeHashZiplist, typeHashListpack:
		return store.ValueOf(p.hash(p.pairs(p.elements(kind)), (*store.Hash).SetPacked))
	case typeHashTimed:
		return store.ValueOf(p.timedHash())
	case typeStream, typeStream2, typeStream3:
		return store.ValueOf(p.stream(kind))
	}
	p.failed = true
	return store.Value{}
}

// elements yields the elements of a value in any of its forms.
func (p *reader) elements(kind byte) iter.Seq[[]byte] {
	switch kind {
	case typeHash:
		return p.texts(2 * p.count())
	case typeHashZipmap:
		return p.zipmap(p.text())
	case typeSetIntset:
		return p.intset(p.text())
	case typeListZiplist, typeZSetZiplist, typeHashZiplist:
		return p.ziplist(p.text())
	case typeSetListpack, typeZSetListpack, typeHashListpack:
		return p.listpack(p.text())
	}
	return p.texts(p.count())
}

// node returns the elements of the next node of a quicklist.
func (p *reader) node(kind byte) iter.Seq[[]byte] {
	container := uint64(nodePacked)
	if kind == typeListQuicklist2 {
		container = p.number()
	}
	node := p.text()
	switch {
	case p.failed || len(node) == 0 || container != nodePlain && container != nodePacked:
		p.failed = true
		return slices.Values([][]byte(nil))
	case container == nodePlain:
		return slices.Values([][]byte{node})
	case kind == typeListQuicklist:
		return p.ziplist(node)
	}
	return p.listpack(node)
}

// list keeps the nodes of a quicklist as they are, whatever the limits are now.
func (p *reader) list(kind byte) *store.List {
	l := store.NewList(p.ks)
	l.Unpack(p.ks.Limits.ListMaxListpackSize)
	if kind == typeListQuicklist || kind == typeListQuicklist2 {
		for n := p.count(); n > 0 && !p.failed; n-- {
			l.AppendNode(p.node(kind))
		}
	} else {
		for v := range p.elements(kind) {
			l.PushTail(v)
		}
	}
	if kind != typeListZiplist { // Redis leaves it a quicklist
		l.Settle()
	}
	p.filled(l.Len())
	return l
}

// set has Redis's rules for encodings: a listpack stays one unless it has too many members, however long
// they are. Single members become a table if they are more than an intset may have, integers or not.
func (p *reader) set(kind byte) *store.Set {
	s := store.NewSet(p.ks)
	var all iter.Seq[[]byte]
	add, n, most := s.Add, 0, math.MaxInt
	switch kind {
	case typeSet:
		count := p.count()
		all, n, most = p.texts(count), int(count), p.ks.Limits.SetMaxIntsetEntries
	case typeSetListpack:
		all, add, most = p.elements(kind), s.AddPacked, p.ks.Limits.SetMaxListpackEntries
		s.Expect(nil, 0) // something that is no integer: it was no intset, so it becomes none
		for range all {
			n++
		}
	default:
		all = p.elements(kind)
	}
	if n > most {
		s.Unpack()
	}
	for m := range all {
		if !add(m) {
			p.failed = true
			break
		}
	}
	p.filled(s.Len())
	return s
}

func (p *reader) hash(all iter.Seq2[[]byte, []byte], set func(h *store.Hash, field, value []byte) bool) *store.Hash {
	h := store.NewHash(p.ks)
	for field, value := range all {
		if !set(h, field, value) {
			p.failed = true
			break
		}
	}
	p.filled(h.Len())
	return h
}

// timedHash reads fields, values and expiries.
func (p *reader) timedHash() *store.Hash {
	h := store.NewHash(p.ks)
	for n := p.count(); n > 0 && !p.failed; n-- {
		field, value, at := p.text(), p.text(), int64(p.fixed())
		if p.require(at >= never); p.failed {
			break
		}
		p.require(h.Set(field, value))
		if at != never {
			h.SetExpire(field, at)
		}
	}
	p.filled(h.Len())
	return h
}

func (p *reader) zset(all iter.Seq2[[]byte, float64]) *store.ZSetBuilder {
	b := store.NewZSetBuilder(p.ks)
	for member, score := range all {
		slot, added := b.Slot(member)
		if p.require(added && !math.IsNaN(score)); p.failed {
			break
		}
		*slot = score
	}
	p.filled(b.Len())
	return b
}

// scored reads n members, each with a score in 8 bytes or as text.
func (p *reader) scored(n uint64, fixed bool) iter.Seq2[[]byte, float64] {
	return func(yield func([]byte, float64) bool) {
		for ; n > 0 && !p.failed; n-- {
			member, score := p.text(), 0.0
			if fixed {
				score = math.Float64frombits(p.fixed())
			} else {
				score = p.textScore()
			}
			if p.failed || !yield(member, score) {
				return
			}
		}
	}
}

// textScore reads the length of a score and its text. Some lengths stand for scores that are not
// numbers (rdb.c: rdbLoadDoubleValue).
func (p *reader) textScore() float64 {
	switch n := p.take(1)[0]; n {
	case 253:
		return math.NaN()
	case 254:
		return math.Inf(1)
	case 255:
		return math.Inf(-1)
	default:
		return p.float(p.take(uint64(n)))
	}
}

func (p *reader) float(text []byte) float64 {
	v, err := strconv.ParseFloat(string(text), 64)
	p.require(err == nil)
	return v
}

// scoredPairs reads the second element of each pair as a score.
func (p *reader) scoredPairs(all iter.Seq2[[]byte, []byte]) iter.Seq2[[]byte, float64] {
	return func(yield func([]byte, float64) bool) {
		for member, text := range all {
			if score := p.float(text); p.failed || !yield(member, score) {
				return
			}
		}
	}
}

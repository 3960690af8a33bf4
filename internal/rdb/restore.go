package rdb

import (
	"iter"
	"math"
	"strconv"

	"github.com/miniredisd/miniredisd/store"
)

// Restore makes the value of a payload. It checks the payload like Redis with sanitize-dump-payload
// yes, and slightly more: elements must be in order and unique.
func Restore(ks *store.Keyspace, payload []byte) (store.Value, error) {
	if !intact(payload) {
		return store.Value{}, ErrPayload
	}
	return Load(ks, payload)
}

// Load makes the value that Save wrote.
func Load(ks *store.Keyspace, saved []byte) (store.Value, error) {
	p := reader{b: saved, ks: ks}
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
		return store.ValueOf(p.list(p.elements(kind)))
	case typeSet, typeSetIntset, typeSetListpack:
		return store.ValueOf(p.set(kind))
	case typeZSet, typeZSet2:
		return store.ValueOf(p.zset(p.scored(p.count(), kind == typeZSet2)))
	case typeZSetZiplist, typeZSetListpack:
		return store.ValueOf(p.zset(p.scoredPairs(p.pairs(p.elements(kind)))))
	case typeHash, typeHashZipmap, typeHashZiplist, typeHashListpack:
		return store.ValueOf(p.hash(p.pairs(p.elements(kind))))
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
	case typeListQuicklist, typeListQuicklist2:
		return p.nodes(p.count(), kind)
	case typeSetIntset:
		return p.intset(p.text())
	case typeListZiplist, typeZSetZiplist, typeHashZiplist:
		return p.ziplist(p.text())
	case typeSetListpack, typeZSetListpack, typeHashListpack:
		return p.listpack(p.text())
	}
	return p.texts(p.count())
}

// nodes yields the elements of n nodes of a quicklist.
func (p *reader) nodes(n uint64, kind byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for ; n > 0 && !p.failed; n-- {
			container := uint64(nodePacked)
			if kind == typeListQuicklist2 {
				container = p.number()
			}
			node := p.text()
			switch {
			case p.failed || len(node) == 0 || container != nodePlain && container != nodePacked:
				p.failed = true
			case container == nodePlain:
				yield(node)
			case kind == typeListQuicklist:
				p.ziplist(node)(yield)
			default:
				p.listpack(node)(yield)
			}
		}
	}
}

func (p *reader) list(all iter.Seq[[]byte]) *store.List {
	l := store.NewList(p.ks)
	for v := range all {
		l.Expect(1, len(v))
		l.PushTail(v)
	}
	p.require(l.Len() > 0)
	return l
}

func (p *reader) set(kind byte) *store.Set {
	s := store.NewSet(p.ks)
	if kind == typeSetListpack {
		s.Expect(nil, 0) // something that is no integer: it was no intset, so it becomes none
	}
	for m := range p.elements(kind) {
		if !s.Add(m) {
			p.failed = true
			break
		}
	}
	p.require(s.Len() > 0)
	return s
}

func (p *reader) hash(all iter.Seq2[[]byte, []byte]) *store.Hash {
	h := store.NewHash(p.ks)
	for field, value := range all {
		if !h.Set(field, value) {
			p.failed = true
			break
		}
	}
	p.require(h.Len() > 0)
	return h
}

func (p *reader) zset(all iter.Seq2[[]byte, float64]) *store.ZSet {
	z := store.NewZSet(p.ks)
	for member, score := range all {
		if p.require(!math.IsNaN(score)); p.failed {
			break
		}
		if res, _ := z.Add(member, score, 0); res != store.ZAdded {
			p.failed = true
			break
		}
	}
	p.require(z.Len() > 0)
	return z
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

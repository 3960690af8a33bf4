package rdb

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/store"
)

// Dump is the payload of DUMP: the bytes that Redis 7.0 without compression writes for the same
// value. It overwrites room and uses its memory if that is large enough.
func Dump(room []byte, v store.Value) []byte { return sealed(appendValue(room[:0], v, versionWritten)) }

// Save is the type and the value as in an RDB file of Redis 7.2. It keeps everything that 7.0 does
// not know.
func Save(v store.Value) []byte { return appendValue(nil, v, versionRead) }

// appendValue writes v in the forms of that version of the format, or in older forms.
func appendValue(b []byte, v store.Value, version int) []byte {
	switch v.Type() {
	case store.TypeString:
		b = appendText(append(b, typeString), v.Text())
	case store.TypeList:
		b = appendList(b, store.As[*store.List](v))
	case store.TypeSet:
		b = appendSet(b, store.As[*store.Set](v), version)
	case store.TypeZSet:
		b = appendZSet(b, store.As[*store.ZSet](v))
	case store.TypeHash:
		b = appendHash(b, store.As[*store.Hash](v))
	case store.TypeStream:
		b = appendStream(b, store.As[*store.Stream](v), version)
	}
	return b
}

func appendList(b []byte, l *store.List) []byte {
	b = appendNumber(append(b, typeListQuicklist2), uint64(l.Nodes()))
	for node := range l.Packs() {
		if l.Plain(node) {
			b = appendText(append(b, nodePlain), node.Get(node.First()))
			continue
		}
		w := newPack(append(b, nodePacked))
		for p := node.First(); p >= 0; p = node.Next(p) {
			w.text(node.Get(p))
		}
		b = w.done()
	}
	return b
}

// appendSet writes an intset or, unless the version is that of 7.0, a listpack, else the members
// one by one.
func appendSet(b []byte, s *store.Set, version int) []byte {
	switch encoding := s.Encoding(); {
	case encoding == "intset":
		return appendIntset(append(b, typeSetIntset), s)
	case encoding == "listpack" && version >= versionRead:
		w := newPack(append(b, typeSetListpack))
		for m := range s.All() {
			w.text(m)
		}
		return w.done()
	}
	b = appendNumber(append(b, typeSet), uint64(s.Len()))
	for m := range s.All() {
		b = appendText(b, m)
	}
	return b
}

// appendIntset writes all integers with the width that the largest needs.
func appendIntset(b []byte, s *store.Set) []byte {
	width := 2
	for m := range s.All() {
		if v, _ := ascii.ParseInt(m); v != int64(int32(v)) {
			width = 8
		} else if v != int64(int16(v)) {
			width = max(width, 4)
		}
	}
	set := binary.LittleEndian.AppendUint32(nil, uint32(width))
	set = binary.LittleEndian.AppendUint32(set, uint32(s.Len()))
	for m := range s.All() {
		v, _ := ascii.ParseInt(m)
		set = append(set, binary.LittleEndian.AppendUint64(nil, uint64(v))[:width]...)
	}
	return appendText(b, set)
}

func appendHash(b []byte, h *store.Hash) []byte {
	if h.Encoding() == "listpack" {
		w := newPack(append(b, typeHashListpack))
		for field, value := range h.All() {
			w.text(field)
			w.text(value)
		}
		return w.done()
	}
	b = appendNumber(append(b, typeHash), uint64(h.Len()))
	for field, value := range h.All() {
		b = appendText(appendText(b, field), value)
	}
	return b
}

// appendZSet writes a large set from its greatest member down, so a reader always inserts at the
// front.
func appendZSet(b []byte, z *store.ZSet) []byte {
	if z.Encoding() == "listpack" {
		w := newPack(append(b, typeZSetListpack))
		for it := z.Range(0, z.Len(), false); it.Next(); {
			w.text(it.Member)
			w.score(it.Score)
		}
		return w.done()
	}
	b = appendNumber(append(b, typeZSet2), uint64(z.Len()))
	for it := z.Range(0, z.Len(), true); it.Next(); {
		b = binary.LittleEndian.AppendUint64(appendText(b, it.Member), math.Float64bits(it.Score))
	}
	return b
}

// score adds a score. An integer is added as such, unless it is too large for Redis to try. Any
// other score is text of 17 digits (util.c: double2ll, d2string).
func (w *packWriter) score(score float64) {
	const looked = math.MaxInt64 / 2
	var text [32]byte
	switch {
	case math.IsInf(score, 1):
		w.text([]byte("inf"))
	case math.IsInf(score, -1):
		w.text([]byte("-inf"))
	case math.Abs(score) <= looked && score == math.Trunc(score):
		w.number(int64(score))
	default:
		w.text(strconv.AppendFloat(text[:0], score, 'g', 17, 64))
	}
}

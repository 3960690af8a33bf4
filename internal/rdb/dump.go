package rdb

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/store"
)

// Dump is the payload of DUMP in a version of the format. In version 10 it has the bytes that Redis 7.0
// without compression writes for the same value, and from version 11 on those of Redis 7.2. It overwrites
// room and uses its memory if that is large enough.
func Dump(room []byte, v store.Value, version int) []byte {
	return sealed(appendValue(room[:0], v, &form{version: version}), version)
}

// SavedLen returns the bytes of a value in a file, without its type and not compressed.
func SavedLen(v store.Value) int { return len(appendValue(nil, v, &form{version: VersionRead})) - 1 }

// CanDump reports whether a version of the format has a form for the value. A hash whose fields expire has
// one since Valkey 9.0.
func CanDump(v store.Value, version int) bool {
	return version >= VersionTimed || v.Type() != store.TypeHash || store.As[*store.Hash](v).Timed() == 0
}

// appendValue writes v in the forms of that version of the format, or in older forms.
func appendValue(b []byte, v store.Value, f *form) []byte {
	switch v.Type() {
	case store.TypeString:
		b = f.text(f.begin(b, typeString), v.Text())
	case store.TypeList:
		b = appendList(b, store.As[*store.List](v), f)
	case store.TypeSet:
		b = appendSet(b, store.As[*store.Set](v), f)
	case store.TypeZSet:
		b = appendZSet(b, store.As[*store.ZSet](v), f)
	case store.TypeHash:
		b = appendHash(b, store.As[*store.Hash](v), f)
	case store.TypeStream:
		b = appendStream(b, store.As[*store.Stream](v), f)
	}
	return b
}

func appendList(b []byte, l *store.List, f *form) []byte {
	b = appendNumber(f.begin(b, typeListQuicklist2), uint64(l.Nodes()))
	for node := range l.Packs() {
		if l.Plain(node) {
			b = f.text(append(b, nodePlain), node.Get(node.First()))
			continue
		}
		w := f.pack(append(b, nodePacked))
		for p := node.First(); p >= 0; p = node.Next(p) {
			w.text(node.Get(p))
		}
		b = w.done()
	}
	return b
}

// appendSet writes an intset or, unless the version is that of 7.0, a listpack, else the members
// one by one.
func appendSet(b []byte, s *store.Set, f *form) []byte {
	switch encoding := s.Encoding(); {
	case encoding == "intset":
		return appendIntset(f.begin(b, typeSetIntset), s, f)
	case encoding == "listpack" && f.version >= VersionRead:
		w := f.pack(f.begin(b, typeSetListpack))
		for m := range s.All() {
			w.text(m)
		}
		return w.done()
	}
	b = appendNumber(f.begin(b, typeSet), uint64(s.Len()))
	for m := range s.All() {
		b = f.text(b, m)
	}
	return b
}

// appendIntset writes all integers with the width that the largest needs.
func appendIntset(b []byte, s *store.Set, f *form) []byte {
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
	return f.text(b, set)
}

func appendHash(b []byte, h *store.Hash, f *form) []byte {
	if h.Timed() > 0 {
		return appendTimedHash(b, h, f)
	}
	if h.Encoding() == "listpack" {
		w := f.pack(f.begin(b, typeHashListpack))
		for field, value := range h.All() {
			w.text(field)
			w.text(value)
		}
		return w.done()
	}
	b = appendNumber(f.begin(b, typeHash), uint64(h.Len()))
	for field, value := range h.All() {
		b = f.text(f.text(b, field), value)
	}
	return b
}

// never is the expiry of a field that has none.
const never = -1

func appendTimedHash(b []byte, h *store.Hash, f *form) []byte {
	b = appendNumber(f.begin(b, typeHashTimed), uint64(h.Len()))
	h.AllTimed(func(field, value []byte, at int64) bool {
		if at == 0 {
			at = never
		}
		b = binary.LittleEndian.AppendUint64(f.text(f.text(b, field), value), uint64(at))
		return true
	})
	return b
}

// appendZSet writes a large set from its greatest member down, so a reader always inserts at the
// front.
func appendZSet(b []byte, z *store.ZSet, f *form) []byte {
	if z.Encoding() == "listpack" {
		w := f.pack(f.begin(b, typeZSetListpack))
		for it := z.Range(0, z.Len(), false); it.Next(); {
			w.text(it.Member)
			w.score(it.Score)
		}
		return w.done()
	}
	b = appendNumber(f.begin(b, typeZSet2), uint64(z.Len()))
	for member, score := range z.Descending() {
		b = binary.LittleEndian.AppendUint64(f.text(b, member), math.Float64bits(score))
	}
	return b
}

// score adds a score. An integer is added as such, unless it is too large for Redis to try. Any
// other score is text of 17 digits. 7.2 writes fewer (util.c: double2ll, d2string).
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

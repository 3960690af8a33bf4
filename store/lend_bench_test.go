package store

import (
	"fmt"
	"strings"
	"testing"
)

// large is what the collections of the benchmark have.
const large = 1_000_000

func member(i int) []byte { return fmt.Appendf(nil, "member:%d", i) }

// BenchmarkFirstWrite is the first change of a large value after a capture has begun: what the other clients wait.
func BenchmarkFirstWrite(b *testing.B) {
	key, text := []byte("k"), []byte(strings.Repeat("v", 20))
	fields := func(db *DB) Fields {
		f, _ := WriteFields(db, key)
		if f.Hash == nil {
			f.Create(key)
		}
		return f
	}
	for _, kind := range []struct {
		name  string
		fill  func(db *DB, i int)
		write func(db *DB)
	}{
		{"list", func(db *DB, i int) {
			l := must(WriteOrNew[*List](db, key))
			l.Expect(1, len(text))
			l.PushTail(text)
		},
			func(db *DB) { must(Write[*List](db, key)).PushTail(text) }},
		{"set", func(db *DB, i int) { must(WriteOrNew[*Set](db, key)).Add(member(i)) },
			func(db *DB) { must(Write[*Set](db, key)).Add(text) }},
		{"zset", func(db *DB, i int) { must(WriteOrNew[*ZSet](db, key)).Add(member(i), float64(i*7919%large), 0) },
			func(db *DB) { must(Write[*ZSet](db, key)).Add(member(5), 1.5, 0) }},
		{"hash", func(db *DB, i int) { must(WriteOrNew[*Hash](db, key)).Set(member(i), text) },
			func(db *DB) { must(Write[*Hash](db, key)).Set(member(5), text) }},
		{"hash with expiries", func(db *DB, i int) {
			f := fields(db)
			f.Set(member(i), text)
			f.SetExpire(member(i), int64(1_000_000+i*7919%large))
		}, func(db *DB) { f := fields(db); f.SetExpire(member(5), 5_000_000) }},
		{"stream", func(db *DB, i int) {
			s := must(WriteOrNew[*Stream](db, key))
			_ = s.Add(StreamID{uint64(i + 1), 0}, [][]byte{key, text}, StreamNodeLimits{4096, 100})
		}, func(db *DB) { must(Write[*Stream](db, key)).Delete(StreamID{500, 0}) }},
		{"stream with pending", func(db *DB, i int) {
			s, id := must(WriteOrNew[*Stream](db, key)), StreamID{uint64(i + 1), 0}
			_ = s.Add(id, [][]byte{key, text}, StreamNodeLimits{4096, 100})
			s.CreateGroup(key, StreamID{}, 0)
			c, _ := s.Group(key).CreateConsumer(key, 0)
			s.Deliver(s.Group(key), c, id, 1, false)
		}, func(db *DB) { s := must(Write[*Stream](db, key)); s.Group(key).Acknowledge(StreamID{500, 0}) }},
		{"string of 500 MB", func(db *DB, i int) {
			if i == 0 {
				_, _ = db.Lookup(key, LookupWrite).MutStr(key, 0, 500<<20)
			}
		}, func(db *DB) { _, _ = db.Lookup(key, LookupWrite).MutStr(key, 300<<20, 300<<20+9) }},
	} {
		b.Run(kind.name, func(b *testing.B) {
			ks := NewKeyspace(Options{Seed: 1})
			for i := range large {
				kind.fill(ks.DBs[0], i)
				ks.Settle()
			}
			for b.Loop() {
				b.StopTimer()
				c := ks.Capture()
				b.StartTimer()
				kind.write(ks.DBs[0])
				ks.Settle()
				b.StopTimer()
				c.Take(0)
				c.End()
				c.Return()
				b.StartTimer()
			}
		})
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

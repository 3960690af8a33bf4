package rdb

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/store"
)

// FuzzRestore takes any bytes for a value: they are refused, or make one that is whole. Making it takes
// some hundred bytes for each byte of the payload, unless that is compressed.
func FuzzRestore(f *testing.F) {
	for _, body := range examples() {
		f.Add([]byte(body))
	}
	for _, c := range refused {
		f.Add([]byte(c.body))
	}
	ks := store.NewKeyspace(store.Options{Databases: 1})
	f.Fuzz(func(t *testing.T, body []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		v, err := Restore(ks, sealed(slices.Clone(body), Oldest), Oldest)
		runtime.ReadMemStats(&after)
		if !bytes.Contains(body, []byte{0xc0 | formLZF}) {
			require.LessOrEqual(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20+1000*len(body)))
		}
		if err != nil {
			require.Equal(t, ErrFormat, err)
			return
		}
		value := describe(v)
		twin, err := Restore(ks, Dump(nil, v, Oldest), Oldest)
		require.NoError(t, err)
		if body[0] != typeStream3 { // which knows what is not written
			require.Len(t, describe(twin), len(value)) // tables may have another order
		}
		use(t, ks, v)
	})
}

// Several bytes changed at a time get further than one, and further than chance.
func TestPayloadsMayBeDamagedInSeveralPlaces(t *testing.T) {
	ks := store.NewKeyspace(store.Options{Databases: 1})
	r := rand.New(rand.NewPCG(1, 2))
	bodies, good := examples(), 0
	for range 20000 {
		body := []byte(bodies[r.IntN(len(bodies))])
		for range 1 + r.IntN(4) {
			i := r.IntN(len(body))
			body[i] = byte(int(body[i]) + []int{1, -1, 1 << r.IntN(8), int(r.Uint32())}[r.IntN(4)])
		}
		if v, err := Restore(ks, sealed(body, Oldest), Oldest); err == nil {
			use(t, ks, v)
			good++
		}
	}
	require.Greater(t, good, 1000)
}

func examples() (bodies []string) {
	for _, c := range slices.Concat(written, readOnly) {
		bodies = append(bodies, c.body)
	}
	return bodies
}

// use changes a value in ways that go wrong if it is not whole, and ends with nothing accounted for.
func use(t *testing.T, ks *store.Keyspace, v store.Value) {
	db, k := ks.DBs[0], []byte("k")
	db.Peek(k).Put(k, v, 0, store.Past{})
	db.Peek(k).CopyTo(db.Peek([]byte("copy")), []byte("copy"))
	switch v.Type() {
	case store.TypeList:
		l, _ := store.Write[*store.List](db, k)
		l.Set(0, k)
		l.Insert(k, []byte("v"), true)
		for l.Len() > 1 {
			l.PopHead()
		}
	case store.TypeSet:
		s, _ := store.Write[*store.Set](db, k)
		for m := range store.As[*store.Set](v).All() {
			require.True(t, s.Has(m))
		}
		s.Add(k)
	case store.TypeZSet:
		z, _ := store.Write[*store.ZSet](db, k)
		z.Add(k, 0, store.ZIncr)
		z.RemoveRange(0, z.Len()/2)
	case store.TypeHash:
		h, _ := store.Write[*store.Hash](db, k)
		h.Set(k, k)
	case store.TypeStream:
		s, _ := store.Write[*store.Stream](db, k)
		useStream(t, s)
	}
	ks.Settle()
	ks.FlushAll()
	require.Equal(t, store.NewKeyspace(store.Options{Databases: 1}).Bytes(), ks.Bytes())
}

func useStream(t *testing.T, s *store.Stream) {
	for g := range s.Groups.All() {
		s.Lag(g)
		c, _ := g.CreateConsumer([]byte("new"), 1)
		if id, ok := g.LastID.Next(); ok {
			s.Deliver(g, c, id, 1, false)
		}
		for g.Len() > 0 {
			first, _ := g.Ends()
			require.True(t, g.Acknowledge(first))
		}
	}
	s.RadixNodes()
	if id, ok := s.LastID.Next(); ok {
		require.NoError(t, s.Add(id, [][]byte{[]byte("f"), []byte("v")}, store.StreamNodeLimits{Entries: 3}))
		require.Equal(t, id, s.NewestID())
	}
	s.Delete(s.FirstID())
	s.Trim(store.StreamTrim{MaxLen: int64(s.Len() / 2), Approx: true})
	s.Trim(store.StreamTrim{MaxLen: 1})
	require.LessOrEqual(t, s.Len(), 1)
	s.DestroyGroup([]byte("g"))
}

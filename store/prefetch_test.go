package store

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPrefetchTakesEveryRequestAndChangesNothing(t *testing.T) {
	for _, keys := range []int{10, 3 * prefetchMin} {
		ks := NewKeyspace(Options{Seed: 1})
		ks.Now = 1000
		db := ks.DBs[0]
		for i := range keys {
			db.SetStr(fmt.Appendf(nil, "key%d", i), fmt.Append(nil, i), false)
		}
		for _, size := range []int{0, 5, 3 * prefetchMin} {
			h, _ := WriteOrNew[*Hash](db, fmt.Append(nil, "hash", size))
			s, _ := WriteOrNew[*Set](db, fmt.Append(nil, "set", size))
			for i := range size {
				h.Set(fmt.Append(nil, "f", i), []byte("v"))
				s.Add(fmt.Append(nil, "m", i))
			}
		}
		z, _ := WriteOrNew[*ZSet](db, []byte("zset"))
		for i := range 3 * prefetchMin {
			z.Add(fmt.Append(nil, "m", i), float64(i), 0)
		}
		db.SetStr([]byte("expired"), []byte("v"), false)
		db.Lookup([]byte("expired"), LookupWrite).SetExpire(1)
		ks.Settle()
		for range 2 * keys { // lookups end what rehashing there is
			db.Lookup([]byte("none"), LookupNone).Exists()
		}
		before, size := db.Len(), ks.Bytes()

		var all [][][]byte
		for _, key := range []string{"key1", "key2", "hash0", "hash5", "hash12288", "set0", "set5", "set12288",
			"zset", "none", "expired", ""} {
			for i := range 3 {
				all = append(all,
					[][]byte{[]byte("CMD"), []byte(key)},
					[][]byte{[]byte("CMD"), []byte(key), fmt.Append(nil, "m", i)},
					[][]byte{[]byte("CMD"), []byte(key), fmt.Append(nil, "f", i), []byte("absent")})
			}
		}
		for n := range all {
			db.Prefetch(all[n:])
			db.Prefetch(all[n : n+1])
		}
		require.Zero(t, testing.AllocsPerRun(10, func() { db.Prefetch(all) }))
		require.Equal(t, before, db.Len())
		require.Equal(t, size, ks.Bytes())
		require.Zero(t, ks.Stats.Expired)
		require.False(t, db.Lookup([]byte("expired"), LookupNone).Exists())
		s, err := Read[*Set](db, []byte("set12288"))
		require.NoError(t, err)
		require.True(t, s.Has([]byte("m7")))
	}
}

func BenchmarkPrefetch(b *testing.B) {
	const keys, fields = 1_000_000, 100_000
	ks := NewKeyspace(Options{Seed: 1})
	db, hash := ks.DBs[0], []byte("hash")
	h, err := WriteOrNew[*Hash](db, hash)
	require.NoError(b, err)
	name := func(i int) []byte { return fmt.Appendf(nil, "key:%012d", i) }
	for i := range keys {
		db.SetStr(name(i), make([]byte, 100), false)
		if i < fields {
			h.Set(name(i), []byte("value"))
		}
	}
	ks.Settle()
	batches := func(request func(i int) [][]byte) (all [2000][][][]byte) {
		for i := range all {
			for range 16 {
				all[i] = append(all[i], request(ks.Rand.IntN(keys)))
			}
		}
		return all
	}
	gets := batches(func(i int) [][]byte { return [][]byte{nil, name(i)} })
	hgets := batches(func(i int) [][]byte { return [][]byte{nil, hash, name(i % fields)} })
	for _, prefetch := range []bool{false, true} {
		b.Run(fmt.Sprintf("16 gets, prefetch %t", prefetch), func(b *testing.B) {
			for i := range b.N {
				batch := gets[i%len(gets)]
				if prefetch {
					db.Prefetch(batch)
				}
				for _, args := range batch {
					_, _, _ = db.Str(args[1])
				}
			}
		})
		b.Run(fmt.Sprintf("16 hgets, prefetch %t", prefetch), func(b *testing.B) {
			for i := range b.N {
				batch := hgets[i%len(hgets)]
				if prefetch {
					db.Prefetch(batch)
				}
				for _, args := range batch {
					h, _ := Read[*Hash](db, args[1])
					_, _ = h.Get(args[2])
				}
			}
		})
	}
}

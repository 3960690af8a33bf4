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
					[][]byte{[]byte(key)},
					[][]byte{[]byte(key), fmt.Append(nil, "m", i)},
					[][]byte{[]byte(key), fmt.Append(nil, "f", i), []byte("absent")})
			}
		}
		for n := range all {
			db.Prefetch(all[n:])
			db.Prefetch(all[n : n+1])
		}
		var names [][]byte
		for _, words := range all {
			names = append(names, words...)
		}
		collections := prefetchedCollections(t, db)
		prefetch := func(step int) {
			db.PrefetchKeys(names, step)
			for _, c := range collections {
				c.Prefetch(names, step)
			}
		}
		require.Zero(t, testing.AllocsPerRun(10, func() { db.Prefetch(all); prefetch(1); prefetch(2) }))
		require.Equal(t, before, db.Len())
		require.Equal(t, size, ks.Bytes())
		require.Zero(t, ks.Stats.Expired)
		require.False(t, db.Lookup([]byte("expired"), LookupNone).Exists())
		s, err := Read[*Set](db, []byte("set12288"))
		require.NoError(t, err)
		require.True(t, s.Has([]byte("m7")))
	}
}

// prefetchedCollections are the collections of db whose elements can be loaded.
func prefetchedCollections(t *testing.T, db *DB) (all []interface {
	Prefetch(names [][]byte, step int)
}) {
	t.Helper()
	for _, size := range []int{0, 5, 3 * prefetchMin} {
		h, err := Read[*Hash](db, fmt.Append(nil, "hash", size))
		require.NoError(t, err)
		s, err := Read[*Set](db, fmt.Append(nil, "set", size))
		require.NoError(t, err)
		all = append(all, h, s)
	}
	z, err := Read[*ZSet](db, []byte("zset"))
	require.NoError(t, err)
	return append(all, z)
}

func TestPrefetchFindsTheNodesOfAlmostAllKeys(t *testing.T) {
	const keys = 10 * prefetchMin
	table := NewTable[struct{}](NewSeed(1))
	for i := range keys {
		table.Insert(fmt.Append(nil, "key", i))
	}
	for table.buckets[1] != nil {
		table.step()
	}
	found := 0
	for from := 0; from < keys; from += PrefetchMax {
		var hashes, nodes [PrefetchMax]uint32
		for i := range hashes {
			hashes[i] = table.hash(fmt.Append(nil, "key", from+i))
		}
		table.prefetch(&hashes, nodes[:])
		for i, at := range nodes {
			if at != 0 {
				require.Equal(t, hashes[i], table.at(at).hash)
				found++
			}
		}
	}
	require.Greater(t, found, keys*95/100)
	hashes, nodes := [PrefetchMax]uint32{table.hash([]byte("none"))}, [1]uint32{}
	table.prefetch(&hashes, nodes[:])
	require.Zero(t, nodes[0], "a key that is missing")
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
	gets := batches(func(i int) [][]byte { return [][]byte{name(i)} })
	hgets := batches(func(i int) [][]byte { return [][]byte{hash, name(i % fields)} })
	for _, prefetch := range []bool{false, true} {
		b.Run(fmt.Sprintf("16 gets, prefetch %t", prefetch), func(b *testing.B) {
			for i := range b.N {
				batch := gets[i%len(gets)]
				if prefetch {
					db.Prefetch(batch)
				}
				for _, args := range batch {
					_, _, _ = db.Str(args[0])
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
					h, _ := Read[*Hash](db, args[0])
					_, _ = h.Get(args[1])
				}
			}
		})
	}
}

package store

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEachFlagLeavesOutOneEffectOfALookup(t *testing.T) {
	type effects struct{ hits, misses, announced, accesses, expired int }
	tests := []struct {
		name  string
		flags LookupFlags
		want  effects
	}{
		{"none", LookupNone, effects{hits: 1, misses: 2, announced: 2, accesses: 1, expired: 1}},
		{"no touch", LookupNoTouch, effects{hits: 1, misses: 2, announced: 2, expired: 1}},
		{"no notify", LookupNoNotify, effects{hits: 1, misses: 2, accesses: 1, expired: 1}},
		{"no stats", LookupNoStats, effects{announced: 2, accesses: 1, expired: 1}},
		{"write", LookupWrite, effects{accesses: 1, expired: 1}},
		{"no expire", LookupNoExpire, effects{hits: 1, misses: 2, announced: 2, accesses: 1}},
		{"no effects", LookupNoEffects, effects{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ks := NewKeyspace(Options{})
			ks.LFU, ks.LFULogFactor = true, 0 // each access counts one
			db := ks.DBs[0]
			db.SetStr([]byte("there"), []byte("v"), false)
			db.SetStr([]byte("overdue"), []byte("v"), false)
			db.Peek([]byte("overdue")).SetExpire(1000)
			ks.Now = 1001
			announced := 0
			ks.OnMiss = func(*DB, []byte) { announced++ }

			require.True(t, db.Lookup([]byte("there"), test.flags).Exists())
			require.False(t, db.Lookup([]byte("missing"), test.flags).Exists())
			require.False(t, db.Lookup([]byte("overdue"), test.flags).Exists())

			require.Equal(t, test.want, effects{
				hits: int(ks.Stats.Hits), misses: int(ks.Stats.Misses), announced: announced,
				accesses: db.Peek([]byte("there")).Freq() - lfuInitial, expired: int(ks.Stats.Expired),
			})
		})
	}
}

func TestStoringReplacesAnOverdueKeyThatLookupsKeep(t *testing.T) {
	for _, keepDue := range []bool{false, true} {
		ks := NewKeyspace(Options{})
		ks.KeepDue = keepDue
		db, key := ks.DBs[0], []byte("k")
		db.SetStr(key, []byte("old"), false)
		db.Peek(key).SetExpire(1000)
		ks.Now = 1001
		k := db.Lookup(key, LookupNoEffects)
		require.True(t, db.Peek(key).Overdue())
		k.SetStr(key, []byte("new"), true)
		require.Equal(t, 1, db.Len())
		require.Equal(t, int64(1), ks.Stats.Expired)
		require.Zero(t, db.Peek(key).Expire())
		b, ok, err := db.Str(key)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, "new", string(b))
	}
}

func BenchmarkLookup(b *testing.B) {
	const n = 1000
	ks := NewKeyspace(Options{Seed: 1})
	ks.Now = 1000
	db, val := ks.DBs[0], []byte("xxx")
	var keys [n][]byte
	for i := range keys {
		keys[i] = fmt.Appendf(nil, "key:%012d", i)
		db.SetStr(keys[i], val, false)
	}
	for range 2 * n { // look-ups finish the rehash
		db.Peek(keys[0])
	}
	b.Run("get", func(b *testing.B) {
		for i := range b.N {
			_, _, _ = db.Str(keys[i%n])
		}
	})
	b.Run("set", func(b *testing.B) {
		for i := range b.N {
			db.SetStr(keys[i%n], val, false)
		}
	})
	b.Run("lock and unlock", func(b *testing.B) {
		for i := range b.N {
			key := keys[i%n]
			if k := db.Lookup(key, LookupWrite); k.Exists() {
				k.Delete()
			} else {
				k.SetStrUntil(key, val, 30_000)
			}
		}
	})
	for i := range keys {
		db.SetStr(keys[i], []byte("1"), false)
	}
	b.Run("incr", func(b *testing.B) {
		for i := range b.N {
			_, _ = db.Lookup(keys[i%n], LookupWrite).IncrBy(keys[i%n], 1)
		}
	})
}

package store

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func filled(n int) *Keyspace {
	ks := NewKeyspace(Options{Seed: 1})
	ks.Now = 1_000_000
	for i := range n {
		ks.Now += 1000
		key := fmt.Appendf(nil, "k%d", i)
		ks.DBs[i%2].SetStr(key, []byte("v"), false)
		if i%10 == 0 {
			ks.DBs[i%2].Lookup(key, LookupWrite).SetExpire(ks.Now + 1_000_000_000 - int64(i))
		}
	}
	return ks
}

func TestNoEvictionTakesNothing(t *testing.T) {
	require.False(t, filled(10).EvictOne(ParsePolicy("noeviction"), 5))
}

func TestVolatilePoliciesTakeOnlyKeysWithATTL(t *testing.T) {
	for _, policy := range []string{"volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl"} {
		ks := filled(1000)
		evicted := 0
		for ks.EvictOne(ParsePolicy(policy), 5) {
			evicted++
		}
		require.Equal(t, 100, evicted, policy)
		require.Equal(t, 900, ks.DBs[0].Len()+ks.DBs[1].Len(), policy)
	}
}

func TestAllKeysPoliciesTakeEverythingInTheEnd(t *testing.T) {
	for _, policy := range []string{"allkeys-lru", "allkeys-lfu", "allkeys-random"} {
		ks := filled(300)
		for ks.EvictOne(ParsePolicy(policy), 5) {
		}
		require.Zero(t, ks.DBs[0].Len()+ks.DBs[1].Len(), policy)
		require.Equal(t, int64(300), ks.Stats.Evicted)
	}
}

func TestLRUPrefersWhatWasUsedLongAgo(t *testing.T) {
	ks := filled(1000)
	old := 0
	ks.OnEvicted = func(_ *DB, key string) {
		var i int
		_, err := fmt.Sscanf(key, "k%d", &i)
		require.NoError(t, err)
		if i < 500 {
			old++
		}
	}
	for range 300 {
		ks.EvictOne(ParsePolicy("allkeys-lru"), 10)
	}
	require.Greater(t, old, 270)
}

func TestVolatileTTLTakesTheNextToExpire(t *testing.T) {
	ks := NewKeyspace(Options{})
	ks.Now = 1000
	for i := range 20 {
		key := fmt.Appendf(nil, "k%d", i)
		ks.DBs[0].SetStr(key, []byte("v"), false)
		ks.DBs[0].Lookup(key, LookupWrite).SetExpire(int64(100_000 - i*1000))
	}
	require.True(t, ks.EvictOne(ParsePolicy("volatile-ttl"), 5))
	require.False(t, ks.DBs[0].Lookup([]byte("k19"), LookupNone).Exists())
}

package store

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestATableGrowsBeyondMaxMemoryOnlyWhenItIsCrowded(t *testing.T) {
	ks := NewKeyspace(Options{Databases: 1, Seed: 1})
	db, added := ks.DBs[0], 0
	add := func(until int) {
		for ; added < until; added++ {
			db.SetStr(fmt.Appendf(nil, "key:%d", added), []byte("v"), false)
		}
	}
	add(4096)
	ks.MaxMemory = int64(ks.Bytes() + 10_000)
	add(4098)
	require.Nil(t, db.keys.buckets[1], "twice the buckets would be 32 kB")
	add(7000)
	require.NotNil(t, db.keys.buckets[1], "lookups come first")
}

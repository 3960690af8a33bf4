package store

import (
	"bytes"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
)

// changeTexts changes a long string in each way that there is.
func changeTexts(db *DB, r *rand.Rand, n int) {
	key := []byte("k")
	k := db.Lookup(key, LookupWrite)
	old, _ := k.Str()
	switch r.IntN(20) {
	case 0:
		_, _ = k.Append(key, []byte("more"), 1<<30)
	case 1:
		k.Lend()
	case 2:
		k.SetStr(key, bytes.Repeat([]byte{'z'}, len(old)), false)
	case 3:
		k.SetRaw(key, bytes.Repeat([]byte{'y'}, len(old)), false)
	default:
		at := r.IntN(n)
		to := min(at+1+r.IntN(200_000), n)
		b, _ := k.MutStr(key, at, to)
		for i := range b[at:to] {
			b[at+i]++
		}
	}
}

// The reader of a long string gets what it was, whatever commands change meanwhile.
func TestALongStringStaysAsItWasForItsReader(t *testing.T) {
	for seed := range uint64(amount.Count(3, 8)) {
		r, ks := rand.New(rand.NewPCG(seed, 1)), NewKeyspace(Options{Seed: seed})
		const n = pagedAt + 1000
		_, err := ks.DBs[0].Lookup([]byte("k"), LookupWrite).MutStr([]byte("k"), 0, n)
		require.NoError(t, err)
		for range 5 {
			changeTexts(ks.DBs[0], r, n)
		}
		b, _, _ := ks.DBs[0].Str([]byte("k"))
		want := bytes.Clone(b)
		c := ks.Capture()
		if r.IntN(2) == 0 {
			c.Step(1)
		}
		changeTexts(ks.DBs[0], r, n)
		c.Step(1)
		copies := c.Take(0).Keys
		var got []byte
		var reader sync.WaitGroup
		reader.Go(func() { got = copies[0].Value.Text() })
		for range 50 {
			changeTexts(ks.DBs[0], r, n)
		}
		reader.Wait()
		require.True(t, bytes.Equal(want, got), "seed %d", seed)
		c.Return()
		require.Nil(t, ks.lentTexts)
	}
}

package store

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
)

func TestHashBehavesAsAMap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, fields := range []int{20, 100, 3000} {
		ks := NewKeyspace(Options{Seed: 3})
		h, model := NewHash(ks), map[string]string{}
		for range 20_000 {
			f := fmt.Sprint("f", r.IntN(fields))
			_, had := model[f]
			switch r.IntN(4) {
			case 0:
				require.Equal(t, had, h.Delete([]byte(f)))
				delete(model, f)
			default:
				v := strings.Repeat("v", r.IntN(70)/(1+fields%3))
				require.Equal(t, !had, h.Set([]byte(f), []byte(v)))
				model[f] = v
			}
			require.Equal(t, len(model), h.Len())
		}
		got := map[string]string{}
		for f, v := range h.All() {
			got[string(f)] = string(v)
		}
		require.Equal(t, model, got)
		for f, v := range model {
			val, ok := h.Get([]byte(f))
			require.True(t, ok)
			require.Equal(t, v, string(val))
		}
		c := cloneOf(h)
		require.Equal(t, h.Encoding(), c.Encoding())
		h.Set([]byte("only here"), nil)
		_, ok := c.Get([]byte("only here"))
		require.False(t, ok)
		require.Equal(t, len(model), c.Len())
	}
}

func TestHashLeavesTheListpackPastItsLimitsForGood(t *testing.T) {
	ks := NewKeyspace(Options{})
	fill := func(n int) *Hash {
		h := NewHash(ks)
		for i := range n {
			h.Set(fmt.Append(nil, i), []byte("v"))
		}
		return h
	}
	h := fill(ks.Limits.HashMaxListpackEntries)
	require.Equal(t, "listpack", h.Encoding())
	h.Set([]byte("0"), []byte("overwritten"))
	require.Equal(t, "listpack", h.Encoding())
	h.Set([]byte("one more"), nil)
	require.Equal(t, "hashtable", h.Encoding())
	h.Delete([]byte("one more"))
	require.Equal(t, "hashtable", h.Encoding())

	h = fill(1)
	h.Set([]byte("f"), make([]byte, 64))
	require.Equal(t, "listpack", h.Encoding())
	h.Set([]byte("f"), make([]byte, 65))
	require.Equal(t, "hashtable", h.Encoding())
	require.Equal(t, 2, h.Len())

	h = fill(1)
	h.Set(make([]byte, 65), nil)
	require.Equal(t, "hashtable", h.Encoding())

	ks.Limits.HashMaxListpackEntries = 2
	require.Equal(t, "listpack", fill(2).Encoding())
	require.Equal(t, "hashtable", fill(3).Encoding())
	h = fill(1)
	h.Expect(make([][]byte, 6))
	require.Equal(t, "hashtable", h.Encoding())
}

// Whatever is added while a scan runs, the fields there from start to end come.
func TestHashScanReturnsEveryFieldPresentThroughout(t *testing.T) {
	ks := NewKeyspace(Options{Seed: 7})
	h := NewHash(ks)
	for i := range 1000 {
		h.Set(fmt.Append(nil, "stay", i), []byte("v"))
	}
	seen, cursor, extra := map[string]bool{}, uint64(0), 0
	for {
		cursor = h.Scan(cursor, func(f, v []byte) { seen[string(f)] = true })
		if cursor == 0 {
			break
		}
		for i := 0; i < 20 && extra < 5000; i++ {
			h.Set(fmt.Append(nil, "extra", extra), nil)
			extra++
		}
	}
	for i := range 1000 {
		require.True(t, seen[fmt.Sprint("stay", i)], i)
	}
}

func TestHashSampleIsDistinctAndReachesEveryField(t *testing.T) {
	for _, n := range []int{10, 200} {
		ks := NewKeyspace(Options{Seed: 5})
		h := NewHash(ks)
		for i := range n {
			h.Set(fmt.Append(nil, i), fmt.Append(nil, i*i))
		}
		reached := map[string]bool{}
		for _, k := range []int{1, n / 10, n / 2, n - 1, n, n + 5} {
			for range amount.Count(100, 500) {
				got := map[string]bool{}
				h.Sample(ks.Rand, k, func(f, v []byte) {
					got[string(f)] = true
					want, _ := h.Get(f)
					require.Equal(t, want, v)
					reached[string(f)] = true
				})
				require.Len(t, got, min(k, n))
			}
		}
		require.Len(t, reached, n)
		f, v := h.Random(ks.Rand)
		want, ok := h.Get(f)
		require.True(t, ok)
		require.Equal(t, want, v)
	}
}

func TestHashOverwriteAndLookupDoNotAllocate(t *testing.T) {
	for _, n := range []int{10, 1000} {
		h := NewHash(NewKeyspace(Options{}))
		for i := range n {
			h.Set(fmt.Append(nil, i), make([]byte, 32))
		}
		field, value := []byte("5"), make([]byte, 32)
		require.Zero(t, testing.AllocsPerRun(100, func() {
			h.Set(field, value)
			h.Set(field, value[:31])
			h.Get(field)
			h.Get(value)
		}))
	}
}

func TestHashSizeFollowsItsValues(t *testing.T) {
	h := NewHash(NewKeyspace(Options{}))
	h.Expect(make([][]byte, 2000))
	empty := h.e.size()
	h.Set([]byte("f"), make([]byte, 1000))
	require.Greater(t, h.e.size(), empty+1000)
	h.Set([]byte("f"), make([]byte, 10))
	require.Less(t, h.e.size(), empty+200)
	h.Set([]byte("g"), make([]byte, 1000))
	h.Delete([]byte("g"))
	require.Less(t, h.e.size(), empty+200)
}

package store

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

func TestANodeHoldsAKeyOfAnyLength(t *testing.T) {
	table := NewTable[float64](NewSeed(1))
	key := func(n int) []byte { return bytes.Repeat([]byte{byte('a' + n%26)}, n) }
	for n := range 300 {
		node, added := table.Insert(key(n))
		require.True(t, added)
		node.Val = float64(n)
	}
	for n := range 300 {
		node := table.Find(key(n))
		require.Equal(t, string(key(n)), node.Key())
		require.EqualValues(t, n, node.Val)
	}
	for n := range 300 {
		require.True(t, table.Delete(key(n)))
	}
	require.Zero(t, table.bytes)
}

func TestNodesOfATableDoNotOverlap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	table, model := NewTable[[2]uint64](NewSeed(3)), map[string]uint64{}
	for i := range uint64(100_000) {
		key := strings.Repeat("k", r.IntN(150)) + fmt.Sprint(r.IntN(20))
		if r.IntN(3) == 0 {
			_, had := model[key]
			require.Equal(t, had, table.Delete([]byte(key)))
			delete(model, key)
			continue
		}
		n, _ := table.Insert([]byte(key))
		n.Val = [2]uint64{i, i}
		model[key] = i
	}
	seen := 0
	for n := range table.All() {
		require.Equal(t, [2]uint64{model[n.Key()], model[n.Key()]}, n.Val)
		seen++
	}
	require.Len(t, model, seen)
}

func TestAnEmptyChunkIsFreedUnlessItIsTheOnlyOneWithRoom(t *testing.T) {
	table := NewTable[entry](NewSeed(1))
	key := func(i int) []byte { return fmt.Appendf(nil, "key:%08d", i) }
	used := func() (n int) {
		for _, c := range table.chunks {
			if c.base != nil {
				n++
			}
		}
		return n
	}
	const keys = 10_000
	for i := range keys {
		table.Insert(key(i))
	}
	full := used()
	for i := range keys - 1 {
		table.Delete(key(i))
	}
	require.Equal(t, 1, used())
	for i := range keys - 1 {
		table.Insert(key(i))
	}
	require.LessOrEqual(t, used(), full+1, "freed numbers are used again")
	require.LessOrEqual(t, len(table.chunks), full+2)

	table = NewTable[entry](NewSeed(1))
	table.Insert(key(0))
	table.Insert([]byte("a key of another class of slots"))
	base := table.chunks[1].base
	table.Delete(key(0))
	require.Equal(t, base, table.chunks[1].base, "a lock that comes and goes needs no new chunk")
}

func TestChunksFillTheirBlocks(t *testing.T) {
	for class := range classes {
		base, stride, slots := newSlots[entry](class, chunkLen, nil)
		require.LessOrEqual(t, slots, chunkLen)
		require.Zero(t, uintptr(base)%unsafe.Alignof(entry{}))
		block := cap(append([]byte(nil), make([]byte, headerRoom+slots*stride)...))
		require.Less(t, block-slots*stride, stride+headerRoom, "class %d", class)
	}
}

func TestRandomIsFairAmongKeysOfSeveralClasses(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	table := NewTable[int](NewSeed(1))
	for i := range 10 {
		table.Insert([]byte(strings.Repeat("x", 13*i)))
	}
	drawn := map[int]int{}
	for range 10_000 {
		drawn[len(table.Random(r).Key())]++
	}
	require.Len(t, drawn, 10)
	for n, times := range drawn {
		require.InDelta(t, 1000, times, 200, "key of %d bytes", n)
	}
}

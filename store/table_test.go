package store

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTableAgreesWithAMapUnderRandomChanges(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	table, model := NewTable[int](NewSeed(7)), map[string]int{}
	for i := range 200_000 {
		key := fmt.Sprintf("k%d", r.IntN(3000))
		if i/20_000%2 == 0 || r.IntN(3) == 0 {
			n, added := table.Insert([]byte(key))
			_, had := model[key]
			require.Equal(t, !had, added)
			n.Val = i
			model[key] = i
		} else {
			_, had := model[key]
			require.Equal(t, had, table.Delete([]byte(key)))
			delete(model, key)
		}
		require.Equal(t, len(model), table.Len())
	}
	for key, v := range model {
		require.Equal(t, v, table.Find([]byte(key)).Val)
	}
	seen := 0
	for n := range table.All() {
		require.Equal(t, model[n.Key()], n.Val)
		seen++
	}
	require.Equal(t, len(model), seen)
}

func TestScanReturnsEveryKeyThatStaysWhileTheTableGrowsAndShrinks(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 3))
		table := NewTable[struct{}](NewSeed(seed))
		for i := range 100 {
			table.Insert(fmt.Appendf(nil, "stays%d", i))
		}
		seen := map[string]bool{}
		churn := 0
		for cursor := uint64(0); ; {
			cursor = table.Scan(cursor, func(n *Node[struct{}]) { seen[strings.Clone(n.Key())] = true })
			if cursor == 0 {
				break
			}
			if grow := r.IntN(2) == 0; grow {
				for range r.IntN(400) {
					table.Insert(fmt.Appendf(nil, "churn%d", churn))
					churn++
				}
			} else {
				for ; churn > 0; churn-- {
					table.Delete(fmt.Appendf(nil, "churn%d", churn-1))
				}
			}
		}
		for i := range 100 {
			require.True(t, seen[fmt.Sprintf("stays%d", i)], "seed %d lost stays%d", seed, i)
		}
	}
}

func TestAllAllowsDeletingWhileRanging(t *testing.T) {
	table := NewTable[int](NewSeed(1))
	for i := range 1000 {
		table.Insert(fmt.Appendf(nil, "%d", i))
	}
	count := 0
	for n := range table.All() {
		table.Delete([]byte(n.Key()))
		count++
	}
	require.Equal(t, 1000, count)
	require.Zero(t, table.Len())
	require.Nil(t, table.Random(rand.New(rand.NewPCG(1, 1))))
}

func TestRandomReachesEveryKey(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	table := NewTable[int](NewSeed(1))
	for i := range 1000 {
		table.Insert(fmt.Appendf(nil, "%d", i))
	}
	for i := range 980 {
		table.Delete(fmt.Appendf(nil, "%d", i))
	}
	seen := map[string]bool{}
	for range 2000 {
		seen[strings.Clone(table.Random(r).Key())] = true
	}
	require.Len(t, seen, 20)
}

func TestOrderDependsOnTheSeedAlone(t *testing.T) {
	scan := func(seed uint64) (keys []string) {
		table := NewTable[int](NewSeed(seed))
		for i := range 50 {
			table.Insert(fmt.Appendf(nil, "%d", i))
		}
		for cursor := uint64(0); ; {
			cursor = table.Scan(cursor, func(n *Node[int]) { keys = append(keys, strings.Clone(n.Key())) })
			if cursor == 0 {
				return keys
			}
		}
	}
	require.Equal(t, scan(1), scan(1))
	require.NotEqual(t, scan(1), scan(2))
}

func TestFindDoesNotAllocate(t *testing.T) {
	table := NewTable[int](NewSeed(1))
	key := []byte("lock:000000000001")
	table.Insert(key)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		table.Find(key)
		table.Insert(key)
	}))
}

func TestAKeyOf15BytesTakes48BytesAndADeadline16More(t *testing.T) {
	ks := NewKeyspace(Options{Databases: 1})
	k := ks.DBs[0].Lookup([]byte("lock:0000000001"), LookupWrite)
	before := ks.Bytes()
	k.SetStr([]byte("lock:0000000001"), []byte("1"), false)
	require.Equal(t, 48+4*minSize, ks.Bytes()-before)
	ks.DBs[0].Peek([]byte("lock:0000000001")).SetExpire(1000)
	require.Equal(t, 48+4*minSize+16, ks.Bytes()-before)
}

func TestATableThatExpectsItsKeysDoesNotRehash(t *testing.T) {
	table := NewTable[int](NewSeed(7))
	for range 2 {
		table.expect(1000)
		for i := range 1000 {
			table.Insert(fmt.Appendf(nil, "k%d", i))
			require.Len(t, table.buckets[0], 1024)
			require.Nil(t, table.buckets[1])
		}
		table.expect(100_000) // it is not empty
		require.Len(t, table.buckets[0], 1024)
		for i := range 1000 {
			require.True(t, table.Delete(fmt.Appendf(nil, "k%d", i)))
		}
	}
	table.fits = func(int) bool { return false }
	table.expect(1000)
	require.Less(t, len(table.buckets[0]), 1024)
}

func TestWalksFindWhatIsLeftOfALargeTable(t *testing.T) {
	const size = 1000
	key := func(i int) []byte { return fmt.Appendf(nil, "k%d", i) }
	for _, left := range []int{0, 127, 128, 500, size - 1} {
		r := rand.New(rand.NewPCG(1, 2))
		table := NewTable[int](NewSeed(7))
		for i := range size {
			table.Insert(key(i))
		}
		for i := range size {
			if i != left {
				require.True(t, table.Delete(key(i)))
			}
		}
		for range 10 {
			require.Equal(t, string(key(left)), table.Random(r).Key())
		}
		for i := range size / 2 {
			table.Insert(key(i))
		}
		seen := map[string]bool{}
		for n := range table.All() {
			seen[strings.Clone(n.Key())] = true
		}
		require.Len(t, seen, table.Len())
		require.True(t, seen[string(key(left))])
	}
}

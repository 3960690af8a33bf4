package store

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// cloneOf is a deep copy of a collection.
func cloneOf[T collection](v T) T {
	value := ValueOf(v)
	value.e = value.e.cloneValue()
	return As[T](value)
}

func TestASmallCollectionIsOneBlock(t *testing.T) {
	ks := NewKeyspace(Options{})
	words, pairs := make([][]byte, 20), make([][]byte, 20)
	scores := make([]float64, 10)
	for i := range words {
		words[i] = fmt.Append(nil, "element-", i)
		pairs[i] = words[i]
	}
	ints := make([][]byte, 20)
	for i := range ints {
		ints[i] = fmt.Append(nil, 100_000+i)
	}
	h := unbound(ks, TypeSet, encPack)
	set := func(members [][]byte) func() {
		return func() {
			*h.e = entry{typ: TypeSet, enc: encInts16}
			s := &Set{h}
			s.Expect(members[0], len(members))
			s.Reserve(members)
			for _, m := range members {
				s.Add(m)
			}
		}
	}
	for name, make := range map[string]func(){
		"set":    set(words),
		"intset": set(ints),
		"list": func() {
			*h.e = entry{typ: TypeList}
			l := &List{h}
			l.Reserve(words)
			for _, v := range words {
				l.PushTail(v)
			}
		},
		"hash": func() {
			*h.e = entry{typ: TypeHash}
			hash := &Hash{h}
			hash.Expect(words)
			for i := 0; i < len(words); i += 2 {
				hash.Set(words[i], words[i+1])
			}
		},
		"sorted set": func() {
			*h.e = entry{typ: TypeZSet}
			z := &ZSet{h}
			z.Reserve(scores, pairs)
			for i, score := range scores {
				z.Add(pairs[2*i+1], score, 0)
			}
		},
	} {
		require.EqualValues(t, 1, testing.AllocsPerRun(100, make), name)
	}
}

func TestACollectionOpenedTwiceInACommandIsOne(t *testing.T) {
	ks := NewKeyspace(Options{})
	db, key := ks.DBs[0], []byte("s")
	s, err := WriteOrNew[*Set](db, key)
	require.NoError(t, err)
	s.Add([]byte("1"))
	same, err := Write[*Set](db, key)
	require.NoError(t, err)
	require.Same(t, s, same)
	for i := range 2 * len(ks.handles) {
		other, err := WriteOrNew[*Set](db, fmt.Append(nil, "other", i))
		require.NoError(t, err)
		other.Add(fmt.Append(nil, i))
	}
	ks.Settle()
	require.Equal(t, sizes(db), ks.valueBytes)
	for i := range 2 * len(ks.handles) {
		other, err := Read[*Set](db, fmt.Append(nil, "other", i))
		require.NoError(t, err)
		require.True(t, other.Has(fmt.Append(nil, i)))
	}
}

func TestAKeyThatACommandChangesAndDeletesLeavesTheAccounts(t *testing.T) {
	ks := NewKeyspace(Options{})
	db, key := ks.DBs[0], []byte("k")
	for _, keep := range []bool{false, true} {
		s, err := WriteOrNew[*Set](db, key)
		require.NoError(t, err)
		s.Add([]byte("member"))
		require.True(t, db.Delete(key))
		if keep {
			h, err := WriteOrNew[*Hash](db, key)
			require.NoError(t, err)
			h.Set([]byte("field"), make([]byte, 100))
		}
		ks.Settle()
		require.Equal(t, sizes(db), ks.valueBytes)
		db.Delete(key)
		require.Zero(t, ks.valueBytes)
	}
}

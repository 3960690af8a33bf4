package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func setOf(ks *Keyspace, members ...string) *Set {
	s := NewSet(ks)
	s.Expect([]byte(members[0]), len(members))
	for _, m := range members {
		s.Add([]byte(m))
	}
	return s
}

func numbers(n int) []string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprint(i-n/2))
	}
	return all
}

func words(n int) []string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprint("w", i))
	}
	return all
}

func membersOf(s *Set) (all []string) {
	for m := range s.All() {
		all = append(all, string(m))
	}
	return all
}

func TestSetBehavesAsAMap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for prefix, members := range map[string]int{"": 400, "w": 50, "word": 3000} {
		s, model := NewSet(NewKeyspace(Options{Seed: 3})), map[string]bool{}
		for range 20_000 {
			m := fmt.Sprint(prefix, r.IntN(members))
			require.Equal(t, model[m], s.Has([]byte(m)))
			if r.IntN(3) == 0 {
				require.Equal(t, model[m], s.Remove([]byte(m)))
				delete(model, m)
			} else {
				require.Equal(t, !model[m], s.Add([]byte(m)))
				model[m] = true
			}
			require.Equal(t, len(model), s.Len())
		}
		got := map[string]bool{}
		for m := range s.All() {
			got[string(m)] = true
		}
		require.Equal(t, model, got)
		c := cloneOf(s)
		require.Equal(t, s.Encoding(), c.Encoding())
		s.Add([]byte("only here"))
		require.False(t, c.Has([]byte("only here")))
		require.Equal(t, len(model), c.Len())
	}
}

func TestSetEncodingsFollowTheLimits(t *testing.T) {
	long := strings.Repeat("x", 65)
	for name, c := range map[string]struct {
		members []string
		more    []string
		want    string
	}{
		"integers":                       {numbers(512), nil, "intset"},
		"extreme integers":               {[]string{"-9223372036854775808", "9223372036854775807"}, nil, "intset"},
		"one integer too many at once":   {numbers(513), nil, "hashtable"},
		"one integer too many later":     {numbers(512), []string{"9999"}, "hashtable"},
		"no canonical integer":           {[]string{"01"}, nil, "listpack"},
		"past 64 bits":                   {[]string{"9223372036854775808"}, nil, "listpack"},
		"words":                          {words(128), nil, "listpack"},
		"one word too many at once":      {words(129), nil, "hashtable"},
		"one word too many later":        {words(128), []string{"one more"}, "hashtable"},
		"a word again":                   {words(128), []string{"w0"}, "listpack"},
		"a long word":                    {[]string{"a", long[:64]}, nil, "listpack"},
		"a word too long":                {[]string{"a", long}, nil, "hashtable"},
		"a word among few integers":      {numbers(127), []string{"a"}, "listpack"},
		"a word among many integers":     {numbers(128), []string{"a"}, "hashtable"},
		"a long word among integers":     {numbers(1), []string{long}, "hashtable"},
		"an integer among words":         {words(1), []string{"1"}, "listpack"},
		"more integers than an int pack": {append(numbers(513), "w"), nil, "hashtable"},
	} {
		s := setOf(NewKeyspace(Options{}), c.members...)
		for _, m := range c.more {
			s.Add([]byte(m))
		}
		require.Equal(t, c.want, s.Encoding(), name)
		for _, m := range append(c.members, c.more...) {
			require.True(t, s.Has([]byte(m)), name)
		}
		for _, m := range append(c.members, c.more...) {
			s.Remove([]byte(m))
		}
		require.Zero(t, s.Len(), name)
		require.Equal(t, c.want, s.Encoding(), "%s, emptied", name)
	}
}

func TestSetOfManyIntegersIsAListpackWhereOnlyThatAllowsThem(t *testing.T) {
	ks := NewKeyspace(Options{})
	ks.Limits.SetMaxIntsetEntries = 2
	require.Equal(t, "listpack", setOf(ks, numbers(3)...).Encoding())
	s := setOf(ks, "1", "2")
	require.Equal(t, "intset", s.Encoding())
	s.Add([]byte("3"))
	require.Equal(t, "hashtable", s.Encoding())
}

func TestSetPreferIntsGoesBackToAnIntset(t *testing.T) {
	ks := NewKeyspace(Options{})
	for _, s := range []*Set{setOf(ks, "w", "3", "-1"), setOf(ks, append(words(300), "3", "-1")...)} {
		s.PreferInts()
		require.NotEqual(t, "intset", s.Encoding())
		for _, w := range append(words(300), "w") {
			s.Remove([]byte(w))
		}
		s.PreferInts()
		require.Equal(t, "intset", s.Encoding())
		require.Equal(t, []string{"-1", "3"}, membersOf(s))
	}
}

func TestSetSampleIsDistinctAndReachesEveryMember(t *testing.T) {
	for _, members := range [][]string{numbers(40), words(40), words(300)} {
		ks := NewKeyspace(Options{Seed: 5})
		s := setOf(ks, members...)
		reached := map[string]bool{}
		for _, k := range []int{1, 10, len(members) - 1, len(members), len(members) + 5} {
			for range 500 {
				got := map[string]bool{}
				s.Sample(ks.Rand, k, func(m []byte) {
					require.True(t, s.Has(m))
					got[string(m)] = true
					reached[string(m)] = true
				})
				require.Len(t, got, min(k, len(members)))
			}
		}
		require.Len(t, reached, len(members))
		for range members {
			require.True(t, s.Remove(s.Random(ks.Rand)))
		}
		require.Zero(t, s.Len())
	}
}

func TestSetScanReturnsEveryMemberPresentThroughout(t *testing.T) {
	s := setOf(NewKeyspace(Options{Seed: 7}), words(1000)...)
	seen, cursor, extra := map[string]bool{}, uint64(0), 0
	for {
		cursor = s.Scan(cursor, func(m []byte) { seen[string(m)] = true })
		if cursor == 0 {
			break
		}
		for i := 0; i < 20 && extra < 5000; i++ {
			s.Add(fmt.Append(nil, "extra", extra))
			extra++
		}
	}
	for _, w := range words(1000) {
		require.True(t, seen[w], w)
	}
}

func TestSetLookupsAndRepeatedAddsDoNotAllocate(t *testing.T) {
	for _, members := range [][]string{numbers(40), words(40), words(300)} {
		s := setOf(NewKeyspace(Options{}), members...)
		m := []byte(slices.Max(members))
		require.Zero(t, testing.AllocsPerRun(100, func() {
			s.Add(m)
			s.Has(m)
			s.Has([]byte("absent"))
			s.Remove([]byte("absent"))
		}))
	}
}

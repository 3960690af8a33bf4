package pubsub

import (
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func fits(pattern string, name []byte) bool {
	ok, _ := path.Match(pattern, string(name))
	return ok
}

func TestSubscribersComeInTheOrderOfTheirSubscriptions(t *testing.T) {
	r := New[int](fits)
	for _, s := range []int{3, 1, 2} {
		require.True(t, r.Subscribe(Channel, s, []byte("a")))
	}
	require.False(t, r.Subscribe(Channel, 1, []byte("a")))
	require.Equal(t, []int{3, 1, 2}, r.To(Channel, []byte("a")))
	require.True(t, r.Unsubscribe(Channel, 3, []byte("a")))
	require.False(t, r.Unsubscribe(Channel, 3, []byte("a")))
	r.Subscribe(Channel, 3, []byte("a"))
	require.Equal(t, []int{1, 2, 3}, r.To(Channel, []byte("a")))
}

func TestMatchingPatternsComeInTheOrderOfTheirFirstSubscription(t *testing.T) {
	r := New[int](fits)
	for _, p := range []string{"n*", "x*", "*", "?ews", "n*"} {
		r.Subscribe(Pattern, 1, []byte(p))
	}
	var got []string
	for topic := range r.Matching([]byte("news")) {
		got = append(got, topic.Name)
	}
	require.Equal(t, []string{"n*", "*", "?ews"}, got)
}

func TestForgetRemovesAllOfASubscriber(t *testing.T) {
	r := New[int](fits)
	for _, kind := range []Kind{Channel, Pattern, Shard} {
		r.Subscribe(kind, 1, []byte("a"))
		r.Subscribe(kind, 1, []byte("b"))
		r.Subscribe(kind, 2, []byte("b"))
	}
	r.Forget(1)
	r.Forget(7)
	for _, kind := range []Kind{Channel, Pattern, Shard} {
		require.Equal(t, 1, r.Len(kind))
		require.Equal(t, []int{2}, r.To(kind, []byte("b")))
		require.Empty(t, r.Names(kind, 1))
	}
	require.False(t, r.Listens(1))
	r.Forget(2)
	require.Empty(t, r.subscribers)
	require.Empty(t, r.patterns)
}

// The model is a list of subscriptions, oldest first.
func TestRegistryAgreesWithAList(t *testing.T) {
	type entry struct {
		kind Kind
		s    int
		name string
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	r := New[int](fits)
	var model []entry
	for range 20000 {
		e := entry{Kind(rnd.IntN(int(kinds))), rnd.IntN(5), string(rune('a' + rnd.IntN(6)))}
		at := slices.Index(model, e)
		switch rnd.IntN(20) {
		case 0:
			r.Forget(e.s)
			model = slices.DeleteFunc(model, func(m entry) bool { return m.s == e.s })
		case 1, 2, 3, 4, 5, 6, 7, 8, 9:
			require.Equal(t, at >= 0, r.Unsubscribe(e.kind, e.s, []byte(e.name)))
			if at >= 0 {
				model = slices.Delete(model, at, at+1)
			}
		default:
			require.Equal(t, at < 0, r.Subscribe(e.kind, e.s, []byte(e.name)))
			if at < 0 {
				model = append(model, e)
			}
		}
		var to []int
		var names []string
		listens := false
		for _, m := range model {
			if m.kind == e.kind && m.name == e.name {
				to = append(to, m.s)
			}
			if m.kind == e.kind && m.s == e.s {
				names = append(names, m.name)
			}
			listens = listens || m.s == e.s
		}
		require.Equal(t, to, append([]int(nil), r.To(e.kind, []byte(e.name))...))
		require.Equal(t, names, append([]string(nil), r.Names(e.kind, e.s)...))
		require.Equal(t, len(names), r.Count(e.kind, e.s))
		require.Equal(t, listens, r.Listens(e.s))
	}
}

func TestPatternsKeepTheirOrderWhenOthersGo(t *testing.T) {
	r := New[int](func(string, []byte) bool { return true })
	want := []string{}
	for i := range 100 {
		name := fmt.Sprint(i)
		r.Subscribe(Pattern, i%3, []byte(name))
		want = append(want, name)
		if i%4 != 0 {
			continue
		}
		for range 3 {
			if len(want) > i/8 {
				gone := want[i/8]
				want = slices.Delete(want, i/8, i/8+1)
				for s := range 3 {
					r.Unsubscribe(Pattern, s, []byte(gone))
				}
			}
		}
		got := []string{}
		for topic := range r.Matching([]byte("channel")) {
			got = append(got, topic.Name)
		}
		require.Equal(t, want, got)
	}
	require.LessOrEqual(t, len(r.patterns), 2*len(want))
}

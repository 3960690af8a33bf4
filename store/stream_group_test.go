package store

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func randomID(r *rand.Rand) StreamID { return StreamID{r.Uint64N(40), r.Uint64N(20)} }

func TestIDMapKeepsItsEntriesInOrderAndItsBytesCounted(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	held := 0
	m := idMap[int]{held: &held}
	model := map[StreamID]int{}
	for step := range 20_000 {
		id := randomID(r)
		if step/1000%2 == 0 || r.IntN(4) == 0 {
			val, added := m.add(id)
			_, had := model[id]
			require.Equal(t, had, !added)
			*val, model[id] = step, step
		} else {
			_, had := model[id]
			require.Equal(t, had, m.remove(id))
			delete(model, id)
		}
		require.Equal(t, len(model), m.len())
		if step%50 != 0 {
			continue
		}
		from := randomID(r)
		want := slices.SortedFunc(maps.Keys(model), StreamID.Compare)
		want = slices.DeleteFunc(want, func(id StreamID) bool { return id.Less(from) })
		it := m.from(from)
		for _, id := range want {
			got, val := it.next()
			require.Equal(t, id, got)
			require.Equal(t, model[id], *val)
			require.Equal(t, model[id], *m.get(id))
		}
		_, val := it.next()
		require.Nil(t, val)
		total := 0
		for _, b := range m.blocks {
			require.NotEmpty(t, b.ids)
			total += b.bytes()
		}
		require.Equal(t, total, held)
		require.LessOrEqual(t, len(m.blocks), 2+m.len()/(idBlockCap*3/8), "neighbours that are nearly empty are joined")
	}
	m.clear()
	require.Zero(t, held)
}

// IDs mostly come in order, and then no block has room to spare.
func TestIDMapFillsItsBlocksWhenIDsAscend(t *testing.T) {
	held := 0
	m := idMap[struct{}]{held: &held}
	for i := range uint64(10 * idBlockCap) {
		m.add(StreamID{Ms: i})
	}
	require.Len(t, m.blocks, 10)
}

// bytesOfGroups counts anew what the stream keeps count of.
func bytesOfGroups(s *Stream) (n int) {
	for g := range s.Groups.All() {
		n += groupOverhead + allocSize(len(g.Name))
		for _, b := range g.pending.blocks {
			n += b.bytes()
		}
		for c := range g.Consumers.All() {
			n += consumerOverhead + allocSize(len(c.Name))
			for _, b := range c.pending.blocks {
				n += b.bytes()
			}
		}
	}
	return n
}

// pendingOf returns the consumer of each pending entry. It checks that the lists of the consumers agree
// with the list of the group.
func pendingOf(t *testing.T, g *StreamGroup) map[StreamID]string {
	all := map[StreamID]string{}
	for it := g.Pending(nil, StreamID{}); it.Next(); {
		all[it.ID] = fmt.Sprint(it.To.Name, it.At, it.Count)
	}
	total := 0
	for c := range g.Consumers.All() {
		n := 0
		for it := g.Pending(c, StreamID{}); it.Next(); n++ {
			require.Same(t, c, it.To)
		}
		require.Equal(t, c.Len(), n)
		total += n
	}
	require.Equal(t, total, g.Len())
	require.Len(t, all, total)
	return all
}

func TestEveryPendingEntryBelongsToOneConsumerThroughDeliveriesClaimsAndRemovals(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	s := NewStream(nil)
	names := []string{"alice", "bob", "carol", "dave"}
	s.CreateGroup([]byte("g"), StreamID{}, UnknownReads)
	for step := range 20_000 {
		g := s.Group([]byte("g"))
		name, id := []byte(names[r.IntN(len(names))]), randomID(r)
		switch r.IntN(40) {
		case 0:
			had := 0
			if c := g.Consumer(name); c != nil {
				had = c.Len()
			}
			require.Equal(t, had, g.DeleteConsumer(name))
			require.Nil(t, g.Consumer(name))
		case 1:
			if r.IntN(20) == 0 {
				require.True(t, s.DestroyGroup([]byte("g")))
				require.Zero(t, *s.groupBytes)
				require.True(t, s.CreateGroup([]byte("g"), StreamID{}, UnknownReads))
			}
		default:
			c, _ := g.CreateConsumer(name, 5)
			if r.IntN(2) == 0 {
				s.Deliver(g, c, id, int64(step), false)
				require.Equal(t, Delivery{c, int64(step), 1}, *g.Delivery(id))
			} else {
				was := g.Delivery(id) != nil
				require.Equal(t, was, g.Acknowledge(id))
			}
		}
		if step%100 == 0 {
			g = s.Group([]byte("g"))
			pendingOf(t, g)
			require.Equal(t, bytesOfGroups(s), *s.groupBytes)
		}
	}
}

func TestACopyOfAStreamHasGroupsOfItsOwn(t *testing.T) {
	s := NewStream(nil)
	s.CreateGroup([]byte("g"), StreamID{}, 0)
	g := s.Group([]byte("g"))
	c, _ := g.CreateConsumer([]byte("alice"), 7)
	for i := range uint64(300) {
		id := StreamID{Ms: i + 1}
		require.NoError(t, s.Add(id, [][]byte{[]byte("f"), []byte("v")}, StreamNodeLimits{}))
		s.Deliver(g, c, id, int64(i), false)
	}
	before := pendingOf(t, g)
	twin := s.clone()
	require.Equal(t, before, pendingOf(t, twin.Groups.Last()))
	require.Equal(t, bytesOfGroups(twin), *twin.groupBytes)
	require.Equal(t, int64(300), twin.Groups.Last().EntriesRead)
	require.Equal(t, int64(299), twin.Groups.Last().Consumers.Last().Active)

	g.DeleteConsumer([]byte("alice"))
	require.Equal(t, before, pendingOf(t, twin.Groups.Last()))
	require.Equal(t, bytesOfGroups(s), *s.groupBytes)
}

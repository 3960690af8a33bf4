package store

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
)

// naiveStream keeps nodes as Redis does but everything in the open: dead entries included, so that approximate
// trimming can be predicted.
type naiveStream struct {
	nodes              [][]naiveEntry
	last, maxDeleted   StreamID
	added, nodeEntries int
}

type naiveEntry struct {
	id   StreamID
	args string
	dead bool
}

func (m *naiveStream) add(id StreamID, args string) {
	k := len(m.nodes) - 1
	if k < 0 || len(m.nodes[k]) >= m.nodeEntries {
		m.nodes = append(m.nodes, nil)
		k++
	}
	m.nodes[k] = append(m.nodes[k], naiveEntry{id: id, args: args})
	m.last = id
	m.added++
}

func (m *naiveStream) alive() []naiveEntry {
	out := []naiveEntry{}
	for _, n := range m.nodes {
		out = append(out, living(n)...)
	}
	return out
}

func living(n []naiveEntry) []naiveEntry {
	return slices.DeleteFunc(slices.Clone(n), func(e naiveEntry) bool { return e.dead })
}

func (m *naiveStream) delete(id StreamID) bool {
	for k, n := range m.nodes {
		for i := range n {
			if n[i].id == id && !n[i].dead {
				n[i].dead = true
				if len(living(n)) == 0 {
					m.nodes = slices.Delete(m.nodes, k, k+1)
				}
				if m.maxDeleted.Less(id) {
					m.maxDeleted = id
				}
				return true
			}
		}
	}
	return false
}

func (m *naiveStream) trim(t StreamTrim) int {
	total, dropped := len(m.alive()), 0
	for len(m.nodes) > 0 {
		n := m.nodes[0]
		live := len(living(n))
		if !t.ByID && int64(total-dropped) <= t.MaxLen || t.Limit > 0 && int64(dropped+live) > t.Limit {
			break
		}
		whole := n[len(n)-1].id.Less(t.MinID)
		if !t.ByID {
			whole = int64(total-dropped-live) >= t.MaxLen
		}
		if whole {
			m.nodes = m.nodes[1:]
			dropped += live
			continue
		}
		for i := range n {
			if t.Approx || t.ByID && !n[i].id.Less(t.MinID) || !t.ByID && int64(total-dropped) <= t.MaxLen {
				break
			}
			if !n[i].dead {
				n[i].dead = true
				dropped++
			}
		}
		break
	}
	return dropped
}

func drain(it StreamIter, limit int) []naiveEntry {
	out := []naiveEntry{}
	for len(out) < limit && it.Next() {
		var sb strings.Builder
		for range it.Fields {
			f, v := it.Field()
			fmt.Fprintf(&sb, "%s=%s ", f, v)
		}
		out = append(out, naiveEntry{id: it.ID, args: sb.String()})
	}
	return out
}

func between(all []naiveEntry, from, to StreamID, rev bool, limit int) []naiveEntry {
	out := []naiveEntry{}
	for _, e := range all {
		if !e.id.Less(from) && !to.Less(e.id) {
			out = append(out, e)
		}
	}
	if rev {
		slices.Reverse(out)
	}
	return out[:min(limit, len(out))]
}

func randomArgs(r *rand.Rand) ([][]byte, string) {
	var args [][]byte
	var sb strings.Builder
	names := []string{"a", "b", "temperature"}
	if r.IntN(4) == 0 {
		r.Shuffle(3, func(i, j int) { names[i], names[j] = names[j], names[i] })
	}
	for _, f := range names[:1+r.IntN(8)/7*r.IntN(3)] {
		v := strings.Repeat(string(rune('a'+r.IntN(26))), r.IntN(3)*r.IntN(3)*r.IntN(100))
		args = append(args, []byte(f), []byte(v))
		fmt.Fprintf(&sb, "%s=%s ", f, v)
	}
	return args, sb.String()
}

func requireSame(t *testing.T, m *naiveStream, s *Stream) {
	t.Helper()
	all := m.alive()
	require.Equal(t, len(all), s.Len())
	require.Equal(t, len(m.nodes), s.Nodes())
	require.Equal(t, m.last, s.LastID)
	require.Equal(t, m.maxDeleted, s.MaxDeletedID)
	require.Equal(t, uint64(m.added), s.EntriesAdded)
	first, newest := StreamID{}, StreamID{}
	if len(all) > 0 {
		first, newest = all[0].id, all[len(all)-1].id
	}
	require.Equal(t, first, s.FirstID())
	require.Equal(t, newest, s.NewestID())
	bytes := 0
	for _, n := range s.nodes {
		bytes += cap(n.b)
	}
	require.Equal(t, bytes, s.bytes)
}

func TestStreamAgreesWithNaiveModel(t *testing.T) {
	for seed := range uint64(amount.Count(8, 40)) {
		r := rand.New(rand.NewPCG(seed, 1))
		m, s := &naiveStream{nodeEntries: 1 + r.IntN(30)}, &Stream{}
		near := func() StreamID {
			return StreamID{uint64(r.Int64N(int64(m.last.Ms + 2))), uint64(r.IntN(3)) * math.MaxUint64 / 2}
		}
		for range 1500 {
			switch op := r.IntN(100); {
			case op < 70:
				id := StreamID{m.last.Ms + uint64(r.IntN(3)), uint64(r.IntN(2)) * r.Uint64()}
				args, text := randomArgs(r)
				err := s.Add(id, args, StreamNodeLimits{Entries: m.nodeEntries})
				if m.last.Less(id) {
					require.NoError(t, err)
					m.add(id, text)
				} else {
					require.Equal(t, ErrStreamID, err)
				}
			case op < 85:
				id := near()
				if all := m.alive(); len(all) > 0 && op < 83 {
					id = all[r.IntN(len(all))].id
				}
				require.Equal(t, m.delete(id), s.Delete(id))
			case op < 88:
				tr := StreamTrim{ByID: op%2 == 0, MinID: near(), MaxLen: int64(r.IntN(s.Len() + 2)),
					Approx: r.IntN(2) == 0, Limit: int64(r.IntN(2) * r.IntN(50))}
				if !tr.Approx {
					tr.Limit = 0
				}
				require.Equal(t, m.trim(tr), s.Trim(tr), "%+v", tr)
			default:
				from, to, rev, limit := near(), near(), r.IntN(2) == 0, r.IntN(40)
				require.Equal(t, between(m.alive(), from, to, rev, limit), drain(s.Range(from, to, rev), limit))
			}
			requireSame(t, m, s)
		}
		c := s.clone()
		requireSame(t, m, c)
		want := between(m.alive(), StreamID{}, MaxStreamID(), true, s.Len())
		s.Trim(StreamTrim{})
		require.Equal(t, want, drain(c.Range(StreamID{}, MaxStreamID(), true), c.Len()))
	}
}

func TestStreamIDStepsAcrossMilliseconds(t *testing.T) {
	const top = math.MaxUint64
	next, ok := StreamID{5, top}.Next()
	require.True(t, ok)
	require.Equal(t, StreamID{6, 0}, next)
	prev, ok := StreamID{6, 0}.Prev()
	require.True(t, ok)
	require.Equal(t, StreamID{5, top}, prev)
	_, ok = MaxStreamID().Next()
	require.False(t, ok)
	_, ok = StreamID{}.Prev()
	require.False(t, ok)
	require.Equal(t, "18446744073709551615-0", StreamID{top, 0}.String())
}

func TestStreamStoresRepeatedFieldNamesOncePerNode(t *testing.T) {
	name := []byte(strings.Repeat("long field name ", 20))
	s := &Stream{}
	for i := range uint64(100) {
		require.NoError(t, s.Add(StreamID{1, i}.plus(1), [][]byte{name, []byte("v")}, StreamNodeLimits{Entries: 100}))
	}
	require.Equal(t, 1, s.Nodes())
	require.Less(t, s.size(), len(name)+100*12+streamOverhead+2*nodeOverhead)
}

func (id StreamID) plus(n uint64) StreamID { return StreamID{id.Ms, id.Seq + n} }

func TestStreamIterationAllocatesNothing(t *testing.T) {
	s := &Stream{}
	for i := range uint64(1000) {
		require.NoError(t, s.Add(StreamID{i + 1, 0}, [][]byte{[]byte("f"), []byte("v")}, StreamNodeLimits{Entries: 100}))
	}
	sum := 0
	require.Zero(t, testing.AllocsPerRun(10, func() {
		it := s.Range(StreamID{}, MaxStreamID(), false)
		for it.Next() {
			for range it.Fields {
				f, v := it.Field()
				sum += len(f) + len(v)
			}
		}
	}))
	require.Positive(t, sum)
}

func TestStreamNodeSizesAreThoseOfListpack(t *testing.T) {
	for text, want := range map[string]int{
		"": 2, "0": 2, "127": 2, "128": 3, "-1": 3, "-4096": 3, "4096": 4, "32767": 4, "-32769": 5, "8388608": 6,
		"2147483648": 10, "-9223372036854775808": 10, "9223372036854775807": 10, "9223372036854775808": 21,
		"007": 5, "-0": 4, "-": 3, "+5": 4, strings.Repeat("x", 63): 65, strings.Repeat("x", 64): 67,
		strings.Repeat("x", 126): 130, strings.Repeat("x", 4096): 4103,
	} {
		require.Equal(t, want, listpackString([]byte(text)), "%q", text)
	}
}

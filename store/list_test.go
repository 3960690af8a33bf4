package store

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
)

func newTestList(fill int) *List {
	ks := NewKeyspace(Options{})
	ks.Limits.ListMaxListpackSize = fill
	return NewList(ks)
}

// push adds values as RPUSH does.
func push(l *List, values ...string) {
	n := 0
	for _, v := range values {
		n += len(v)
	}
	l.Expect(len(values), n)
	for _, v := range values {
		l.PushTail([]byte(v))
	}
}

// elements reads a list in both directions and checks everything that it keeps
// count of.
func elements(t *testing.T, l *List) []string {
	t.Helper()
	got, back := []string{}, []string{}
	it := l.From(0, false)
	for v, ok := it.Next(); ok; v, ok = it.Next() {
		got = append(got, string(v))
	}
	it = l.From(-1, true)
	for v, ok := it.Next(); ok; v, ok = it.Next() {
		back = append(back, string(v))
	}
	slices.Reverse(back)
	require.Equal(t, got, back)
	require.Len(t, got, l.Len())
	lp := func(pack *Pack) (sum int) {
		for _, v := range contents(t, pack) {
			sum += listpackString([]byte(v))
		}
		return sum
	}
	q := l.chain()
	if q == nil {
		pack := l.e.pack()
		require.Equal(t, lp(&pack), int(l.e.lp))
		return got
	}
	mem := -listNodeMem
	for nd := q.head; nd != nil; nd = nd.next {
		require.Equal(t, lp(&nd.Pack), nd.lp)
		require.NotZero(t, nd.Len())
		mem += nd.Mem() + listNodeMem
	}
	if q.head == nil || q.first.b == nil { // the first node comes with the list
		mem += listNodeMem
	}
	require.Equal(t, mem, q.mem)
	return got
}

func TestListBehavesAsASliceUnderEveryNodeLimit(t *testing.T) {
	for seed := range uint64(amount.Count(7, 21)) {
		fill := []int{-1, -2, -5, 0, 1, 3, 128}[seed%7]
		t.Run(fmt.Sprint("limit ", fill, " seed ", seed), func(t *testing.T) {
			m := listModel{t: t, r: rand.New(rand.NewPCG(seed, 3)), list: newTestList(fill), model: []string{}}
			m.longest = []int{6, 600, 9000}[seed%3]
			for i := range 1200 {
				m.grow = i/300%2 == 0
				m.step()
				require.Equal(t, len(m.model), m.list.Len())
				if i%40 == 0 {
					require.True(t, slices.Equal(m.model, elements(t, m.list)))
					require.True(t, slices.Equal(m.model, elements(t, cloneOf(m.list))))
				}
			}
			require.True(t, slices.Equal(m.model, elements(t, m.list)))
		})
	}
}

// listModel runs one random history against a list and a slice.
type listModel struct {
	t       *testing.T
	r       *rand.Rand
	list    *List
	model   []string
	longest int
	grow    bool
}

func (m *listModel) value() string {
	if m.r.IntN(3) == 0 {
		return strconv.Itoa(m.r.IntN(4) << m.r.IntN(40))
	}
	return string(bytes.Repeat([]byte{byte('a' + m.r.IntN(3))}, m.r.IntN(m.longest)))
}

func (m *listModel) step() {
	v := m.value()
	i, n := 0, len(m.model)
	if n > 0 {
		i = m.r.IntN(n)
	}
	op := m.r.IntN(10)
	if n == 0 || m.grow && op > 4 {
		op %= 2
	}
	switch op {
	case 0:
		push(m.list, v)
		m.model = append(m.model, v)
	case 1:
		m.list.Expect(1, len(v))
		m.list.PushHead([]byte(v))
		m.model = slices.Insert(m.model, 0, v)
	case 2:
		m.insert(m.model[i], v)
	case 3:
		m.list.Expect(1, len(v))
		require.True(m.t, m.list.Set(i-m.r.IntN(2)*n, []byte(v)))
		m.model[i] = v
	case 4:
		require.Equal(m.t, m.model[i], string(m.list.Index(i)))
		require.Equal(m.t, m.model[i], string(m.list.Index(i-n)))
	case 5, 6:
		require.Equal(m.t, m.model[0], string(m.list.PopHead()))
		m.list.Shrink()
		m.model = m.model[1:]
	case 7, 8:
		require.Equal(m.t, m.model[n-1], string(m.list.PopTail()))
		m.model = m.model[:n-1]
	case 9:
		m.cut(i, n)
	}
}

func (m *listModel) insert(pivot, v string) {
	at, after := slices.Index(m.model, pivot), m.r.IntN(2)
	m.list.Expect(1, len(v))
	require.True(m.t, m.list.Insert([]byte(pivot), []byte(v), after == 1))
	m.model = slices.Insert(m.model, at+after, v)
}

// cut removes equal elements, or a little from both ends.
func (m *listModel) cut(i, n int) {
	if m.r.IntN(3) == 0 {
		from, to := min(m.r.IntN(20), i), max(n-m.r.IntN(20), i)
		m.list.Trim(from, to-from)
		m.model = slices.Clone(m.model[from:to])
		return
	}
	count, v, want := m.r.IntN(9)-4, m.model[i], 0
	left := count
	if count == 0 {
		left = n
	}
	if count < 0 {
		slices.Reverse(m.model)
		left = -count
	}
	m.model = slices.DeleteFunc(m.model, func(s string) bool {
		if s != v || want == left {
			return false
		}
		want++
		return true
	})
	if count < 0 {
		slices.Reverse(m.model)
	}
	require.Equal(m.t, want, m.list.Remove(count, []byte(v)))
}

func TestListIsAListpackWhileItFitsAndAgainBelowHalf(t *testing.T) {
	l := newTestList(-1)
	big := string(bytes.Repeat([]byte("x"), 2000))
	push(l, big, big)
	require.Equal(t, "listpack", l.Encoding())
	push(l, big)
	require.Equal(t, "quicklist", l.Encoding())
	l.PopTail()
	l.Shrink()
	require.Equal(t, "quicklist", l.Encoding(), "4019 bytes are more than half a node")
	l.PopHead()
	l.Shrink()
	require.Equal(t, "listpack", l.Encoding())

	l = newTestList(4)
	push(l, "a", "b", "c", "d")
	require.Equal(t, "listpack", l.Encoding())
	push(l, "e")
	require.Equal(t, "quicklist", l.Encoding())
	l.Trim(1, 3)
	require.Equal(t, "quicklist", l.Encoding())
	l.Remove(0, []byte("c"))
	require.Equal(t, "listpack", l.Encoding())
}

// The figures are Redis's own: DEBUG OBJECT's ql_uncompressed_size of such a list, without the 7 bytes of its frame.
func TestListKnowsTheSizeOfRedissListpack(t *testing.T) {
	for v, want := range map[string]int{
		"": 2, "0": 2, "127": 2, "128": 3, "-1": 3, "4095": 3, "4096": 4, "-4097": 4, "32768": 5, "8388608": 6,
		"2147483648": 10, "-9223372036854775808": 10, "9223372036854775808": 21, "00": 4, "-0": 4, "1.5": 5, "a": 3,
		string(make([]byte, 63)): 65, string(make([]byte, 64)): 67, string(make([]byte, 125)): 128,
		string(make([]byte, 126)): 130, string(make([]byte, 4095)): 4099, string(make([]byte, 4096)): 4103,
		string(make([]byte, 16378)): 16386,
	} {
		require.Equal(t, want, listpackString([]byte(v)), "%d bytes %.20q", len(v), v)
	}
}

func TestListUsedAsAQueueStopsAllocating(t *testing.T) {
	value := []byte("job:0123456789")
	for _, size := range []int{30, 3000} {
		l := newTestList(-2)
		for range size {
			l.Expect(1, len(value))
			l.PushHead(value)
		}
		steps := func() {
			for range 2000 {
				l.Expect(1, len(value))
				l.PushHead(value)
				l.PopTail()
			}
		}
		steps()
		// A node a full turn, its memory taken over: a tenth of a byte per step.
		require.LessOrEqual(t, testing.AllocsPerRun(20, steps), 8.0, size)
	}
}

func TestListGivesMemoryBackAsItShrinks(t *testing.T) {
	l := newTestList(-2)
	for i := range 20000 {
		push(l, strconv.Itoa(1000000+i))
	}
	require.Less(t, l.e.size(), 20000*13)
	l.Trim(10000, 3)
	require.Equal(t, []string{"1010000", "1010001", "1010002"}, elements(t, l))
	require.Less(t, l.e.size(), 1024)
}

func BenchmarkList(b *testing.B) {
	value := []byte("VXK")
	l := newTestList(-2)
	b.Run("lpush", func(b *testing.B) {
		for b.Loop() {
			l.Expect(1, len(value))
			l.PushHead(value)
		}
	})
	b.Run("lpush rpop", func(b *testing.B) {
		for b.Loop() {
			l.Expect(1, len(value))
			l.PushHead(value)
			l.PopTail()
		}
	})
	b.Run("range 100", func(b *testing.B) {
		for b.Loop() {
			it := l.From(0, false)
			for range 100 {
				it.Next()
			}
		}
	})
}

func TestAListPastSixtyFourKilobytesIsNoSmallOne(t *testing.T) {
	l := newTestList(-5)
	want := []string{}
	for i := range 9 {
		v := string(bytes.Repeat([]byte{byte('a' + i)}, 1000))
		push(l, v)
		want = append(want, v)
	}
	require.Nil(t, l.chain())
	long := string(make([]byte, smallList))
	for _, grow := range []func(){
		func() { l.Set(3, []byte(long)); want[3] = long },
		func() { l.PushTail([]byte(long)); want = append(want, long) },
		func() { l.PushHead([]byte(long)); want = append([]string{long}, want...) },
	} {
		grow()
		require.NotNil(t, l.chain())
		require.Equal(t, "listpack", l.Encoding())
		require.Equal(t, want, elements(t, l))
		want = slices.DeleteFunc(want, func(v string) bool { return v == long })
		require.Equal(t, 1, l.Remove(0, []byte(long)))
		require.Nil(t, l.chain())
		require.Equal(t, want, elements(t, l))
	}
}

func TestListShrinksAfterTheLastOfSeveralPops(t *testing.T) {
	l := newTestList(4)
	push(l, "a", "b", "c", "d", "e")
	require.Equal(t, "quicklist", l.Encoding())
	l.PopTail()
	l.PopTail()
	l.PopTail()
	require.Equal(t, "quicklist", l.Encoding())
	l.Shrink()
	require.Equal(t, "listpack", l.Encoding())
}

func TestQuicklistKeepsTheLimitThatItWasMadeWith(t *testing.T) {
	l := newTestList(2)
	push(l, "a", "b", "c")
	l.ks.Limits.ListMaxListpackSize = 128
	push(l, "d", "e", "f")
	require.Equal(t, 3, l.Nodes())
	require.Equal(t, 2, l.Fill())
}

func TestANodeThatIsMuchTooLargeIsSplit(t *testing.T) {
	l := newTestList(-2)
	push(l, "a", "b", "c")
	huge := bytes.Repeat([]byte("x"), largestNode)
	l.Expect(1, len(huge))
	l.Set(1, huge)
	require.Equal(t, 3, l.Nodes())
	l.Set(1, []byte("b"))
	require.Equal(t, "b", string(l.Index(1)))
	require.Equal(t, "quicklist", l.Encoding())
}

package store

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
)

// contents reads a pack forwards and checks that reading it backwards agrees.
func contents(t *testing.T, l *Pack) []string {
	t.Helper()
	got := []string{}
	for p := l.First(); p >= 0; p = l.Next(p) {
		got = append(got, string(l.Get(p)))
	}
	back := []string{}
	for p := l.Last(); p >= 0; p = l.Prev(p) {
		back = append(back, string(l.Get(p)))
	}
	slices.Reverse(back)
	require.Equal(t, got, back)
	require.Len(t, got, l.Len())
	return got
}

func TestPackReadsBackEveryLengthAroundTheWidthsOfItsLengths(t *testing.T) {
	var l Pack
	var want []string
	for _, n := range []int{0, 1, 125, 126, 127, 128, 129, 16380, 16381, 16382, 16383, 16384, 2097148, 2097151, 2097152} {
		v := bytes.Repeat([]byte{byte(n)}, n)
		l.Append(v)
		want = append(want, string(v))
	}
	require.True(t, slices.Equal(want, contents(t, &l)))
}

func TestPackBehavesAsASliceOfByteStrings(t *testing.T) {
	for seed := range uint64(16) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 7))
			m := packModel{t: t, r: r, model: []string{}, longest: []int{8, 140, 300, 20000}[seed%4]}
			for range amount.Count(400, 1500) {
				m.step()
				require.Equal(t, len(m.model), m.pack.Len())
			}
			require.Equal(t, m.model, contents(t, &m.pack))
		})
	}
}

// packModel runs one random history against a pack and a slice.
type packModel struct {
	t       *testing.T
	r       *rand.Rand
	pack    Pack
	model   []string
	longest int
}

func (m *packModel) value() []byte {
	return bytes.Repeat([]byte{byte('a' + m.r.IntN(3))}, m.r.IntN(m.longest))
}

func (m *packModel) step() {
	// Growing and shrinking phases alternate, so that both ends run full and empty.
	op := m.r.IntN(7)
	if len(m.model) == 0 || len(m.model) > 60 && m.r.IntN(2) == 0 {
		op = []int{0, 7, 8}[m.r.IntN(3)]
	}
	if len(m.model) == 0 {
		op = m.r.IntN(2)
	}
	i := 0
	if len(m.model) > 0 {
		i = m.r.IntN(len(m.model))
	}
	v := m.value()
	switch op {
	case 0:
		m.pack.Append(v)
		m.model = append(m.model, string(v))
	case 1:
		m.pack.Prepend(v)
		m.model = slices.Insert(m.model, 0, string(v))
	case 2:
		m.at(i, m.pack.InsertBefore(m.pack.Index(i), v), string(v))
		m.model = slices.Insert(m.model, i, string(v))
	case 3:
		m.at(i+1, m.pack.InsertAfter(m.pack.Index(i-len(m.model)), v), string(v))
		m.model = slices.Insert(m.model, i+1, string(v))
	case 4:
		m.at(i, m.pack.Replace(m.pack.Index(i), v), string(v))
		m.model[i] = string(v)
	case 5:
		m.find(i, string(v))
	case 6:
		require.Equal(m.t, m.model, contents(m.t, &m.pack))
	case 7:
		m.delete(i, 1)
	case 8:
		m.delete(i, m.r.IntN(40))
	}
}

// at checks a position that a change returned.
func (m *packModel) at(i int, p Pos, v string) {
	require.Equal(m.t, v, string(m.pack.Get(p)))
	require.Equal(m.t, m.pack.Index(i), p)
}

func (m *packModel) delete(i, n int) {
	p := m.pack.DeleteN(m.pack.Index(i), n)
	m.model = slices.Delete(m.model, i, min(i+n, len(m.model)))
	require.Equal(m.t, m.pack.Index(i), p)
}

func (m *packModel) find(i int, v string) {
	skip, want := m.r.IntN(3), -1
	for j := i; j < len(m.model) && want < 0; j += skip + 1 {
		if m.model[j] == v {
			want = m.pack.Index(j)
		}
	}
	require.Equal(m.t, want, m.pack.Find(m.pack.Index(i), []byte(v), skip))
}

func TestPackIndexIsNoneOutsideTheEntries(t *testing.T) {
	var l Pack
	require.Equal(t, -1, l.First())
	require.Equal(t, -1, l.Last())
	require.Equal(t, -1, l.Find(l.First(), nil, 0))
	l.Append([]byte("x"))
	for _, i := range []int{1, 2, -2, -3} {
		require.Equal(t, -1, l.Index(i), i)
	}
	require.Equal(t, -1, l.Delete(l.First()))
	require.Zero(t, l.Bytes())
}

func TestPackHoldsLittleMoreMemoryThanItsEntries(t *testing.T) {
	for _, size := range []int{3, 20, 60} {
		var l Pack
		for range 128 {
			l.Append(make([]byte, size))
			require.LessOrEqual(t, l.Mem(), l.Bytes()*3/2+size+8)
		}
	}
}

func TestPackUsedAsAQueueStopsAllocating(t *testing.T) {
	value := []byte("job:0123456789")
	for name, step := range map[string]func(*Pack){
		"in at the tail": func(l *Pack) { l.Delete(l.First()); l.Append(value) },
		"in at the head": func(l *Pack) { l.Delete(l.Last()); l.Prepend(value) },
	} {
		var l Pack
		for range 100 {
			l.Append(value)
		}
		for range 200 {
			step(&l)
		}
		require.Zero(t, testing.AllocsPerRun(10000, func() { step(&l) }), name)
	}
}

func BenchmarkPack(b *testing.B) {
	value := []byte("VXKeHogKgJ=[5V9_")
	for name, push := range map[string]func(*Pack, []byte){"append": (*Pack).Append, "prepend": (*Pack).Prepend} {
		b.Run(name, func(b *testing.B) {
			var l Pack
			for b.Loop() {
				if push(&l, value); l.Bytes() > 8000 {
					l.DeleteN(l.First(), 1000)
				}
			}
		})
	}
	b.Run("iterate100", func(b *testing.B) {
		var l Pack
		for range 100 {
			l.Append(value)
		}
		for b.Loop() {
			for p := l.First(); p >= 0; p = l.Next(p) {
				if len(l.Get(p)) != len(value) {
					b.Fatal()
				}
			}
		}
	})
}

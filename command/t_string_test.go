package command

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/clock"
	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

func TestRangesAreCutAsGetrangeAndBitcountCutThem(t *testing.T) {
	for _, c := range []struct{ first, last, total, from, to int64 }{
		{0, -1, 5, 0, 5},
		{1, 3, 5, 1, 4},
		{-3, -2, 5, 2, 4},
		{0, 100, 5, 0, 5},
		{5, 6, 5, 0, 0},
		{3, 2, 5, 0, 0},
		{-100, -100, 5, 0, 1},
		{-100, -101, 5, 0, 0},
		{0, -100, 5, 0, 1},
		{0, -1, 0, 0, 0},
		{-1 << 63, 1<<63 - 1, 5, 0, 5},
	} {
		from, to := clampRange(c.first, c.last, c.total)
		require.Equal(t, [2]int64{c.from, c.to}, [2]int64{from, to}, "%d %d of %d", c.first, c.last, c.total)
	}
}

func TestTheCommonSubsequenceIsInBothAndTheRunsMakeItUp(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	word := func() []byte {
		b := make([]byte, r.IntN(30))
		for i := range b {
			b[i] = "abc"[r.IntN(3)]
		}
		return b
	}
	for range 2000 {
		a, b := word(), word()
		m := newLCSMatrix(a, b)
		common := m.common()
		require.Len(t, common, int(m.at(len(a), len(b))))
		require.True(t, isSubsequence(common, a) && isSubsequence(common, b), "%s of %s and %s", common, a, b)
		require.Equal(t, m.at(len(a), len(b)), newLCSMatrix(b, a).at(len(b), len(a)))

		var runs []byte
		for i, j, n := m.run(len(a), len(b)); n > 0; i, j, n = m.run(i, j) {
			require.Equal(t, a[i:i+n], b[j:j+n])
			runs = append(bytes.Clone(a[i:i+n]), runs...)
		}
		require.Equal(t, string(common), string(runs))
	}
}

// isSubsequence reports whether whole contains the bytes of part in the same order.
func isSubsequence(part, whole []byte) bool {
	for _, c := range whole {
		if len(part) > 0 && part[0] == c {
			part = part[1:]
		}
	}
	return len(part) == 0
}

func TestHotStringCommandsDoNotAllocate(t *testing.T) {
	ex := New(config.Default(), store.NewKeyspace(store.Options{}), clock.New(), &testHost{}, NewCommands())
	s := &Session{Authenticated: true, Proto: 2}
	w := &resp.Writer{Buf: make([]byte, 0, 4096), Proto: 2}
	do := func(args ...string) [][]byte {
		var out [][]byte
		for _, a := range args {
			out = append(out, []byte(a))
		}
		ex.Do(s, out, w)
		w.Buf = w.Buf[:0]
		return out
	}
	value := string(bytes.Repeat([]byte{'v'}, 32))
	for _, args := range [][]string{
		{"SET", "k", value},
		{"SET", "k", value, "PX", "30000"},
		{"SET", "k", value, "NX", "PX", "30000"},
		{"SET", "k", value, "XX", "GET", "KEEPTTL"},
		{"SETNX", "k", value},
		{"MSET", "k", value, "k2", value},
		{"GET", "k"},
		{"GET", "nobody"},
		{"MGET", "k", "nobody", "n"},
		{"GETEX", "k", "EX", "100"},
		{"STRLEN", "k"},
		{"GETRANGE", "k", "1", "-2"},
		{"SETRANGE", "k", "3", "abc"},
		{"GETBIT", "k", "7"},
		{"SETBIT", "k", "7", "1"},
		{"BITCOUNT", "k", "0", "-1"},
		{"SET", "n", "123456"},
		{"INCR", "n"},
		{"INCRBY", "n", "17"},
		{"DECR", "n"},
		{"GET", "n"},
	} {
		words := do(args...)
		require.Zero(t, testing.AllocsPerRun(100, func() {
			ex.Do(s, words, w)
			w.Buf = w.Buf[:0]
		}), "%q", args)
	}
}

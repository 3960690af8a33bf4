package adversary

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// gap is a kind of program that the verdict judges wrongly.
type gap struct {
	wrong, why string
	seed       uint64 // of an example
	has        func(p program) bool
}

// gaps are all that are known. A row that is mended leaves the table.
func gaps() []gap {
	uses := func(words string) func(program) bool {
		return func(p program) bool {
			return slices.ContainsFunc(p.steps(), func(s string) bool { return strings.Contains(s, words) })
		}
	}
	return []gap{
		{falseAlarm, "a client that has seen that its lock is gone takes it again", 225, uses("")},
		{falseSafe, "a client's clock is behind, and so its key expires at once", 876, uses("{until}")},
		{falseSafe, "a renewal by no time deletes the key, and its reply is 1", 255, uses("PEXPIRE {k} 0")},
		{falseSafe, "clients and a stranger have one name", 7777, func(p program) bool { return p.names != ownName }},
	}
}

// steps returns the requests that the clients send.
func (p program) steps() []string {
	all := slices.Concat(p.way.take, p.way.read)
	for _, c := range p.clients {
		if all = append(all, c.release.steps...); c.renew != nil {
			all = append(all, c.renew.steps...)
		}
	}
	return all
}

// gapOf returns the gap that explains a wrong verdict, or nil.
func gapOf(p program, r played) *gap {
	for _, g := range gaps() {
		if g.wrong == wrong(r) && g.has(p) {
			return &g
		}
	}
	return nil
}

func TestEachGapIsStillThere(t *testing.T) {
	t.Parallel()
	for _, g := range gaps() {
		p := readGrammar(t).draw(g.seed)
		r := play(t, p)
		require.True(t, g.has(p), "%d is no example: %s\n%s", g.seed, g.why, p)
		require.Equal(t, g.wrong, wrong(r), "this is mended, so delete its row: %s", g.why)
	}
}

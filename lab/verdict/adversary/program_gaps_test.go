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
	meets := func(action string) func(program) bool {
		return func(p program) bool {
			return slices.ContainsFunc(p.clients, func(c plan) bool {
				return slices.ContainsFunc(c.troubles, func(t trouble) bool { return strings.Contains(t.action, action) })
			})
		}
	}
	return []gap{
		{falseSafe, "several clients use one token, one name or one connection", 773,
			func(p program) bool { return p.tokens == "one" || p.names != ownName }},
		{falseSafe, "a client's clock is behind, and so its key lives shorter than its lease", 1068, uses("{until}")},
		{falseAlarm, "a holder releases its lock by SET PX 1", 225, uses("free PX 1")},
		{falseAlarm, "a late reply comes to a client that has hung up", 1072, meets("DELAY-REPLY")},
		{falseAlarm, "readers use one token", 31,
			func(p program) bool { return len(p.way.read) > 0 && p.tokens == "one" }},
		{falseAlarm, "a holder reads that its lock is gone, and sends nothing more", 308, uses("GET {k} -> {t}")},
		{falseAlarm, "a release is not executed", 626, meets("BEFORE")},
		{falseAlarm, "a release finds nothing, and its reply is an error", 731, uses("RENAME {k} done")},
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

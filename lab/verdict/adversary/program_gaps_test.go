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
	has        func(p program, r played) bool
}

// gaps are all that are known. A row that is mended leaves the table.
func gaps() []gap {
	return []gap{
		{falseSafe, "several clients use one name", 5154, func(p program, _ played) bool {
			return p.names == oneName || p.names == oneLink
		}},
		{falseSafe, "connections without names write one token, and do not ask", 18070, func(p program, _ played) bool {
			return p.tokens == "one" && p.names == noName
		}},
		{falseAlarm, "a semaphore by clocks of clients", 4828, func(p program, _ played) bool {
			return p.way.limit > 0 && p.uses("{until}")
		}},
		{falseAlarm, "a lock is handed over", 15416, func(p program, _ played) bool { return p.uses("..':q'") }},
		{falseAlarm, "readers use one token", 3223, func(p program, _ played) bool { return len(p.way.read) > 0 }},
		{falseAlarm, "clients without names share two connections", 4795, func(p program, _ played) bool {
			return p.names == noPool
		}},
	}
}

// uses reports whether a client may send a request with these words.
func (p program) uses(words string) bool {
	return slices.ContainsFunc(p.steps(), func(step string) bool { return strings.Contains(step, words) })
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
		if g.wrong == wrong(r) && g.has(p, r) {
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
		require.True(t, g.has(p, r), "%d is no example: %s\n%s", g.seed, g.why, p)
		require.Equal(t, g.wrong, wrong(r), "this is mended, so delete its row: %s", g.why)
	}
}

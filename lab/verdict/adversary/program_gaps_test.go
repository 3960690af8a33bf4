package adversary

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab"
)

// gap is a kind of program that the verdict judges wrongly.
type gap struct {
	wrong, why string
	seed       uint64 // of an example
	has        func(p program, r played) bool
}

// gaps are all that are known. A row that is mended leaves the table.
func gaps() []gap {
	shows := func(is func(e lab.Entry) bool) func(program, played) bool {
		return func(_ program, r played) bool { return slices.ContainsFunc(r.history[0].Entries, is) }
	}
	return []gap{
		{falseSafe, "several clients use one token, and have no names of their own", 773, func(p program, _ played) bool {
			return p.tokens == "one" && p.names != ownName
		}},
		{falseSafe, "several clients use one name", 1467, func(p program, _ played) bool {
			return p.names == oneName || p.names == oneLink
		}},
		{falseSafe, "a client's clock is behind, and its key ends before its lease", 1068, func(p program, _ played) bool {
			return p.uses("{until}") && slices.ContainsFunc(p.clients, func(c plan) bool { return c.skew < 0 })
		}},
		{falseAlarm, "a holder releases its lock by SET PX 1", 225, shows(func(e lab.Entry) bool {
			return slices.Contains(e.Cmd, "free")
		})},
		{falseAlarm, "a late reply comes to a client that has hung up", 1072, shows(func(e lab.Entry) bool {
			return e.Outcome == lab.ReplyLate
		})},
		{falseAlarm, "a release is not executed", 626, shows(func(e lab.Entry) bool { return e.Outcome == lab.NotExecuted })},
		{falseAlarm, "a release finds nothing, and its reply is an error", 731, shows(func(e lab.Entry) bool {
			return e.Outcome == lab.Failed && e.Cmd[0] == "RENAME"
		})},
		{falseAlarm, "readers use one token", 31, func(p program, _ played) bool {
			return len(p.way.read) > 0 && p.tokens == "one"
		}},
		{falseAlarm, "a holder reads that its lock is gone, and sends nothing more", 308, shows(func(e lab.Entry) bool {
			return e.By == "" && len(e.Cmd) == 2 && e.Cmd[0] == "GET" && e.Reply == "(nil)"
		})},
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

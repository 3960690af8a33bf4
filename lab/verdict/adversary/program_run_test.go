package adversary

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/verdict"
)

// The verdict never calls a program safe in which more clients believed than the lock admits, and it never finds two
// holders where nobody did. PROGRAMS=100000 plays more of them, FIRST=2000 begins with another seed, and PROGRAM=17
// prints the one with this seed.
func TestProgramsAreJudgedRight(t *testing.T) {
	t.Parallel()
	seen := judgeMany(t, number(t, "FIRST", 0), number(t, "PROGRAMS", amount.Count(200, 2000)), readGrammar(t).draw)
	require.Greater(t, 8*seen.two, seen.all, "too few programs with two holders")
}

// judgeMany plays programs, each by the next seed, and wants the verdict to be right. It prints what it has seen.
func judgeMany(t *testing.T, first, n int, draw func(seed uint64) program) (seen tally) {
	t.Helper()
	const enough = 5 // wrong ones
	for seed := range n {
		p := draw(uint64(first + seed))
		r := play(t, p)
		seen.add(p, r)
		if is := wrong(r); is != "" {
			p = shrink(t, p)
			t.Errorf("%s\n%s%s", is, p, play(t, p).log())
			if seen.wrong++; seen.wrong == enough {
				break
			}
		}
	}
	t.Logf("\n%s", &seen)
	return seen
}

// Programs far beyond those that are played above were judged wrong once.
func TestProgramsThatWereJudgedWrong(t *testing.T) {
	t.Parallel()
	ways := readGrammar(t)
	for _, seed := range []uint64{15416, 23885, 25564, 26255, 28448, 30233, 32944, 35261, 38645, 39324,
		62628, 64725, 66637, 69686, 80912, 94732, 202131, 206961, 208743, 220261, 237560, 249154, 249718,
		256186, 261200, 262756, 263876, 266591, 268120, 295791, 302943, 304778, 305971, 902455, 1004732,
		1006012, 1012100, 3019453, 3020096, 3038966, 3053357, 3060535, 4021296, 4044981, 4071301, 4076587,
		5011355, 5039604, 6065275, 6067797, 6082312, 6086463, 7013933,
		7029751, 7050552, 7090177,
		8036212, 8064353} {
		require.Empty(t, wrong(play(t, ways.draw(seed))), seed)
	}
	for _, seed := range []uint64{102126, 103646, 1002824, 2015160, 2023914, 3000680, 4005181, 4018430, 8015621, 8016483} {
		require.Empty(t, wrong(play(t, ways.drawNodes(seed))), seed)
	}
}

// A program that is printed can be played again.
func TestOneSeedIsOneHistory(t *testing.T) {
	t.Parallel()
	ways := readGrammar(t)
	for seed := range uint64(20) {
		first, again := play(t, ways.draw(seed)), play(t, ways.draw(seed))
		require.Equal(t, first.spans, again.spans)
		require.Equal(t, first.history, again.history)
	}
}

func TestPrintOneProgram(t *testing.T) {
	seed := number(t, "PROGRAM", -1)
	if seed < 0 {
		t.Skip("it is for people: PROGRAM=17 prints the program with this seed")
	}
	printProgram(t, readGrammar(t).draw(uint64(seed)))
}

func printProgram(t *testing.T, p program) {
	t.Helper()
	r := play(t, p)
	t.Logf("\n%s%s", p, r.log())
	if wrong(r) != "" {
		p = shrink(t, p)
		t.Logf("smaller:\n%s%s", p, play(t, p).log())
	}
}

// number returns the number in a variable of the environment.
func number(t *testing.T, variable string, otherwise int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err, variable)
	return n
}

// wrong says how the verdict is wrong.
func wrong(r played) string {
	switch is := r.verdict.Result(); {
	case is == verdict.Safe && r.truth == truthTwo:
		return falseSafe
	case is == verdict.TwoHolders && r.truth == truthOne:
		return falseAlarm
	}
	return ""
}

// tally counts programs.
type tally struct {
	all, two, wrong int
	verdicts        map[string]int // by truth and verdict
	holes           map[string]int // put in, and with two holders
	causes          map[string]int // why a verdict is undecided
}

func (c *tally) add(p program, r played) {
	if c.all == 0 {
		c.verdicts, c.holes, c.causes = map[string]int{}, map[string]int{}, map[string]int{}
	}
	c.all++
	is := r.verdict.Result()
	c.verdicts[fmt.Sprintf("%-6s %s", r.truth, is)]++
	for _, hole := range p.holes() {
		c.holes[hole]++
		if r.truth == truthTwo {
			c.holes[hole+": two holders"]++
		}
	}
	if r.truth == truthTwo {
		c.two++
	}
	if is == verdict.Undecided {
		c.causes[general(r.verdict.Undecided[0].Why)]++
	}
}

// general returns a reason without the times, the names and the commands of its history.
func general(why string) string {
	why = regexp.MustCompile(`\d[\d:.]*`).ReplaceAllString(why, "N")
	return regexp.MustCompile(`\b([a-e]|app|[A-Z]{3,})\b`).ReplaceAllString(why, "X")
}

func (c *tally) String() string {
	var b strings.Builder
	for _, counts := range []map[string]int{c.verdicts, c.holes, c.causes} {
		for _, what := range slices.Sorted(maps.Keys(counts)) {
			fmt.Fprintf(&b, "%6d %5.1f %%  %s\n", counts[what], 100*float64(counts[what])/float64(c.all), what)
		}
	}
	return b.String()
}

// log returns the history, the beliefs and the verdict, for people.
func (r played) log() string {
	var b strings.Builder
	for _, at := range lab.InOrder(r.history) {
		h := r.history[at.History]
		e := h.Entries[at.Index]
		reply := ""
		if len(e.Cmd) > 0 || e.Reply != "" {
			reply = " -> " + e.Reply
		}
		fmt.Fprintf(&b, "  node %d, %d: client %d %s, %s, %s: %s%s [%s]\n", h.Number(),
			e.Time, e.Client, e.Name, e.Event, e.Outcome, lab.Line(e.Cmd), reply, e.ChangesText())
	}
	for _, s := range r.spans {
		fmt.Fprintf(&b, "  %s believed from %v to %v, at most from %v to %v\n",
			word(s.client), s.from, s.until, s.earliest, s.latest)
	}
	return fmt.Sprintf("%s  the truth: %s\n  the verdict: %s\n%s", &b, r.truth, r.verdict.Result(), r.verdict.Text())
}

package trials

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/orphans"
	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/lab/explore"
)

// summary returns what two runs of explore must have in common: points, marks, reasons, sentences and commands.
func summary(r *explore.Report) (lines []string) {
	for i, p := range r.Points {
		lines = append(lines, fmt.Sprintf("%+v", p))
		for j, c := range r.Cells[i] {
			line := fmt.Sprint(r.Faults[j].Name, " ", c.Mark, " ", c.Why)
			if f := c.Finding; f != nil {
				line += fmt.Sprint(" ", f.Sentence, f.Reason, f.Fix, f.Clients, f.Commands)
			}
			lines = append(lines, line)
		}
	}
	return lines
}

func TestTwoReportsOfAProgramInTurnAreEqual(t *testing.T) {
	t.Parallel()
	faults := []string{"request-lost", "reply-lost", "paused", "restart", "error-readonly"}
	again := func(jobs int) *explore.Report {
		o := at(firstOfA, options(t, "in-turn", faults...))
		o.Jobs, o.Patience = jobs, time.Minute // no fault keeps this program from its end
		return play(t, o)
	}
	first := again(4)
	require.Contains(t, sentences(first, explore.Broken),
		"If the reply to a's first SETNX is lost, nobody can ever take lock:o again.")
	for _, p := range first.Points {
		require.False(t, p.Unstable, "%+v", p)
	}
	for _, jobs := range []int{1, 4}[:amount.Count(1, 2)] {
		require.Equal(t, summary(first), summary(again(jobs)), "%d jobs", jobs)
	}
}

func TestRandomSleepsOfAProgramBreakNothing(t *testing.T) {
	amount.Large(t)
	t.Parallel()
	r := play(t, at(ofA, options(t, "sleeps", "request-lost", "reply-lost")))
	require.Empty(t, itself(r))
	require.Empty(t, sentences(r, explore.Broken))
	require.Greater(t, r.Trials, 3)
}

func TestAProgramWithARaceOfItsOwnBreaksByItself(t *testing.T) {
	t.Parallel()
	o := options(t, "careless", "request-lost", "reply-lost")
	o.Jobs = 4
	r := play(t, o)
	require.Empty(t, sentences(r, explore.Broken))
	if r.Itself == nil {
		require.NotEmpty(t, sentences(r, explore.ByItself), "nothing was seen of a race that comes in every second run")
	}
}

// What a program leaves behind without its mark may be another trial's as long as trials run.
func TestNothingIsLeftOfHostileProgramsInSeveralJobs(t *testing.T) {
	mark := t.TempDir()
	t.Setenv("STRAY", mark)
	for _, name := range []string{"forks", "prints", "never"}[:amount.Count(1, 3)] {
		o := options(t, name, "request-lost", "reply-lost")
		o.Budget, o.Jobs, o.Alone = time.Second, 4, true
		_, err := Run(t.Context(), o)
		if name != "forks" {
			require.ErrorContains(t, err, "the program does not end without a fault either", name)
		}
		require.Empty(t, orphans.Marked("STRAY="+mark), name)
	}
}

func TestPairsAreTriedInSeveralJobs(t *testing.T) {
	t.Parallel()
	o := at(func(p explore.Point) bool { return ofA(p) && p.N > 1 }, options(t, "two-losses", "reply-lost"))
	o.Pairs, o.Jobs = true, 4
	r := play(t, o)
	broken := 0
	for _, p := range r.Pairs {
		if p.Mark == explore.Broken {
			broken++
			require.NotEmpty(t, p.Finding.Loop)
		}
	}
	require.NotZero(t, broken)
	require.Empty(t, sentences(r, explore.Broken), "it takes two losses")
}

func TestTheFailureOfOneMasterIsNamed(t *testing.T) {
	t.Parallel()
	o := at(firstOfA, options(t, "minority", "keys-lost", "master-gone"))
	o.Masters, o.Strict = 3, true
	r := play(t, o)
	require.Contains(t, sentences(r, explore.Broken), "If the server restarts before a's first SET to master 1 and "+
		"loses its keys, lock:o stays taken until its lease ends, and nobody holds it.")
	c := cell(t, r, "a", 1, "keys-lost")
	require.Contains(t, c.Finding.Commands, "LAB MASTER 1 CRASH LOSE ALL")
	require.NotEmpty(t, c.Finding.Loop)
}

func TestALockThatIsEvictedHasTwoHolders(t *testing.T) {
	t.Parallel()
	o := at(func(p explore.Point) bool { return p.N < 3 }, options(t, "careful", "evicted"))
	o.Strict, o.Jobs = true, 4
	r := play(t, o)
	require.Empty(t, itself(r))
	require.Contains(t, sentences(r, explore.Broken),
		"If the server evicts the lock just before b's first SET, a and b both hold lock:o.")
	c := cell(t, r, "b", 1, "evicted")
	require.Equal(t, explore.TwoHolders, c.Finding.Harm)
	require.Contains(t, c.Finding.Reason, "the server evicted lock:o for memory, and a believed in it; b took it")
	require.Contains(t, c.Finding.Commands, "LAB EVICT lock:o")
	require.Equal(t, explore.NotTried, cell(t, r, "a", 1, "evicted").Mark, "nobody has the lock yet")
}

func TestAMajorityStandsTheFailureOfOneMaster(t *testing.T) {
	t.Parallel()
	o := at(firstOfA, options(t, "majority", "master-gone", "clock-jump", "evicted"))
	o.Masters, o.Strict = 5, true
	r := play(t, o)
	require.Empty(t, itself(r))
	require.Empty(t, sentences(r, explore.Broken))
	masters := map[int]bool{}
	for _, p := range r.Points {
		masters[p.Master] = true
	}
	require.Len(t, masters, 5, "each master has points of its own")
}

package explore

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// In each try the workers come in another order: first b is late and a is slow, then a is late.
func TestEachTryHasAnotherOrderOfTheWorkers(t *testing.T) {
	var turns []string
	exploreWorld(t, Options{Only: []string{"reply-lost"}}, func(tr Trial) Outcome {
		if tr.Kind == Single && strings.Contains(fmt.Sprint(tr.Orders), "explore-1 KEY lock:o CLIENT b") ||
			strings.Contains(fmt.Sprint(tr.Orders), "explore-1 CMD set KEY lock:o CLIENT b") {
			var all []string
			for _, o := range tr.Orders {
				if line := strings.Join(o.Words, " "); strings.Contains(line, slows) {
					all = append(all, line)
				}
			}
			turns = append(turns, strings.Join(all, "; "))
			return outcome(nil, takes, deletes)
		}
		return plain(&tr)
	})
	require.Equal(t, []string{"",
		"LAB FAULT ADD explore-slow-1 KEY lock:o CLIENT a ORDER 1 NTH 2 ACTION DELAY-EXEC 50; " +
			"LAB FAULT ADD explore-slow-2 KEY lock:o CLIENT b ORDER 1 TIMES 1 ACTION DELAY-EXEC 50",
		"LAB FAULT ADD explore-slow-1 KEY lock:o CLIENT a ORDER 1 TIMES 1 ACTION DELAY-EXEC 50"}, turns)
}

// A place that has not come in any order is left, and not tried with each failure again.
func TestAPlaceThatNeverComesIsLeft(t *testing.T) {
	trials := 0
	e := exploreWorld(t, Options{}, func(tr Trial) Outcome {
		if tr.Kind == Single && strings.Contains(fmt.Sprint(tr.Orders), "KEY lock:o CLIENT b ORDER 1 NTH 1") {
			trials++
			return outcome(nil, takes, deletes)
		}
		return plain(&tr)
	})
	require.Equal(t, mostMisses, trials)
	require.Equal(t, 1, e.Report().Unreached())
	require.Zero(t, e.Report().Untried)
}

// The number of polls differs in each run. The release behind them is the same place in all of them.
func TestAPlaceBehindPollsIsTheSameInEachRun(t *testing.T) {
	run := 0
	e := exploreWorld(t, Options{Only: []string{"reply-lost"}}, func(tr Trial) Outcome {
		run++
		lines := []string{takes}
		for range run % 3 {
			lines = append(lines, refused)
		}
		return outcome(nil, append(lines, deletes, "b SET lock:o token-b-1 NX PX 1000 -> OK", "b DEL lock:o -> 1")...)
	})
	i := slices.IndexFunc(e.points, func(p point) bool { return p.Client == "b" && p.Command == "DEL" })
	require.False(t, e.points[i].Unstable)
	require.Contains(t, strings.Join(e.strike(0, Strike{i, 0}).Words, " "), "CMD del KEY lock:o CLIENT b ORDER 1 NTH 1")
}

func TestEveryRequestAboutALockIsAPlace(t *testing.T) {
	pops := []string{"BLPOP lock:o 0", "LPOP lock:o", "BZPOPMIN lock:o 0", "LRANGE lock:o 0 -1", "SMEMBERS lock:o",
		"WATCH lock:o", "OBJECT FREQ lock:o", "XREAD STREAMS lock:o 0", "ZUNION 2 other lock:o"}
	lines := []string{takes}
	for _, words := range pops {
		lines = append(lines, "a "+words+" -> x")
	}
	e := exploreWorld(t, Options{Only: []string{"error-readonly"}}, func(tr Trial) Outcome {
		o := outcome(nil, append(lines, "a FLUSHALL x -> OK")...)
		for i := range o.Histories[0].Entries {
			o.Histories[0].Entries[i].Key = "lock:o"
		}
		return o
	})
	var found []string
	for i, p := range e.Report().Points {
		found = append(found, p.Command)
		writes := strings.Contains(p.Command, "POP") || p.Command == "SET" || p.Command == "FLUSHALL"
		require.Equal(t, writes, e.Report().Cells[i][0].Why != "servers refuse only writes with this error", p.Command)
	}
	require.Equal(t, []string{"SET", "BLPOP", "LPOP", "BZPOPMIN", "LRANGE", "SMEMBERS", "WATCH", "OBJECT", "XREAD",
		"ZUNION", "FLUSHALL"}, found)
	last := strings.Join(e.strike(0, Strike{len(found) - 1, 0}).Words, " ")
	require.Contains(t, last, "LAB FAULT ADD explore-1 CMD flushall CLIENT a ORDER 1 NTH 1 ACTION ERROR")
}

func TestThePollsBehindTheSecondAreLeftOut(t *testing.T) {
	e := exploreWorld(t, Options{Only: []string{"reply-lost"}}, func(tr Trial) Outcome {
		return outcome(nil, takes, refused, refused, refused, deletes, refused)
	})
	var why []string
	for i, p := range e.Report().Points {
		if p.Client == "b" {
			why = append(why, e.excuse(&e.faults[0], &e.points[i]))
		}
	}
	const repeats = "it repeats the two requests before it, and nobody has changed the key between them"
	require.Equal(t, []string{"", "", repeats, ""}, why)
}

// A request that waits is in the log where it was answered, and it has come before.
func TestARequestThatWaitsIsCountedWhereItCame(t *testing.T) {
	e := exploreWorld(t, Options{Only: []string{"reply-lost"}}, func(tr Trial) Outcome {
		o := outcome(nil, takes, "b LPUSH lock:o x -> 1", "c BLPOP lock:o 0 -> x")
		h := o.Histories[0].Entries
		h[0].Mono, h[1].Mono, h[2].Mono, h[2].Came = 1, 3, 4, 2
		for i := range h {
			h[i].Name = ""
		}
		return o
	})
	require.Equal(t, "#2", e.Report().Points[1].Client)
	require.Equal(t, "BLPOP", e.Report().Points[1].Command)
}

// reluctant is a world in which a stops after its SET if the reply is lost, and nobody reports an error.
func reluctant(tr Trial) Outcome {
	if len(tr.Strikes) > 0 && strings.Contains(fmt.Sprint(tr.Orders), "CLIENT a ORDER 1 NTH 1 ") {
		return outcome(nil, "explore-1! "+takes, refused)
	}
	return plain(&tr)
}

func TestAWorkerThatSendsLessThanWithoutTheFaultHasStopped(t *testing.T) {
	e := exploreWorld(t, Options{Only: []string{"reply-lost"}}, reluctant)
	require.Equal(t, Cell{Mark: Stopped, Why: "nothing comes after a's first SET"}, e.Report().Cells[0][0])
	require.Equal(t, Fine, e.Report().Cells[2][0].Mark)
}

// How often a worker asks, and how often it renews, is chance.
func TestAWorkerThatPollsLessHasNotStopped(t *testing.T) {
	polls := []string{takes, refused, "b PTTL lock:o -> 9", refused, "b PTTL lock:o -> 5", "a PEXPIRE lock:o 1000 -> 1",
		"a PEXPIRE lock:o 1000 -> 1", deletes, "b SET lock:o token-b-1 NX PX 1000 -> OK", "b DEL lock:o -> 1"}
	e := exploreWorld(t, Options{Only: []string{"reply-lost"}}, func(tr Trial) Outcome {
		if tr.Kind == Single {
			return outcome(nil, "explore-1! "+takes, "a PEXPIRE lock:o 1000 -> 1", deletes,
				"b SET lock:o token-b-1 NX PX 1000 -> OK", "b DEL lock:o -> 1")
		}
		return outcome(nil, polls...)
	})
	require.Equal(t, Fine, e.Report().Cells[0][0].Mark)
}

// A client without a name has another number when it connects again. Its requests are those of the old number.
func TestAClientWithoutANameThatConnectsAgainHasNotStopped(t *testing.T) {
	e := exploreWorld(t, Options{Only: []string{"reply-lost"}}, func(tr Trial) Outcome {
		lines := []string{takes, deletes}
		if tr.Kind == Single {
			lines = []string{"explore-1! " + takes, "x SET lock:o token-a-1 NX PX 1000 -> nil", "x DEL lock:o -> 1"}
		}
		o := outcome(nil, lines...)
		for i := range o.Histories[0].Entries {
			o.Histories[0].Entries[i].Name = ""
		}
		return o
	})
	require.Equal(t, Fine, e.Report().Cells[0][0].Mark)
}

// Then nobody knows which client has connected again. What was the last request of all is certain.
func TestWhoStoppedWithoutANameIsNotGuessed(t *testing.T) {
	e := exploreWorld(t, Options{Only: []string{"reply-lost"}}, func(tr Trial) Outcome {
		lines := []string{takes, refused, deletes, "b SET lock:o token-b-1 NX PX 1000 -> OK", "b DEL lock:o -> 1"}
		if tr.Kind == Single {
			lines = []string{"explore-1! " + takes, refused, "x GET lock:o -> y", "x DEL lock:o -> 1"}
		}
		o := outcome(nil, lines...)
		for i := range o.Histories[0].Entries {
			o.Histories[0].Entries[i].Name = ""
		}
		return o
	})
	require.Equal(t, Cell{Mark: Stopped, Why: "nothing comes after #3's first DEL"}, e.Report().Cells[0][0])
}

// An EXEC that did nothing is not in the log, and a rule counts it.
func TestBesideAWatchTheRequestsOfEachCommandAreCounted(t *testing.T) {
	e := exploreWorld(t, Options{Only: []string{"reply-lost"}}, func(tr Trial) Outcome {
		return outcome(nil, takes, "a WATCH lock:o -> OK", deletes)
	})
	require.Contains(t, strings.Join(e.strike(0, Strike{2, 0}).Words, " "), "CMD del KEY lock:o CLIENT a ORDER 1 NTH 1")
}

func TestALockThatEndsWithAnotherValueIsNotJudged(t *testing.T) {
	trials := 0
	world := func(tr Trial) Outcome {
		o := plain(&tr)
		o.Ends = map[string]string{"lock:o": "0", "other": fmt.Sprint(tr.ID)}
		if len(tr.Strikes) > 0 {
			trials++
			o.Ends["lock:o"] = "1"
		}
		return o
	}
	e := exploreWorld(t, Options{Only: []string{"reply-lost"}}, world)
	require.Equal(t, Cell{Mark: NotJudged, Why: "lock:o ends with another value than without the failure"},
		e.Report().Cells[0][0])
	require.Equal(t, 3*(1+mostLooks), trials, "it may be chance")
}

// A token that is new in each run says nothing. The number of the keys does.
func TestAnEndThatDiffersInEachRunIsComparedByItsNumberOfKeys(t *testing.T) {
	for left, mark := range map[int]Mark{1: Fine, 2: NotJudged} {
		e := exploreWorld(t, Options{Only: []string{"reply-lost"}, Keys: []string{"lock:*"}}, func(tr Trial) Outcome {
			o := plain(&tr)
			o.Ends = map[string]string{"lock:o": fmt.Sprint(tr.ID)}
			if len(tr.Strikes) > 0 && left > 1 {
				o.Ends["lock:p"] = "x"
			}
			return o
		})
		require.Equal(t, mark, e.Report().Cells[0][0].Mark)
	}
}

func TestALeaseThatNeverEndedByItselfIsNoted(t *testing.T) {
	renewed := "a PEXPIRE lock:o 1000 -> 1"
	for _, c := range []struct {
		lines []string
		exact bool
		notes int
	}{
		{[]string{takes, deletes}, false, 1},
		{[]string{takes, deletes}, true, 0},
		{[]string{takes, renewed, deletes}, false, 0},
		{[]string{"a SETNX lock:o x -> 1", deletes}, false, 0},
	} {
		e := exploreWorld(t, Options{Only: []string{"reply-lost"}, Exact: c.exact}, func(Trial) Outcome {
			return outcome(nil, c.lines...)
		})
		require.Len(t, e.Report().Notes, c.notes, c.lines)
		if c.notes > 0 {
			require.Contains(t, e.Report().Notes[0], "no lease of lock:o ended by itself: it is 1 s long")
		}
	}
}

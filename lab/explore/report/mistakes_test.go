package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab/explore"
)

// found returns a report with a cell for each of some findings.
func found(mark explore.Mark, all ...explore.Finding) *explore.Report {
	r := &explore.Report{Faults: sampleFaults()[:1], Masters: 1}
	for i, f := range all {
		r.Points = append(r.Points, explore.Point{Client: "a", N: i + 1, Command: "SET", Key: f.Lock, Master: 1})
		if f.Strikes == nil {
			f.Strikes = []explore.Strike{{Point: i}}
		}
		r.Cells = append(r.Cells, []explore.Cell{{Mark: mark, Finding: &f}})
	}
	return r
}

func TestFindingsOfOneCauseAndLockAreOneMistake(t *testing.T) {
	for _, c := range []struct {
		what     string
		all      []explore.Finding
		mistakes string // the names, and how many findings each has
	}{
		{"what the doctor sees of a missing TTL depends on where the failure struck", []explore.Finding{
			{Harm: explore.ForEver, Lock: "lock:o", Mistake: "lock-without-ttl"},
			{Harm: explore.ForEver, Lock: "lock:o", Mistake: "setnx-then-expire"},
			{Harm: explore.ForEver, Lock: "lock:o", Reason: "the key has no TTL"},
		}, "setnx-then-expire 3"},
		{"a renewal that drops the TTL needs another fix", []explore.Finding{
			{Harm: explore.ForEver, Lock: "lock:o", Mistake: "lock-without-ttl"},
			{Harm: explore.ForEver, Lock: "lock:o", Mistake: "renewal-drops-ttl"},
		}, "lock-without-ttl 1, renewal-drops-ttl 1"},
		{"one mistake does several harms", []explore.Finding{
			{Harm: explore.TwoHolders, Lock: "lock:o", Mistake: "get-then-del"},
			{Harm: explore.NoLegalOrder, Lock: "lock:o", Mistake: "get-then-del"},
		}, "get-then-del 2"},
		{"other locks, but of one class", []explore.Finding{
			{Harm: explore.TwoHolders, Lock: "lock:1", Reason: "x"}, {Harm: explore.TwoHolders, Lock: "lock:2", Reason: "x"},
			{Harm: explore.TwoHolders, Lock: "stock", Reason: "x"},
		}, "two-holders 2, two-holders 1"},
		{"other reasons, but for a number", []explore.Finding{
			{Harm: explore.CheckFails, Reason: "the stock is -1"}, {Harm: explore.CheckFails, Reason: "the stock is -2"},
			{Harm: explore.CheckFails, Reason: "nobody paid"},
		}, "check-fails 2, check-fails 1"},
		{"a mistake that more failures show comes first", []explore.Finding{
			{Harm: explore.TwoHolders, Lock: "a", Reason: "x"}, {Harm: explore.TwoHolders, Lock: "b", Reason: "y"},
			{Harm: explore.TwoHolders, Lock: "b", Reason: "y"},
		}, "two-holders 2, two-holders 1"},
		{"what never came back is not shown", []explore.Finding{{Harm: explore.ForEver, Lock: "a", Of: 5}}, ""},
	} {
		var got []string
		for _, m := range mistakes(found(explore.Broken, c.all...)) {
			got = append(got, fmt.Sprint(m.name, " ", len(m.facts)))
		}
		require.Equal(t, c.mistakes, strings.Join(got, ", "), c.what)
	}
}

func TestAMistakeIsShownByTheFailureThatTakesLeast(t *testing.T) {
	pair := []explore.Strike{{Point: 0}, {Point: 1}}
	long, short := []string{"LAB A", "LAB B"}, []string{"LAB A"}
	all := []explore.Finding{
		{Sentence: "pair", Strikes: pair, Commands: short, With: 5, Of: 5},
		{Sentence: "rare", Commands: short, With: 3, Of: 5},
		{Sentence: "long", Commands: long, With: 5, Of: 5}, {Sentence: "short", Commands: short, With: 5, Of: 5},
	}
	for i := range all {
		all[i].Harm, all[i].Lock = explore.ForEver, "lock:o"
	}
	var order []string
	for _, f := range mistakes(found(explore.Broken, all...))[0].facts {
		order = append(order, f.Sentence)
	}
	require.Equal(t, []string{"short", "long", "rare", "pair"}, order)
}

func TestWhatBreaksByItselfIsSaidOnceAndFirst(t *testing.T) {
	f := explore.Finding{Harm: explore.TwoHolders, Lock: "lock:o", Sentence: "If it is lost, two hold it.", With: 5, Of: 5}
	r := found(explore.ByItself, f, f, f)
	r.Itself = &explore.Finding{Harm: explore.TwoHolders, Sentence: "Without any fault, two hold it.", Without: 2, Of: 8}
	text := textOf(t, r, "en")
	require.Contains(t, text, "Mistake 1 of 1, BREAKS BY ITSELF: it needs no failure to break")
	require.Equal(t, 1, strings.Count(text, "two hold it."))
	require.Less(t, strings.Index(text, "two hold it."), strings.Index(text, "The marks"))
	page := htmlOf(t, r, "en")
	require.Equal(t, 1, strings.Count(page, `<details class="finding `))
	absent(t, `<a href="#f2"`, page)
}

// One mistake of twenty failures is one entry with twenty lines, in every format.
func TestManyFailuresOfOneMistakeAreOneEntry(t *testing.T) {
	var all []explore.Finding
	for range 20 {
		all = append(all, explore.Finding{Harm: explore.ForEver, Lock: "lock:o", Mistake: "setnx-then-expire", With: 5, Of: 5,
			Commands: []string{"LAB A", "LAB B"}, Reason: "why", Fix: "fix"})
	}
	r := found(explore.Broken, all...)
	text := textOf(t, r, "en")
	require.Contains(t, text, "20 failures show it")
	require.Equal(t, 1, strings.Count(text, "LAB A"))
	require.Equal(t, 19, strings.Count(text, "\n    request lost at the "))
	require.Contains(t, text, "1 mistake breaks the lock, shown by 20 failures.")
	_, d := jsonOf(t, r)
	require.Len(t, d.Report.Findings, 20)
	require.Len(t, d.Report.Mistakes, 1)
	require.Len(t, d.Report.Mistakes[0].Findings, 20)
	require.Equal(t, 1, strings.Count(htmlOf(t, r, "en"), `<ol class="worst"><li`))
}

func TestEachMistakeHasATitle(t *testing.T) {
	for _, code := range []string{"en", "zh"} {
		l, err := languageOf(code)
		require.NoError(t, err)
		for h := explore.OtherHarm; h <= explore.NeverEnds; h++ {
			f := fact{Finding: &explore.Finding{Harm: h, Lock: "lock:o"}}
			require.NotEmpty(t, l.title(mistake{name: "one-that-is-new", facts: []fact{f}}))
		}
	}
}

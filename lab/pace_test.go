package lab_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab"
)

const ms = time.Millisecond

func TestTheRulesOfALineMakeAPace(t *testing.T) {
	for _, c := range []struct {
		rules []string
		start time.Duration
		piece int
		after []time.Duration // of the first pieces
	}{
		{[]string{"r ACTION DELAY-REPLY 7"}, 7 * ms, math.MaxInt, []time.Duration{0}},
		{[]string{"r ACTION BANDWIDTH 1"}, 0, 1, []time.Duration{time.Second, 2 * time.Second}},
		{[]string{"r ACTION BANDWIDTH 250"}, 0, 2, []time.Duration{8 * ms, 16 * ms}},
		{[]string{"r ACTION BANDWIDTH 100000"}, 0, 1000, []time.Duration{10 * ms, 20 * ms, 30 * ms}},
		{[]string{"r ACTION SLICE 3"}, 0, 3, []time.Duration{0, ms, 2 * ms}},
		{[]string{"r ACTION SLICE 3", "s ACTION BANDWIDTH 300"}, 0, 3, []time.Duration{10 * ms, 20 * ms}},
		{[]string{"r ACTION SLICE 3", "s ACTION BANDWIDTH 1000000000"}, 0, 3, []time.Duration{ms, 2 * ms}},
		{[]string{"r ACTION BANDWIDTH 100", "s ACTION BANDWIDTH 10"}, 0, 1, []time.Duration{100 * ms}},
		{[]string{"r ACTION SLICE 9", "s ACTION SLICE 4"}, 0, 4, []time.Duration{0}},
		{[]string{"r ACTION SLICE 9", "s ACTION DELAY-REPLY 4"}, 4 * ms, 9, []time.Duration{0}},
		{[]string{"r ACTION SLICE 9", "s CMD get ACTION SLICE 4"}, 0, 9, []time.Duration{0}},
	} {
		r := plan(t, 1, c.rules...).Request(request("set"))
		require.Equal(t, c.start, r.Pace.Start, c.rules)
		require.Equal(t, c.piece, r.Pace.Piece(), c.rules)
		for i, want := range c.after {
			require.Equal(t, want, r.Pace.After(i), "%v: piece %d", c.rules, i)
		}
		require.Equal(t, c.piece == math.MaxInt, r.Pace.IsWhole(), c.rules)
		require.Equal(t, lab.ReplyLate, lab.OutcomeOf(r, []byte("+OK\r\n"), true), c.rules)
	}
}

func TestARuleOfALineGoesTogetherWithAnotherRule(t *testing.T) {
	p := plan(t, 1, "line ACTION BANDWIDTH 10", "lost NTH 2 ACTION CUT 1", "late NTH 2 ACTION SILENT")
	first, second := p.Request(request("set")), p.Request(request("set"))
	require.Equal(t, "line", first.Name)
	require.Equal(t, "lost", second.Name, "the rule that does more than the line has the name")
	require.Equal(t, first.Pace, second.Pace)
	require.Equal(t, lab.ReplyCut, lab.OutcomeOf(second, []byte("+OK\r\n"), true))
	require.Equal(t, lab.NotExecuted, lab.OutcomeOf(second, nil, false))
	require.EqualValues(t, []int64{2, 1, 0}, []int64{p.Rules[0].Fired, p.Rules[1].Fired, p.Rules[2].Fired})
	require.Zero(t, p.Rules[1].Pace, "the next request has a pace of its own")
}

func TestJitterIsDrawnFromTheSeed(t *testing.T) {
	starts := func(seed uint64, rules ...string) (all []time.Duration) {
		p := plan(t, seed, rules...)
		for range 200 {
			pace := lab.Pace{}
			if r := p.Request(request("set")); r != nil {
				pace = r.Pace
			}
			all = append(all, pace.Start)
		}
		return all
	}
	want := starts(1, "r ACTION JITTER 3")
	require.Equal(t, want, starts(1, "r ACTION JITTER 3"))
	require.NotEqual(t, want, starts(2, "r ACTION JITTER 3"))
	require.Equal(t, want, starts(1, "q PROB 0.5 CMD get ACTION SILENT", "r ACTION JITTER 3"))
	seen := map[time.Duration]bool{}
	for i, later := range starts(1, "r ACTION JITTER 3", "s ACTION DELAY-REPLY 100") {
		require.Equal(t, want[i]+100*ms, later)
		seen[want[i]] = true
	}
	require.Equal(t, map[time.Duration]bool{0: true, ms: true, 2 * ms: true, 3 * ms: true}, seen)
}

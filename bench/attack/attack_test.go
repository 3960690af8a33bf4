package main

import (
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const ms = time.Millisecond

func TestVerdict(t *testing.T) {
	threshold := 100 * ms
	tests := []struct {
		name        string
		a           attack
		ours, redis outcome
		want        []string
	}{
		{name: "nothing"},
		{"twice the time", attack{}, outcome{took: 4 * time.Second}, outcome{took: 2 * time.Second}, nil},
		{"more than twice the time", attack{}, outcome{took: 5 * time.Second}, outcome{took: 2 * time.Second},
			[]string{"time 2.5 times"}},
		{"ten times little time", attack{}, outcome{took: 20 * ms}, outcome{took: 2 * ms}, nil},
		{"half as much memory again", attack{}, outcome{peakMB: 300}, outcome{peakMB: 200}, nil},
		{"twice the memory", attack{}, outcome{peakMB: 400}, outcome{peakMB: 200}, []string{"memory 2.0 times"}},
		{"garbage", attack{}, outcome{peakMB: 75}, outcome{peakMB: 10}, nil},
		{"a wait until BUSY", attack{}, outcome{stall: 110 * ms, busy: 3}, outcome{}, nil},
		{"a long wait", attack{}, outcome{stall: 400 * ms}, outcome{stall: 20 * ms}, []string{"others wait 400 ms"}},
		{"a wait that redis-server has, too", attack{}, outcome{stall: 400 * ms}, outcome{stall: 390 * ms}, nil},
		{"an end without a kill", attack{endless: true}, outcome{}, outcome{killed: true}, nil},
		{"no kill", attack{endless: true}, outcome{busy: 1}, outcome{killed: true}, []string{"SCRIPT KILL in vain"}},
		{"no kill anywhere", attack{endless: true}, outcome{}, outcome{}, nil},
		{"the end", attack{}, outcome{death: "over 1s"}, outcome{}, []string{"ends: over 1s"}},
		{"the end of redis-server", attack{}, outcome{death: "over 1s", took: time.Minute}, outcome{death: "exit"},
			nil},
		{"memory that does not count", attack{held: true}, outcome{peakMB: 100, usedMB: 3},
			outcome{peakMB: 100, usedMB: 90}, []string{"counts 3 MB of 100"}},
		{"memory that is not there", attack{held: true}, outcome{peakMB: 6, usedMB: 3},
			outcome{peakMB: 100, usedMB: 90}, nil},
		{"a refusal", attack{}, outcome{refused: "ERR no"}, outcome{}, []string{"refuses: ERR no"}},
		{"a refusal of both", attack{}, outcome{refused: "ERR no"}, outcome{refused: "ERR never"}, nil},
		{"a refusal of what stops redis-server", attack{}, outcome{refused: "ERR no"}, outcome{stall: time.Second},
			nil},
		{"another answer", attack{}, outcome{same: []string{":1"}}, outcome{same: []string{":2"}},
			[]string{`answers [":1"], not [":2"]`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, judge(tt.a, tt.ours, tt.redis, threshold, 1)) })
	}
}

func TestSlackWidensTheBounds(t *testing.T) {
	ours := outcome{took: 5 * time.Second, peakMB: 900, stall: 800 * ms}
	redis := outcome{took: time.Second, peakMB: 200}
	require.Len(t, judge(attack{}, ours, redis, 100*ms, 1), 3)
	require.Empty(t, judge(attack{}, ours, redis, 100*ms, 4))
}

func TestAKnownFindingIsNoFailure(t *testing.T) {
	found, passed := []string{"time 3.0 times"}, []string(nil)
	require.True(t, result{findings: found}.bad())
	require.False(t, result{findings: passed}.bad())
	require.False(t, result{attack: attack{known: "later"}, findings: found}.bad())
	require.Equal(t, "known: time 3.0 times (later)", result{attack: attack{known: "later"}, findings: found}.verdict())
	require.Equal(t, "passes; was known: later", result{attack: attack{known: "later"}, findings: passed}.verdict())
	require.Equal(t, "redis-server dies", result{redis: outcome{death: "exit"}}.verdict())
}

func TestPingerCountsBusyAndTheLongestWait(t *testing.T) {
	var w waits
	w.answered(reply{'+', "PONG"}, 2*ms)
	require.Equal(t, waits{longest: 2 * ms}, w)
	w.answered(reply{'-', "BUSY Redis is busy"}, 101*ms)
	w.answered(reply{'-', "BUSY Redis is busy"}, ms)
	require.Equal(t, waits{longest: 101 * ms, busy: 2}, w)
}

func TestStatusOfAProcess(t *testing.T) {
	text := "Name:\tredis-server\nVmHWM:\t   12345 kB\nVmRSS:\t    1234 kB\n"
	require.Equal(t, int64(12345), statusKB(text, "VmHWM"))
	require.Equal(t, int64(1234), statusKB(text, "VmRSS"))
	require.Zero(t, statusKB(text, "VmSwap"))
}

func TestWordsOfCommands(t *testing.T) {
	require.Equal(t, []string{"A", "2", "b0", "c", "b1", "c"}, with("A {n}", "b{i} c", 2))
	require.Equal(t, "x0,x1,x2", joined("x{i}", ",", 3))
}

func TestPayloadsHaveAChecksumThatFits(t *testing.T) {
	// DUMP of the string "a" in redis-server 7.0.
	require.Equal(t, "\x00\x01a\x0a\x00\xbf\xfe\xef\x9b\x8f6}\xb4", payload(rdbString, "\x01a"))
	require.Equal(t, "\x81\x00\x00\x00\x00\x00\x00\x00\x01a", bulk("a"))
}

func TestRowsOfTheTable(t *testing.T) {
	name := regexp.MustCompile(`^[a-z]+: \S`)
	seen := map[string]bool{}
	short := 0
	for _, a := range table() {
		require.Regexp(t, name, a.name)
		require.False(t, seen[a.name], "two rows are called %q", a.name)
		seen[a.name] = true
		require.Regexp(t, `^[A-Z_%c].*\.$|^[a-z0-9].*\.$`, a.does, a.name)
		require.NotNil(t, a.run, a.name)
		require.Positive(t, a.full, a.name)
		require.LessOrEqual(t, a.short, a.full, a.name)
		if a.short > 0 {
			short++
		}
	}
	require.Greater(t, short, 200, "the short form has lost its rows")
}

func TestTheBenchmarksPageSaysHowManyAttacksThereAre(t *testing.T) {
	page, err := os.ReadFile("../../docs/benchmarks.md")
	require.NoError(t, err)
	said := regexp.MustCompile(`runs some (\d+) attacks`).FindSubmatch(page)
	require.NotNil(t, said)
	n, err := strconv.Atoi(string(said[1]))
	require.NoError(t, err)
	require.InEpsilon(t, len(table()), n, 0.05)
}

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	takes   = point{Client: "a", N: 1, Command: "SET", Key: "lock:o"}
	deletes = point{Client: "a", N: 2, Command: "DEL", Key: "lock:o"}
	refused = point{Client: "b", N: 1, Command: "SET", Key: "lock:o"}
)

// recorded is a record of one run.
func recorded(points ...pointRecord) record {
	return record{Ecosystem: "go", client: client{Name: "one", Version: "1.0", Arguments: []string{"lease=30"}},
		Points: points, Runs: 1, Trials: 10, Seconds: 5}
}

func TestMarksThatDifferBetweenRunsVary(t *testing.T) {
	a := recorded(pointRecord{takes, map[string]string{"reply-lost": broken, "silent": hangs, "paused": "fine"}},
		pointRecord{refused, map[string]string{"paused": "fine"}})
	a.Findings = []finding{{"reply-lost", takes, broken, "One."}, {"silent", takes, hangs, "Two."}}
	b := recorded(pointRecord{takes, map[string]string{"reply-lost": broken, "silent": "fine", "paused": "fine"}},
		pointRecord{deletes, map[string]string{"paused": "fine"}})
	b.Findings = []finding{{"reply-lost", takes, broken, "One."}}
	both := joined(a, b)
	require.Equal(t, []pointRecord{
		{takes, map[string]string{"reply-lost": broken, "silent": varies, "paused": "fine"}}}, both.Points)
	require.ElementsMatch(t, []point{deletes, refused}, both.Unsteady, "a request that only one run had")
	require.Equal(t, a.Findings[:1], both.Findings)
	require.Equal(t, []int{2, 20, 10}, []int{both.Runs, both.Trials, both.Seconds})
}

func TestACellThatHasVariedStaysSo(t *testing.T) {
	now := recorded(pointRecord{takes, map[string]string{"silent": "fine", "paused": "fine"}})
	now.keep(recorded(pointRecord{takes, map[string]string{"silent": varies, "restart": varies}},
		pointRecord{refused, map[string]string{"silent": varies}}))
	require.Equal(t, map[string]string{"silent": varies, "paused": "fine"}, now.Points[0].Marks)
}

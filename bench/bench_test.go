package main

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

const report = `====== SET key:__rand_int__ x ======
  20000 requests completed in 0.08 seconds

Latency by percentile distribution:
0.000% <= 0.519 milliseconds (cumulative count 16)
50.000% <= 1.999 milliseconds (cumulative count 10016)
98.438% <= 7.983 milliseconds (cumulative count 19696)
99.219% <= 8.207 milliseconds (cumulative count 19856)
99.902% <= 8.351 milliseconds (cumulative count 19984)
100.000% <= 8.375 milliseconds (cumulative count 20000)

Cumulative distribution of latencies:
50.720% <= 2.007 milliseconds (cumulative count 10144)
100.000% <= 9.103 milliseconds (cumulative count 20000)

Summary:
  throughput summary: 263157.91 requests per second
`

func TestReportOfRedisBenchmarkIsRead(t *testing.T) {
	m, err := parseBenchmark(report)
	require.NoError(t, err)
	require.Equal(t, measured{rate: 263157.91, p50: 1.999, p99: 8.207, p999: 8.351}, m)
	_, err = parseBenchmark("ERR unknown command")
	require.Error(t, err)
}

func TestMediansAreTakenOverTheRounds(t *testing.T) {
	got := medians([][][]float64{{{1, 30}, {3, 10}, {2, 20}}, {{5, 1}, {7, 1}}})
	require.Equal(t, [][]float64{{2, 20}, {6, 1}}, got)
}

func TestSummarySaysWhichBoundsHold(t *testing.T) {
	b := &bench{
		contenders: []contender{{name: "redis-server"}, {name: "miniredisd"}},
		results: []result{
			{workload: "set P16", columns: loadColumns, bounds: []bound{{column: 1, most: 0.6}},
				figures: [][]float64{{0, 2}, {0, 1.1}}},
			{workload: "get P16", columns: loadColumns, bounds: []bound{{column: 1, most: 0.6}},
				figures: [][]float64{{0, 2}, {0, 1.3}}},
			{workload: "start", columns: []column{{"ms", "%.1f"}}, bounds: []bound{{most: 5, absolute: true}},
				figures: [][]float64{{11}, {5.5}}},
			{workload: "trace", columns: []column{{"on/off", "%.3f"}}, bounds: []bound{{most: 1.1, absolute: true}},
				figures: [][]float64{{math.NaN()}, {1.05}}},
		},
	}
	var lines []string
	for _, row := range b.summary()[1:] {
		lines = append(lines, strings.Join(row, " "))
	}
	require.Equal(t, []string{
		"set P16, CPU us/req miniredisd 1.100 2.000 0.55 0.60 x yes",
		"get P16, CPU us/req miniredisd 1.300 2.000 0.65 0.60 x NO",
		"start, ms miniredisd 5.5 11.0 0.50 5.00 NO",
		"trace, on/off miniredisd 1.050 - - 1.10 yes",
	}, lines)
}

func TestRandomNumbersAreFilledIntoACommand(t *testing.T) {
	require.Equal(t, []string{"SET", "key:000000000042", "x"}, numbered([]string{"SET", "key:__rand_int__", "x"}, 42))
}

func TestOwnGeneratorSendsWhatItCounts(t *testing.T) {
	s := redistest.Start(t)
	w := workload{args: []string{"INCR", "counter:__rand_int__"}}
	require.NoError(t, w.prepare(s.Addr, 10, 1000))
	m, err := ownLoad(s.Addr, job{args: w.args, n: 1000, clients: 5, pipeline: 4, keys: 10})
	require.NoError(t, err)
	require.Equal(t, 1000, m.requests)
	c := redistest.Dial(t, s.Addr)
	require.Equal(t, int64(10), c.Do("DBSIZE").Int)
	require.Contains(t, c.Do("INFO", "commandstats").Str, "cmdstat_incr:calls=1000,")

	_, err = ownLoad(s.Addr, job{args: []string{"INCR"}, n: 1000, clients: 5, pipeline: 4, keys: 10})
	require.ErrorContains(t, err, "wrong number of arguments")
}

func TestEachLockIsFreedOnceAndTransactionsAreWhole(t *testing.T) {
	s := redistest.Start(t)
	c := redistest.Dial(t, s.Addr)
	for _, w := range loadWorkloads() {
		if !w.own() {
			continue
		}
		require.NoError(t, w.prepare(s.Addr, 10, 1000))
		m, err := ownLoad(s.Addr, job{args: w.args, batch: w.batch, once: w.once, n: 1000, clients: 5, pipeline: 4,
			keys: 10})
		require.NoError(t, err)
		require.Equal(t, 1000, m.requests)
		if w.once {
			require.Zero(t, c.Do("DBSIZE").Int, w.name)
		} else {
			require.Contains(t, c.Do("INFO", "commandstats").Str, "cmdstat_exec:calls=1000,")
		}
	}
}

func TestPreparationFillsWhatTheRequestsNeed(t *testing.T) {
	s := redistest.Start(t)
	c := redistest.Dial(t, s.Addr)
	for _, w := range loadWorkloads() {
		require.NoError(t, w.prepare(s.Addr, 300, 500), w.name)
		switch w.name {
		case "get":
			require.Equal(t, int64(300), c.Do("DBSIZE").Int)
		case "rpop":
			require.Equal(t, int64(500), c.Do("LLEN", "mylist").Int)
		case "lrange100":
			require.Equal(t, int64(300), c.Do("LLEN", "mylist").Int)
		case "evalunlock", "evalshaunlock":
			require.Equal(t, int64(500), c.Do("DBSIZE").Int)
			require.Equal(t, int64(1), c.Do(numbered(w.args, 499)...).Int, "the last lock is there to be freed")
		case "evalshalock":
			require.Equal(t, "", c.Do(numbered(w.args, 1)...).Str, "the script is there")
			require.Equal(t, int64(1), c.Do("DBSIZE").Int)
		default:
			require.Zero(t, c.Do("DBSIZE").Int, w.name)
		}
	}
}

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// traceOf has two passes: one of main alone, and one in which a thread helps.
const traceOf = `{"traceEvents":[
{"ph":"M","name":"thread_name","pid":1,"args":{"name":"main"}},
{"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"io_1"}},
{"ph":"X","name":"sleep","pid":1,"ts":0,"dur":10},
{"ph":"X","name":"GET","pid":1,"ts":11,"dur":1},
{"ph":"X","name":"sleep","pid":1,"ts":13,"dur":7},
{"ph":"X","name":"read phase","pid":1,"ts":20,"dur":5},
{"ph":"X","name":"read phase","pid":1,"tid":2,"ts":21,"dur":3},
{"ph":"X","name":"SET","pid":1,"ts":26,"dur":1},
{"ph":"X","name":"INCR","pid":1,"ts":27,"dur":1},
{"ph":"X","name":"sleep","pid":1,"ts":30,"dur":1},
{"ph":"M","name":"thread_name","pid":2,"tid":3,"args":{"name":"client 1"}},
{"ph":"X","name":"SET","pid":2,"tid":3,"ts":21,"dur":8}
]}`

func TestATimelineShowsThePassThatMostThreadsWorkIn(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "trace.json"), filepath.Join(dir, "pass.svg")
	require.NoError(t, os.WriteFile(in, []byte(traceOf), 0o644))
	require.NoError(t, timeline([]string{"-title", "a pass", "-o", out, in}))
	drawn, err := os.ReadFile(out)
	require.NoError(t, err)
	for _, part := range []string{"a pass", ">main<", ">io_1<", "<title>SET, 1.0 µs", "<title>INCR, 1.0 µs",
		">read phase<", ">8 µs<"} {
		require.Contains(t, string(drawn), part)
	}
	for _, part := range []string{"<title>GET", "sleep", "client 1"} {
		require.NotContains(t, string(drawn), part)
	}
}

func TestATimelineSaysWhatIsWrongWithItsInput(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.json")
	require.ErrorContains(t, timeline([]string{path}), "no such file")
	for content, wrong := range map[string]string{
		"no json":            "is no trace",
		`{"traceEvents":[]}`: "names no thread",
		`{"traceEvents":[{"ph":"M","name":"thread_name","pid":1,"args":{"name":"main"}}]}`: "no pass in which a " +
			"command was executed",
	} {
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
		require.ErrorContains(t, timeline([]string{"-o", path + ".svg", path}), wrong)
	}
	require.ErrorContains(t, timeline(nil), "wants one trace")
}

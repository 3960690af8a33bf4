package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// unpinned is for tests: other tests run beside them.
func unpinned() cores { return cores{anyCore, anyCore} }

// twoServers are two miniredisd under different names.
func twoServers(t *testing.T) []contender {
	t.Helper()
	path, err := builtServer()
	require.NoError(t, err)
	list, err := programs{ours: path, redis: path}.contenders(t.TempDir())
	require.NoError(t, err)
	return list
}

func TestRowsAreChosenByTheirNames(t *testing.T) {
	rows, err := selectRows(breadthRows(), "^HGETALL")
	require.NoError(t, err)
	require.Len(t, rows, 2)
	_, err = selectRows(breadthRows(), "nothing")
	require.ErrorContains(t, err, "nothing")
	_, err = selectRows(breadthRows(), "(")
	require.Error(t, err)
}

func TestEveryRowHasANameOfItsOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range breadthRows() {
		require.False(t, seen[r.name], r.name)
		seen[r.name] = true
		require.NotEmpty(t, r.group, r.name)
		require.Positive(t, r.n, r.name)
	}
}

func TestEveryRowFindsItsDataAndIsAnsweredByRedis(t *testing.T) {
	s := redistest.Start(t)
	checkRows(t, s.Addr)
}

func TestEveryRowFindsItsDataAndIsAnswered(t *testing.T) {
	s, err := twoServers(t)[1].start(anyCore)
	require.NoError(t, err)
	t.Cleanup(s.stop)
	checkRows(t, s.addr)
}

// start returns the first n commands of d: enough to find something, and quick.
func start(d data, n int) data {
	return func(yield func([]string) bool) {
		sent := 0
		for args := range d {
			if sent++; sent > n || !yield(args) {
				return
			}
		}
	}
}

// checkRows sends the request of each row once. A read must find something.
func checkRows(t *testing.T, addr string) {
	t.Helper()
	c := redistest.Dial(t, addr)
	missing := map[string]bool{"KEYS": true, "PUBLISH to nobody": true,
		"EVAL reentrant lock": true, "EVAL read lock": true, "EVAL map cache put": true} // nil means success
	for _, r := range breadthRows() {
		r.keys = 10
		for i, d := range r.data {
			r.data[i] = start(d, 60)
		}
		require.NoError(t, r.prepare(addr, 10), r.name)
		v := c.Do(numbered(r.args, 7)...)
		require.NotEqual(t, byte('-'), v.Kind, "%s: %s", r.name, v.Str)
		if !missing[r.name] {
			require.False(t, v.Null || v.Kind == '*' && len(v.Elems) == 0, "%s found nothing", r.name)
		}
	}
}

func TestDataIsSentInPortions(t *testing.T) {
	var sizes []int
	for args := range hashOf("h", 2_500) {
		require.Equal(t, []string{"HSET", "h"}, args[:2])
		sizes = append(sizes, (len(args)-2)/2)
	}
	require.Equal(t, []int{1000, 1000, 500}, sizes)
}

func TestServersTakeTurnsAtEveryRow(t *testing.T) {
	rows, err := selectRows(breadthRows(), "^(LPOS|RPOP P16|EVAL cjson|SET 16 KB P16)$")
	require.NoError(t, err)
	run := &turns{contenders: twoServers(t), cores: unpinned(), load: findLoad(true), rounds: 2, scale: 0.001}
	require.NoError(t, run.runRows(rows))
	program, err := build(t.TempDir(), "bench/floor")
	require.NoError(t, err)
	require.NoError(t, run.addFloor(program, t.TempDir()))
	out := filepath.Join(t.TempDir(), "breadth.md")
	require.NoError(t, run.publish("CPU", out))
	text, err := os.ReadFile(out)
	require.NoError(t, err)
	for _, r := range rows {
		require.Equal(t, 1, strings.Count(string(text), "\n| "+r.name+" | "), r.name)
	}
	for _, r := range run.sheet.rows {
		for _, figures := range r.figures {
			require.Positive(t, figures[0], "CPU of %s", r.name)
			require.Positive(t, figures[1], "rate of %s", r.name)
		}
	}
	require.Regexp(t, `- the kernel's share of SET .*: \d+\.\d+ us/req at pipeline 1, \d+\.\d+ at pipeline 16\n`,
		string(text))
	require.Contains(t, string(text), "- load: own generator, 0.001 of the usual requests, median of 2 rounds\n")
}

func TestARowThatFailsEndsTheRunWithItsName(t *testing.T) {
	run := &turns{contenders: twoServers(t), cores: unpinned(), load: findLoad(true), rounds: 1, scale: 0.001}
	err := run.runRows([]breadthRow{request("WRONG", 10, 1, "GET")})
	require.ErrorContains(t, err, "WRONG: redis-server: ")
}

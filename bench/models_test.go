package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

func TestCellsAreEveryCombination(t *testing.T) {
	o := modelOptions{commands: "get,set", clients: "1,50", pipelines: "16", sizes: "32,1024"}
	cells, err := o.cells()
	require.NoError(t, err)
	require.Len(t, cells, 8)
	require.Equal(t, cell{"get", 1, 16, 32}, cells[0])
	require.Equal(t, cell{"set", 50, 16, 1024}, cells[7])

	for _, wrong := range []modelOptions{
		{commands: "incr", clients: "1", pipelines: "1", sizes: "1"},
		{commands: "get", clients: "", pipelines: "1", sizes: "1"},
		{commands: "get", clients: "1", pipelines: "0", sizes: "1"},
		{commands: "get", clients: "1", pipelines: "1", sizes: "1k"},
	} {
		_, err := wrong.cells()
		require.Error(t, err, "%+v", wrong)
	}
}

func TestTicksAreReadFromAStatFile(t *testing.T) {
	stat := "4711 (a (strange) name) R 1 2 3 4 5 6 7 8 9 10 250 50 0 0 20 0 1"
	require.Equal(t, 3*time.Second, ticks(stat))
	require.Zero(t, ticks("4711 (gone"))
}

func TestTheThreadThatExecutesIsToldFromTheOthers(t *testing.T) {
	before := usage{threads: map[int]time.Duration{1: 100, 2: 50, 3: 7}, busy: 10}
	after := usage{threads: map[int]time.Duration{1: 150, 2: 250, 4: 30}, busy: 35} // 3 has ended, 4 is new
	for _, want := range []struct {
		executor
		executing time.Duration
	}{{executor{thread: 1}, 50}, {executor{thread: 4}, 30}, {executor{busy: true}, 25}, {executor{}, 280}} {
		total, executing := after.since(before, want.executor)
		require.Equal(t, time.Duration(280), total)
		require.Equal(t, want.executing, executing, "%+v", want.executor)
	}
}

// finished is a run of three models over a few cells, with figures that are easy to know again.
func finished() *matrix {
	m := &matrix{
		models: []model{{name: "reactor", about: "one", command: []string{"/tmp/x/miniredisd", "--port", "{port}",
			"--save", ""}}, {name: "io-threads-4", about: "four", kind: 2, command: []string{"miniredisd"}},
			{name: "redis-server-io-4", kind: 2, dash: 1, command: []string{"redis-server"}}},
		about: []string{"the machine"},
		how:   []string{"any thread", "one thread", "one thread"},
	}
	m.cells, _ = (&modelOptions{commands: "get,set", clients: "1,50", pipelines: "1,16", sizes: "32,1024"}).cells()
	for range m.cells {
		m.figures = append(m.figures, []figures{{1000, 12, 10, 0.1, 0.2, 0.3}, {2000, 15, 4.5, 0.1, 0.2, 0.3},
			{3000, 30, 4, 0.1, 0.2, 0.3}})
	}
	return m
}

func TestTheReportHasEveryFigureAndDrawing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "report")
	m := finished()
	require.NoError(t, m.write(dir))
	text, err := os.ReadFile(filepath.Join(dir, "models.md"))
	require.NoError(t, err)
	for _, line := range []string{
		"- the machine",
		"- **io-threads-4**: four. Executes on one thread. `miniredisd`",
		"- **reactor**: one. Executes on any thread. `miniredisd --port PORT --save \"\"`",
		"| GET, 50 connections, pipeline 1, values of 1 KB | 4.50 | 5.00 = 0.5 x reactor | yes |",
		"| SET, 50 connections, pipeline 1, values of 1 KB | 4.50 | 4.00 = 1 x redis-server-io-4 | NO |",
		"### SET, 50 connections, pipeline 16, values of 32 B",
		"| io-threads-4 | 2000 | 15.00 | 4.50 | 222222 | 0.100 | 0.200 | 0.300 |",
	} {
		require.Contains(t, string(text), line+"\n")
	}
	require.NotContains(t, string(text), "busy")
	require.Equal(t, len(m.cells), strings.Count(string(text), "\n### "))
	drawn, err := filepath.Glob(filepath.Join(dir, "*.svg"))
	require.NoError(t, err)
	require.Len(t, drawn, 2*(1+len(measures())))
	for _, path := range drawn {
		require.Contains(t, string(text), "]("+filepath.Base(path)+")")
		svg, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Contains(t, string(svg), "io-threads-4")
	}
}

// Figures from a busy machine must not be taken for measurements.
func TestTheReportOfABusyMachineSaysSo(t *testing.T) {
	m := finished()
	m.busy = 3 * float64(runtime.NumCPU())
	text := m.markdown(nil)
	require.Contains(t, text, fmt.Sprintf("**The machine was busy**: it had a load of %.2f before the run.", m.busy))
	require.Contains(t, text, "Repeat the run on a quiet machine: `go run ./bench models`.")
}

func TestTheTypicalCellIsTheNearestThatWasMeasured(t *testing.T) {
	m := finished()
	require.Equal(t, cell{"set", 50, 1, 1024}, m.typical("set"))
	m.cells = []cell{{"get", 1, 1, 32}, {"get", 500, 1, 1024}}
	require.Equal(t, cell{"get", 500, 1, 1024}, m.typical("get"))
}

func TestCeilingIsTheInverseOfTheExecutingThreadsTime(t *testing.T) {
	require.Equal(t, "200000", figures{executing: 5}.ceiling())
	require.Equal(t, "-", figures{}.ceiling())
}

// Every model is started as in a real run and serves a few hundred requests.
func TestEveryModelServesTheLoad(t *testing.T) {
	redistest.Require(t)
	o := modelOptions{models: "all", commands: "get,set", clients: "3", pipelines: "4", sizes: "2000", n: 240,
		rounds: 1, keys: 20}
	cells, err := o.cells()
	require.NoError(t, err)
	tmp := t.TempDir()
	lineup, err := o.lineup(tmp)
	require.NoError(t, err)
	m := &matrix{modelOptions: o, models: lineup, cells: cells, load: findLoad(true)}
	require.NoError(t, m.run(tmp))
	for i, row := range m.figures {
		require.Len(t, row, len(lineup))
		for j, f := range row {
			require.Positive(t, f.rate, "%s in %s", lineup[j].name, cells[i])
			require.Positive(t, f.cpu, "%s in %s", lineup[j].name, cells[i])
			require.Positive(t, f.executing, "%s in %s", lineup[j].name, cells[i])
		}
	}

	o.models = "queue,reactor"
	lineup, err = o.lineup(tmp)
	require.NoError(t, err)
	require.Equal(t, "queue", lineup[0].name)
	o.models = "threads"
	_, err = o.lineup(tmp)
	require.ErrorContains(t, err, "not one of reactor")
}

package node_test

import (
	"cmp"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// traced is a trace file as a viewer reads it, and with what docs/trace-for-perfetto.md says is left out.
type traced struct {
	TraceEvents []happening `json:"traceEvents"`

	spans    map[int][]happening // by thread, sorted by begin
	requests map[int][]happening // by the row of a client
	name     map[int]string      // names of threads
	kernel   map[int]int         // their numbers in the kernel, if they are bound to one
	main     int
	exec     int // the row of commands: main, but for --exec queue
}

type happening struct {
	Ph, Name string
	Cat      string // what the thread did: execute for a command
	Pid, Tid int
	TS, Dur  float64 // microseconds
	Bind     int     `json:"bind_id"`
	Arrives  bool    `json:"flow_in"`
	Leaves   bool    `json:"flow_out"`
	Args     struct {
		Name                         string
		Client, Thread               int
		Requests, Last, Seq, Through *int64 // nil until complete
		Reads, Writes                int
	}
}

const threadsOf = 1 // the process that has the threads

// The file has microseconds with nanosecond digits. Whole nanoseconds can be compared exactly.
func (h happening) begin() int64 { return int64(math.Round(h.TS * 1000)) }
func (h happening) end() int64   { return int64(math.Round((h.TS + h.Dur) * 1000)) }

func readTrace(t *testing.T, path string) *traced {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	tr := &traced{
		spans: map[int][]happening{}, requests: map[int][]happening{}, name: map[int]string{}, kernel: map[int]int{},
	}
	require.NoError(t, json.Unmarshal(text, tr))
	tr.complete()
	for _, h := range tr.TraceEvents {
		switch {
		case h.Ph == "M" && h.Name == "thread_name" && h.Pid == threadsOf:
			tr.name[h.Tid], tr.kernel[h.Tid] = h.Args.Name, h.Args.Thread
			switch h.Args.Name {
			case "main":
				tr.main, tr.exec = h.Tid, h.Tid
			case "exec":
				tr.exec = h.Tid
			}
		case h.Ph == "X" && h.Pid == threadsOf:
			tr.spans[h.Tid] = append(tr.spans[h.Tid], h)
		case h.Ph == "X":
			tr.requests[h.Tid] = append(tr.requests[h.Tid], h)
		}
	}
	for _, rows := range []map[int][]happening{tr.spans, tr.requests} {
		for _, spans := range rows {
			slices.SortStableFunc(spans, func(a, b happening) int { return cmp.Compare(a.begin(), b.begin()) })
		}
	}
	return tr
}

// complete adds what the file leaves out, because it follows from the lines before.
func (tr *traced) complete() {
	type client struct{ parsed, executed int64 }
	clients, before := map[int]*client{}, map[int]*happening{}
	fill := func(number **int64, expected int64) int64 {
		if *number == nil {
			*number = &expected
		}
		return **number
	}
	for i := range tr.TraceEvents {
		h := &tr.TraceEvents[i]
		if h.Tid == 0 {
			h.Tid = h.Pid
		}
		if h.Ph != "X" || h.Pid != threadsOf {
			continue
		}
		h.Cat = h.Name
		if h.Name == strings.ToUpper(h.Name) || h.Name == "queued" || h.Name == "refused" {
			h.Cat = "execute"
		}
		if h.Cat == "parse" && h.Args.Client == 0 {
			h.Args.Client = before[h.Tid].Args.Client
		}
		before[h.Tid] = h
		c := clients[h.Args.Client]
		if c == nil {
			c = &client{}
			clients[h.Args.Client] = c
		}
		switch h.Cat {
		case "parse":
			c.parsed = fill(&h.Args.Last, c.parsed+fill(&h.Args.Requests, 1))
		case "execute":
			c.executed = fill(&h.Args.Seq, c.executed+1)
		case "write":
			fill(&h.Args.Through, c.executed)
		}
	}
}

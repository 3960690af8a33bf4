package server_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// traced is a trace file as a viewer reads it.
type traced struct {
	TraceEvents []happening `json:"traceEvents"`

	spans map[int][]happening // by thread, sorted by begin
	name  map[int]string      // names of threads
	main  int
	exec  int // the row of commands: main, but for --exec queue
}

type happening struct {
	Ph, Cat, Name string
	Pid, Tid      int
	TS, Dur       float64 // microseconds
	ID, BP        string
	Args          struct {
		Name                                          string
		Client, Seq, Last, Requests, Through, Clients int
	}
}

// The file has microseconds with nanosecond digits. Whole nanoseconds can be compared exactly.
func (h happening) begin() int64 { return int64(math.Round(h.TS * 1000)) }
func (h happening) end() int64   { return int64(math.Round((h.TS + h.Dur) * 1000)) }

func readTrace(t *testing.T, path string) *traced {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	tr := &traced{spans: map[int][]happening{}, name: map[int]string{}}
	require.NoError(t, json.Unmarshal(text, tr))
	for _, h := range tr.TraceEvents {
		switch {
		case h.Ph == "M" && h.Name == "thread_name":
			tr.name[h.Tid] = h.Args.Name
			if h.Args.Name == "main" {
				tr.main = h.Tid
			}
		case h.Ph == "X":
			tr.spans[h.Tid] = append(tr.spans[h.Tid], h)
		}
	}
	tr.exec = tr.main
	for tid, name := range tr.name {
		if name == "exec" {
			tr.exec = tid
		}
	}
	for _, spans := range tr.spans {
		slices.SortStableFunc(spans, func(a, b happening) int { return cmp.Compare(a.begin(), b.begin()) })
	}
	return tr
}

// requireNested requires that two spans of a thread are nested or do not overlap.
func (tr *traced) requireNested(t *testing.T) {
	t.Helper()
	for tid, spans := range tr.spans {
		var open []happening
		for _, h := range spans {
			for len(open) > 0 && open[len(open)-1].end() <= h.begin() {
				open = open[:len(open)-1]
			}
			if len(open) > 0 {
				outer := open[len(open)-1]
				require.LessOrEqual(t, h.end(), outer.end(), "%s: %s %+v reaches out of %s %+v",
					tr.name[tid], h.Name, h.Args, outer.Name, outer.Args)
			}
			open = append(open, h)
		}
	}
}

func (tr *traced) requireCommandsOnOneRow(t *testing.T) {
	t.Helper()
	for tid, spans := range tr.spans {
		for _, h := range spans {
			switch h.Cat {
			case "execute", "expire":
				require.Equal(t, tr.exec, tid, "%s on %s", h.Name, tr.name[tid])
			case "accept", "sleep":
				require.Equal(t, "main", tr.name[tid], "%s", h.Name)
			}
		}
	}
}

// requireOrder checks the order of read, execution and write for every traced request. It returns
// the number of requests.
func (tr *traced) requireOrder(t *testing.T) (requests int) {
	t.Helper()
	type key struct{ client, seq int }
	accepted, read := map[int]int64{}, map[int]int64{}
	parsed, ran, written := map[key]int64{}, map[key]happening{}, map[key]int64{}
	through := map[int]int{}
	var all []happening
	for _, spans := range tr.spans {
		all = append(all, spans...)
	}
	slices.SortStableFunc(all, func(a, b happening) int { return cmp.Compare(a.begin(), b.begin()) })
	for _, h := range all {
		c := h.Args.Client
		if h.Cat == "accept" {
			accepted[c] = h.end()
		}
		if _, there := accepted[c]; !there {
			require.LessOrEqual(t, c, 1, "only the first was there before the trace")
			continue
		}
		switch h.Cat {
		case "read":
			require.LessOrEqual(t, accepted[c], h.begin())
			read[c] = h.end()
		case "parse":
			require.LessOrEqual(t, read[c], h.begin())
			for seq := h.Args.Last - h.Args.Requests + 1; seq <= h.Args.Last; seq++ {
				parsed[key{c, seq}] = h.end()
			}
		case "execute":
			k := key{c, h.Args.Seq}
			require.Positive(t, parsed[k], "%s %+v", h.Name, k)
			require.LessOrEqual(t, parsed[k], h.begin())
			if first, again := ran[k]; !again || first.end() < h.end() {
				ran[k] = h
			}
		case "write":
			for ; through[c] < h.Args.Through; through[c]++ {
				k := key{c, through[c] + 1}
				require.LessOrEqual(t, ran[k].end(), h.begin())
				written[k] = h.end()
			}
		}
	}
	for k := range parsed {
		if h, executed := ran[k]; executed {
			require.Positive(t, written[k], "%s %+v", h.Name, k)
			requests++
		}
	}
	require.Equal(t, len(parsed)-1, requests, "all but the one that wrote the file")
	return requests
}

// requirePairs requires that each arrow and each async span has a begin and a later end. Each end
// of an arrow must lie within a span. It returns the number of pairs.
func (tr *traced) requirePairs(t *testing.T, begin, end string) (pairs int) {
	t.Helper()
	open := map[string]happening{}
	for _, h := range tr.TraceEvents {
		id := h.Cat + h.Name + h.ID
		switch h.Ph {
		case begin:
			require.NotContains(t, open, id)
			open[id] = h
		case end:
			require.Contains(t, open, id)
			require.LessOrEqual(t, open[id].begin(), h.begin())
			if begin == "s" {
				require.NotEqual(t, open[id].Tid, h.Tid, "an arrow from a thread to itself")
				require.True(t, tr.inSpan(open[id]) && tr.inSpan(h), h.Name)
			}
			delete(open, id)
			pairs++
		}
	}
	require.Empty(t, open)
	return pairs
}

func (tr *traced) inSpan(end happening) bool {
	return slices.ContainsFunc(tr.spans[end.Tid], func(h happening) bool {
		return h.begin() <= end.begin() && end.begin() < h.end()
	})
}

func (tr *traced) requireCounters(t *testing.T) {
	t.Helper()
	top := map[string]int{}
	for _, h := range tr.TraceEvents {
		if h.Ph == "C" {
			top[h.Name] = max(top[h.Name], h.Args.Clients)
		}
	}
	require.Len(t, top, 2)
	require.Positive(t, top["pending reads"])
	require.Positive(t, top["pending writes"])
}

// keepBusy runs clients whose requests take different paths through the server.
func keepBusy(t *testing.T, addr string, clients, rounds int) {
	t.Helper()
	var all sync.WaitGroup
	defer all.Wait()
	for id := range clients {
		c := redistest.Dial(t, addr)
		all.Go(func() {
			own := fmt.Sprint("q", id)
			for range rounds {
				var pipeline []byte
				requests := [][]string{
					{"SET", own, "v"}, {"GET", own}, {"NOSUCH"}, {"GET"}, {"MULTI"}, {"INCR", "n"}, {"INCR", "m"}, {"EXEC"},
					{"EVAL", "redis.call('set', KEYS[1], 1) return redis.call('get', KEYS[1])", "1", own},
					{"SET", own, "v", "PX", "1"},
					{"LPUSH", own + "list", "x"}, {"BLPOP", own + "list", "0"},
				}
				for _, r := range requests {
					pipeline = redistest.AppendCommand(pipeline, r...)
				}
				if c.Send(pipeline) != nil {
					return
				}
				for range requests {
					_, _ = c.TryRead()
				}
				c.Do("PING")
			}
		})
	}
}

func TestATraceShowsTheWayOfEveryRequest(t *testing.T) {
	addr, path := start(t, nil), filepath.Join(t.TempDir(), "trace.json")
	admin := redistest.Dial(t, addr)
	require.Equal(t, "OK", admin.Do("DEBUG", "TRACE", "START").Str)
	admin.Close()
	keepBusy(t, addr, 8, 20)
	waiting, admin := redistest.Dial(t, addr), redistest.Dial(t, addr)
	sendPending(t, admin, waiting, "BLPOP", "late", "0")
	admin.Do("LPUSH", "late", "x")
	waiting.Read()
	before := info(t, admin, "expired_keys")
	admin.Do("SET", "expiring", "v", "PX", "1")
	requireInTime(t, "the loop deletes an expired key", func() bool { return info(t, admin, "expired_keys") > before })
	require.Equal(t, "OK", admin.Do("DEBUG", "TRACE", "DUMP", path).Str)

	tr := readTrace(t, path)
	tr.requireNested(t)
	tr.requireCommandsOnOneRow(t)
	tr.requireCounters(t)
	require.GreaterOrEqual(t, tr.requireOrder(t), 8*20*13)
	require.GreaterOrEqual(t, tr.requirePairs(t, "b", "e"), 8*20*13)
	tr.requirePairs(t, "s", "f")
	seen := map[string]bool{}
	for _, spans := range tr.spans {
		for _, h := range spans {
			seen[h.Name] = true
		}
	}
	for _, name := range []string{
		"sleep", "accept", "read", "parse", "get", "exec", "incr", "queued", "refused", "eval", "blpop", "expire", "write",
		"read phase", "write phase",
	} {
		require.True(t, seen[name], "no %s", name)
	}
}

// The server may serve a client during another client's script.
func TestATraceNestsWhatIsServedDuringAScript(t *testing.T) {
	addr, path := start(t, []string{"--busy-reply-threshold", "1"}), filepath.Join(t.TempDir(), "trace.json")
	admin := redistest.Dial(t, addr)
	admin.Do("DEBUG", "TRACE", "START")
	script, other := startBusyScript(t, addr, "while true do end")
	other.Do("PING")
	other.Do("SCRIPT", "KILL")
	script.Read()
	admin.Do("DEBUG", "TRACE", "DUMP", path)
	tr := readTrace(t, path)
	tr.requireNested(t)
	tr.requirePairs(t, "b", "e")
	var outer happening
	for _, h := range tr.spans[tr.exec] {
		if h.Name == "eval" {
			outer = h
		}
	}
	inside := 0
	for _, h := range tr.spans[tr.exec] {
		if h.Cat == "read" && outer.begin() < h.begin() && h.end() < outer.end() {
			inside++
		}
	}
	require.Positive(t, inside)
}

func TestDebugTraceNeedsARecording(t *testing.T) {
	admin, path := redistest.Dial(t, start(t, nil)), filepath.Join(t.TempDir(), "trace.json")
	require.Equal(t, "ERR no trace was recorded, see DEBUG TRACE START", admin.Do("DEBUG", "TRACE", "DUMP", path).Str)
	admin.Do("DEBUG", "TRACE", "START")
	require.Contains(t, admin.Do("DEBUG", "TRACE", "DUMP", filepath.Join(path, "below")).Str, "ERR open ")
	require.Contains(t, admin.Do("DEBUG", "TRACE", "DUMP").Str, "ERR unknown subcommand")
	require.Equal(t, "OK", admin.Do("DEBUG", "TRACE", "STOP").Str)
	admin.Do("SET", "k", "v")
	require.Equal(t, "OK", admin.Do("DEBUG", "TRACE", "DUMP", path).Str)
	for _, h := range readTrace(t, path).TraceEvents {
		require.NotEqual(t, "set", h.Name, "recorded after the end")
	}
}

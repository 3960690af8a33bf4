package node_test

import (
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

// requireNested requires that two spans of a thread are nested or do not overlap.
func (tr *traced) requireNested(t *testing.T) {
	t.Helper()
	for tid, spans := range tr.spans {
		requireNested(t, tr.name[tid], spans)
	}
	for _, requests := range tr.requests {
		requireNested(t, "a client", requests)
	}
}

func requireNested(t *testing.T, row string, spans []happening) {
	t.Helper()
	var open []happening
	for _, h := range spans {
		for len(open) > 0 && open[len(open)-1].end() <= h.begin() {
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			outer := open[len(open)-1]
			require.LessOrEqual(t, h.end(), outer.end(), "%s: %s %+v reaches out of %s %+v",
				row, h.Name, h.Args, outer.Name, outer.Args)
		}
		open = append(open, h)
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
	type key struct {
		client int
		seq    int64
	}
	accepted, read := map[int]int64{}, map[int]int64{}
	parsed, ran, written := map[key]int64{}, map[key]happening{}, map[key]int64{}
	through := map[int]int64{}
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
			for seq := *h.Args.Last - *h.Args.Requests + 1; seq <= *h.Args.Last; seq++ {
				parsed[key{c, seq}] = h.end()
			}
		case "execute":
			k := key{c, *h.Args.Seq}
			require.Positive(t, parsed[k], "%s %+v", h.Name, k)
			require.LessOrEqual(t, parsed[k], h.begin())
			if first, again := ran[k]; !again || first.end() < h.end() {
				ran[k] = h
			}
		case "write":
			for ; through[c] < *h.Args.Through; through[c]++ {
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

// requireArrows requires that each arrow leaves one row and arrives at another, later. It returns their number.
func (tr *traced) requireArrows(t *testing.T) (arrows int) {
	t.Helper()
	leaves := map[int]happening{}
	for _, h := range tr.TraceEvents {
		from, known := leaves[h.Bind]
		if h.Arrives {
			require.True(t, known, "%s %+v", h.Name, h.Args)
			require.LessOrEqual(t, from.begin(), h.begin())
			require.NotEqual(t, from.Tid, h.Tid, "an arrow from a thread to itself")
			arrows++
		}
		if h.Leaves {
			require.True(t, h.Arrives || !known, "two spans begin one arrow")
			leaves[h.Bind] = h
		}
	}
	return arrows
}

// requireRequests requires that the rows of clients show that many requests at least.
func (tr *traced) requireRequests(t *testing.T, least int) {
	t.Helper()
	shown := 0
	for _, requests := range tr.requests {
		shown += len(requests)
	}
	require.GreaterOrEqual(t, shown, least)
}

func (tr *traced) requireCounters(t *testing.T) {
	t.Helper()
	reads, writes := 0, 0
	for _, h := range tr.TraceEvents {
		if h.Ph == "C" {
			require.Equal(t, "pending", h.Name)
			reads, writes = max(reads, h.Args.Reads), max(writes, h.Args.Writes)
		}
	}
	require.Positive(t, reads)
	require.Positive(t, writes)
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
					pipeline = resp.AppendRequest(pipeline, r...)
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
	t.Parallel()
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
	tr.requireRequests(t, 8*20*13)
	tr.requireArrows(t)
	seen := map[string]bool{}
	for _, spans := range tr.spans {
		for _, h := range spans {
			seen[h.Name] = true
		}
	}
	for _, name := range []string{
		"sleep", "accept", "read", "parse", "GET", "EXEC", "INCR", "queued", "refused", "EVAL", "BLPOP", "expire", "write",
		"read phase", "write phase",
	} {
		require.True(t, seen[name], "no %s", name)
	}
}

// A file that ends with .gz is compressed. Spans name the key, the descriptor and the deadline.
func TestACompressedTraceNamesKeysAndDescriptors(t *testing.T) {
	addr, path := start(t, nil), filepath.Join(t.TempDir(), "trace.json.gz")
	admin := redistest.Dial(t, addr)
	require.Equal(t, "OK", admin.Do("DEBUG", "TRACE", "START").Str)
	require.Equal(t, "OK", admin.Do("SET", "lock:order:42", "v", "PX", "3600000").Str)
	require.NoError(t, admin.Send([]byte("*2\r\n$3\r\nGET\r\n$13\r\nlock:")))
	other := redistest.Dial(t, addr)
	requireInTime(t, "the beginning of the request is read", func() bool {
		return strings.Contains(other.Do("CLIENT", "LIST").Str, "qbuf=5 ")
	})
	require.NoError(t, admin.Send([]byte("order:42\r\n")))
	require.Equal(t, "v", admin.Read().Str)
	require.Equal(t, "OK", admin.Do("DEBUG", "TRACE", "DUMP", path).Str)
	packed, err := os.Open(path)
	require.NoError(t, err)
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	require.NoError(t, err)
	text, err := io.ReadAll(z)
	require.NoError(t, err)
	require.True(t, json.Valid(text))
	for _, found := range []string{
		`"name":"SET".*"key":"lock:order:42"`, `"name":"GET".*"key":"lock:order:42"`, `"name":"read".*"bytes":23`,
		`"name":"parse".*"requests":0.*"unfinished":1`, `"name":"sleep".*"pass":\d+,"until":"a key expires"`,
		`"name":"client \d+ \(fd \d+\)"`, `"name":"accept".*"fd":\d+`,
	} {
		require.Regexp(t, found, string(text))
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
	tr.requireRequests(t, 1)
	var outer happening
	for _, h := range tr.spans[tr.exec] {
		if h.Name == "EVAL" {
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
		require.NotEqual(t, "SET", h.Name, "recorded after the end")
	}
}

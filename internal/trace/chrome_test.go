package trace

import (
	"bytes"
	"encoding/json"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// ticking returns a clock that advances by 10 each time it is read.
func ticking() func() int64 {
	now := int64(0)
	return func() int64 { now += 10; return now }
}

// tracing returns a Recorder that keeps spans.
func tracing(clock func() int64) *Recorder {
	r := New(clock)
	r.Start()
	return r
}

// written returns the events of the file, and for each its "ph name".
func written(t *testing.T, tr *Recorder) (names []string, events []map[string]any) {
	t.Helper()
	var buf bytes.Buffer
	require.NoError(t, tr.WriteJSON(&buf))
	var file struct {
		TraceEvents []map[string]any `json:"traceEvents"`
	}
	require.NoError(t, json.Unmarshal(buf.Bytes(), &file), buf.String())
	for _, e := range file.TraceEvents {
		if e["ph"] != "M" {
			names = append(names, e["ph"].(string)+" "+e["name"].(string))
			events = append(events, e)
		}
	}
	return names, events
}

func TestArrowsFollowARequestThroughThreads(t *testing.T) {
	clock := ticking()
	tr := tracing(clock)
	main, io := tr.Thread("main"), tr.Thread("io_1")
	begin := main.Mark()
	share := io.Mark()
	io.Lap(Read, 7, 0, 27)
	io.Lap(Parse, 7, 1, 1)
	io.Span(Reading, share, clock(), 1)
	executing := main.Mark()
	main.Span(Reading, begin, executing, 2)
	main.Execute("get", executing, clock(), 7, 1)
	begin, share = main.Mark(), io.Mark()
	io.Lap(Write, 7, 1, 5)
	io.Span(Writing, share, clock(), 1)
	main.Span(Writing, begin, main.Mark(), 1)
	names, events := written(t, tr)
	require.Equal(t, []string{
		"X read phase", "X read phase", "X read", "X parse", "X GET", "X write phase", "X write phase", "X write",
		"C pending", "X GET",
	}, names)
	type arrow struct{ bind, arrives, leaves any }
	var arrows []arrow
	for _, e := range events[:8] {
		arrows = append(arrows, arrow{e["bind_id"], e["flow_in"], e["flow_out"]})
	}
	require.Equal(t, []arrow{
		{1.0, nil, true}, {1.0, true, nil}, {}, {3.0, nil, true}, {3.0, true, true}, {2.0, nil, true}, {2.0, true, nil},
		{3.0, true, nil},
	}, arrows)
	require.Equal(t, 0.0, events[0]["ts"])
	require.Equal(t, 0.05, events[0]["dur"])
}

func TestARequestThatIsNotAnsweredYetHasNoLife(t *testing.T) {
	tr := tracing(ticking())
	main := tr.Thread("main")
	main.Mark()
	main.Lap(Read, 1, 0, 10)
	main.Lap(Parse, 1, 3, 2)
	begin := main.Mark()
	main.Execute("ping", begin, main.Mark(), 1, 2)
	main.Execute("blpop", begin, main.Mark(), 1, 3)
	main.Lap(Write, 1, 2, 7)
	names, _ := written(t, tr)
	require.Equal(t, []string{"X read", "X parse", "X BLPOP", "X PING", "X write", "X PING"}, names)
	main.Execute("blpop", main.Mark(), main.Mark(), 1, 3)
	main.Mark()
	main.Lap(Write, 1, 3, 20)
	names, _ = written(t, tr)
	require.Equal(t, []string{"X PING", "X BLPOP"}, names[len(names)-2:])
}

func TestTheNewestEventsAreKept(t *testing.T) {
	tr := tracing(ticking())
	main := tr.Thread("main")
	for i := range ringSize + 10 {
		main.Execute("ping", tr.since+int64(i), tr.since+int64(i+1), 1, int64(i))
	}
	all := tr.collect()
	require.Len(t, all, ringSize)
	require.EqualValues(t, ringSize+9, all[len(all)-1].seq)
	require.EqualValues(t, 10, all[10].seq-all[0].seq)
}

// What a viewer shows beside a span: the key of a command, descriptors, what the wait found, and what failed.
func TestSpansSayWhatTheyFound(t *testing.T) {
	tr := tracing(ticking())
	main := tr.Thread("main")
	main.Span(Sleep, tr.since, main.Mark(), 0)
	main.Slept(3, 12, "a timer")
	main.Span(Sleep, tr.since, main.Mark(), 0)
	main.Slept(0, 13, NoDeadline)
	main.Mark()
	main.Lap(Accept, 1, 9, 0)
	begin := main.Mark()
	main.Lap(Read, 1, 9, -int(syscall.EAGAIN))
	main.Lap(Read, 1, 9, 40)
	main.Lap(Parse, 1, 5, 2)
	main.Unfinished()
	main.Lap(Parse, 1, 6, 1)
	main.Span(Reading, begin, main.Mark(), 1)
	for seq, key := range []string{"lock:order:42", "a key with more than twenty-four bytes", "\x00\xff", "锁😀\x01"} {
		main.Execute("get", main.Mark(), main.Mark(), 1, int64(4+seq))
		main.Key([]byte(key))
	}
	main.Mark()
	main.Lap(Write, 1, 6, 7)
	names, events := written(t, tr)
	args := map[string][]any{}
	for i, name := range names {
		args[name] = append(args[name], events[i]["args"])
	}
	type object = map[string]any
	require.Equal(t, []any{object{"ready": 0.0, "pass": 13.0}, object{"ready": 3.0, "pass": 12.0, "until": "a timer"}},
		args["X sleep"])
	require.Equal(t, []any{object{"client": 1.0, "fd": 9.0}}, args["X accept"])
	require.Equal(t, []any{object{"client": 1.0, "error": "EAGAIN"}, object{"client": 1.0, "bytes": 40.0}},
		args["X read"])
	require.Equal(t, []any{object{"requests": 2.0, "last": 5.0, "unfinished": 1.0}, object{"client": 1.0}},
		args["X parse"])
	require.NotContains(t, args, "X read phase", "of one client")
	require.Equal(t, []any{object{"reads": 1.0, "writes": 0.0}}, args["C pending"])
	require.Equal(t, []any{
		object{"client": 1.0, "seq": 4.0, "key": "lock:order:42"}, object{"client": 1.0, "key": "a key with more than twe"},
		object{"client": 1.0, "key": `\x00\xff`}, object{"client": 1.0, "key": "锁😀\x01"},
		object{"seq": 4.0}, nil, nil, // in the client's row
	}, args["X GET"])
	require.Equal(t, []any{object{"client": 1.0, "bytes": 7.0, "through": 6.0}}, args["X write"])
}

// A viewer drops a span that overlaps another one of its row by halves.
func TestARequestThatIsReadBeforeTheReplyToTheLastOneBeginsAtItsEnd(t *testing.T) {
	tr := tracing(ticking())
	main := tr.Thread("main")
	arrive := func(last int64, requests int) {
		main.Mark()
		main.Lap(Read, 1, 9, 40)
		main.Lap(Parse, 1, last, requests)
		for seq := last - int64(requests) + 1; seq <= last; seq++ {
			main.Execute("get", main.Mark(), main.Mark(), 1, seq)
		}
	}
	arrive(1, 1)
	arrive(3, 2)
	for _, through := range []int64{1, 3} {
		main.Mark()
		main.Lap(Write, 1, through, 5)
	}
	type request struct{ begin, dur, behind any }
	var got []request
	_, events := written(t, tr)
	for _, e := range events {
		if e["pid"] == 2.0 {
			var behind any
			if args, some := e["args"].(map[string]any); some {
				behind = args["behind"]
			}
			got = append(got, request{e["ts"], e["dur"], behind})
		}
	}
	require.Equal(t, []request{{0.0, 0.13, nil}, {0.13, 0.02, 80.0}, {0.13, 0.02, 80.0}}, got)
}

// What follows from the lines before is left out, so a request takes few bytes.
func TestARequestTakesFewBytes(t *testing.T) {
	for _, test := range []struct{ clients, pipeline, most int }{{1, 1, 520}, {8, 1, 480}, {8, 16, 220}} {
		tr := tracing(ticking())
		main := tr.Thread("main")
		size, seq := 0, int64(0)
		for _, passes := range []int{100, 200} {
			for range passes {
				main.Span(Sleep, main.Mark(), main.Mark(), 0)
				main.Slept(test.clients, seq, NoDeadline)
				begin := main.Mark()
				for id := range test.clients {
					main.Lap(Read, int64(1+id), int64(20+id), 45)
					main.Lap(Parse, int64(1+id), seq+int64(test.pipeline), test.pipeline)
				}
				main.Span(Reading, begin, main.Mark(), test.clients)
				for id := range test.clients {
					for i := range test.pipeline {
						main.Execute("get", main.Mark(), main.Mark(), int64(1+id), seq+int64(1+i))
						main.Key([]byte("key:000000001234"))
					}
				}
				begin = main.Mark()
				for id := range test.clients {
					main.Lap(Write, int64(1+id), seq+int64(test.pipeline), 5)
				}
				main.Span(Writing, begin, main.Mark(), test.clients)
				seq += int64(test.pipeline)
			}
			var file bytes.Buffer
			require.NoError(t, tr.WriteJSON(&file))
			size = file.Len() - size
		}
		each := size / (200 * test.clients * test.pipeline)
		require.LessOrEqual(t, each, test.most, "%+v", test)
	}
}

// A span that replaces an old one has no key of the old one.
func TestAFullRingForgetsTheKeysOfOldSpans(t *testing.T) {
	main := tracing(ticking()).Thread("main")
	for range ringSize {
		main.Execute("get", 0, 0, 1, 1)
		main.Key([]byte("old"))
	}
	main.Execute("ping", 0, 0, 1, 2)
	for _, e := range main.r.collect() {
		require.Equal(t, map[string]string{"get": "old", "ping": ""}[e.name], e.key)
	}
}

func TestNothingBeginsBeforeTheRecording(t *testing.T) {
	clock := ticking()
	for range 10 {
		clock()
	}
	tr := tracing(clock)
	main := tr.Thread("main")
	main.Span(Sleep, 20, 150, 0)
	main.Span(Sleep, 20, 30, 0)
	require.Equal(t, []int64{tr.since, 150, tr.since, tr.since},
		[]int64{main.ring[0].begin, main.ring[0].end, main.ring[1].begin, main.ring[1].end})
}

func TestNoRecordingRecordsNothing(t *testing.T) {
	var none *Thread
	none.Locked()
	none.Mark()
	none.Lap(Read, 1, 1, 1)
	none.Span(Sleep, 1, 2, 0)
	none.Execute("get", 1, 2, 1, 1)
	none.Lower(none.Raise())
	require.Nil(t, none)
}

func TestRecordingDoesNotAllocate(t *testing.T) {
	main := tracing(ticking()).Thread("main")
	require.Zero(t, testing.AllocsPerRun(2*ringSize, func() {
		main.Mark()
		main.Lap(Read, 1, 0, 10)
		main.Execute("get", 1, 2, 1, 1)
		main.Key([]byte("lock"))
	}))
}

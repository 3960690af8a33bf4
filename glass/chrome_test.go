package glass

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// ticking returns a clock that advances by 10 each time it is read.
func ticking() func() int64 {
	now := int64(0)
	return func() int64 { now += 10; return now }
}

// tracing returns a Watch that keeps spans.
func tracing(clock func() int64) *Watch {
	w := New(Options{Clock: clock})
	w.StartTrace()
	return w
}

// written returns the events of the file, and for each its "ph name".
func written(t *testing.T, tr *Watch) (names []string, events []map[string]any) {
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
		"X read phase", "C pending reads", "C pending reads", "X read phase", "X read", "X parse", "X get",
		"X write phase", "C pending writes", "C pending writes", "X write phase", "X write",
		"b client 7", "e client 7", "s share", "f share", "s share", "f share", "s parsed", "f parsed", "s executed",
		"f executed",
	}, names)
	require.Equal(t, 0.03, events[0]["ts"])
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
	require.Equal(t, []string{"X read", "X parse", "X blpop", "X ping", "X write", "b client 1", "e client 1"}, names)
	main.Execute("blpop", main.Mark(), main.Mark(), 1, 3)
	main.Mark()
	main.Lap(Write, 1, 3, 20)
	names, _ = written(t, tr)
	require.Equal(t, []string{"b client 1", "e client 1", "b client 1", "e client 1"}, names[len(names)-4:])
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
	}))
}

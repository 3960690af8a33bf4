package glass

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/trace"
)

// Readers who get all events still need the keys: no event has them.
func TestAToldCommandIsFollowedByTheKeys(t *testing.T) {
	r := newRig(t)
	now := int64(0)
	r.w.Clock = func() int64 { return now }
	r.w.Summary = func(s *Summary, _ bool) { s.Keys = []Key{{K: "k"}} }
	var sums []*Summary
	pass := func(commands int) {
		now += int64(time.Second)
		r.w.BeginPass(now)
		for range commands {
			r.main.Lap(trace.Execute, 7, 0, 0)
		}
		r.w.EndPass(now, "")
		for m, ok, _ := r.sub.take(); ok; m, ok, _ = r.sub.take() {
			if m.Kind == KindSum {
				sums = append(sums, m.Sum)
			}
		}
	}
	pass(0)
	require.Empty(t, sums)
	pass(2)
	pass(0)
	require.Len(t, sums, 1)
	require.Equal(t, []Key{{K: "k"}}, sums[0].Keys)
	require.Zero(t, sums[0].Passes)
}

// A pass of many clients begins with one handler for each. A sample must not end there.
func TestASampleFollowsSomeClientsThroughThePass(t *testing.T) {
	var pass []trace.Event
	for _, p := range []trace.Point{
		trace.Handler, trace.ReadDone, trace.Parsed, trace.Executes, trace.Replied, trace.Written,
	} {
		for c := range int64(50) {
			pass = append(pass, trace.Event{Point: p, Client: c + 1})
		}
	}
	pass = append(pass, trace.Event{Point: trace.Asleep})
	events := sample(pass)
	require.Len(t, events, 6*mostClients+1)
	for _, e := range events {
		require.LessOrEqual(t, e.Client, int64(mostClients))
	}
	require.Equal(t, trace.Asleep, events[len(events)-1].Point)
}

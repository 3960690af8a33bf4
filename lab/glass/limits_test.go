package glass

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/trace"
)

func TestTheEndOfSlowMotionEndsADelay(t *testing.T) {
	r := newRig(t)
	r.w.Slow(time.Hour)
	done := r.pass(get(7, "k")...)
	require.Equal(t, WhySlow, r.stop().Why)
	r.w.Slow(0)
	<-done
}

func TestSlowMotionLetsAStopStand(t *testing.T) {
	r := newRig(t)
	r.w.Pause()
	done := r.pass(get(7, "k")...)
	r.stop()
	r.w.Slow(0)
	require.Equal(t, "stopped", r.w.State().State)
	r.w.Continue()
	<-done
}

func TestAHugePassTakesLimitedRoom(t *testing.T) {
	const events = 5 * mostQueued
	for name, pass := range map[string]int{"told": passTold, "sampled": passSampled} {
		r := newRig(t)
		r.w.BeginPass(r.w.Clock())
		r.w.sums.pass = pass
		for range events {
			r.main.Event(trace.Event{Point: trace.Executes, Client: 7}, nil)
			r.w.mu.Lock()
			batch := len(r.w.news.batch)
			r.w.mu.Unlock()
			require.LessOrEqual(t, batch, mostBatch)
		}
		r.w.EndPass(r.w.Clock(), "")
		require.LessOrEqual(t, r.sub.events, mostQueued)
		if pass == passSampled {
			continue
		}
		gap, kept := r.next(), 0
		for m, ok, _ := r.sub.take(); ok; m, ok, _ = r.sub.take() {
			kept += len(m.Events)
		}
		require.EqualValues(t, events, gap.Lost+int64(kept), name)
		require.Zero(t, r.sub.events)
	}
}

func TestARecordingOfLargeStopsEndsEarlier(t *testing.T) {
	r := newRig(t)
	const clients = 63
	r.w.Options.Snapshot = func(*trace.Event) *Snapshot { return &Snapshot{Clients: make([]trace.Client, clients)} }
	r.w.Slow(time.Nanosecond)
	r.w.RecordStart(0)
	for range mostLines / (clients + 2) {
		require.True(t, r.w.tape.on)
		<-r.pass(trace.Event{Point: trace.Executes})
	}
	<-r.pass(trace.Event{Point: trace.Executes})
	require.False(t, r.w.tape.on)
}

package glass

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/trace"
)

// A pass that does not end cannot tell its events. Its readers hear of them all the same, and that it lasts.
func TestAPassThatLastsIsToldBeforeItsEnd(t *testing.T) {
	r := newRig(t)
	next := func() Message {
		m, err := r.sub.Next(context.Background())
		require.NoError(t, err)
		return m
	}
	until := func(busy bool) {
		for {
			if m := next(); m.Kind == KindState && m.State.Busy == busy {
				return
			}
		}
	}
	r.w.BeginPass(r.w.Clock())
	r.main.Event(trace.Event{Point: trace.Woke, A: 1, Text: "event 7r"}, nil)
	r.main.Event(trace.Event{Point: trace.Executes, Client: 7, Text: "eval"}, nil)
	for {
		if m := next(); m.Kind == KindEvent {
			require.Equal(t, trace.Executes, m.Events[1].Point)
			break
		}
	}
	until(true)
	require.Equal(t, "running", r.w.State().State)
	require.True(t, r.w.State().Busy)
	r.w.Pause() // nothing can stop it now
	require.Equal(t, "armed", r.w.State().State)
	require.True(t, r.w.State().Busy)
	r.w.Continue()
	r.w.EndPass(r.w.Clock(), "")
	until(false)
}

func TestAPassThatLastsIsToldToALateReader(t *testing.T) {
	w := New(trace.New(ticking()), Options{})
	w.BeginPass(w.Clock()) // nobody looks
	late := w.Subscribe(0)
	defer late.Close()
	for {
		m, err := late.Next(context.Background())
		require.NoError(t, err)
		if m.Kind == KindState && m.State.Busy {
			return
		}
	}
}

// A loop that stands because somebody stops it is not busy, however long that takes.
func TestAPassThatIsStoppedIsNotBusy(t *testing.T) {
	r := newRig(t)
	r.w.Pause()
	done := r.pass(trace.Event{Point: trace.Woke, A: 1, Text: "event 7r"})
	r.stop()
	r.w.long = r.w.pass.Load() // as if it had lasted before
	require.False(t, r.w.State().Busy)
	r.w.Continue()
	<-done
}

// A loop that loads or saves between two passes does not sleep, also if somebody wants to stop it.
func TestALoopThatWorksBetweenPassesIsNotAsleep(t *testing.T) {
	r := newRig(t)
	pass := func(work string) State {
		r.w.BeginPass(r.w.Clock())
		r.w.EndPass(r.w.Clock(), work)
		return r.w.State()
	}
	r.w.Pause()
	require.Equal(t, "asleep", pass("").State)
	state := pass("loading")
	require.Equal(t, "armed", state.State)
	require.Equal(t, "loading", state.Work)
	require.Equal(t, "asleep", pass("").State)
}

// What happened while nobody watched is in no event. So who joins gets to know who is there, and which keys.
func TestANewReaderGetsASummary(t *testing.T) {
	r := newRig(t)
	woken := false
	r.w.Wake = func() { woken = true }
	r.w.Summary = func(s *Summary, first bool) {
		if s.Clients, s.KeysMore = 1, 3; first {
			s.First = []trace.Client{{ID: 7}}
		}
	}
	late := r.w.Subscribe(1)
	defer late.Close()
	r.w.Greet()
	require.True(t, woken)
	<-r.pass()
	for {
		m, err := late.Next(context.Background())
		require.NoError(t, err)
		if m.Kind == KindSum {
			require.EqualValues(t, 7, m.Sum.First[0].ID)
			require.Contains(t, string(m.AppendJSON(nil)), `"keysMore":3`)
			return
		}
	}
}

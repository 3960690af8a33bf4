package glass

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/trace"
)

// ticking returns a clock that advances by 10 each time it is read.
func ticking() func() int64 {
	now := int64(0)
	return func() int64 { now += 10; return now }
}

// rig is a View without a server. A test emits its events from a goroutine of its own.
type rig struct {
	*testing.T
	w    *View
	main *trace.Thread
	sub  *Subscription
}

func newRig(t *testing.T) *rig {
	o := Options{Match: func(pattern string, s []byte) bool { return pattern == string(s) }}
	o.Keys = func(args [][]byte) [][]byte { return args[1:] }
	o.Name = func(client int64) string { return "client-7" }
	w := New(trace.New(ticking()), o)
	r := &rig{T: t, w: w, main: w.Thread("main"), sub: w.Subscribe(0)}
	t.Cleanup(r.sub.Close)
	return r
}

// pass emits events as a pass, from another goroutine, and returns a channel that is closed at its end.
func (r *rig) pass(events ...trace.Event) <-chan struct{} {
	done := make(chan struct{})
	r.w.BeginPass(r.w.Clock())
	go func() {
		defer close(done)
		for _, e := range events {
			if r.main.Detailed() {
				r.main.Event(e, nil)
			}
		}
		r.w.EndPass(r.w.Clock(), "")
	}()
	return done
}

// next returns the next message that is no state.
func (r *rig) next() Message {
	r.Helper()
	for {
		m, err := r.sub.Next(context.Background())
		require.NoError(r, err)
		if m.Kind != KindState {
			return m
		}
	}
}

func (r *rig) stop() *Stop {
	r.Helper()
	for {
		if m := r.next(); m.Kind == KindStop {
			return m.Stop
		}
	}
}

func get(client int64, key string) []trace.Event {
	args := [][]byte{[]byte("get"), []byte(key)}
	return []trace.Event{
		{Point: trace.Woke, A: 1}, {Point: trace.Handler, B: 9, Client: client},
		{Point: trace.ReadDone, A: 20, Client: client},
		{Point: trace.Parsed, A: 1, Client: client},
		{Point: trace.Executes, Client: client, Text: "GET " + key, Args: args, Name: "get"},
		{Point: trace.Replied, Client: client, B: trace.ReplyNil, Args: args, Name: "get"},
		{Point: trace.Written, A: 5, Client: client}, {Point: trace.Asleep, A: -1, B: 1},
	}
}

func TestNextGoesToTheNextOfItsUnit(t *testing.T) {
	for unit, want := range map[Unit]string{
		OneEvent: "whrpxyos", OneHandler: "h", OneClient: "h", OneCommand: "x", OnePhase: "wrxos", OnePass: "w",
	} {
		r := newRig(t)
		met := ""
		r.w.Next(unit, 1)
		done := r.pass(get(7, "k")...)
		for over := false; !over; {
			select {
			case <-done:
				over = true
			case <-r.sub.ready:
				for m, ok, _ := r.sub.take(); ok; m, ok, _ = r.sub.take() {
					if m.Kind == KindStop {
						met += string(rune(m.Stop.Event.Point))
						r.w.Next(unit, 1)
					}
				}
			}
		}
		require.Equal(t, want, met, unit.String())
	}
}

func TestNextCountsItsUnits(t *testing.T) {
	r := newRig(t)
	r.w.Next(OneEvent, 5)
	done := r.pass(get(7, "k")...)
	require.Equal(t, trace.Executes, r.stop().Event.Point)
	r.w.Continue()
	<-done
	require.Equal(t, "running", r.w.State().State)
}

func TestAnIdlePassStopsNothingAndLeavesNoEvents(t *testing.T) {
	r := newRig(t)
	r.w.Pause()
	idle := []trace.Event{{Point: trace.Woke}, {Point: trace.Asleep}}
	for range 3 {
		<-r.pass(idle...)
	}
	require.Equal(t, "asleep", r.w.State().State)
	done := r.pass(trace.Event{Point: trace.Woke}, trace.Event{Point: trace.Expired, A: 1, Text: "k"},
		trace.Event{Point: trace.Asleep})
	stop := r.stop()
	require.Equal(t, trace.Woke, stop.Event.Point, "a timer was due")
	require.EqualValues(t, 1, stop.Event.Seq)
	require.Equal(t, "pause", stop.Why)
	r.w.Open()
	<-done
}

func TestBreakpointsMatchAllTheirConditions(t *testing.T) {
	for words, want := range map[string]string{
		"b":                              "x",
		"b AT read":                      "r",
		"b AT r CLIENT 7":                "r",
		"b AT r CLIENT 8":                "",
		"b CMD GET KEY k":                "x",
		"b CMD GET KEY other":            "",
		"b CMD SET":                      "",
		"b AT replied CMD GET":           "y",
		"b CLIENT client-7":              "x",
		"b CLIENT nobody":                "",
		"b WHEN READY 1":                 "w",
		"b WHEN READY 2":                 "",
		"b WHEN BLOCKED":                 "",
		"b WHEN EAGAIN":                  "",
		"b AT written WHEN EAGAIN":       "",
		"b NTH 2":                        "",
		"b AT handler CLIENT 7 NTH 1":    "h",
		"b WHEN PARTIAL":                 "",
		"b AT asleep WHEN EXPIRED NTH 9": "",
	} {
		r := newRig(t)
		_, err := r.w.Step(append([]string{"BREAK", "ADD"}, strings.Fields(words)...))
		require.NoError(t, err, words)
		done := r.pass(get(7, "k")...)
		if want != "" {
			stop := r.stop()
			require.Equal(t, want, string(rune(stop.Event.Point)), words)
			require.Equal(t, "break b", stop.Why)
			require.Equal(t, "b", r.w.State().Breakpoint)
			require.Equal(t, strings.Fields(words)[0], r.w.Breaks()[0].Words()[0])
		}
		r.w.Reset()
		<-done
	}
}

func TestAnEndedStopIsOver(t *testing.T) {
	for name, end := range map[string]func(w *View){
		"CONTINUE": func(w *View) { w.Continue() },
		"Reset":    func(w *View) { w.Reset() },
		"Open":     func(w *View) { w.Open() },
	} {
		r := newRig(t)
		r.w.Pause()
		done := r.pass(get(7, "k")...)
		r.stop()
		require.Equal(t, "stopped", r.w.State().State, name)
		end(r.w)
		<-done
		require.Equal(t, "running", r.w.State().State, name)
	}
}

func TestAnOpenedGateNeverStopsAgain(t *testing.T) {
	r := newRig(t)
	r.w.Open()
	r.w.Pause()
	require.NoError(t, r.w.Break(Breakpoint{Name: "b"}))
	r.w.Slow(time.Hour)
	<-r.pass(get(7, "k")...)
	require.Equal(t, "running", r.w.State().State)
}

func TestSlowMotionShowsEveryPoint(t *testing.T) {
	r := newRig(t)
	r.w.Slow(time.Nanosecond)
	done := r.pass(get(7, "k")...)
	met := ""
	for range 8 {
		stop := r.stop()
		require.Equal(t, "slow", stop.Why)
		met += string(rune(stop.Event.Point))
	}
	<-done
	require.Equal(t, "whrpxyos", met)
}

func TestAStopEndsByItselfOnceNobodyWatches(t *testing.T) {
	r := newRig(t)
	r.w.Limit(time.Nanosecond)
	r.w.Pause()
	done := r.pass(get(7, "k")...)
	r.stop()
	select {
	case <-done:
		require.Fail(t, "somebody watches")
	default:
	}
	r.sub.Close()
	<-done
}

func TestASlowReaderLosesTheOldestAndIsTold(t *testing.T) {
	r := newRig(t)
	r.w.Next(OneEvent, 1_000_000) // events go out one by one
	const passes = 100
	for range passes {
		<-r.pass(get(7, "k")...)
	}
	gap := r.next()
	require.Equal(t, KindGap, gap.Kind)
	require.EqualValues(t, 8*passes-queueSize, gap.Lost)
	last := int64(0)
	for range len(r.sub.queue) {
		m, _, _ := r.sub.take()
		if m.Kind == KindEvent {
			require.Greater(t, m.Events[0].Seq, last)
			last = m.Events[0].Seq
		}
	}
	require.EqualValues(t, 8*passes, last, "the newest are there")
}

func TestALateReaderGetsTheEventsThatItAsksFor(t *testing.T) {
	r := newRig(t)
	<-r.pass(get(7, "k")...)
	late := r.w.Subscribe(3)
	m, err := late.Next(context.Background())
	require.NoError(t, err)
	require.Len(t, m.Events, 6)
	require.EqualValues(t, 3, m.Events[0].Seq)
	late.Close()
	r.w.End()
	for err == nil {
		_, err = r.sub.Next(context.Background())
	}
	require.Equal(t, io.EOF, err)
}

func TestManyEventsBecomeSummaries(t *testing.T) { manyEvents(t, newRig(t)) }

func TestABreakpointLetsManyEventsBecomeSummaries(t *testing.T) {
	r := newRig(t)
	require.NoError(t, r.w.Break(Breakpoint{Name: "never", Cmd: "nosuch"}))
	manyEvents(t, r)
}

// manyEvents runs 2000 passes in two seconds, and expects summaries of most of them.
func manyEvents(t *testing.T, r *rig) {
	t.Helper()
	now := int64(0)
	r.w.Clock = func() int64 { return now }
	r.w.Summary = func(s *Summary, _ bool) { s.Clients = 50 }
	told, sums := 0, []*Summary{}
	for range 2000 {
		now += int64(time.Millisecond)
		r.w.BeginPass(now)
		r.main.Lap(trace.Read, 7, 0, 10)
		for _, e := range get(7, "k") {
			if r.main.Detailed() {
				r.main.Event(e, nil)
			}
		}
		r.w.EndPass(now, "")
		for m, ok, _ := r.sub.take(); ok; m, ok, _ = r.sub.take() {
			switch m.Kind {
			case KindEvent:
				told += len(m.Events)
			case KindSum:
				sums = append(sums, m.Sum)
				text := m.AppendJSON(nil)
				require.Less(t, len(text), 4096)
				require.Contains(t, string(text), `"pass_events":[[`)
				require.Equal(t, 50, m.Sum.Clients)
				require.Equal(t, m.Sum.Passes, m.Sum.Counts["r"])
			}
		}
	}
	require.LessOrEqual(t, told, 3*eventRate)
	require.Greater(t, told, eventRate)
	require.InDelta(t, 18, len(sums), 3)
}

func TestStepNamesTheArgumentThatIsWrong(t *testing.T) {
	w := newRig(t).w
	for words, want := range map[string]string{
		"BACK":                           ": expects PAUSE, CONTINUE, NEXT, SLOW, BREAK, CLOCK, LIMIT or nothing, not ",
		"PAUSE now":                      " PAUSE: 'now' is one argument too many",
		"NEXT WORD":                      " NEXT: expects EVENT, HANDLER, CLIENT, COMMAND, PHASE or PASS, not 'WORD'",
		"NEXT PASS 0":                    " NEXT: n expects a number from 1 to 1000000, not '0'",
		"NEXT -1":                        " NEXT: n expects a number from 1 to 1000000, not '-1'",
		"SLOW":                           " SLOW: milliseconds is missing",
		"SLOW x":                         " SLOW: milliseconds expects a number from 0 to 60000, not 'x'",
		"LIMIT 0":                        " LIMIT: seconds expects a number from 1 to 86400, not '0'",
		"CLOCK":                          " CLOCK: expects STILL or RUN",
		"CLOCK x":                        " CLOCK: expects STILL or RUN, not 'x'",
		"BREAK":                          " BREAK: expects ADD, DEL, CLEAR or LIST",
		"BREAK ADD":                      " BREAK ADD: a name is missing",
		"BREAK ADD b WHO x":              " BREAK ADD: 'WHO' is not one of AT, CMD, KEY, CLIENT, NTH, WHEN",
		"BREAK ADD b AT x AT y":          " BREAK ADD: AT is given twice",
		"BREAK ADD b AT nowhere":         " BREAK ADD: AT expects a point such as read",
		"BREAK ADD b WHEN READY":         " BREAK ADD: WHEN READY expects a number",
		"BREAK ADD b WHEN tired":         " BREAK ADD: WHEN 'tired' is not one of PARTIAL, EAGAIN",
		"BREAK ADD b AT read CMD GET":    " BREAK ADD: CMD and KEY need AT execute or AT replied",
		"BREAK ADD b CMD":                " BREAK ADD: CMD expects a value",
		"BREAK DEL nobody":               " BREAK DEL: there is no breakpoint 'nobody'",
		"BREAK DEL":                      " BREAK DEL: name is missing",
		"BREAK ADD b NTH 0":              " BREAK ADD: NTH expects a number of at least 1, not '0'",
		"BREAK ADD " + "n\x01" + " AT x": ` BREAK ADD: the name must be 1 to 64 printable characters`,
	} {
		_, err := w.Step(strings.Fields(words))
		require.ErrorContains(t, err, "ERR LAB STEP"+want)
	}
	_, err := w.Step([]string{"BREAK", "ADD", "b", "AT", "x", "WHEN", "READY", "3", "NTH", "2"})
	require.NoError(t, err)
	require.Equal(t, "b AT execute NTH 2 WHEN READY 3", strings.Join(w.Breaks()[0].Words(), " "))
	_, err = w.Step([]string{"BREAK", "ADD", "b"})
	require.EqualError(t, err, "ERR LAB STEP BREAK ADD: the breakpoint 'b' already exists")
}

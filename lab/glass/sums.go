package glass

import (
	"time"

	"github.com/miniredisd/miniredisd/internal/trace"
)

// How a pass reaches readers while nobody steps.
const (
	passTold    = iota // all its events
	passSampled        // its events are the example in the next summary
	passCounted        // only in the numbers of the next summary
)

const (
	eventRate     = 200 // events a second up to which readers get all
	summaryPeriod = int64(100 * time.Millisecond)
	mostSampled   = 48 // events of a summary, less than 4 KB
	mostClients   = 6  // of which a summary has events: so they are there from read to write
)

// sums counts what readers do not get as events. It belongs to View.mu, and main alone changes pass.
type sums struct {
	pass   int     // passTold, passSampled or passCounted
	tokens float64 // events that may be sent now
	at     int64   // when tokens were counted
	sent   int64   // when the last summary was sent, or the counting began
	passes int64   // since the first that was not told
	wrote  bool    // told passes have executed commands, so keys may have changed
	counts [trace.Kinds]int64
	ns     [trace.Kinds]int64
}

// begin decides how the pass reaches the readers. It returns the mode.
func (s *sums) begin(now int64) (mode uint32) {
	s.tokens = min(s.tokens+float64(now-s.at)/1e9*eventRate, eventRate)
	s.at = now
	switch {
	case s.tokens > 0:
		s.pass = passTold
		return trace.Details
	case now-s.sent >= summaryPeriod:
		s.pass = passSampled
		return trace.Details
	}
	s.pass = passCounted
	return trace.Counts
}

// spend pays for events. A huge pass costs at most two seconds.
func (s *sums) spend(events int) { s.tokens = max(s.tokens-float64(events), -eventRate) }

// summarize ends a pass. It sends a summary if one is due.
func (v *View) summarize(now int64) {
	s := &v.sums
	if s.pass != passTold || s.passes > 0 {
		s.passes++
	}
	all, ns := v.Totals()
	switch {
	case s.passes == 0: // readers have got all events so far
		s.wrote = s.wrote || all[trace.Execute] > s.counts[trace.Execute]
		s.counts, s.ns = all, ns
		v.tellKeys(now)
		return
	case now-s.sent < summaryPeriod:
		return
	}
	sum := &Summary{Pass: v.pass.Load(), Passes: s.passes, Counts: map[string]int64{}, NS: map[string]int64{}}
	add := func(p trace.Point, count, took trace.Kind) {
		n := all[count] - s.counts[count]
		sum.Counts[string(rune(p))] = n
		sum.Events += n
		sum.NS[string(rune(p))] = ns[took] - s.ns[took]
	}
	add(trace.Accepted, trace.Accept, trace.Accept)
	add(trace.ReadDone, trace.Read, trace.Reading)
	add(trace.Parsed, trace.Parse, trace.Parse)
	add(trace.Executes, trace.Execute, trace.Execute)
	add(trace.Expired, trace.Expire, trace.Expire)
	add(trace.Written, trace.Write, trace.Writing)
	add(trace.Asleep, trace.Sleep, trace.Sleep)
	sum.Commands = sum.Counts[string(rune(trace.Executes))]
	s.counts, s.ns, s.passes, s.sent = all, ns, 0, now
	sum.events = sample(v.news.batch)
	if s.pass == passSampled {
		v.news.batch = nil
	}
	v.tellSum(sum)
}

func (v *View) tellSum(sum *Summary) {
	if v.Summary != nil {
		v.Summary(sum, v.news.joined)
	}
	v.news.joined = false
	v.publish(Message{Kind: KindSum, Sum: sum})
}

// tellKeys sends a summary without numbers after told passes: events do not say what the keys are now. A new reader
// gets it at once.
func (v *View) tellKeys(now int64) {
	s := &v.sums
	due := s.wrote && now-s.sent >= summaryPeriod && !v.gate.steps()
	if !due && !v.news.joined {
		return
	}
	s.wrote, s.sent = false, now
	v.tellSum(&Summary{Pass: v.pass.Load(), Counts: map[string]int64{}, NS: map[string]int64{}})
}

// sample returns the events of a pass that a summary has room for: those of no client and those of the
// first clients.
func sample(pass []trace.Event) (events []trace.Event) {
	seen := map[int64]bool{0: true}
	for _, e := range pass {
		if len(seen) <= mostClients {
			seen[e.Client] = true
		}
		if seen[e.Client] && len(events) < mostSampled {
			events = append(events, e)
		}
	}
	return events
}

package command

import (
	"maps"
	"slices"
)

// Latency remembers events that took longer than latency-monitor-threshold
// (latency.c).
type Latency struct {
	events map[string]*latencyEvent
}

type latencyEvent struct {
	samples []latencySample // the latest latencySamples, oldest first
	max     int64           // ms, of all time
}

type latencySample struct{ unix, ms int64 }

const latencySamples = 160

// Add notes that an event took ms. Of the samples of one second the worst is kept.
func (l *Latency) Add(event string, unix, ms int64) {
	if l.events == nil {
		l.events = map[string]*latencyEvent{}
	}
	e := l.events[event]
	if e == nil {
		e = &latencyEvent{}
		l.events[event] = e
	}
	e.max = max(e.max, ms)
	if n := len(e.samples); n > 0 && e.samples[n-1].unix == unix {
		e.samples[n-1].ms = max(e.samples[n-1].ms, ms)
		return
	}
	if len(e.samples) == latencySamples {
		e.samples = append(e.samples[:0], e.samples[1:]...)
	}
	e.samples = append(e.samples, latencySample{unix, ms})
}

func (l *Latency) names() []string { return slices.Sorted(maps.Keys(l.events)) }

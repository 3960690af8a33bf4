package command

import (
	"maps"
	"slices"

	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/store"
)

// Latency holds events that took at least latency-monitor-threshold (latency.c).
type Latency struct {
	cfg    *config.Config
	ks     *store.Keyspace // for the time
	events map[string]*latencyEvent
}

type latencyEvent struct {
	samples []latencySample // the latest latencySamples, oldest first
	max     int64           // ms, of all samples ever
}

type latencySample struct{ unix, ms int64 }

const latencySamples = 160

// Note adds an event that took so many nanoseconds, if that reaches latency-monitor-threshold.
func (l *Latency) Note(event string, took int64) {
	if ms := l.cfg.LatencyMonitorThreshold; ms > 0 && took/1e6 >= ms {
		l.add(event, l.ks.Now/1000, took/1e6)
	}
}

// add adds a sample. Of the samples of one second the largest is kept.
func (l *Latency) add(event string, unix, ms int64) {
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

package command

import "github.com/miniredisd/miniredisd/store"

// ResetStats forgets what CONFIG RESETSTAT forgets of the executor.
func (ex *Executor) ResetStats() {
	ex.Stats = Stats{}
	clear(ex.Errors)
	dirty := ex.KS.Stats.Dirty
	ex.KS.Stats = store.Stats{Dirty: dirty}
	for _, cmd := range ex.Table.All() {
		cmd.Calls = Calls{}
		for _, sub := range cmd.Subs {
			sub.Calls = Calls{}
		}
	}
}

func (s *Calls) observe(nanos int64) {
	if s.Latency == nil {
		s.Latency = &Histogram{}
	}
	s.Latency.add(nanos)
}

// ForgetLatencies drops the histograms, when latency-tracking is switched off.
func (ex *Executor) ForgetLatencies() {
	for _, cmd := range ex.Table.All() {
		cmd.Calls.Latency = nil
		for _, sub := range cmd.Subs {
			sub.Calls.Latency = nil
		}
	}
}

// noteSlow is the rest of run for a command that took long (slowlog.c:
// slowlogPushEntryIfNeeded; latency.h: latencyAddSampleIfNeeded).
func (ex *Executor) noteSlow(cmd *Command, s *Session, args [][]byte, took int64) {
	if limit := ex.Cfg.SlowlogSlowerThan; limit >= 0 && took/1e3 >= limit && cmd.Flags&SkipSlowlog == 0 {
		e := slowEntry{unix: ex.KS.Now / 1000, micros: took / 1e3, args: slowlogCopy(redact(cmd, args)), addr: s.Addr, name: s.Name}
		if ex.script.on {
			e.addr, e.name = "?:0", "" // who calls is no client
		}
		ex.slowlog.add(e, ex.Cfg.SlowlogMaxLen)
	}
	event := "command"
	if cmd.Flags&Fast != 0 {
		event = "fast-command"
	}
	ex.NoteLatency(event, took)
}

// NoteLatency notes an event if it took as long as latency-monitor-threshold.
func (ex *Executor) NoteLatency(event string, took int64) {
	if ms := ex.Cfg.LatencyMonitorThreshold; ms > 0 && took/1e6 >= ms {
		ex.Latency.Add(event, ex.KS.Now/1000, took/1e6)
	}
}

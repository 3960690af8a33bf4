package server

import "time"

// cronPeriod is hz 10. An idle server without limits to watch runs cron only once a second: waking an
// idle process costs more than cron itself.
const (
	cronPeriod     = 100 * time.Millisecond
	cronPeriodIdle = time.Second
)

// cron does the regular work that no request asks for (server.c: serverCron).
func (s *Server) cron() time.Duration {
	if s.Debugging.CronPaused {
		return cronPeriod
	}
	begin := s.Ex.Clock.Mono()
	idle := s.Figures.Rates.busy == s.Stats.Reads+s.Stats.Writes
	s.dozing = idle && !s.Clients.limited()
	if !s.dozing {
		s.Clients.check()
	}
	s.Ex.Tracking.Limit()
	s.Pool.Trim()
	s.Figures.Sample()
	again := false
	for _, fn := range s.Parts.cron {
		again = fn() || again
	}
	s.Stats.Cron += s.Ex.Clock.Mono() - begin
	if idle && s.Idle != nil {
		s.Idle(s.Figures.weighedMemory())
	}
	if s.dozing && s.Bubble != nil && !again {
		return 0 // only rouse ends it: else a bubble's time would run for ever, and hide a deadlock
	}
	if s.dozing {
		return cronPeriodIdle
	}
	return cronPeriod
}

// rouse makes cron run at its usual pace again.
func (s *Server) rouse() {
	s.dozing = false
	s.Loop.Cancel(s.cronTimer)
	s.cronTimer = s.Loop.After(cronPeriod, s.cron)
}

// Debugging is what DEBUG has set.
type Debugging struct {
	CronPaused bool // DEBUG PAUSE-CRON 1
	NoExpire   bool // DEBUG SET-ACTIVE-EXPIRE 0
}

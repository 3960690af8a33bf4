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
	if s.debugging.cronPaused {
		return cronPeriod
	}
	begin := s.ex.Clock.Mono()
	idle := s.figures.rates.busy == s.stats.Reads+s.stats.Writes
	s.dozing = idle && !s.clients.limited()
	if !s.dozing {
		s.clients.check()
	}
	s.ex.Tracking.Limit()
	s.pool.Trim()
	s.figures.sample()
	again := false
	for _, fn := range s.parts.cron {
		again = fn() || again
	}
	s.stats.Cron += s.ex.Clock.Mono() - begin
	if idle && s.Idle != nil {
		s.Idle(s.figures.weighedMemory())
	}
	if s.dozing && s.bubble != nil && !again {
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
	s.loop.Cancel(s.cronTimer)
	s.cronTimer = s.loop.After(cronPeriod, s.cron)
}

// debugging is what DEBUG has set.
type debugging struct {
	cronPaused bool // DEBUG PAUSE-CRON 1
	noExpire   bool // DEBUG SET-ACTIVE-EXPIRE 0
}

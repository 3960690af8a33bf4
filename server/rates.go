package server

// rates are INFO's instantaneous_ fields: the mean of the last samples, taken by
// cron (server.c: trackInstantaneousMetric). Redis divides by 16 from the start; a server
// that takes one sample a second while it is idle would show nothing for long.
type rates struct {
	at      int64 // monotonic ns of the last sample
	busy    int64 // sockets read and written until then
	last    [rateCount]int64
	samples [rateCount][16]float64
	next    int
	filled  int // samples taken so far, up to 16
}

const (
	rateCommands = iota // a second
	rateIn              // bytes a second
	rateOut
	rateCycles // passes a second
	rateBusy   // ns a pass
	rateCount
)

func (s *Server) sample() {
	r := &s.rates
	if busy := s.stats.Reads + s.stats.Writes; busy != r.busy || r.at == 0 {
		r.busy = busy // while nobody says anything, nobody has to be looked at
		s.peakMem = max(s.peakMem, s.weighedMemory())
	}
	now := [rateCount]int64{s.ex.Stats.Commands, s.stats.NetIn, s.stats.NetOut, s.stats.Passes, s.stats.Busy}
	if r.at == 0 {
		r.at, r.last = s.now, now
		return
	}
	elapsed := s.now - r.at
	if elapsed <= 0 {
		return
	}
	for i := range now {
		per := float64(elapsed) / 1e9
		if i == rateBusy {
			per = float64(max(now[rateCycles]-r.last[rateCycles], 1))
		}
		r.samples[i][r.next] = float64(now[i]-r.last[i]) / per
	}
	r.next = (r.next + 1) % len(r.samples[0])
	r.filled = min(r.filled+1, len(r.samples[0]))
	r.at, r.last = s.now, now
}

func (r *rates) mean(i int) float64 {
	sum := 0.0
	for _, v := range r.samples[i] {
		sum += v
	}
	return sum / float64(max(r.filled, 1))
}

// countPass counts the pass that ends.
func (s *Server) countPass() {
	took := s.asleep - s.now
	s.stats.Busy += took
	s.stats.LongestPass = max(s.stats.LongestPass, took)
	s.stats.MostCommands = max(s.stats.MostCommands, s.ex.Stats.Commands-s.before)
}

// countTraffic takes over what c's connection has counted.
func (s *Server) countTraffic(c *client) {
	s.stats.NetIn += c.NetIn
	s.stats.NetOut += c.NetOut
	c.NetIn, c.NetOut = 0, 0
}

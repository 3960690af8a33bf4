package server

import (
	"crypto/rand"
	"encoding/hex"
	"time"
)

// figures are what INFO says of the server, beside Stats.
type figures struct {
	s        *Server
	Rates    Rates
	Start    int64 // monotonic ns
	Started  int64 // unix ms
	RunID    string
	PeakMem  int // bytes
	Process  process
	resident resident
}

// Rates are INFO's instantaneous_ fields. They come from samples that cron takes (server.c:
// trackInstantaneousMetric). Redis takes the mean of 16 samples, a tenth of a second apart. Here an idle
// server takes only one sample a second.
type Rates struct {
	busy    int64 // sockets read and written until the last sample
	samples [16]sample
	taken   int
}

// sample is the state of the counters at one time.
type sample struct {
	at     int64 // monotonic ns
	counts [rateCount]int64
}

const (
	RateCommands = iota // a second
	RateIn              // bytes a second
	RateOut
	RateCycles // passes a second
	RateBusy   // ns a pass
	rateCount
)

// rateWindow is how far back rates look. They look back one sample at least.
const rateWindow = int64(1600 * time.Millisecond)

// Sample takes a sample of the counters, unless this pass has one.
func (f *figures) Sample() {
	r := &f.Rates
	if busy := f.s.Stats.Reads + f.s.Stats.Writes; busy != r.busy || r.taken == 0 {
		r.busy = busy // without requests, memory does not change
		f.PeakMem = max(f.PeakMem, f.weighedMemory())
	}
	if r.taken > 0 && f.s.Now <= r.back(1).at {
		return
	}
	r.taken++
	*r.back(1) = sample{f.s.Now, [rateCount]int64{
		f.s.Ex.Stats.Commands, f.s.Stats.NetIn, f.s.Stats.NetOut, f.s.Stats.Passes, f.s.Stats.Busy,
	}}
}

// back returns the n-th last sample.
func (r *Rates) back(n int) *sample { return &r.samples[(r.taken-n)%len(r.samples)] }

// Mean returns the mean of a rate over the last samples: a number a second, for RateBusy ns a pass.
func (r *Rates) Mean(i int) float64 {
	if r.taken < 2 {
		return 0
	}
	last, first := r.back(1), r.back(2)
	for n := 3; n <= min(r.taken, len(r.samples)) && last.at-r.back(n).at <= rateWindow; n++ {
		first = r.back(n)
	}
	count := float64(max(last.counts[i]-first.counts[i], 0)) // LAB CRASH begins them anew
	if i == RateBusy {
		return count / float64(max(last.counts[RateCycles]-first.counts[RateCycles], 1))
	}
	return count / time.Duration(last.at-first.at).Seconds()
}

// countPass ends a pass and counts it.
func (s *Server) countPass() {
	s.Asleep = s.Ex.Clock.Mono()
	took := s.Asleep - s.Now
	s.Stats.Busy += took
	s.Stats.LongestPass = max(s.Stats.LongestPass, took)
	s.Stats.MostCommands = max(s.Stats.MostCommands, s.Ex.Stats.Commands-s.before)
}

// CountTraffic adds what c's connection has counted (networking.c: readQueryFromClient, writeToClient).
func (s *Server) CountTraffic(c *Client) {
	s.Stats.NetIn += c.NetIn
	s.Stats.NetOut += c.NetOut
	if c.Sess.Replica {
		s.Stats.ReplicaOut += c.NetOut
	}
	c.netIn += c.NetIn
	c.CountedNetOut += c.NetOut
	c.NetIn, c.NetOut = 0, 0
}

// NewRunID returns a new name for this run. Tools notice a restart by it.
func NewRunID() string {
	var b [20]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

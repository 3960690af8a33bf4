package grade

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"
)

// The figures of lab 12 are for the author of the program, who explains them. No points depend on them. The
// programs take turns, so that all of them meet the same machine. The best turns count, because what else runs
// can only disturb. Figures that differ too much are not shown.

const (
	turnsToWarmUp, turnsToMeasure = 3, 7
	// bestTurns are those from which the figures come.
	bestTurns = 3
	turnTime  = 100 * time.Millisecond
	// mostSpread is by how much the best turns may differ.
	mostSpread = 0.20
)

// racer is a program with that many I/O threads, and what its turns have shown.
type racer struct {
	v       *service
	threads int
	crowd   []*peer
	rates   []float64 // requests a second
	costs   []float64 // CPU time of a request in µs; empty where the system does not say
}

// figures measures programs with one, two and four I/O threads, and prints what it found.
func (s *story) figures() {
	var racers []*racer
	for _, n := range []int{1, 2, 4} {
		v := s.serveWith(n)
		racers = append(racers, &racer{v: v, threads: n, crowd: v.crowd(50)})
	}
	for turn := range turnsToWarmUp + turnsToMeasure {
		for _, r := range racers {
			rate, cost, ok := r.turn()
			if turn < turnsToWarmUp {
				continue
			}
			r.rates = append(r.rates, rate)
			if ok {
				r.costs = append(r.costs, cost)
			}
		}
	}
	for _, r := range racers {
		fmt.Fprintln(s.run.Out, r.report(s.run.Lang))
	}
}

// turn lets 50 clients send 16 requests at a time, again and again.
func (r *racer) turn() (rate, cost float64, ok bool) {
	const times = 16
	pipeline, n := many(times, "PING"), 0
	before, ok := r.v.cpu()
	began := time.Now()
	for time.Since(began) < turnTime {
		for _, c := range r.crowd {
			c.write(pipeline)
		}
		for _, c := range r.crowd {
			c.limit()
			if _, err := io.CopyN(io.Discard, c.conn.In, times*int64(len("+PONG\r\n"))); err != nil {
				c.missing(err, true, say{"16 PING", "16 个 PING"})
			}
		}
		n += len(r.crowd) * times
	}
	took := time.Since(began)
	time.Sleep(moment) // the kernel is sure of the time of threads that sleep
	after, _ := r.v.cpu()
	return float64(n) / took.Seconds(), float64((after - before).Nanoseconds()) / 1000 / float64(n), ok
}

// report says what the best turns have shown, in one line.
func (r *racer) report(lang string) string {
	rate, inverse := slices.Max(r.rates), make([]float64, len(r.rates))
	for i, n := range r.rates {
		inverse[i] = 1 / n
	}
	what, figures := say{"number of requests a second", "每秒请求数"}, inverse
	if len(r.costs) > 0 {
		what, figures = say{"CPU time of a request", "每个请求的 CPU 时间"}, r.costs
	}
	if apart := spread(figures); apart > mostSpread {
		line := say{"   IO_THREADS=%d: no figure, because the %s differs by %.0f %% between the best %d of %d turns. " +
			"Let nothing else run, and grade again.",
			"   IO_THREADS=%d：没有数据，因为%s在最好的几次之间相差 %.0f%%（取 %d 次，共 %d 次）。请停掉其他程序，再评一次。"}
		return line.in(lang, r.threads, what.in(lang), apart*100, bestTurns, turnsToMeasure)
	}
	line := say{"   measured here, on %d cores: IO_THREADS=%d %9.0f requests a second",
		"   本机实测，%d 核：IO_THREADS=%d 每秒 %9.0f 个请求"}
	text := line.in(lang, runtime.NumCPU(), r.threads, rate)
	if len(r.costs) > 0 {
		cost := say{", %6.2f µs of CPU time each (the best turns differ by %.0f %%)", "，每个 %6.2f µs CPU 时间（最好的几次相差 %.0f%%）"}
		text += cost.in(lang, slices.Min(r.costs), spread(r.costs)*100)
	}
	return text
}

// spread is by how much the best figures differ, as a part of the best one. The best is the smallest.
func spread(figures []float64) float64 {
	slices.Sort(figures)
	best := figures[:bestTurns]
	return (best[bestTurns-1] - best[0]) / best[0]
}

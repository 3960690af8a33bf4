package main

import (
	"math"
	"slices"
)

// tracing runs the same server with and without --trace, and compares the two.
func tracing(b *bench) (result, error) {
	r := result{
		workload: "trace",
		columns: []column{{"off P1 us/req", "%.2f"}, {"on P1 us/req", "%.2f"}, {"on/off P1", "%.3f"},
			{"on/off P16", "%.3f"}},
		bounds: []bound{{column: 2, most: 1.10, absolute: true}},
		note: "CPU of GET without --trace and with it, turn by turn; the ratios are medians of those of single " +
			"rounds. Only miniredisd has the option.",
	}
	for _, c := range b.contenders {
		figures := slices.Repeat([]float64{math.NaN()}, len(r.columns))
		if c.name == ours {
			var err error
			if figures, err = b.traceCost(c); err != nil {
				return r, err
			}
		}
		r.figures = append(r.figures, figures)
	}
	return r, nil
}

func (b *bench) traceCost(c contender) ([]float64, error) {
	on := c
	on.command = append(slices.Clone(c.command), "--trace", c.dir+"/trace.json")
	var servers []*server
	defer func() { stopAll(servers) }()
	get := workload{args: []string{"GET", "key:__rand_int__"}, fill: []string{"SET", "key:__rand_int__", value}}
	for _, c := range []contender{c, on} {
		s, err := c.start(b.cores.server)
		if err != nil {
			return nil, err
		}
		servers = append(servers, s)
		if err := get.prepare(s.addr, b.keys, 0); err != nil {
			return nil, err
		}
	}
	var rounds [][]float64
	for range b.rounds {
		var used [2][2]float64 // off and on, at pipeline 1 and 16
		for i, s := range servers {
			for j, pipeline := range []int{1, 16} {
				var err error
				if used[i][j], err = b.cpuPerRequest(s, get, pipeline); err != nil {
					return nil, err
				}
			}
		}
		off, on := used[0], used[1]
		rounds = append(rounds, []float64{off[0], on[0], on[0] / off[0], on[1] / off[1]})
	}
	return medians([][][]float64{rounds})[0], nil
}

// cpuPerRequest returns the CPU time of s for a request of w, in microseconds.
func (b *bench) cpuPerRequest(s *server, w workload, pipeline int) (float64, error) {
	n := b.n
	if pipeline == 1 {
		n /= 4
	}
	before := s.cpu()
	got, err := b.load.run(s.addr, job{args: w.args, n: n, clients: b.clients, pipeline: pipeline, keys: b.keys})
	if err != nil {
		return 0, err
	}
	return float64((s.cpu() - before).Nanoseconds()) / 1e3 / float64(got.requests), nil
}

package main

import (
	"fmt"
	"net"
	"time"
)

// special is a measurement of something other than requests.
type special struct {
	name string
	run  func(*bench) (result, error)
}

func specials() []special {
	return []special{{"memory", memory}, {"start", startup}, {"idle", idle}, {"publish100", publish100},
		{"expired", expired}, {"lockloop", lockLoop}, {"crowd", crowd}, {"trace", tracing}}
}

const (
	lockCount = 1000000
	idleConns = 1000
	starts    = 20
)

// each runs one measurement on a fresh server of every contender.
func (b *bench) each(rounds int, measure func(*server) ([]float64, error)) ([][]float64, error) {
	samples := make([][][]float64, len(b.contenders))
	for range rounds {
		for i, c := range b.contenders {
			s, err := c.start(b.cores.server)
			if err != nil {
				return nil, err
			}
			v, err := measure(s)
			s.stop()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
			samples[i] = append(samples[i], v)
		}
	}
	return medians(samples), nil
}

func memory(b *bench) (result, error) {
	r := result{
		workload: "memory", bounds: []bound{{most: 1.0}},
		columns: []column{{"VmRSS MiB", "%.1f"}, {"empty MiB", "%.1f"}},
		note:    fmt.Sprintf("Resident memory after %d times SET lock:<12 digits> <32 bytes> PX 3600000.", lockCount),
	}
	var err error
	r.figures, err = b.each(1, func(s *server) ([]float64, error) {
		empty := s.rss()
		c, err := dial(s.addr)
		if err != nil {
			return nil, err
		}
		defer c.Close()
		err = c.pipeN(lockCount, func(i int) []string {
			return []string{"SET", fmt.Sprintf("lock:%012d", i), value, "PX", "3600000"}
		})
		return []float64{s.rss(), empty}, err
	})
	return r, err
}

func startup(b *bench) (result, error) {
	r := result{
		workload: "start", columns: []column{{"ms", "%.2f"}}, bounds: []bound{{most: 5, absolute: true}},
		note: fmt.Sprintf("From exec to the first PONG, median of %d starts.", starts),
	}
	var err error
	r.figures, err = b.each(starts, func(s *server) ([]float64, error) {
		return []float64{float64(s.started.Microseconds()) / 1e3}, nil
	})
	return r, err
}

func idle(b *bench) (result, error) {
	r := result{
		workload: "idle", columns: []column{{"CPU ms/s", "%.3f"}}, bounds: []bound{{most: 1.0}},
		note: fmt.Sprintf("CPU time per second with %d idle connections, over %s.", idleConns, b.idle),
	}
	var err error
	r.figures, err = b.each(1, func(s *server) ([]float64, error) {
		for range idleConns {
			c, err := net.Dial("tcp", s.addr)
			if err != nil {
				return nil, err
			}
			defer c.Close()
		}
		time.Sleep(time.Second) // accepting them is not idling
		before := s.cpu()
		time.Sleep(b.idle)
		return []float64{float64((s.cpu() - before).Microseconds()) / 1e3 / b.idle.Seconds()}, nil
	})
	return r, err
}

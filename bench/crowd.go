package main

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/internal/respclient"
)

const (
	crowdSize   = 10000
	crowdActive = crowdSize / 100
)

// crowd is many clients that keep their connections and hardly use them. It measures what an idle
// client costs, and whether idle clients slow down the others.
func crowd(b *bench) (result, error) {
	r := result{
		workload: "crowd",
		columns:  []column{{"p50 ms", "%.3f"}, {"p99 ms", "%.3f"}, {"CPU us/req", "%.2f"}, {"bytes/idle conn", "%.0f"}},
		bounds:   []bound{{column: 1, most: 1.0}, {column: 3, most: 1.0}},
		note: fmt.Sprintf("%d connections that have said PING once, and after %s of silence SET of 32 bytes by %d "+
			"more. Bytes are VmRSS before the load, less that of the empty server.",
			crowdSize-crowdActive, b.idle, crowdActive),
	}
	if err := allowFiles(crowdSize + 100); err != nil {
		return r, err
	}
	var err error
	r.figures, err = b.each(b.rounds, b.amongIdle)
	return r, err
}

// allowFiles raises the limit of open files, which the servers inherit.
func allowFiles(n uint64) error {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return err
	}
	if l.Cur >= n {
		return nil
	}
	l.Cur, l.Max = n, max(l.Max, n)
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return skipped(fmt.Sprintf("%d open files are not allowed: %v", n, err))
	}
	return nil
}

func (b *bench) amongIdle(s *server) ([]float64, error) {
	const idle = crowdSize - crowdActive
	empty := s.rss()
	if err := s.admit(crowdSize + 10); err != nil {
		return nil, err
	}
	for range idle {
		c, err := respclient.Dial(s.addr)
		if err != nil {
			return nil, err
		}
		defer c.Close()
		if _, err := c.Do("PING"); err != nil {
			return nil, err
		}
	}
	time.Sleep(b.idle) // redis-server takes seconds to give back what a silent client does not need
	each := (s.rss() - empty) * (1 << 20) / idle

	before := s.cpu()
	got, err := b.load.run(s.addr, job{args: []string{"SET", "key:__rand_int__", value}, n: b.n / 4,
		clients: crowdActive, pipeline: 1, keys: b.keys})
	if err != nil {
		return nil, err
	}
	used := s.cpu() - before
	return []float64{got.p50, got.p99, float64(used.Nanoseconds()) / 1e3 / float64(got.requests), each}, nil
}

// admit raises maxclients to n and one: the default leaves no connection to ask the server with.
func (s *server) admit(n int) error {
	c, err := dial(s.addr)
	if err != nil {
		return err
	}
	defer c.Close()
	return c.pipe([][]string{{"CONFIG", "SET", "maxclients", fmt.Sprint(n)}})
}

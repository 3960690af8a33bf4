package main

import (
	"fmt"
	"net"
	"os/exec"
	"regexp"
	"strconv"
)

// job is one turn: n requests over a number of connections.
type job struct {
	args                       []string
	batch                      [][]string // in place of args
	once                       bool       // numbers come in order, each once
	n, clients, pipeline, keys int
}

// measured holds the results of the load. Times are in milliseconds.
type measured struct {
	requests             int
	rate, p50, p99, p999 float64
}

type load struct {
	name string
	run  func(addr string, j job) (measured, error)
}

func findLoad(own bool) load {
	path, err := exec.LookPath("redis-benchmark")
	switch {
	case own:
		return load{"own generator", ownLoad}
	case err != nil:
		return load{"own generator (redis-benchmark is not installed)", ownLoad}
	}
	return load{"redis-benchmark", func(addr string, j job) (measured, error) { return redisBenchmark(path, addr, j) }}
}

func redisBenchmark(path, addr string, j job) (measured, error) {
	host, port, _ := net.SplitHostPort(addr)
	args := []string{"-h", host, "-p", port, "-n", strconv.Itoa(j.n), "-c", strconv.Itoa(j.clients),
		"-P", strconv.Itoa(j.pipeline), "-r", strconv.Itoa(j.keys)}
	out, err := exec.Command(path, append(args, j.args...)...).CombinedOutput()
	if err != nil {
		return measured{}, fmt.Errorf("redis-benchmark: %w: %s", err, out[max(0, len(out)-300):])
	}
	m, err := parseBenchmark(string(out))
	m.requests = j.n
	return m, err
}

var (
	throughput = regexp.MustCompile(`throughput summary: ([\d.]+) requests per second`)
	percentile = regexp.MustCompile(`(?m)([\d.]+)% <= ([\d.]+) milliseconds`)
)

// parseBenchmark reads the full report, because the short forms do not have p99.9.
func parseBenchmark(out string) (measured, error) {
	rate := throughput.FindStringSubmatch(out)
	if rate == nil {
		return measured{}, fmt.Errorf("redis-benchmark printed no throughput: %q", out[max(0, len(out)-300):])
	}
	var m measured
	m.rate, _ = strconv.ParseFloat(rate[1], 64)
	// The finer of the two distributions comes first and ends at 100 %.
	for _, l := range percentile.FindAllStringSubmatch(out, -1) {
		share, _ := strconv.ParseFloat(l[1], 64)
		ms, _ := strconv.ParseFloat(l[2], 64)
		for _, p := range []struct {
			share float64
			to    *float64
		}{{50, &m.p50}, {99, &m.p99}, {99.9, &m.p999}} {
			if share >= p.share && *p.to == 0 {
				*p.to = ms
			}
		}
	}
	return m, nil
}

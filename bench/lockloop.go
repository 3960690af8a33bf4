package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"
)

const (
	lockers = 50
	locks   = 1000
	rounds  = 2000 // of each locker
)

// unlockScript deletes a lock if the caller still holds it.
const unlockScript = `if redis.call("get",KEYS[1])==ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end`

// lockLoop measures many workers with short critical sections. Every request waits for its reply,
// so the slowest replies matter.
func lockLoop(b *bench) (result, error) {
	r := result{
		workload: "lockloop", columns: []column{{"p50 ms", "%.3f"}, {"p99 ms", "%.3f"}, {"p99.9 ms", "%.3f"},
			{"CPU us/req", "%.2f"}},
		bounds: []bound{{column: 2, most: 1.0}},
		note: fmt.Sprintf("%d connections, each again and again: SET one of %d locks NX PX, and if it got it the "+
			"unlock script by EVALSHA. Times of single requests.", lockers, locks),
	}
	var err error
	r.figures, err = b.each(b.rounds, fiftyLockers)
	return r, err
}

func fiftyLockers(s *server) ([]float64, error) {
	c, err := dial(s.addr)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	sha, err := c.Do("SCRIPT", "LOAD", unlockScript)
	if err != nil || sha.Kind == '-' {
		return nil, errors.Join(err, fmt.Errorf("SCRIPT LOAD: %s", sha.Str))
	}
	type outcome struct {
		times []time.Duration
		err   error
	}
	done := make(chan outcome)
	before := s.cpu()
	for i := range lockers {
		go func() {
			times, err := locker(s.addr, sha.Str, uint64(i))
			done <- outcome{times, err}
		}()
	}
	var all []time.Duration
	for range lockers {
		o := <-done
		all = append(all, o.times...)
		err = errors.Join(err, o.err)
	}
	used := s.cpu() - before
	if err != nil {
		return nil, err
	}
	slices.Sort(all)
	at := func(share float64) float64 {
		return float64(all[int(share*float64(len(all)-1))].Nanoseconds()) / 1e6
	}
	return []float64{at(0.5), at(0.99), at(0.999), float64(used.Nanoseconds()) / 1e3 / float64(len(all))}, nil
}

// locker takes and frees locks. It returns how long each reply took.
func locker(addr, sha string, seed uint64) (times []time.Duration, err error) {
	c, err := dial(addr)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	r := rand.New(rand.NewPCG(seed, 1))
	token := fmt.Sprintf("worker-%d", seed)
	timed := func(args ...string) (got string, err error) {
		began := time.Now()
		v, err := c.Do(args...)
		times = append(times, time.Since(began))
		if err == nil && v.Kind == '-' {
			err = errors.New(v.Str)
		}
		return v.Str, err
	}
	for range rounds {
		key := "lock:" + strconv.Itoa(r.IntN(locks))
		got, err := timed("SET", key, token, "NX", "PX", "30000")
		if err == nil && got == "OK" {
			_, err = timed("EVALSHA", sha, "1", key, token)
		}
		if err != nil {
			return times, err
		}
	}
	return times, nil
}

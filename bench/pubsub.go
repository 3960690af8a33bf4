package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/miniredisd/miniredisd/resp"
)

const (
	subscribers = 100
	published   = 20000 // a turn at a pipeline of 16, a quarter without
	expiring    = 1000
)

// publish100 publishes to 100 subscribers, as the release of a lock does that 100 clients wait for.
func publish100(b *bench) (result, error) {
	r := result{
		workload: fmt.Sprintf("publish%d", subscribers),
		columns:  []column{{"CPU us/req P16", "%.2f"}, {"CPU us/req P1", "%.2f"}},
		bounds:   []bound{{column: 0, most: 0.80}},
		note: fmt.Sprintf("PUBLISH of 32 bytes to %d connections, each of which reads them; from one publisher. "+
			"Without pipeline it is %d times write(2), which is the kernel's.", subscribers, subscribers),
	}
	var err error
	r.figures, err = b.each(b.rounds, func(s *server) ([]float64, error) {
		var figures []float64
		for _, pipeline := range []int{16, 1} {
			n := published
			if pipeline == 1 {
				n /= 4
			}
			used, err := fanOut(s, n, pipeline)
			if err != nil {
				return nil, err
			}
			figures = append(figures, float64(used.Nanoseconds())/1e3/float64(n))
		}
		return figures, nil
	})
	return r, err
}

// fanOut publishes n messages. It returns the CPU time that the server used until every subscriber
// had all of them.
func fanOut(s *server, n, pipeline int) (time.Duration, error) {
	done := make(chan error)
	for range subscribers {
		c, err := dial(s.addr)
		if err != nil {
			return 0, err
		}
		defer c.Close()
		if _, err := c.Do("SUBSCRIBE", "news"); err != nil {
			return 0, err
		}
		go func() {
			_, err := c.In.Discard(n * len(resp.AppendRequest(nil, "message", "news", value)))
			done <- err
		}()
	}
	c, err := dial(s.addr)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	part := slices.Repeat([][]string{{"PUBLISH", "news", value}}, pipeline)
	before := s.cpu()
	for range n / pipeline {
		if err := c.pipe(part); err != nil {
			return 0, err
		}
	}
	for range subscribers {
		err = errors.Join(err, <-done)
	}
	return s.cpu() - before, err
}

// expired measures how late the event of a key comes that no client reads.
func expired(b *bench) (result, error) {
	r := result{
		workload: "expired", columns: []column{{"p50 ms", "%.1f"}, {"p99 ms", "%.1f"}, {"max ms", "%.1f"}},
		bounds: []bound{{column: 2, most: 5, absolute: true}},
		note: fmt.Sprintf("From the millisecond of a key's expiry to the keyspace event at the client; %d keys "+
			"spread over a second.", expiring),
	}
	var err error
	r.figures, err = b.each(b.rounds, lateness)
	return r, err
}

func lateness(s *server) ([]float64, error) {
	sub, err := dial(s.addr)
	if err != nil {
		return nil, err
	}
	defer sub.Close()
	c, err := dial(s.addr)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if err := c.pipe([][]string{{"CONFIG", "SET", "notify-keyspace-events", "Ex"}}); err != nil {
		return nil, err
	}
	if _, err := sub.Do("SUBSCRIBE", "__keyevent@0__:expired"); err != nil {
		return nil, err
	}
	first := time.Now().Add(500 * time.Millisecond).UnixMilli()
	err = c.pipeN(expiring, func(i int) []string {
		at := strconv.FormatInt(first+int64(i)*1000/expiring, 10)
		return []string{"SET", at + ":" + strconv.Itoa(i), value, "PXAT", at}
	})
	if err != nil {
		return nil, err
	}
	var late []float64
	for range expiring {
		v, err := sub.Read()
		if err != nil {
			return nil, err
		}
		now := time.Now()
		at, err := strconv.ParseInt(v.Elems[2].Str[:13], 10, 64)
		if err != nil {
			return nil, err
		}
		late = append(late, float64(now.Sub(time.UnixMilli(at)).Microseconds())/1e3)
	}
	slices.Sort(late)
	return []float64{late[len(late)/2], late[len(late)*99/100], late[len(late)-1]}, nil
}

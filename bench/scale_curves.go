package main

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/resp"
)

// curve is a cost over one quantity that grows.
type curve struct {
	name     string
	quantity string // on the x axis
	note     string
	points   []int
	short    int      // the largest point of the short form
	lines    []string // what measure returns for a point, in microseconds of CPU
	sockets  bool     // a point is a number of connections
	measure  func(s *server, x int, share float64) ([]float64, error)
}

func curves() []curve {
	return []curve{
		{
			name: "connections", quantity: "connections", points: powers(10, 4), short: 1_000, sockets: true,
			lines:   []string{"SET"},
			note:    "SET of 32 bytes at pipeline 1. Each connection sends its next request after a reply.",
			measure: connectionsCost,
		},
		{
			name: "keys", quantity: "keys", points: powers(10, 7), short: 100_000, lines: []string{"GET", "SET"},
			note: "Random keys, values of 32 bytes, 50 connections, pipeline 16.", measure: keysCost,
		},
		{
			name: "pipeline", quantity: "requests in a pipeline", points: powers(2, 9), short: 512, lines: []string{"SET"},
			note: "SET of 32 bytes, 50 connections.", measure: pipelineCost,
		},
		{
			name: "values", quantity: "bytes in a value", points: powers(4, 10), short: 1 << 16, lines: []string{"GET", "SET"},
			note: "100 keys, 20 connections, pipeline 1.", measure: valuesCost,
		},
		{
			name: "channels", quantity: "channels", points: powers(10, 5), short: 1_000, lines: []string{"PUBLISH"},
			note:    "PUBLISH of 32 bytes to one channel after the other, pipeline 16. Each channel has one subscriber.",
			measure: channelsCost,
		},
		{
			name: "subscribers", quantity: "subscribers of one channel", points: powers(10, 5), short: 1_000, sockets: true,
			lines: []string{"PUBLISH"}, note: "PUBLISH of 32 bytes, pipeline 1.", measure: subscribersCost,
		},
		{
			name: "waiters", quantity: "clients that wait for one key", points: powers(10, 4), short: 1_000, sockets: true,
			lines: []string{"BLPOP", "RPUSH"}, note: "For each waiter: its BLPOP, and the RPUSH that ends its waiting.",
			measure: waitersCost,
		},
	}
}

// powers are base to the powers of 0 to most.
func powers(base, most int) (all []int) {
	for x, i := 1, 0; i <= most; i++ {
		all = append(all, x)
		x *= base
	}
	return all
}

func perRequest(s *server, before time.Duration, requests int) float64 {
	return float64((s.cpu() - before).Nanoseconds()) / 1e3 / float64(requests)
}

// requests is a number of requests of the short or full form.
func requests(n int, share float64) int { return max(1, int(float64(n)*share)) }

func setOfKey() []string { return []string{"SET", "key:__rand_int__", value} }

func connectionsCost(s *server, x int, share float64) ([]float64, error) {
	f, err := openFleet(s.addr, x)
	if err != nil {
		return nil, err
	}
	defer f.close()
	n := requests(20_000, share)
	if x >= 1_000 {
		n = max(n, 5*x)
	}
	cost, err := f.cost(s, job{args: setOfKey(), n: n, pipeline: 1, keys: 1_000})
	return []float64{cost}, err
}

// keysCost adds to the keys that are there from the last point.
func keysCost(s *server, x int, share float64) ([]float64, error) {
	f, err := openFleet(s.addr, 50)
	if err != nil {
		return nil, err
	}
	defer f.close()
	size, err := f[0].Do("DBSIZE")
	if err != nil {
		return nil, err
	}
	have := int(size.Int)
	const perCommand = 100
	err = f[0].stream(each((x-have+perCommand-1)/perCommand, func(at int) []string {
		args := []string{"MSET"}
		for i := have + at*perCommand; i < min(x, have+(at+1)*perCommand); i++ {
			args = append(args, "key:"+padded(i), value)
		}
		return args
	}))
	if err != nil {
		return nil, err
	}
	j := job{n: requests(200_000, share), pipeline: 16, keys: x}
	return f.costs(s, []string{"GET", "key:__rand_int__"}, setOfKey(), j)
}

// costs is the cost of two commands, one after the other.
func (f fleet) costs(s *server, first, second []string, j job) ([]float64, error) {
	var costs []float64
	for _, j.args = range [][]string{first, second} {
		cost, err := f.cost(s, j)
		if err != nil {
			return nil, err
		}
		costs = append(costs, cost)
	}
	return costs, nil
}

func pipelineCost(s *server, x int, share float64) ([]float64, error) {
	f, err := openFleet(s.addr, 50)
	if err != nil {
		return nil, err
	}
	defer f.close()
	n := requests(min(20_000*x, 400_000), share)
	cost, err := f.cost(s, job{args: setOfKey(), n: n, pipeline: x, keys: 1_000})
	return []float64{cost}, err
}

func valuesCost(s *server, x int, share float64) ([]float64, error) {
	const keys, bytes = 100, 512 << 20
	f, err := openFleet(s.addr, 20)
	if err != nil {
		return nil, err
	}
	defer f.close()
	text := strings.Repeat("x", x)
	if err := f[0].stream(stringKeys("key:", keys, text)); err != nil {
		return nil, err
	}
	set := []string{"SET", "key:__rand_int__", text}
	j := job{n: requests(min(20_000, bytes/x), share), pipeline: 1, keys: keys}
	return f.costs(s, []string{"GET", "key:__rand_int__"}, set, j)
}

// channelsCost spreads the channels over 100 subscribers.
func channelsCost(s *server, x int, share float64) ([]float64, error) {
	f, err := openFleet(s.addr, min(x, 100)+1)
	if err != nil {
		return nil, err
	}
	defer f.close()
	publisher, subscribers := f[0], f[1:]
	for i, c := range subscribers {
		if err := c.subscribe(i, x, len(subscribers)); err != nil {
			return nil, err
		}
	}
	n := requests(50_000, share)
	received := make([]int, len(subscribers))
	for i := range n {
		received[i%x%len(subscribers)]++
	}
	before := s.cpu()
	err = publisher.pipelined(n, 16, func(i int) []string { return []string{"PUBLISH", "channel:" + padded(i%x), value} })
	if err != nil {
		return nil, err
	}
	err = fleet(subscribers).receive("channel:"+padded(0), func(i int) int { return received[i] })
	return []float64{perRequest(s, before, n)}, err
}

// subscribe takes every step'th channel from first on, below most.
func (c *conn) subscribe(first, most, step int) error {
	args := []string{"SUBSCRIBE"}
	for i := first; i < most; i += step {
		args = append(args, "channel:"+padded(i))
	}
	if err := c.Send(resp.AppendRequest(nil, args...)); err != nil {
		return err
	}
	for range args[1:] {
		if _, err := c.Read(); err != nil {
			return err
		}
	}
	return nil
}

// subscribersCost is the cost of one PUBLISH with all its deliveries.
func subscribersCost(s *server, x int, share float64) ([]float64, error) {
	f, err := openFleet(s.addr, x+1)
	if err != nil {
		return nil, err
	}
	defer f.close()
	publisher, subscribers := f[0], f[1:]
	for _, c := range subscribers {
		if _, err := c.Do("SUBSCRIBE", "news"); err != nil {
			return nil, err
		}
	}
	n := max(3, requests(min(2_000, 100_000/x), share))
	before := s.cpu()
	err = publisher.pipelined(n, 1, func(int) []string { return []string{"PUBLISH", "news", value} })
	if err != nil {
		return nil, err
	}
	err = subscribers.receive("news", func(int) int { return n })
	return []float64{perRequest(s, before, n)}, err
}

// pipelined sends n commands in pipelines of a fixed length.
func (c *conn) pipelined(n, pipeline int, command func(i int) []string) error {
	for i := 0; i < n; i += pipeline {
		var part [][]string
		for j := i; j < min(n, i+pipeline); j++ {
			part = append(part, command(j))
		}
		if err := c.pipe(part); err != nil {
			return err
		}
	}
	return nil
}

// receive reads the messages of all subscribers, one subscriber after the other. All names of
// channels have the same length.
func (f fleet) receive(channel string, messages func(i int) int) error {
	length := len(resp.AppendRequest(nil, "message", channel, value))
	for i, c := range f {
		if _, err := c.In.Discard(messages(i) * length); err != nil {
			return err
		}
	}
	return nil
}

// waitersCost lets x clients wait for a list, and ends their waiting by one element each.
func waitersCost(s *server, x int, share float64) ([]float64, error) {
	f, err := openFleet(s.addr, x+1)
	if err != nil {
		return nil, err
	}
	defer f.close()
	pusher, waiters := f[0], f[1:]
	times := max(1, requests(min(500, 20_000/x), share))
	push := []string{"RPUSH", "queue", "element"}
	var blocking, serving time.Duration
	for range times {
		before := s.cpu()
		for _, c := range waiters {
			if err := c.Send(resp.AppendRequest(nil, "BLPOP", "queue", "0")); err != nil {
				return nil, err
			}
		}
		s.rest()
		blocking += s.cpu() - before
		if err := pusher.awaitBlocked(x); err != nil {
			return nil, err
		}
		s.rest()
		before = s.cpu()
		if err := pusher.pipelined(x, 16, func(int) []string { return push }); err != nil {
			return nil, err
		}
		for _, c := range waiters {
			if _, err := c.In.Discard(len(resp.AppendRequest(nil, "queue", "element"))); err != nil {
				return nil, err
			}
		}
		s.rest()
		serving += s.cpu() - before
	}
	each := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 / float64(times*x) }
	return []float64{each(blocking), each(serving)}, nil
}

// rest gives the server time to do what it has begun. The kernel counts the time of a thread
// exactly when the thread sleeps.
func (s *server) rest() { time.Sleep(time.Millisecond) }

// awaitBlocked returns when n clients are blocked.
func (c *conn) awaitBlocked(n int) error {
	for began := time.Now(); time.Since(began) < startLimit; {
		v, err := c.Do("INFO", "clients")
		if err != nil {
			return err
		}
		if blocked, _ := strconv.Atoi(fields(v.Str)["blocked_clients"]); blocked == n {
			return nil
		}
	}
	return errors.New("clients that wait do not block")
}

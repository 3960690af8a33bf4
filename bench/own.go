package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/miniredisd/miniredisd/internal/respclient"
	"github.com/miniredisd/miniredisd/resp"
)

// conn is a client that also sends pipelines.
type conn struct{ *respclient.Conn }

func dial(addr string) (*conn, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &conn{respclient.New(c, 64<<10)}, nil
}

// pipe sends all commands at once and fails at the first error reply.
func (c *conn) pipe(commands [][]string) error {
	var out []byte
	for _, args := range commands {
		out = resp.AppendRequest(out, args...)
	}
	if err := c.Send(out); err != nil {
		return err
	}
	for range commands {
		v, err := c.Read()
		if err != nil {
			return err
		}
		if v.Kind == '-' {
			return fmt.Errorf("%s", v.Str)
		}
	}
	return nil
}

// pipeN sends n commands, in portions that fit into the socket buffers of the server.
func (c *conn) pipeN(n int, command func(i int) []string) error {
	const portion = 200
	for i := 0; i < n; i += portion {
		var part [][]string
		for j := i; j < min(i+portion, n); j++ {
			part = append(part, command(j))
		}
		if err := c.pipe(part); err != nil {
			return err
		}
	}
	return nil
}

// ownLoad is the load if redis-benchmark is not installed. Each connection has a goroutine that
// sends a pipeline, waits for its replies, and sends the next.
func ownLoad(addr string, j job) (measured, error) {
	type outcome struct {
		times []time.Duration
		err   error
	}
	done := make(chan outcome)
	began := time.Now()
	for i := range j.clients {
		batches := j.n / j.pipeline / j.clients
		go func() {
			times, err := ownClient(addr, j, batches, uint64(i))
			done <- outcome{times, err}
		}()
	}
	var all []time.Duration
	var failed error
	for range j.clients {
		o := <-done
		all = append(all, o.times...)
		if o.err != nil {
			failed = o.err
		}
	}
	if failed != nil || len(all) == 0 {
		return measured{}, fmt.Errorf("%d batches answered: %w", len(all), failed)
	}
	n := len(all) * j.pipeline
	rate := float64(n) / time.Since(began).Seconds()
	slices.Sort(all)
	at := func(share float64) float64 {
		return float64(all[int(share*float64(len(all)-1))].Microseconds()) / 1e3
	}
	return measured{n, rate, at(0.5), at(0.99), at(0.999)}, nil
}

func ownClient(addr string, j job, batches int, seed uint64) (times []time.Duration, err error) {
	c, err := dial(addr)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.sendJob(j, batches, seed)
}

// sendJob sends batches of j, each after the replies to the one before. It returns the time of each
// batch.
func (c *conn) sendJob(j job, batches int, seed uint64) (times []time.Duration, err error) {
	placeholder := []byte("__rand_int__")
	var one []byte
	if j.batch == nil {
		j.batch = [][]string{j.args}
	}
	for _, args := range j.batch {
		one = resp.AppendRequest(one, args...)
	}
	out := bytes.Repeat(one, j.pipeline)
	var places []int
	for i := 0; ; i += len(placeholder) {
		at := bytes.Index(out[i:], placeholder)
		if at < 0 {
			break
		}
		i += at
		places = append(places, i)
	}
	r := rand.New(rand.NewPCG(seed, 1))
	next := int(seed) * batches * j.pipeline
	for range batches {
		for _, at := range places {
			n := next
			next++
			if !j.once {
				n = r.IntN(j.keys)
			}
			number := strconv.Itoa(1e12 + n)
			copy(out[at:], number[1:])
		}
		began := time.Now()
		if err := c.Send(out); err != nil {
			return times, err
		}
		for range j.pipeline * len(j.batch) {
			v, err := c.Read()
			if err != nil {
				return times, err
			}
			if v.Kind == '-' {
				return times, fmt.Errorf("%s", v.Str)
			}
		}
		times = append(times, time.Since(began))
	}
	return times, nil
}

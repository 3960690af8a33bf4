package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/resp"
)

// stallRows are the rows of `bench stalls`. share makes all of them smaller.
func stallRows(share float64) []stallRow {
	nothing := stallRow{
		name: "nothing", fill: func(*conn) error { return nil },
		work: func(*conn) error {
			time.Sleep(scaled(time.Second, share))
			return nil
		},
	}
	rows := []stallRow{nothing}
	rows = append(rows, largeStalls(100, share)...)
	rows = append(rows, largeStalls(500, share)...)
	return append(rows, expireStall(1_000_000, share), delStall(5_000_000, share), liveStall(5_000_000, share))
}

func scaled[T int | float64 | time.Duration](n T, share float64) T { return T(float64(n) * share) }

// largeStalls are commands with a value of mb MB.
func largeStalls(mb int, share float64) []stallRow {
	size := scaled(mb*1_000_000, share)
	large := func(args ...string) func(*conn) error {
		return func(c *conn) error { return c.large(size, args...) }
	}
	fill := func(c *conn) error { return c.large(size, "SET", "v") }
	get := func(c *conn) error { return c.discard("GET", "v") }
	add := func(c *conn) error {
		for range 20 {
			if err := c.pipe([][]string{{"APPEND", "v", "x"}}); err != nil {
				return err
			}
			time.Sleep(pingEvery)
		}
		return nil
	}
	short := func(c *conn) error { return c.pipe([][]string{{"SET", "v", "x"}}) }
	memory := scaled(6*float64(mb), share)
	return []stallRow{
		{fmt.Sprintf("SET %d MB", mb), memory, short, large("SET", "v")},
		{fmt.Sprintf("GET %d MB", mb), memory, fill, get},
		{fmt.Sprintf("APPEND %d MB", mb), memory, short, large("APPEND", "v")},
		{fmt.Sprintf("APPEND a byte to %d MB", mb), memory, fill, add},
	}
}

// large sends a command with a last argument of size bytes, and reads the reply.
func (c *conn) large(size int, args ...string) error {
	if err := c.SendLarge(size, args...); err != nil {
		return err
	}
	v, err := c.Read()
	if err == nil && v.Kind == '-' {
		err = fmt.Errorf("%s", v.Str)
	}
	return err
}

// discard sends a command, and reads the bulk string that it returns without keeping it.
func (c *conn) discard(args ...string) error {
	if err := c.Send(resp.AppendRequest(nil, args...)); err != nil {
		return err
	}
	kind, text, err := c.Skim()
	if err == nil && (kind != '$' || text == "") {
		err = fmt.Errorf("%s: no bulk string: %c%s", args[0], kind, text)
	}
	return err
}

// expireStall lets n keys expire at times spread over one second.
func expireStall(n int, share float64) stallRow {
	n = scaled(n, share)
	var due time.Time
	fill := func(c *conn) (err error) {
		for ahead := scaled(8*time.Second, share); ; ahead *= 2 {
			due = time.Now().Add(ahead)
			err = c.stream(each(n, func(i int) []string {
				at := due.UnixMilli() + int64(i*1000/n)
				return []string{"SET", "key:" + padded(i), value, "PXAT", strconv.FormatInt(at, 10)}
			}))
			if err != nil || time.Now().Before(due) {
				time.Sleep(time.Until(due))
				return err
			}
		}
	}
	work := func(c *conn) error {
		for {
			v, err := c.Do("DBSIZE")
			if err != nil || v.Int == 0 {
				return err
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	return stallRow{"a million keys expire", scaled(1000.0, share), fill, work}
}

func delStall(n int, share float64) stallRow {
	n = scaled(n, share)
	fill := func(c *conn) error { return c.stream(setOf("s", n)) }
	work := func(c *conn) error { return c.pipe([][]string{{"DEL", "s"}}) }
	return stallRow{"DEL of a set of 5M", scaled(1500.0, share), fill, work}
}

// liveStall overwrites n keys for a minute, with values of other sizes than before. So the server
// makes garbage while it has more than a gigabyte of live data.
func liveStall(n int, share float64) stallRow {
	n = scaled(n, share)
	fill := func(c *conn) error {
		return c.stream(each(n, func(i int) []string {
			return []string{"SET", "key:" + padded(i), sized(100 + i%201)}
		}))
	}
	load := job{pipeline: 12, keys: n}
	for i := range 8 {
		load.batch = append(load.batch, []string{"SET", "key:__rand_int__", sized(100 + 25*i)})
	}
	work := func(c *conn) error {
		end := time.Now().Add(scaled(time.Minute, share))
		for seed := uint64(0); time.Now().Before(end); seed++ {
			if _, err := c.sendJob(load, 100, seed); err != nil {
				return err
			}
		}
		return nil
	}
	return stallRow{"5M keys under writes", scaled(6000.0, share), fill, work}
}

func sized(n int) string { return strings.Repeat("x", n) }

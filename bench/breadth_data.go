package main

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
)

// data are commands that fill a server.
type data iter.Seq[[]string]

// portion is how many elements one command of data adds to its key.
const portion = 1000

// stream sends commands in pipelines that the server's socket buffers hold. It fails at the first
// error reply.
func (c *conn) stream(commands data) error {
	const pipeline = 200
	var part [][]string
	for args := range commands {
		if part = append(part, args); len(part) == pipeline {
			if err := c.pipe(part); err != nil {
				return err
			}
			part = part[:0]
		}
	}
	return c.pipe(part)
}

// each makes n commands.
func each(n int, command func(i int) []string) data {
	return func(yield func([]string) bool) {
		for i := range n {
			if !yield(command(i)) {
				return
			}
		}
	}
}

// once is a single command.
func once(args ...string) data { return each(1, func(int) []string { return args }) }

// filled is one key with n elements: element returns the arguments that add one of them.
func filled(command, key string, n int, element func(i int) []string) data {
	return each((n+portion-1)/portion, func(at int) []string {
		args := []string{command, key}
		for i := at * portion; i < min(n, (at+1)*portion); i++ {
			args = append(args, element(i)...)
		}
		return args
	})
}

// stringKeys are n keys with the numbers that a load fills in for __rand_int__.
func stringKeys(prefix string, n int, value ...string) data {
	return each(n, func(i int) []string {
		return append([]string{"SET", prefix + padded(i)}, value...)
	})
}

// padded is a number as redis-benchmark writes it.
func padded(i int) string { return fmt.Sprintf("%012d", i) }

func listOf(key string, n int) data {
	return filled("RPUSH", key, n, func(i int) []string { return []string{"element-" + strconv.Itoa(i)} })
}

func setOf(key string, n int) data {
	return filled("SADD", key, n, func(i int) []string { return []string{"member-" + strconv.Itoa(i)} })
}

func intsetOf(key string, n int) data {
	return filled("SADD", key, n, func(i int) []string { return []string{strconv.Itoa(7 * i)} })
}

func zsetOf(key string, n int) data {
	return filled("ZADD", key, n, func(i int) []string {
		return []string{strconv.FormatFloat(float64(i)*1.5, 'g', -1, 64), "member-" + strconv.Itoa(i)}
	})
}

func hashOf(key string, n int) data {
	return filled("HSET", key, n, func(i int) []string {
		return []string{"field-" + strconv.Itoa(i), "value-" + strconv.Itoa(i)}
	})
}

func streamOf(key string, n int) data {
	return each(n, func(i int) []string { return []string{"XADD", key, "*", "f", "v" + strconv.Itoa(i), "g", "w"} })
}

// placesOf are spread over the earth.
func placesOf(key string, n int) data {
	return filled("GEOADD", key, n, func(i int) []string {
		longitude, latitude := float64(i*37%3600)/10-180, float64(i*17%1600)/10-80
		return []string{fmt.Sprintf("%.1f", longitude), fmt.Sprintf("%.1f", latitude), "p" + strconv.Itoa(i)}
	})
}

func hyperLogLogOf(key, prefix string, n int) data {
	return filled("PFADD", key, n, func(i int) []string { return []string{prefix + strconv.Itoa(i)} })
}

// repeated is a request with one argument n times at its end.
func repeated(n int, arg func(i int) string, before ...string) []string {
	args := slices.Clone(before)
	for i := range n {
		args = append(args, arg(i))
	}
	return args
}

package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

var crashRounds = flag.Int("crash.rounds", 10, "how often a server loses what its disk has not fsynced")

func counted(c *redistest.Conn, key string) int64 {
	n, _ := strconv.ParseInt(c.Do("GET", key).Str, 10, 64)
	return n
}

// crashNow replies, and then its connection ends.
func crashNow(t *testing.T, c *redistest.Conn, words ...string) {
	t.Helper()
	require.Equal(t, "OK", c.Do(append([]string{"LAB", "CRASH"}, words...)...).Str)
	_, err := c.TryRead()
	require.Error(t, err)
}

// startDisk starts a server with an append only file on a simulated disk.
func startDisk(t *testing.T, args ...string) (p *process, addr string) {
	t.Helper()
	options := []string{"--port", "0", "--lab", "yes", "--lab-disk", "yes", "--appendonly", "yes"}
	p = start(t, "miniredisd", "", append(options, args...)...)
	addr = fmt.Sprintf("127.0.0.1:%d", p.port())
	go func() {
		for p.lines.Scan() { // a full pipe would stop the server
		}
	}()
	return p, addr
}

// The disk loses everything that was not fsynced, in the middle of the writes of eight clients. Every second time it
// tears the file as well.
func TestWithAlwaysADiskThatLosesHasEveryAcknowledgedWrite(t *testing.T) {
	p, addr := startDisk(t, "--appendfsync", "always", "--seed", "1")
	var acknowledged [8]int64
	for round := range *crashRounds {
		var running, ended sync.WaitGroup
		for i := range acknowledged {
			running.Add(1)
			ended.Go(func() { acknowledged[i] = increments(addr, fmt.Sprint("key:", i), &running) })
		}
		running.Wait()
		c := p.dial()
		if round%2 == 1 {
			c.Do("LAB", "DISK", "TORN", strconv.Itoa(round))
		}
		crashNow(t, c)
		ended.Wait()
		c = p.dial()
		for i, last := range acknowledged {
			found := counted(c, fmt.Sprint("key:", i))
			require.GreaterOrEqual(t, found, last, "round %d", round)
			require.LessOrEqual(t, found, last+1, "round %d", round)
		}
	}
}

// With everysec, what was acknowledged more than two seconds before a crash is there, by the clock of the lab. An fsync
// takes up to a second.
func TestWithEverysecADiskThatLosesHasWhatIsTwoSecondsOld(t *testing.T) {
	p, _ := startDisk(t, "--seed", "1")
	c := p.dial()
	c.Do("LAB", "CLOCK", "FREEZE")
	chance := rand.New(rand.NewPCG(1, 1))
	lost := int64(0)
	for round := range *crashRounds {
		c.Do("LAB", "DISK", "SLOW", "FSYNC", strconv.Itoa(chance.IntN(1000)))
		at, now := map[int64]int64{}, int64(0) // the last number that was acknowledged, by the time
		first := counted(c, "n")
		for range 20 + chance.IntN(80) {
			at[now] = c.Do("INCR", "n").Int
			ms := int64(chance.IntN(200))
			c.Do("LAB", "CLOCK", "ADVANCE", strconv.FormatInt(ms, 10))
			now += ms
		}
		crashNow(t, c)
		c = p.dial()
		found := counted(c, "n")
		old := first
		for when, n := range at {
			lost = max(lost, n-found)
			if when < now-2000 {
				old = max(old, n)
			}
		}
		require.GreaterOrEqual(t, found, old, "round %d", round)
	}
	require.Positive(t, lost, "no crash has lost anything")
}

// Two runs with one seed print the same, whatever the disk does.
func TestADiskThatLosesIsTheSameWithOneSeed(t *testing.T) {
	var first string
	for range 2 {
		p, _ := startDisk(t, "--seed", "7")
		c := p.dial()
		c.Do("LAB", "CLOCK", "FREEZE")
		c.Do("LAB", "CLOCK", "SET", "1700000000000")
		crashNow(t, c) // the next fsync is a second after the start, so that is at a known time, too
		c = p.dial()
		var all strings.Builder
		chance := rand.New(rand.NewPCG(7, 7))
		for n := range 60 {
			c.Do("RPUSH", "list", strconv.Itoa(n))
			c.Do("LAB", "CLOCK", "ADVANCE", strconv.Itoa(chance.IntN(400)))
			if n%7 == 3 {
				c.Do("BGSAVE")
			}
			if n%10 == 9 {
				c.Do("LAB", "DISK", "TORN", strconv.Itoa(chance.IntN(60)))
				all.WriteString(c.Do("LAB", "DISK", "FILES").String() + c.Do("LAB", "DISK", "STATUS").String())
				crashNow(t, c)
				c = p.dial()
				all.WriteString(c.Do("LRANGE", "list", "0", "-1").String() + "\n")
			}
		}
		if first == "" {
			first = all.String()
		}
		require.Equal(t, first, all.String())
	}
}

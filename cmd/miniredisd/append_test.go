package main

import (
	"flag"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

var killRounds = flag.Int("kill.rounds", 5, "how often a server that appends is killed")

// works are what a client sends again and again: each time, its counter is one higher, and its list has one element
// more. A crash may not come between the two.
func works(key string) [][]string {
	list := key + ":list"
	return [][]string{
		{"EVAL", "redis.call('rpush', KEYS[2], 'x') return redis.call('incr', KEYS[1])", "2", key, list},
		{"MULTI"}, {"RPUSH", list, "x"}, {"INCR", key}, {"EXEC"},
		{"FCALL", "count", "2", key, list},
	}
}

const counting = `#!lua name=counting
redis.register_function('count', function(keys)
	redis.call('set', keys[1] .. ':lock', 'token', 'NX', 'PX', 100000)
	redis.call('rpush', keys[2], 'x')
	redis.call('del', keys[1] .. ':lock')
	return redis.call('incr', keys[1])
end)`

// increments counts up one key until the connection ends. It returns the last number that was acknowledged.
func increments(addr, key string, running *sync.WaitGroup) (last int64) {
	c, err := redistest.Connect(addr)
	for n, works := 0, works(key); ; n++ {
		if err == nil {
			v, failed := c.Conn.Do(works[n%len(works)]...)
			if len(v.Elems) == 2 {
				v = v.Elems[1] // of EXEC
			}
			if err = failed; err == nil && v.Int > 0 {
				last = v.Int
			}
		}
		if n == 50 || err != nil && n < 50 {
			running.Done()
		}
		if err != nil {
			return last
		}
	}
}

// Eight clients write when the server is killed. What was acknowledged is there again, and at most the one number
// more that each client was waiting for. Nothing is there by half.
func TestAKilledServerHasEveryAcknowledgedWrite(t *testing.T) {
	dir := t.TempDir()
	args := []string{"--port", "0", "--dir", dir, "--appendonly", "yes", "--appendfsync", "always"}
	var acknowledged [8]int64
	for round := range *killRounds + 1 {
		p := start(t, "miniredisd", "", args...)
		addr := fmt.Sprintf("127.0.0.1:%d", p.port())
		c := p.dial()
		require.Equal(t, "counting", c.Do("FUNCTION", "LOAD", "REPLACE", counting).Str)
		for i, last := range acknowledged {
			key := fmt.Sprint("key:", i)
			found, _ := strconv.ParseInt(c.Do("GET", key).Str, 10, 64)
			require.GreaterOrEqual(t, found, last, "round %d", round)
			require.LessOrEqual(t, found, last+1, "round %d", round)
			require.Equal(t, found, c.Do("LLEN", key+":list").Int, "round %d", round)
			require.Zero(t, c.Do("EXISTS", key+":lock").Int, "round %d", round)
		}
		var running, ended sync.WaitGroup
		for i := range acknowledged {
			running.Add(1)
			ended.Go(func() { acknowledged[i] = increments(addr, fmt.Sprint("key:", i), &running) })
		}
		running.Wait()
		require.NoError(t, p.cmd.Process.Kill())
		ended.Wait()
		p.exit()
	}
}

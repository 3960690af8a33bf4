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

// increments counts up one key until the connection ends. It returns the last number that was acknowledged.
func increments(addr, key string, running *sync.WaitGroup) (last int64) {
	c, err := redistest.Connect(addr)
	for n := 0; ; n++ {
		if err == nil {
			v, failed := c.Conn.Do("INCR", key)
			if err = failed; err == nil {
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
// more that each client was waiting for.
func TestAKilledServerHasEveryAcknowledgedWrite(t *testing.T) {
	dir := t.TempDir()
	args := []string{"--port", "0", "--dir", dir, "--appendonly", "yes", "--appendfsync", "always"}
	var acknowledged [8]int64
	for round := range *killRounds + 1 {
		p := start(t, "miniredisd", "", args...)
		addr := fmt.Sprintf("127.0.0.1:%d", p.port())
		c := p.dial()
		for i, last := range acknowledged {
			found, _ := strconv.ParseInt(c.Do("GET", fmt.Sprint("key:", i)).Str, 10, 64)
			require.GreaterOrEqual(t, found, last, "round %d", round)
			require.LessOrEqual(t, found, last+1, "round %d", round)
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

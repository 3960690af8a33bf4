package node_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

// Clients send INCR in pipelines that are cut into pieces of any size. Another client pauses and
// kills them. Every reply is the next number. After a kill, the counter is at least the last reply
// and at most the number of requests sent.
func TestNoReplyIsLostDoubledOrMixedUpWhileClientsArePausedAndKilled(t *testing.T) {
	t.Parallel()
	addr := start(t, nil)
	admin := redistest.Dial(t, addr)
	admin.Do("SET", "big", strings.Repeat("x", 100_000))
	var workers sync.WaitGroup
	var killed atomic.Int64
	for i := range 4 {
		workers.Go(func() { keepCounting(t, addr, i, &killed) })
	}
	done := make(chan struct{})
	go func() {
		workers.Wait()
		close(done)
	}()
	disturb(t, admin, done)
	require.Equal(t, "0", infoField(admin, "blocked_clients"))
	waitForField(admin, "connected_clients", "1")
}

// disturb pauses and kills clients until done is closed. It leaves no client paused.
func disturb(t *testing.T, admin *redistest.Conn, done <-chan struct{}) {
	rng := rand.New(rand.NewPCG(5, 6))
	for round := 0; ; round++ {
		select {
		case <-done:
			require.Equal(t, "OK", admin.Do("CLIENT", "UNPAUSE").Str)
			return
		default:
		}
		switch rng.IntN(4) {
		case 0:
			admin.Do("CLIENT", "PAUSE", "2", "ALL")
		case 1:
			admin.Do("CLIENT", "PAUSE", "1000", "WRITE")
			admin.Do("GET", "n0")
			admin.Do("CLIENT", "UNPAUSE")
		case 2:
			admin.Do("CLIENT", "LIST")
		case 3:
			if round%16 == 0 {
				admin.Do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
			}
		}
	}
}

// keepCounting sends pipelines of INCR with large replies between them. It connects again after
// each kill, and continues until at least one client was killed.
func keepCounting(t *testing.T, addr string, id int, killed *atomic.Int64) {
	rng := rand.New(rand.NewPCG(7, uint64(id)))
	key := fmt.Sprint("n", id)
	var c *redistest.Conn
	sent, answered := int64(0), int64(0)
	for n := 0; n < amount.Count(30, 80) || killed.Load() == 0; n++ {
		if c == nil {
			var now int64
			if c, now = reconnect(addr, key); c == nil {
				return // the server has ended because another part of the test failed
			}
			assert.True(t, answered <= now && now <= sent, "%d were answered and %d sent, but %d done", answered, sent, now)
			sent, answered = now, now
		}
		var out []byte
		var want []byte // 'n' for a number, 'x' for the large value
		for range 1 + rng.IntN(100) {
			if rng.IntN(10) == 0 {
				out, want = append(out, "GET big\r\n"...), append(want, 'x')
				continue
			}
			out, want = resp.AppendRequest(out, "INCR", key), append(want, 'n')
			sent++
		}
		go sendInPieces(c, out, rng.Uint64())
		if !follow(t, c, want, &answered) {
			killed.Add(1)
			c.Close()
			c = nil
		}
	}
	if c != nil {
		c.Close()
	}
}

// reconnect returns a new connection and the current value of the counter. It tries again if the
// connection is killed meanwhile.
func reconnect(addr, key string) (*redistest.Conn, int64) {
	for {
		c, err := redistest.Connect(addr)
		if err != nil {
			return nil, 0
		}
		_ = c.Send([]byte("INCRBY " + key + " 0\r\n"))
		if v, err := c.TryRead(); err == nil {
			return c, v.Int
		}
		c.Close()
	}
}

// sendInPieces writes out in pieces. It ignores errors, because the reader notices them.
func sendInPieces(c *redistest.Conn, out []byte, seed uint64) {
	rng := rand.New(rand.NewPCG(8, seed))
	for len(out) > 0 {
		n := min(len(out), 1+rng.IntN(200))
		if c.Send(out[:n]) != nil {
			return
		}
		out = out[n:]
	}
}

// follow reads the replies to one pipeline. It returns false when the connection has ended.
func follow(t *testing.T, c *redistest.Conn, want []byte, answered *int64) bool {
	for _, kind := range want {
		v, err := c.TryRead()
		if err != nil {
			var timeout net.Error
			timeout, _ = err.(net.Error)
			assert.False(t, timeout != nil && timeout.Timeout(), "no reply, and no end either")
			return false
		}
		if kind == 'x' {
			assert.Len(t, v.Str, 100_000)
			continue
		}
		*answered++
		assert.Equal(t, *answered, v.Int)
	}
	return true
}

package server_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

// Clients that count, in pipelines cut into pieces of any size, while another one
// pauses and kills them: every reply is the next number, and of a connection that was
// killed, what had been answered has been done, and nothing that was not sent.
func TestNoReplyIsLostDoubledOrMixedUpWhileClientsArePausedAndKilled(t *testing.T) {
	addr := start(t, nil)
	boss := redistest.Dial(t, addr)
	boss.Do("SET", "big", strings.Repeat("x", 100_000))
	var workers sync.WaitGroup
	var killed [4]int
	for i := range killed {
		workers.Go(func() { killed[i] = keepCounting(t, addr, i) })
	}
	done := make(chan struct{})
	go func() {
		workers.Wait()
		close(done)
	}()
	disturb(t, boss, done)
	require.Positive(t, killed[0]+killed[1]+killed[2]+killed[3], "nobody was disturbed")
	require.Equal(t, "0", infoField(boss, "blocked_clients"))
	waitForField(boss, "connected_clients", "1")
}

// disturb goes on until done, and leaves nothing paused.
func disturb(t *testing.T, boss *redistest.Conn, done <-chan struct{}) {
	rng := rand.New(rand.NewPCG(5, 6))
	for round := 0; ; round++ {
		select {
		case <-done:
			require.Equal(t, "OK", boss.Do("CLIENT", "UNPAUSE").Str)
			return
		default:
		}
		switch rng.IntN(4) {
		case 0:
			boss.Do("CLIENT", "PAUSE", "2", "ALL")
		case 1:
			boss.Do("CLIENT", "PAUSE", "1000", "WRITE")
			boss.Do("GET", "n0")
			boss.Do("CLIENT", "UNPAUSE")
		case 2:
			boss.Do("CLIENT", "LIST")
		case 3:
			if round%16 == 0 {
				boss.Do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
			}
		}
	}
}

// keepCounting sends pipelines of INCR with large replies between them, on a new connection
// whenever it has lost the last one.
func keepCounting(t *testing.T, addr string, id int) (killed int) {
	rng := rand.New(rand.NewPCG(7, uint64(id)))
	key := fmt.Sprint("n", id)
	var c net.Conn
	var in *bufio.Reader
	sent, answered := int64(0), int64(0)
	for range 80 {
		if c == nil {
			var now int64
			if c, in, now = reconnect(addr, key); c == nil {
				return killed // the test has failed elsewhere, and the server is gone
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
			out, want = redistest.AppendCommand(out, "INCR", key), append(want, 'n')
			sent++
		}
		go dribble(c, out, rng.Uint64())
		if !follow(t, in, want, &answered) {
			killed++
			_ = c.Close()
			c = nil
		}
	}
	if c != nil {
		_ = c.Close()
	}
	return killed
}

// reconnect also reads the counter, again when it is cut off while doing so.
func reconnect(addr, key string) (net.Conn, *bufio.Reader, int64) {
	for {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			return nil, nil, 0
		}
		_ = c.SetDeadline(time.Now().Add(20 * time.Second))
		in := bufio.NewReader(c)
		_, _ = c.Write([]byte("INCRBY " + key + " 0\r\n"))
		if v, err := resp.ReadReply(in); err == nil {
			return c, in, v.Int
		}
		_ = c.Close()
	}
}

// dribble writes out in pieces. An error is noticed by who reads.
func dribble(c net.Conn, out []byte, seed uint64) {
	rng := rand.New(rand.NewPCG(8, seed))
	for len(out) > 0 {
		n := min(len(out), 1+rng.IntN(200))
		if _, err := c.Write(out[:n]); err != nil {
			return
		}
		out = out[n:]
	}
}

// follow reads the replies to one pipeline; false when the connection ended.
func follow(t *testing.T, in *bufio.Reader, want []byte, answered *int64) bool {
	for _, kind := range want {
		v, err := resp.ReadReply(in)
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

//go:build linux

package main

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

// each runs test against both models, in this process, so that the race detector sees them.
func each(t *testing.T, test func(t *testing.T, addr string)) {
	t.Run("goroutines", func(t *testing.T) {
		g, err := newGoroutines("127.0.0.1:0")
		require.NoError(t, err)
		ended := make(chan error, 1)
		go func() { ended <- g.server.Serve(g.listener) }()
		t.Cleanup(func() {
			require.NoError(t, g.listener.Close())
			<-ended
		})
		test(t, g.listener.Addr().String())
	})
	t.Run("queue", func(t *testing.T) {
		q, err := newQueue("127.0.0.1:0")
		require.NoError(t, err)
		ended := make(chan error, 1)
		go func() { ended <- q.run() }()
		t.Cleanup(func() {
			q.stop()
			require.NoError(t, <-ended)
		})
		test(t, q.addr)
	})
}

func TestNoIncrementIsLostBetweenClients(t *testing.T) {
	const clients, batches, pipeline = 8, 20, 16
	each(t, func(t *testing.T, addr string) {
		var all sync.WaitGroup
		for range clients {
			c := redistest.Dial(t, addr)
			all.Go(func() {
				batch := strings.Repeat("*2\r\n$4\r\nINCR\r\n$1\r\nn\r\n", pipeline)
				for range batches {
					if c.Send([]byte(batch)) != nil {
						return
					}
					for range pipeline {
						if _, err := c.TryRead(); err != nil {
							return
						}
					}
				}
			})
		}
		all.Wait()
		require.Equal(t, "2560", redistest.Dial(t, addr).Do("GET", "n").Str)
	})
}

func TestRequestsLargerThanAnyBufferAreAnsweredInOrder(t *testing.T) {
	each(t, func(t *testing.T, addr string) {
		c := redistest.Dial(t, addr)
		value := strings.Repeat("v", 300_000)
		var requests []byte
		for range 20 {
			requests = resp.AppendRequest(requests, "SET", "k", value)
			requests = resp.AppendRequest(requests, "STRLEN", "k")
			requests = resp.AppendRequest(requests, "GET", "k")
		}
		sent := make(chan error)
		go func() { sent <- c.Send(requests) }()
		for range 20 {
			require.Equal(t, "OK", c.Read().Str)
			require.Equal(t, int64(len(value)), c.Read().Int)
			require.Equal(t, value, c.Read().Str)
		}
		require.NoError(t, <-sent)
	})
}

func TestClientsWhoWouldWaitForEverAreHungUpOn(t *testing.T) {
	each(t, func(t *testing.T, addr string) {
		for _, args := range [][]string{{"BLPOP", "list", "0"}, {"SUBSCRIBE", "channel"}, {"QUIT"}} {
			c := redistest.Dial(t, addr)
			require.NoError(t, c.Send(resp.AppendRequest(nil, args...)))
			for {
				if _, err := c.TryRead(); err != nil {
					require.ErrorContains(t, err, "EOF", args[0])
					break
				}
			}
		}
		require.Equal(t, "PONG", redistest.Dial(t, addr).Do("PING").Str)
	})
}

func TestBrokenRequestsAreAnsweredAndEndTheConnection(t *testing.T) {
	each(t, func(t *testing.T, addr string) {
		c := redistest.Dial(t, addr)
		require.Equal(t, "PONG", c.Do("PING").Str)
		require.NoError(t, c.Send([]byte("*1\r\n#4\r\nPING\r\n")))
		require.Contains(t, c.Read().Str, "Protocol error")
		_, err := c.TryRead()
		require.Error(t, err)
	})
}

func TestInfoNamesWhatExecutes(t *testing.T) {
	each(t, func(t *testing.T, addr string) {
		c := redistest.Dial(t, addr)
		for range 2 * sampleEvery {
			c.Do("SET", "k", "v")
		}
		require.Regexp(t, `executor_(thread_id|busy_ns):[1-9]`, c.Do("INFO", "miniredisd").Str)
	})
}

func TestOnlyTheTwoModelsAreKnown(t *testing.T) {
	require.ErrorContains(t, run([]string{"reactor", "127.0.0.1:0"}), `no model "reactor"`)
	require.Error(t, run(nil))
}

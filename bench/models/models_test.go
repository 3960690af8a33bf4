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

// each runs test against all models, in this process, so that the race detector sees them.
func each(t *testing.T, test func(t *testing.T, addr string)) {
	for _, name := range []string{"goroutines", "queue", "owners", "rings"} {
		t.Run(name, func(t *testing.T) {
			m, err := newModel(name, "127.0.0.1:0")
			require.NoError(t, err)
			ended := make(chan error, 1)
			go func() { ended <- m.run() }()
			t.Cleanup(func() {
				m.stop()
				require.NoError(t, <-ended)
			})
			test(t, m.listens())
		})
	}
}

func TestNoIncrementIsLostBetweenClients(t *testing.T) {
	const clients, batches, pipeline = 8, 20, 16
	each(t, func(t *testing.T, addr string) {
		var all sync.WaitGroup
		for range clients {
			c := redistest.Dial(t, addr)
			all.Go(func() {
				batch := strings.Repeat(string(resp.AppendRequest(nil, "INCR", "n")), pipeline)
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

func TestAnUnknownModelIsAnError(t *testing.T) {
	require.ErrorContains(t, run([]string{"reactor", "127.0.0.1:0"}), `no model "reactor"`)
	require.Error(t, run(nil))
}

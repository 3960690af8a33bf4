package node_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

// 7.0 writes such messages into the array, where clients take them for replies.
func TestMessagesToItselfComeBehindTheRepliesOfEXEC(t *testing.T) {
	for _, proto := range []string{"2", "3"} {
		c := redistest.Dial(t, start(t, nil))
		c.Do("HELLO", proto)
		for _, request := range []string{"MULTI", "SUBSCRIBE c", "PUBLISH c one", "PUBLISH c two"} {
			c.Do(strings.Fields(request)...)
		}
		reply := c.Do("EXEC")
		require.Len(t, reply.Elems, 3)
		require.Equal(t, int64(1), reply.Elems[1].Int)
		require.Equal(t, int64(1), reply.Elems[2].Int)
		for _, text := range []string{"one", "two"} {
			require.Equal(t, text, c.Read().Elems[2].Str)
		}
	}
}

func TestALockIsReleasedByItsHolderOnly(t *testing.T) {
	addr := start(t, nil)
	holder, thief := redistest.Dial(t, addr), redistest.Dial(t, addr)
	release := func(between func()) (released bool) {
		holder.Do("SET", "lock", "mine", "PX", "100000")
		holder.Do("WATCH", "lock")
		require.Equal(t, "mine", holder.Do("GET", "lock").Str)
		between()
		holder.Do("MULTI")
		holder.Do("DEL", "lock")
		return len(holder.Do("EXEC").Elems) == 1
	}
	require.True(t, release(func() {}))
	require.False(t, release(func() {
		thief.Do("DEL", "lock")
		thief.Do("SET", "lock", "theirs", "NX", "PX", "100000")
	}))
	require.Equal(t, "theirs", thief.Do("GET", "lock").Str)
}

// Queued commands take memory, and their short replies do not limit a client.
func TestAQueueIsBoundedByTheQueryBufferLimit(t *testing.T) {
	c := redistest.Dial(t, start(t, []string{"--client-query-buffer-limit", "1mb"}))
	c.Do("MULTI")
	value := strings.Repeat("v", 100_000)
	for range 50 {
		if err := c.Send(resp.AppendRequest(nil, "SET", "k", value)); err != nil {
			return
		}
		if _, err := c.TryRead(); err != nil {
			return
		}
	}
	t.Fatal("5 MB are queued")
}

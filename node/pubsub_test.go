package node_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

// words joins the strings and numbers of an array.
func words(v resp.Value) string {
	var parts []string
	for _, e := range v.Elems {
		if e.Kind == ':' {
			parts = append(parts, fmt.Sprint(e.Int))
		} else {
			parts = append(parts, e.Str)
		}
	}
	return strings.Join(parts, " ")
}

func TestASubscriberThatNeverReadsIsClosedAtTheLimitOfItsClass(t *testing.T) {
	addr := start(t, []string{"--client-output-buffer-limit", "pubsub", "1mb", "0", "0"})
	other, silent, reader := redistest.Dial(t, addr), redistest.Dial(t, addr), redistest.Dial(t, addr)
	silent.Do("SUBSCRIBE", "a")
	reader.Do("SUBSCRIBE", "a")
	message := strings.Repeat("x", 100_000)
	for i := 0; infoField(other, "client_output_buffer_limit_disconnections") == "0"; i++ {
		other.Do("PUBLISH", "a", message)
		require.Equal(t, "message a "+message, words(reader.Read()))
		require.Less(t, i, 1000)
	}
	require.Equal(t, "a 1", words(other.Do("PUBSUB", "NUMSUB", "a")))
	require.Equal(t, int64(1), other.Do("PUBLISH", "a", "end").Int)
	require.Equal(t, "message a end", words(reader.Read()))
}

func TestIdleSubscribersAreNotClosed(t *testing.T) {
	t.Parallel() // it waits for a second
	addr := start(t, nil)
	subscriber, pattern, idle := redistest.Dial(t, addr), redistest.Dial(t, addr), redistest.Dial(t, addr)
	subscriber.Do("HELLO", "3")
	subscriber.Do("SUBSCRIBE", "a")
	pattern.Do("PSUBSCRIBE", "a")
	idle.Do("CONFIG", "SET", "timeout", "1")
	requireClosed(t, idle)
	require.Equal(t, int64(2), subscriber.Do("PUBLISH", "a", "x").Int)
	require.Equal(t, "message a x", words(subscriber.Read()))
	require.Equal(t, "pmessage a a x", words(pattern.Read()))
}

func TestInfoCountsChannelsAndPatterns(t *testing.T) {
	addr := start(t, nil)
	other, subscriber := redistest.Dial(t, addr), redistest.Dial(t, addr)
	subscriber.Do("HELLO", "3")
	for _, args := range [][]string{
		{"SUBSCRIBE", "a"}, {"PSUBSCRIBE", "a"}, {"PSUBSCRIBE", "b"},
		{"SSUBSCRIBE", "a"}, {"SSUBSCRIBE", "b"}, {"SSUBSCRIBE", "c"},
	} {
		subscriber.Do(args...)
	}
	require.Equal(t, "1", infoField(other, "pubsub_channels"))
	require.Equal(t, "2", infoField(other, "pubsub_patterns"))
	require.Equal(t, "3", infoField(other, "pubsubshard_channels"))
	subscriber.Close()
	waitForField(other, "pubsub_channels", "0")
	require.Equal(t, "0", infoField(other, "pubsub_patterns"))
	require.Equal(t, "0", infoField(other, "pubsubshard_channels"))
}

func TestAThousandSubscribersGetEveryMessageInOrder(t *testing.T) {
	t.Parallel()
	addr := start(t, nil)
	var subscribers []*redistest.Conn
	for i := range 1000 {
		c := redistest.Dial(t, addr)
		if i%2 == 1 {
			c.Do("HELLO", "3")
		}
		c.Do("SUBSCRIBE", "a")
		subscribers = append(subscribers, c)
	}
	other := redistest.Dial(t, addr)
	for i := range 10 {
		require.Equal(t, int64(1000), other.Do("PUBLISH", "a", fmt.Sprint(i)).Int)
	}
	for n, c := range subscribers {
		for i := range 10 {
			v := c.Read()
			require.Equal(t, fmt.Sprint("message a ", i), words(v))
			require.Equal(t, n%2 == 1, v.Kind == '>')
		}
	}
}

// Keys that expire in the same millisecond are published in any order. Each is published once, by
// active expiry alone: no client reads the keys.
func TestEveryExpiredKeyIsPublished(t *testing.T) {
	t.Parallel()
	addr := start(t, []string{"--notify-keyspace-events", "Ex"})
	other, subscriber := redistest.Dial(t, addr), redistest.Dial(t, addr)
	subscriber.Do("PSUBSCRIBE", "__key*__:*")
	waiting := map[string]bool{}
	for i := range 1000 {
		key := fmt.Sprint("k", i)
		other.Do("SET", key, "v", "PX", fmt.Sprint(1+i%200))
		waiting[key] = true
	}
	for range 1000 {
		v := subscriber.Read()
		require.Equal(t, "__keyevent@0__:expired", v.Elems[2].Str)
		require.True(t, waiting[v.Elems[3].Str], "%s is told twice", v.Elems[3].Str)
		delete(waiting, v.Elems[3].Str)
	}
	require.Empty(t, waiting)
}

func TestEvictionIsPublished(t *testing.T) {
	addr := start(t, []string{"--notify-keyspace-events", "Ee", "--maxmemory-policy", "allkeys-random"})
	other, subscriber := redistest.Dial(t, addr), redistest.Dial(t, addr)
	subscriber.Do("SUBSCRIBE", "__keyevent@0__:evicted")
	other.Do("SET", "k", strings.Repeat("x", 1000))
	other.Do("CONFIG", "SET", "maxmemory", "1")
	other.Do("GET", "k")
	require.Equal(t, "message __keyevent@0__:evicted k", words(subscriber.Read()))
}

package node_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

// clientField returns one field of CLIENT LIST for the client with that name, or "" if there is no
// such client.
func clientField(t *testing.T, c *redistest.Conn, client, name string) string {
	t.Helper()
	for line := range strings.SplitSeq(string(c.Do("CLIENT", "LIST").Str), "\n") {
		if !strings.Contains(line, " name="+client+" ") {
			continue
		}
		for word := range strings.FieldsSeq(line) {
			if v, ok := strings.CutPrefix(word, name+"="); ok {
				return v
			}
		}
		t.Fatalf("CLIENT LIST has no field %s", name)
	}
	return ""
}

// dialNamed returns a new connection with that client name.
func dialNamed(t *testing.T, addr, name string) *redistest.Conn {
	t.Helper()
	c := redistest.Dial(t, addr)
	ok(t, c, "CLIENT", "SETNAME", name)
	return c
}

// sendHalf sends a request with an argument of size bytes, but not its end.
func sendHalf(t *testing.T, c *redistest.Conn, size int) {
	t.Helper()
	require.NoError(t, c.Send([]byte(fmt.Sprintf("*1\r\n$%d\r\n%s", size, strings.Repeat("v", size)))))
}

func TestTheLargestClientsAreEvictedUntilTheRestIsWithinTheLimit(t *testing.T) {
	addr := start(t, nil)
	control := dialNamed(t, addr, "control")
	control.Do("CLIENT", "NO-EVICT", "ON")
	sizes := []int{100_000, 400_000, 1_600_000}
	for _, size := range sizes {
		for i := range 2 {
			sendHalf(t, dialNamed(t, addr, fmt.Sprint(size, ".", i)), size)
		}
	}
	for _, size := range sizes {
		for i := range 2 {
			requireInTime(t, "all is read", func() bool {
				return clientField(t, control, fmt.Sprint(size, ".", i), "qbuf") == strconv.Itoa(size)
			})
		}
	}
	require.Equal(t, "OK", control.Do("CONFIG", "SET", "maxmemory-clients", "2800000").Str)
	left := string(control.Do("CLIENT", "LIST").Str)
	for name, stays := range map[string]bool{
		"1600000.0": false, "1600000.1": true,
		"400000.0": true, "400000.1": true,
		"100000.0": true, "100000.1": true,
	} {
		require.Equal(t, stays, strings.Contains(left, "name="+name+" "), name)
	}
	control.Do("CONFIG", "SET", "maxmemory-clients", "700000")
	require.Equal(t, 4, strings.Count(control.Do("CLIENT", "LIST").Str, "\n"), "control, a middle one, two small ones")
	require.Equal(t, 3, info(t, control, "evicted_clients"))
}

func TestAllMemoryOfAClientCountsForItsEviction(t *testing.T) {
	t.Parallel()
	const limit = 1_000_000
	big := strings.Repeat("x", 300_000)
	for name, fill := range map[string]func(t *testing.T, c, other *redistest.Conn){
		"half a value": func(t *testing.T, c, _ *redistest.Conn) { sendHalf(t, c, limit) },
		"a large request": func(t *testing.T, c, _ *redistest.Conn) {
			_ = c.Send(resp.AppendRequest(nil, "ECHO", strings.Repeat("x", limit)))
		},
		"a queue": func(t *testing.T, c, _ *redistest.Conn) {
			request(t, c, "MULTI")
			for range 4 {
				_ = c.Send(resp.AppendRequest(nil, "SET", "k", big))
			}
		},
		"channels": func(t *testing.T, c, _ *redistest.Conn) {
			_ = c.Send(resp.AppendRequest(nil, append([]string{"SUBSCRIBE"}, numbered(30_000, 6)...)...))
		},
		"watched keys": func(t *testing.T, c, _ *redistest.Conn) {
			_ = c.Send(resp.AppendRequest(nil, append([]string{"WATCH"}, numbered(2000, 600)...)...))
		},
		"replies": func(t *testing.T, c, other *redistest.Conn) {
			other.Do("SET", "k", big)
			for range 60 {
				_ = c.Send(resp.AppendRequest(nil, "GET", "k"))
			}
		},
		"messages": func(t *testing.T, c, other *redistest.Conn) {
			c.Do("SUBSCRIBE", "channel")
			for range 60 {
				other.Do("PUBLISH", "channel", big)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			addr := start(t, []string{"--maxmemory-clients", strconv.Itoa(limit)})
			c, other := dialNamed(t, addr, "large"), dialNamed(t, addr, "small")
			other.Do("CLIENT", "NO-EVICT", "ON")
			fill(t, c, other)
			requireInTime(t, "it is evicted", func() bool { return clientField(t, other, "large", "id") == "" })
			require.Equal(t, 1, info(t, other, "evicted_clients"))
		})
	}
}

func TestAClientThatMustNotBeEvictedStaysUntilItMay(t *testing.T) {
	addr := start(t, []string{"--maxmemory", "100mb", "--maxmemory-clients", "1%"})
	control, c := dialNamed(t, addr, "control"), dialNamed(t, addr, "large")
	control.Do("CLIENT", "NO-EVICT", "ON")
	c.Do("CLIENT", "NO-EVICT", "ON")
	control.Do("SET", "k", strings.Repeat("x", 300_000))
	for range 60 {
		request(t, c, "GET", "k")
	}
	requireInTime(t, "it is over the limit", func() bool {
		n, err := strconv.Atoi(clientField(t, control, "large", "tot-mem"))
		return err == nil && n > 2_000_000
	})
	require.Zero(t, info(t, control, "evicted_clients"))
	require.NoError(t, c.Send(resp.AppendRequest(nil, "CLIENT", "NO-EVICT", "OFF")))
	requireInTime(t, "it is evicted", func() bool { return info(t, control, "evicted_clients") == 1 })
}

func TestUnreadOutputEvictsKeys(t *testing.T) {
	addr := start(t, []string{"--maxmemory-policy", "allkeys-lru"})
	control, c := dialNamed(t, addr, "control"), dialNamed(t, addr, "silent")
	for i := range 50 {
		control.Do("SET", fmt.Sprint("key:", i), strings.Repeat("x", 100_000))
	}
	control.Do("CONFIG", "SET", "maxmemory", strconv.Itoa(info(t, control, "used_memory")+1_000_000))
	require.Zero(t, info(t, control, "evicted_keys"))
	for range 150 {
		request(t, c, "GET", "key:0")
	}
	requireInTime(t, "keys are evicted", func() bool {
		request(t, c, "GET", "key:1")
		return info(t, control, "evicted_keys") > 0
	})
	require.Zero(t, info(t, control, "evicted_clients"))
}

func TestALowerLimitEvictsKeysWithoutACommand(t *testing.T) {
	c := redistest.Dial(t, start(t, []string{"--maxmemory-policy", "allkeys-random", "--notify-keyspace-events", "Ee"}))
	for _, key := range numbered(1000, 1000) {
		c.Do("SET", key, "value")
	}
	c.Do("HELLO", "3")
	c.Do("SUBSCRIBE", "__keyevent@0__:evicted")
	request(t, c, "CONFIG", "SET", "maxmemory", "1")
	for evicted := 0; evicted < 1000; {
		if c.Read().Kind == '>' {
			evicted++
		}
	}
	require.Zero(t, c.Do("DBSIZE").Int)
}

func TestClientListShowsTheRequestUnderWay(t *testing.T) {
	c := dialNamed(t, start(t, nil), "me")
	require.Equal(t, "26", clientField(t, c, "me", "qbuf"))
	require.Equal(t, "10", clientField(t, c, "me", "argv-mem"))
	require.Equal(t, "0", clientField(t, c, "me", "multi-mem"))
	c.Do("MULTI")
	c.Do("SET", "key", "value")
	c.Do("CLIENT", "LIST")
	require.Contains(t, string(c.Do("EXEC").Elems[1].Str), " multi=2 qbuf=14 ")
}

package node_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

// dialTracking connects a client with RESP3 and client-side caching.
func dialTracking(addr string, t *testing.T, options ...string) *redistest.Conn {
	c := redistest.Dial(t, addr)
	c.Do("HELLO", "3")
	require.Equal(t, "OK", c.Do(append([]string{"CLIENT", "TRACKING", "ON"}, options...)...).Str)
	return c
}

// requireInvalid requires that the next message invalidates this key.
func requireInvalid(t *testing.T, c *redistest.Conn, key string) {
	t.Helper()
	v := c.Read()
	require.Equal(t, byte('>'), byte(v.Kind))
	require.Equal(t, "invalidate", v.Elems[0].Str)
	require.Equal(t, key, words(v.Elems[1]))
}

// No client reads the keys again. Active expiry alone sends the messages.
func TestActiveExpiryInvalidatesTrackedKeys(t *testing.T) {
	t.Parallel()
	addr := start(t, nil)
	reader, broadcast := dialTracking(addr, t), dialTracking(addr, t, "BCAST", "PREFIX", "lock:")
	admin := redistest.Dial(t, addr)
	admin.Do("DEBUG", "SET-ACTIVE-EXPIRE", "0") // one pass sends one message per key, even after a SET and an expiry
	reader.Do("EVAL", `for i = 1, 100 do
		redis.call('set', 'lock:' .. i, 'x', 'PX', 20 + i)
		redis.call('get', 'lock:' .. i)
	end`, "0")
	hundred := func() {
		n := 0
		for n < 100 {
			n += len(broadcast.Read().Elems[1].Elems)
		}
		require.Equal(t, 100, n)
	}
	hundred() // invalidated by SET
	admin.Do("DEBUG", "SET-ACTIVE-EXPIRE", "1")
	told := map[string]bool{}
	for range 100 {
		told[words(reader.Read().Elems[1])] = true
	}
	require.Len(t, told, 100, "each once")
	hundred() // invalidated by expiry
}

// The server evicts keys before it runs a command, so the message comes before the reply.
func TestAnEvictedKeyIsInvalidatedBeforeTheReply(t *testing.T) {
	addr := start(t, []string{"--maxmemory-policy", "allkeys-random"})
	c := dialTracking(addr, t)
	c.Do("SET", "k", strings.Repeat("x", 1000))
	c.Do("STRLEN", "k")
	redistest.Dial(t, addr).Do("CONFIG", "SET", "maxmemory", "1")
	require.NoError(t, c.Send(resp.AppendRequest(nil, "STRLEN", "k")))
	requireInvalid(t, c, "k")
	require.Zero(t, c.Read().Int)
}

func TestInfoCountsTrackingClientsAndWhatTheyHaveRead(t *testing.T) {
	addr := start(t, nil)
	other := redistest.Dial(t, addr)
	counts := func() string {
		return infoField(other, "tracking_clients") + " " + infoField(other, "tracking_total_keys") + " " +
			infoField(other, "tracking_total_items") + " " + infoField(other, "tracking_total_prefixes")
	}
	require.Equal(t, "0 0 0 0", counts())
	a, b, c := dialTracking(addr, t), dialTracking(addr, t), dialTracking(addr, t, "BCAST", "PREFIX", "x", "PREFIX", "y")
	require.Equal(t, "3 0 0 2", counts())
	a.Do("MGET", "k1", "k2", "k1")
	b.Do("MGET", "k1", "k3")
	c.Do("MGET", "k1", "k4")
	require.Equal(t, "3 3 4 2", counts())
	other.Do("SET", "k1", "v")
	requireInvalid(t, b, "k1") // otherwise the next reply would be taken for this one
	require.Equal(t, "3 2 2 2", counts())
	a.Close()
	c.Close()
	waitForField(other, "tracking_clients", "1")
	require.Equal(t, "1 2 2 0", counts(), "what has been read stays until it changes")
	other.Do("SET", "k2", "v")
	require.Equal(t, "1 1 1 0", counts())
	b.Do("CLIENT", "TRACKING", "OFF")
	require.Equal(t, "0 1 1 0", counts())
	other.Do("FLUSHALL")
	require.Equal(t, "0 0 0 0", counts())
}

func TestAThousandReadersOfAKeyGetOneMessageEach(t *testing.T) {
	t.Parallel()
	addr := start(t, nil)
	var readers []*redistest.Conn
	for range 1000 {
		c := dialTracking(addr, t)
		c.Do("GET", "k")
		readers = append(readers, c)
	}
	other := redistest.Dial(t, addr)
	other.Do("SET", "k", "1")
	other.Do("SET", "k", "2")
	for _, c := range readers {
		requireInvalid(t, c, "k")
		require.Equal(t, "2", c.Do("GET", "k").Str)
	}
}

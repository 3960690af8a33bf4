package node_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

const oom = "OOM command not allowed when used memory > 'maxmemory'."

// info returns one numeric field of INFO.
func info(t *testing.T, c *redistest.Conn, field string) int {
	t.Helper()
	_, rest, found := strings.Cut(c.Do("INFO", "everything").Str, "\r\n"+field+":")
	require.True(t, found, field)
	text, _, _ := strings.Cut(rest, "\r\n")
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

// startLimited starts a server whose maxmemory is room bytes above its present use. Eviction has no
// limit of time, so a slow machine evicts as much as a fast one.
func startLimited(t *testing.T, policy string, room int) (c *redistest.Conn, limit int) {
	c = redistest.Dial(t, start(t, []string{"--maxmemory-policy", policy, "--maxmemory-eviction-tenacity", "100"}))
	info(t, c, "used_memory") // the reply grows the output buffer, which counts
	limit = info(t, c, "used_memory") + room
	require.Equal(t, "OK", c.Do("CONFIG", "SET", "maxmemory", strconv.Itoa(limit)).Str)
	return c, limit
}

// inOneWrite sends requests in one write, and requires that none is refused.
func inOneWrite(t *testing.T, c *redistest.Conn, requests ...[]string) {
	t.Helper()
	var out []byte
	for _, r := range requests {
		out = resp.AppendRequest(out, r...)
	}
	require.NoError(t, c.Send(out))
	for _, r := range requests {
		require.NotEqual(t, byte('-'), c.Read().Kind, "%q", r)
	}
}

func TestEveryPolicyKeepsMemoryBelowItsLimitWhileWritesGoOn(t *testing.T) {
	t.Parallel()
	value := strings.Repeat("x", 200)
	for _, policy := range []string{
		"allkeys-lru", "allkeys-lfu", "allkeys-random",
		"volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl",
	} {
		if !amount.Picked(policy, 2) {
			continue
		}
		t.Run(policy, func(t *testing.T) {
			c, limit := startLimited(t, policy, 200_000)
			var batch [][]string
			for i := range 3000 {
				batch = append(batch, []string{"SET", fmt.Sprintf("key:%d", i), value, "EX", strconv.Itoa(1000 + i)})
				if i%20 == 19 {
					inOneWrite(t, c, batch...)
					batch = nil
				}
				if i%100 == 99 {
					require.Less(t, info(t, c, "used_memory"), limit+10_000, "but for what the reply of INFO adds to the buffers")
				}
			}
			require.Greater(t, info(t, c, "evicted_keys"), 2000)
			require.Greater(t, info(t, c, "used_memory"), limit-50_000, "no more is evicted than must be")
			require.Greater(t, int(c.Do("DBSIZE").Int), 300)
		})
	}
}

func TestEveryTypeIsCountedAndEvicted(t *testing.T) {
	t.Parallel()
	c, limit := startLimited(t, "allkeys-random", 200_000)
	for i := range amount.Count(2500, 5000) {
		key, member := strconv.Itoa(i/300), fmt.Sprintf("member:%d", i)
		inOneWrite(t, c, [][]string{
			{"APPEND", "string" + key, member}, {"RPUSH", "list" + key, member}, {"SADD", "set" + key, member},
			{"ZADD", "zset" + key, "1", member}, {"HSET", "hash" + key, member, member},
			{"XADD", "stream" + key, "*", "f", member},
		}...)
		if i%500 == 0 {
			require.Less(t, info(t, c, "used_memory"), limit+20_000)
		}
	}
	require.NotZero(t, info(t, c, "evicted_keys"))
}

func TestWithoutEvictionWritesAreRefusedAndReadsAndDeletionsGoOn(t *testing.T) {
	// A volatile policy that finds no key with a TTL behaves like noeviction.
	for _, policy := range []string{"noeviction", "volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl"} {
		t.Run(policy, func(t *testing.T) {
			c, limit := startLimited(t, policy, 100_000)
			n := 0
			for ; c.Do("SET", fmt.Sprintf("key:%d", n), strings.Repeat("x", 1000)).Str == "OK"; n++ {
				require.Less(t, n, 1000)
			}
			require.Greater(t, n, 50)
			require.Less(t, info(t, c, "used_memory"), limit+10_000)
			for _, write := range []string{"SET new v", "INCR new", "LPUSH new v", "SADD new v", "HSET new f v", "ZADD new 1 v",
				"XADD new * f v", "APPEND key:0 v", "SETRANGE key:0 5000 v", "COPY key:0 new", "MSET new v", "SETBIT new 1 1"} {
				require.Equal(t, oom, c.Do(strings.Fields(write)...).Str, write)
			}
			require.Equal(t, 1000, len(c.Do("GET", "key:0").Str))
			require.Equal(t, "OK", c.Do("RENAME", "key:0", "other").Str)
			require.Zero(t, info(t, c, "evicted_keys"))
			for i := range 10 {
				require.Equal(t, int64(1), c.Do("DEL", fmt.Sprintf("key:%d", 1+i)).Int)
			}
			require.Equal(t, "OK", c.Do("SET", "new", "v").Str)
		})
	}
}

func TestVolatilePoliciesSpareKeysWithoutATTL(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl"} {
		t.Run(policy, func(t *testing.T) {
			c, _ := startLimited(t, policy, 300_000)
			stay, value := names("stay:", 500), strings.Repeat("x", 200)
			each(t, c, []string{"SET", "%", "v"}, stay)
			for i := range 150 {
				// The expiry time is the latest possible. volatile-ttl evicts even such a key when
				// no other is left.
				each(t, c, []string{"SET", "%", value, "PXAT", "9223372036854775807"}, names(fmt.Sprintf("go:%d:", i), 20))
			}
			require.Greater(t, info(t, c, "evicted_keys"), 1000)
			require.Equal(t, int64(500), c.Do(append([]string{"EXISTS"}, stay...)...).Int)
		})
	}
}

func TestALowerLimitTakesEffectBeforeTheNextCommand(t *testing.T) {
	t.Parallel()
	c, limit := startLimited(t, "allkeys-lru", 1_000_000)
	for i := range 2000 {
		c.Do("SET", fmt.Sprintf("key:%d", i), strings.Repeat("x", 200))
	}
	before := c.Do("DBSIZE").Int
	c.Do("CONFIG", "SET", "maxmemory", strconv.Itoa(limit-800_000))
	require.Less(t, c.Do("DBSIZE").Int, before/2, "a read, and before it the eviction")
	c.Do("CONFIG", "SET", "maxmemory", "0")
	for i := range 2000 {
		require.Equal(t, "OK", c.Do("SET", fmt.Sprintf("key:%d", i), strings.Repeat("x", 200)).Str)
	}
	require.Equal(t, int64(2000), c.Do("DBSIZE").Int)
}

func TestLFUKeepsWhatIsReadOften(t *testing.T) {
	c, _ := startLimited(t, "allkeys-lfu", 300_000)
	c.Do("CONFIG", "SET", "lfu-log-factor", "0")
	value := strings.Repeat("x", 200)
	for i := range 500 {
		var batch [][]string
		for _, key := range names(fmt.Sprintf("key:%d", i), 10) {
			batch = append(batch, []string{"SET", key, value}, []string{"GET", "key:00"})
		}
		inOneWrite(t, c, batch...)
	}
	require.Equal(t, int64(1), c.Do("EXISTS", "key:00").Int)
}

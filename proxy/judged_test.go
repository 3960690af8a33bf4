package proxy

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

// judged is a lock in a cluster behind the proxy, and the clients that want it.
type judged struct {
	*fleet
	t *testing.T
}

// watched begins a story: each node watches locks, and no key exists.
func watched(t *testing.T, servers []string, behind string) judged {
	t.Helper()
	r := startWith(t, Config{Upstreams: servers[:1], Behind: behind, Judge: judge})
	j := judged{r.fleet(), t}
	require.Equal(t, "+OK", j.ask(j.first(), "LAB", "LOG", "WATCH", "lock:*").String())
	return j
}

// as sends a command as a client with a name, over connections of its own.
func (j judged) as(name string, words ...string) string {
	j.t.Helper()
	f := j.r.fleet()
	f.name = name
	addr := f.first()
	if j.r.proxy.cfg.Behind == Sentinel {
		addr = f.master()
	}
	v, _ := f.do(addr, words...)
	return v.String()
}

// verdict returns the verdict and its text.
func (j judged) verdict() (result, text string) {
	j.t.Helper()
	v := j.ask(j.first(), "LAB", "VERDICT")
	require.NotEqual(j.t, byte('-'), v.Kind, v.Str)
	return v.Elems[1].Str, v.Elems[3].Str
}

func TestALockInAClusterIsJudged(t *testing.T) {
	servers := addrs(redistest.StartCluster(t, 3, 1))
	take := func(lock, token string) []string { return []string{"SET", lock, token, "NX", "PX", "600000"} }
	const release = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end`
	for name, c := range map[string]struct {
		steps func(j judged)
		want  string
	}{
		"a release that compares": {func(j judged) {
			for i := range 6 {
				lock := fmt.Sprint("lock:", i)
				require.Equal(t, "+OK", j.as("a", take(lock, "token-a")...))
				require.Equal(t, "(nil)", j.as("b", take(lock, "token-b")...))
				require.Equal(t, ":0", j.as("b", "EVAL", release, "1", lock, "token-b"))
				require.Equal(t, ":1", j.as("a", "EVAL", release, "1", lock, "token-a"))
				require.Equal(t, "+OK", j.as("b", take(lock, "token-b")...))
			}
		}, "safe"},
		"DEL of another's lock": {func(j judged) {
			require.Equal(t, "+OK", j.as("a", take("lock:1", "token-a")...))
			require.Equal(t, ":1", j.as("b", "DEL", "lock:1"))
			require.Equal(t, "+OK", j.as("c", take("lock:1", "token-c")...))
		}, "two-holders"},
		"a slot that moves": {func(j judged) {
			require.Equal(t, "+OK", j.as("a", take(key, "v")...))
			_, at := j.do(j.first(), "GET", key)
			j.halfMoved(j.r.upstreamOf(at), servers)
			require.Equal(t, ":1", j.as("b", "DEL", key))
			require.Equal(t, "+OK", j.as("c", take(key, "token-c")...))
		}, "undecided"},
		"a new master": {func(j judged) {
			require.Equal(t, "+OK", j.as("a", take(key, "v")...))
			_, at := j.do(j.first(), "GET", key)
			redistest.Until(t, func() bool { return j.ask(at, "WAIT", "1", "0").Int == 1 })
			j.takesOver(j.r.upstreamOf(at), servers)
			require.Equal(t, ":1", j.as("b", "DEL", key))
			require.Equal(t, "+OK", j.as("c", take(key, "token-c")...))
			_, text := j.verdict()
			require.Contains(t, text, "a proxy does not see which grants of its master it had then")
		}, "undecided"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, addr := range servers {
				if c := redistest.Dial(t, addr); c.Do("ROLE").Elems[0].Str == "master" {
					c.Do("FLUSHALL")
				}
			}
			j := watched(t, servers, Cluster)
			c.steps(j)
			result, text := j.verdict()
			require.Equal(t, c.want, result, text)
			t.Log(text)
		})
	}
}

// A lock that is granted while its slot is on its way stands in the log of the node that has got it.
func TestALockIsSeenWhileItsSlotIsHalfMoved(t *testing.T) {
	servers := addrs(redistest.StartCluster(t, 3, 0))
	j := watched(t, servers, Cluster)
	v, at := j.do(j.first(), "CLUSTER", "KEYSLOT", "lock:1")
	slot := strconv.FormatInt(v.Int, 10)
	_, at = j.do(at, "GET", "lock:1")
	from := j.r.upstreamOf(at)
	to := servers[0]
	if to == from {
		to = servers[1]
	}
	source, target := redistest.Dial(t, from), redistest.Dial(t, to)
	target.Do("CLUSTER", "SETSLOT", slot, "IMPORTING", source.Do("CLUSTER", "MYID").Str)
	source.Do("CLUSTER", "SETSLOT", slot, "MIGRATING", target.Do("CLUSTER", "MYID").Str)
	require.Equal(t, "+OK", j.as("a", "SET", "lock:1", "token-a", "NX", "PX", "600000"))
	require.Equal(t, "(nil)", j.as("b", "SET", "lock:1", "token-b", "NX", "PX", "600000"))
	result, text := j.verdict()
	require.Equal(t, "safe", result, text)
	require.Contains(t, text, "grants: 1")
	require.Equal(t, "+OK", target.Do("ASKING").String())
	require.Equal(t, ":1", target.Do("DEL", "lock:1").String())
	require.Equal(t, "+OK", j.as("b", "SET", "lock:1", "token-b", "NX", "PX", "600000"))
	result, text = j.verdict()
	require.Equal(t, "two-holders", result, text)
}

func TestALockBehindSentinelsIsJudged(t *testing.T) {
	sentinels, nodes := redistest.StartSentinels(t, 3)
	for _, s := range sentinels {
		c := redistest.Dial(t, s.Addr)
		require.Equal(t, "+OK", c.Do("SENTINEL", "SET", "mymaster", "down-after-milliseconds", "1000").String())
	}
	j := watched(t, append(addrs(sentinels), addrs(nodes)...), Sentinel)
	take := func(lock, token string) []string { return []string{"SET", lock, token, "NX", "PX", "600000"} }
	require.Equal(t, "+OK", j.as("a", take("lock:1", "token-a")...))
	require.Equal(t, "(nil)", j.as("b", take("lock:1", "token-b")...))
	result, text := j.verdict()
	require.Equal(t, "safe", result, text)

	// A replica that is cut off does not get the lock, and becomes the master.
	cutOff := redistest.Dial(t, nodes[1].Addr)
	redistest.Dial(t, nodes[2].Addr).Do("CONFIG", "SET", "replica-priority", "0")
	for _, s := range sentinels {
		c := redistest.Dial(t, s.Addr)
		c.Until(func() bool {
			return strings.Contains(c.Do("SENTINEL", "REPLICAS", "mymaster").String(), `"slave-priority", "0"`)
		})
	}
	cutOff.Do("REPLICAOF", "127.0.0.1", "1")
	require.Equal(t, "+OK", j.as("a", take("lock:2", "token-a")...))
	old := j.master()
	cutOff.Do("REPLICAOF", "NO", "ONE")
	master := redistest.Dial(t, nodes[0].Addr)
	require.NoError(t, master.Send(resp.AppendRequest(nil, "SHUTDOWN", "NOSAVE", "NOW")))
	redistest.Until(t, func() bool { return j.master() != old })
	require.Equal(t, nodes[1].Addr, j.r.upstreamOf(j.master()))
	require.Equal(t, "+OK", j.as("b", take("lock:2", "token-b")...), "the failover has lost it")
	result, text = j.verdict()
	require.Equal(t, "undecided", result, text)
	require.Contains(t, text, "lock:2")
	require.Contains(t, text, "what became of lock:2; the judge cannot tell who held it")
}

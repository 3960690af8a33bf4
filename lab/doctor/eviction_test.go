package doctor

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab/holders"
)

func TestALockThatAPolicyMayEvictIsFound(t *testing.T) {
	const take, forEver = "1000 a1 SET lock:a token-1 NX PX 3000 = OK", "1000 a1 SET lock:a token-1 NX = OK"
	for _, c := range []struct {
		what, history, policy string
		want                  []string
	}{
		{"by volatile-lru", take, "volatile-lru", []string{"lock-may-be-evicted lock:a 0"}},
		{"by allkeys-random", take, "allkeys-random", []string{"lock-may-be-evicted lock:a 0"}},
		{"without a TTL by allkeys-lfu", forEver, "allkeys-lfu", []string{"lock-may-be-evicted lock:a 0"}},
		{"once it has a TTL", forEver + "\n1001 a1 PEXPIRE lock:a 3000 = 1", "volatile-ttl",
			[]string{"setnx-then-expire lock:a 9701", "lock-may-be-evicted lock:a 0"}},
		{"in a script", "1000 a1 > EXISTS lock:a = 0\n1000 a1 > SET lock:a token-1 PX 3000 = OK\n" +
			"1000 a1 EVALSHA abc 1 lock:a token-1 = 1", "volatile-lru", []string{"lock-may-be-evicted lock:a 0"}},
		{"without a TTL by volatile-lru", forEver, "volatile-lru", nil},
		{"by none", take, "", nil},
		{"a cache", "1000 a1 SET page:1 hello NX PX 3000 = OK", "allkeys-lru", nil},
	} {
		t.Run(c.what, func(t *testing.T) {
			d := New(nil, nil, 0)
			for _, line := range strings.Split(c.history, "\n") {
				playAs(t, d, line, Event{Evicts: c.policy})
			}
			require.Equal(t, append([]string{}, c.want...), found(d, 1001))
			for _, f := range d.Findings(1001) {
				if f.Pattern == MayBeEvicted {
					require.Equal(t, "maxmemory is set, and maxmemory-policy is "+c.policy, f.Steps[1].Command)
				}
			}
		})
	}
}

func TestAnEvictedLockIsFound(t *testing.T) {
	d := New(nil, NewLedger(1, holders.KeepOnline), 0)
	play(t, d, `
		1000 a1 SET lock:a token-1 NX PX 3000 = OK
		1000 a1 SET page:1 hello NX PX 3000 = OK
		1500 evicted lock:a
		1500 evicted page:1
		1500 evicted other
		1600 b1 SET lock:a token-2 NX PX 3000 = OK`)
	require.Equal(t, []string{"lock-evicted lock:a 0"}, found(d, 1600))
	both := holders.Overlaps([][]holders.Holding{d.ledger.Holders.Table(0)})
	require.Len(t, both, 1)
	require.Contains(t, Explain(both[0]).Why, "the server evicted the lock of the first holder")
}

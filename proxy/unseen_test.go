package proxy

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/respclient"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/miniredistest"
	"github.com/miniredisd/miniredisd/resp"
)

// What no request of the log has done is named, and is never called safe.
func TestWhatNobodyHasSeenIsNeverSafe(t *testing.T) {
	w := realWorld(t)
	const take = "a: SET lock:1 token-a NX PX 30000"
	for name, c := range map[string]struct {
		steps []string
		want  []string // parts of the verdict and of the log
	}{
		"a stranger deletes a lock": {[]string{take, "past: DEL lock:1", "b: SET lock:1 token-b NX PX 30000"},
			[]string{"two-holders", "somebody deleted lock:1 past the proxy at TIME, and a believed in it",
				"|stranger||lock:1|"}},
		"a stranger takes a lock": {[]string{"past: SET lock:1 x", "b: SET lock:1 token-b NX PX 30000"},
			[]string{"undecided", "somebody's request at TIME wrote lock:1 past the proxy"}},
		"a stranger writes while nobody asks": {[]string{take, "past: PEXPIRE lock:1 60000"}, []string{"undecided"}},
		"a script writes a key that it does not name": {[]string{
			`a: EVAL "return redis.call('set', 'lock:' .. 'hidden', 'x')" 0`, "b: GET lock:hidden"},
			[]string{"undecided", "|stranger||lock:hidden|"}},
		"an eviction": {[]string{take, "past: CONFIG SET maxmemory-policy allkeys-random", "past: CONFIG SET maxmemory 1",
			"past: CONFIG SET maxmemory 0", "b: SET lock:1 token-b NX PX 30000"},
			[]string{"two-holders", "the server evicted lock:1 for memory", "|evicted||lock:1|"}},
		"two writers in one EXEC": {[]string{take, "a: MULTI", "a: PEXPIRE lock:1 40000", "a: PEXPIRE lock:1 50000",
			"a: EXEC"},
			[]string{"undecided", "a's EXEC at TIME changed a value of lock:1 that the log does not have"}},
		"a connection that is no pair": {[]string{take, "c~ CLIENT REPLY OFF", "c~ DEL lock:1", "c~ CLIENT REPLY ON",
			"b: SET lock:1 token-b NX PX 30000"},
			[]string{"undecided", "c's DEL at TIME changed a value of lock:1"}},
		"a pop that waited": {[]string{"LAB LOG WATCH lock:q AS SEMAPHORE 1", "c> BLPOP lock:q 0", "a: LPUSH lock:q x",
			"c< "},
			[]string{"undecided", "c's BLPOP at TIME changed a value of lock:q"}},
		"a long request": {[]string{take, "a: MULTI", "a: DEBUG SLEEP 1.5", "a: DEL lock:1", "a> EXEC", "b: PING", "a< "},
			[]string{"undecided", "a's DEL at TIME changed a value of lock:1"}},
		"a long request while nobody else asks": {[]string{take, "a: MULTI", "a: DEBUG SLEEP 1.5", "a: DEL lock:1",
			"a: EXEC", "b: SET lock:1 token-b NX PX 30000"}, []string{"safe"}},
		"more than the proxy reads": {[]string{take, "a: SET lock:1 " + strings.Repeat("x", 100_000)}, []string{"undecided"}},
		"another database": {[]string{"a: SELECT 3", take, "past: SELECT 3", "past: DEL lock:1", "past: SELECT 0",
			"b: SELECT 3", "b: SET lock:1 token-b NX PX 30000"}, []string{"two-holders", "lock:1 (db 3)"}},
	} {
		t.Run(name, func(t *testing.T) {
			w.begin()
			for _, step := range c.steps {
				w.does(step)
			}
			text := w.verdict() + "\n" + w.entries()
			for _, part := range c.want {
				require.Contains(t, text, part)
			}
			require.Equal(t, c.want[0], strings.Split(text, "\n")[0], text)
		})
	}
}

// A lease that ends between two requests is over before the second one, also if only a moment is left of it. The clock
// of the upstream stands still until that request waits.
func TestARequestAtTheEndOfALeaseFindsItOver(t *testing.T) {
	own := miniredistest.Run(t, miniredistest.Seed(1))
	r := startWith(t, Config{Upstreams: []string{own.Addr()}, Judge: judge})
	w := newWorld(t, r.client)
	w.past = conn{t, respclient.New(dialPort(t, own.Port()), 4096)}
	require.Equal(t, "+OK", w.does("past: LAB CLOCK FREEZE"))
	require.Equal(t, "+OK", w.does("LAB LOG WATCH lock:*"))
	require.Equal(t, "+OK", w.does("a: SET lock:1 token-a NX PX 8"))
	w.does("b: PING")
	w.clients["b"].send("SET lock:1 token-b PX 30000")
	redistest.Until(t, r.waitsForALease)
	require.Equal(t, `"token-a"`, w.does("past: GET lock:1"))
	require.NotContains(t, w.does("past: LAB CLOCK ADVANCE 9"), "-")
	require.Equal(t, "+OK", w.clients["b"].read())
	require.Equal(t, "safe", strings.Split(w.verdict(), "\n")[0], w.entries())
	require.Contains(t, w.entries(), "|expired||lock:1|")
}

// waitsForALease reports whether the request that has the turn has seen its keys, and is not sent.
func (r *running) waitsForALease() bool {
	waits := make(chan bool)
	r.proxy.loop.Post(func() {
		u := r.proxy.upstreams[0].turn.now
		waits <- u != nil && u.touch != nil && u.before != 0 && !u.looked
	})
	return <-waits
}

func TestAnUpstreamWithAPasswordIsWatched(t *testing.T) {
	s := redistest.Start(t, "--save", "", "--requirepass", "secret")
	r := startWith(t, Config{Upstreams: []string{s.Addr}, Judge: judge})
	c := r.client()
	require.Contains(t, c.do("LAB LOG WATCH lock:*"), "-ERR LAB LOG WATCH: the upstream has refused COMMAND: NOAUTH")
	r = startWith(t, Config{Upstreams: []string{s.Addr}, Judge: judge, Auth: []string{"secret"}})
	c = r.client()
	require.Equal(t, "+OK", c.do("LAB LOG WATCH lock:*"))
	require.Equal(t, "+OK", c.do("AUTH secret"))
	require.Equal(t, "+OK", c.do("SET lock:1 x"))
	require.Contains(t, c.do("LAB LOG"), "lock:1: absent -> 'x'")
}

func TestAPauseOfClientsHidesNoKey(t *testing.T) {
	w := realWorld(t)
	w.begin()
	require.Equal(t, "+OK", w.does("a: SET lock:1 token-a NX PX 30000"))
	before := w.entries()
	require.Equal(t, "+OK", w.does("a: CLIENT PAUSE 3600000 ALL"))
	require.Equal(t, before, w.entries())
}

func TestAKeyThatIsThereIsFound(t *testing.T) {
	w := realWorld(t)
	w.does("a: SELECT 2")
	w.does("a: SET lock:old token PX 30000")
	w.does("LAB RESET")
	w.does("LAB LOG WATCH lock:*")
	require.Equal(t, "|watched||lock:old||executed||lock:old: absent -> 'token' until", w.entries())
	w.does("past: FLUSHALL")
	w.does("LAB LOG RESET")
	require.Empty(t, w.entries())
}

func TestNobodyIsWatchedWithoutAnOrder(t *testing.T) {
	s := redistest.Start(t, "--save", "")
	c := start(t, s.Addr).client()
	require.Contains(t, c.do("LAB LOG WATCH lock:*"), "start the proxy with --order exact")
	require.NoError(t, c.Close())
}

func TestTooManyDeadlinesAreNotMoved(t *testing.T) {
	w := realWorld(t)
	var all []byte
	for i := range 1001 {
		all = resp.AppendRequest(all, "SET", "k"+string(rune('a'+i%26))+strings.Repeat("x", i/26), "v", "PX", "1000000")
	}
	c := w.dial()
	require.NoError(t, c.Send(all))
	for range 1001 {
		require.Equal(t, "+OK", c.read())
	}
	require.Contains(t, w.does("LAB CLOCK ADVANCE 1"), "1001 keys have a deadline, and --clock-keys allows to move 1000")
	w.does("a: DEL ka")
	w.does("a: SET forever x")
	require.Equal(t, ":0", w.does("LAB CLOCK ADVANCE 1"))
	require.Equal(t, ":1000", w.does("LAB CLOCK ADVANCE 1000000"))
	require.Equal(t, ":1", w.does("a: EXISTS kb kc kd forever"))
}

package miniredistest_test

import (
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/miniredistest"
)

// named connects a client with this name.
func named(t *testing.T, srv *miniredistest.Server, name string) *redistest.Conn {
	t.Helper()
	c := redistest.Dial(t, srv.Addr())
	require.Equal(t, "OK", c.Do("CLIENT", "SETNAME", name).Str)
	return c
}

// take tries for a lock on masters, and returns how many granted it.
func take(t *testing.T, name, key string, from ...*miniredistest.Server) (votes int) {
	t.Helper()
	for _, srv := range from {
		if named(t, srv, name).Do("SET", key, "token-of-"+name, "NX", "PX", "10000").Str == "OK" {
			votes++
		}
	}
	return votes
}

const release = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) else return 0 end`

// kept returns the files that a message names. The test removes them at its end.
func kept(t *testing.T, message string) (picture, history string) {
	t.Helper()
	paths := regexp.MustCompile(`(?m)picture: (.+)/verdict\.html\n\s*history: (.+)/history\.json$`)
	names := paths.FindStringSubmatch(message)
	require.Len(t, names, 3, message)
	require.Equal(t, names[1], names[2])
	t.Cleanup(func() { _ = os.RemoveAll(names[1]) })
	page, err := os.ReadFile(names[1] + "/verdict.html")
	require.NoError(t, err)
	text, err := os.ReadFile(names[1] + "/history.json")
	require.NoError(t, err)
	return string(page), string(text)
}

func TestASafeLockHasOneHolder(t *testing.T) {
	srv := miniredistest.Run(t, miniredistest.Frozen())
	require.Equal(t, 1, take(t, "alice", "lock:a", srv))
	require.Zero(t, take(t, "bob", "lock:a", srv))
	require.Equal(t, int64(1), redistest.Dial(t, srv.Addr()).Do("EVAL", release, "1", "lock:a", "token-of-alice").Int)
	require.Equal(t, 1, take(t, "bob", "lock:a", srv))
	srv.Clock().Advance(10001 * time.Millisecond)
	require.Equal(t, 1, take(t, "alice", "lock:a", srv))
	srv.AssertOneHolder("lock:*")
}

func TestTwoHoldersFailTheTestWithTheirCommandsAndAPicture(t *testing.T) {
	message := failing(t, func(f testing.TB) {
		srv := miniredistest.Run(f, miniredistest.FrozenAt(time.UnixMilli(1_700_000_000_000)))
		take(t, "alice", "lock:a", srv)
		srv.Clock().Advance(time.Second)
		named(t, srv, "mallory").Do("DEL", "lock:a")
		take(t, "bob", "lock:a", srv)
		take(t, "carol", "lock:b", srv)
		srv.AssertOneHolder("lock:b")
		require.False(t, f.Failed())
		srv.AssertOneHolder("lock:*")
	})
	require.Regexp(t, `locks that match lock:\* were not safe
(?s:.*)TWO HOLDERS of lock:a
  master 1, 1700000000000, client \d+ alice: SET lock:a token-of-alice NX PX 10000 -> OK
  master 1, 1700000001000, client \d+ mallory: DEL lock:a -> 1
  master 1, 1700000001000, client \d+ bob: SET lock:a token-of-bob NX PX 10000 -> OK
`, message)
	picture, history := kept(t, message)
	require.Contains(t, picture, "acquire lock:a by bob (token-of-bob)")
	require.Contains(t, history, "token-of-alice")
}

func TestMastersAreJudgedTogether(t *testing.T) {
	message := failing(t, func(f testing.TB) {
		m := miniredistest.RunMasters(f, 5, miniredistest.Frozen())
		require.Equal(t, 3, take(t, "alice", "lock:a", m[:3]...))
		require.Equal(t, 2, take(t, "bob", "lock:a", m[2:]...))
		m.AssertOneHolder("lock:*") // two of five are not a majority
		require.False(t, f.Failed())
		m[2].Clock().Advance(10001 * time.Millisecond)
		require.Equal(t, 1, take(t, "bob", "lock:a", m[2]))
		m.AssertOneHolder("lock:*")
	})
	require.Contains(t, message, "the lease ended by this master's clock")
	_, history := kept(t, message)
	require.Contains(t, history, `"master":5`)
}

func TestTimeThatPassesOnAllMastersEndsALeaseAndJumpsDoNot(t *testing.T) {
	m := miniredistest.RunMasters(t, 3, miniredistest.Frozen())
	take(t, "alice", "lock:a", m...)
	m.Clock().Advance(10001 * time.Millisecond)
	require.Equal(t, 3, take(t, "bob", "lock:a", m...))
	m.AssertOneHolder("lock:*")
	kept(t, failing(t, func(f testing.TB) {
		m := miniredistest.RunMasters(f, 3, miniredistest.Frozen())
		take(t, "alice", "lock:a", m...)
		m[:2].Clock().Advance(10001 * time.Millisecond)
		require.Equal(t, 2, take(t, "bob", "lock:a", m...))
		m.AssertOneHolder("lock:*")
	}))
	require.Contains(t, failing(t, func(f testing.TB) {
		m := miniredistest.RunMasters(f, 3)
		m[1].Stop()
		m.Clock().Freeze()
	}), "master 2: LAB CLOCK FREEZE: ERR LAB: master 2 has ended")
}

func TestAHistoryWithoutLocksIsNoProof(t *testing.T) {
	message := failing(t, func(f testing.TB) {
		srv := miniredistest.Run(f)
		take(t, "alice", "lock:a", srv)
		srv.AssertOneHolder("mutex:*")
	})
	require.Contains(t, message, "locks that match mutex:* cannot be judged")
	require.Contains(t, message, "no watched key changed")
	kept(t, message)
}

func TestALogWithoutItsBeginningIsNoProof(t *testing.T) {
	message := failing(t, func(f testing.TB) {
		miniredistest.JudgeHistory(f, `{"format":"miniredisd-history/1","master":1,"masters":1,"entries":[
			{"seq":18,"client":7,"event":"command","cmd":["SET","lock:a","1","NX","PX","10000"],
			"key":"lock:a","outcome":"executed","reply":"OK"}]}`, "lock:*")
	})
	require.Contains(t, message, "INCOMPLETE: the log had dropped the first 17 entries")
	kept(t, message)
}

func TestAnUndecidedLockIsNoProof(t *testing.T) {
	text, err := os.ReadFile("../lab/verdict/testdata/undecided.json")
	require.NoError(t, err)
	message := failing(t, func(f testing.TB) { miniredistest.JudgeHistory(f, string(text), "lock:*") })
	require.Contains(t, message, "locks that match lock:* cannot be judged")
	require.Contains(t, message, "UNDECIDED: lock:job")
	kept(t, message)
}

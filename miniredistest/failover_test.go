package miniredistest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/miniredistest"
)

// atNoon lets the clocks of all nodes stand at one time.
func atNoon() miniredistest.Option {
	return miniredistest.FrozenAt(time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC))
}

// why returns the reason of the first broken lock, and what the doctor of a node says about two holders.
func why(t *testing.T, srv, promoted *miniredistest.Server) (verdict, doctor string) {
	t.Helper()
	v := srv.Do("LAB", "VERDICT", "lock:*")
	for i := 0; i+1 < len(v.Elems); i += 2 {
		if v.Elems[i].Str == "text" {
			verdict = v.Elems[i+1].Str
		}
	}
	for _, f := range promoted.Doctor() {
		if f.Pattern == "two-holders" {
			doctor = f.Why
		}
	}
	return verdict, doctor
}

func TestTheVerdictAndTheDoctorSayHowAFailoverGaveALockTwice(t *testing.T) {
	srv := miniredistest.Run(t, miniredistest.Replicas(1), atNoon())
	a, b := dialIn(t, srv), dialIn(t, srv.Replica(1))
	srv.Hold()
	require.Equal(t, "OK", a.Do("SET", "lock:order", "token-a", "NX", "PX", "30000").Str)
	srv.Nodes().Clock().Advance(500 * time.Millisecond)
	promoted := srv.Failover()
	require.Equal(t, "OK", b.Do("SET", "lock:order", "token-b", "NX", "PX", "30000").Str)
	sentence := fmt.Sprintf("granted by %d at +0 s, never replicated; %d was promoted at +0.5 s and granted it again at "+
		"+0.5 s: both clients believe that they hold it", srv.Port(), promoted.Port())
	verdict, doctor := why(t, srv, promoted)
	require.Contains(t, verdict, "TWO HOLDERS of lock:order")
	require.Contains(t, verdict, sentence)
	require.Equal(t, sentence, doctor)
}

func TestAFailoverToACertainReplicaTurnsTheOthersToIt(t *testing.T) {
	srv := miniredistest.Run(t, miniredistest.Replicas(2), atNoon())
	second := srv.Replica(2)
	srv.Synced()
	srv.FailoverTo(second)
	dialIn(t, second).Do("SET", "k", "v")
	second.Synced()
	for _, follower := range []*miniredistest.Server{srv, srv.Replica(1)} {
		require.Equal(t, "v", dialIn(t, follower).Do("GET", "k").Str)
	}
}

func TestALockThatWasReplicatedHasOneHolderAcrossAFailover(t *testing.T) {
	srv := miniredistest.Run(t, miniredistest.Replicas(2), atNoon())
	a, b := dialIn(t, srv), dialIn(t, srv.Replica(1))
	require.Equal(t, "OK", a.Do("SET", "lock:order", "token-a", "NX", "PX", "30000").Str)
	srv.Synced()
	promoted := srv.Failover()
	require.True(t, b.Do("SET", "lock:order", "token-b", "NX", "PX", "30000").Null)
	a = dialIn(t, promoted)
	const unlock = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0`
	require.Equal(t, int64(1), a.Do("EVAL", unlock, "1", "lock:order", "token-a").Int)
	require.Equal(t, "OK", b.Do("SET", "lock:order", "token-b", "NX", "PX", "30000").Str)
	verdict, doctor := why(t, srv, promoted)
	require.Contains(t, verdict, "OK: no two holders at one time, and linearizable")
	require.Empty(t, doctor)
	srv.Nodes().AssertOneHolder("lock:*")
}

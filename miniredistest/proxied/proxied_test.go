package proxied_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/miniredistest"
	"github.com/miniredisd/miniredisd/miniredistest/proxied"
)

const redisServer = `redis-server --port {port} --save ""`

// fakeT is a test that may fail without failing this one.
type fakeT struct {
	testing.TB
	cleanups []func()
	out      strings.Builder
}

func (f *fakeT) Helper()                           {}
func (f *fakeT) Failed() bool                      { return f.out.Len() > 0 }
func (f *fakeT) Cleanup(fn func())                 { f.cleanups = append(f.cleanups, fn) }
func (f *fakeT) Logf(format string, args ...any)   { fmt.Fprintf(&f.out, format+"\n", args...) }
func (f *fakeT) Errorf(format string, args ...any) { f.Logf(format, args...) }

// fatal is the panic that stops a fakeT at Fatal.
type fatal struct{}

func (f *fakeT) Fatal(args ...any) { f.Fatalf("%s", fmt.Sprint(args...)) }

func (f *fakeT) Fatalf(format string, args ...any) {
	f.Errorf(format, args...)
	panic(fatal{})
}

// failing runs a test that must fail, with its cleanup, and returns its output.
func failing(t *testing.T, test func(t testing.TB)) string {
	t.Helper()
	f := &fakeT{TB: t}
	func() {
		defer func() {
			if r := recover(); r != nil && r != (fatal{}) {
				panic(r)
			}
		}()
		test(f)
	}()
	for i := len(f.cleanups) - 1; i >= 0; i-- {
		f.cleanups[i]()
	}
	require.NotEmpty(t, f.out.String(), "the test has not failed")
	return f.out.String()
}

// each runs a test at redis-server, at miniredisd, and at servers that run already.
func each(t *testing.T, masters int, test func(t *testing.T, m miniredistest.Masters)) {
	t.Run("redis-server", func(t *testing.T) {
		redistest.Need(t, "redis-server")
		test(t, miniredistest.RunMasters(t, masters, proxied.Server(redisServer)))
	})
	t.Run("miniredisd", func(t *testing.T) {
		var urls []string
		for _, s := range miniredistest.RunMasters(t, masters) {
			urls = append(urls, s.URL())
		}
		test(t, miniredistest.RunMasters(t, masters, proxied.Upstream(urls...)))
	})
}

func TestALockWhoseReplyIsLostBelongsToNobody(t *testing.T) {
	each(t, 1, func(t *testing.T, m miniredistest.Masters) {
		srv := m[0]
		lost := srv.Fault("lost").Cmd("SET").Key("lock:*").Nth(1).DropReply()
		a, b := redistest.Dial(t, srv.Addr()), redistest.Dial(t, srv.Addr())
		_, err := a.Conn.Do("SET", "lock:o", "a", "NX", "PX", "30000")
		require.Error(t, err)
		require.Equal(t, 1, lost.Fired())
		require.True(t, b.Do("SET", "lock:o", "b", "NX", "PX", "30000").Null)
		srv.AssertString("lock:o", "a")
		srv.AssertCalled(2, "SET", "lock:*")
		require.Equal(t, 1, srv.Clock().Advance(30001*time.Millisecond))
		require.Equal(t, "OK", b.Do("SET", "lock:o", "b", "NX", "PX", "30000").Str)
		srv.AssertOneHolder("lock:*")
		srv.DB(1).Do("SET", "other", "1")
		require.Equal(t, []string{"lock:o"}, srv.Keys("*"))
	})
}

func TestMastersBehindProxiesHaveFaultsClocksAndOneVerdict(t *testing.T) {
	each(t, 3, func(t *testing.T, m miniredistest.Masters) {
		for _, s := range m {
			require.Equal(t, "OK", s.Do("SET", "lock:o", "a", "PX", "30000").Str)
		}
		m[1].Fault("down").Cmd("SET").Error("ERR no")
		for i, s := range m {
			require.Equal(t, i == 1, redistest.Dial(t, s.Addr()).Do("SET", "key", "a").Kind == '-')
		}
		require.Zero(t, m[1].Clock().Advance(time.Second))
		require.Equal(t, 3, m.Clock().Advance(30*time.Second))
		m.AssertNone("lock:*")
		require.Contains(t, m[0].Do("LAB", "VERDICT", "job:*").String(), "no-locks")
	})
}

func TestACrashLosesTheKeysOfAServerThatTheTestHasStarted(t *testing.T) {
	redistest.Need(t, "redis-server")
	srv := miniredistest.Run(t, proxied.Server(redisServer))
	srv.Do("SET", "lock:o", "a")
	srv.Snapshot("full")
	srv.Crash(0, miniredistest.KeepKeys)
	srv.AssertString("lock:o", "a")
	srv.Crash(time.Hour, miniredistest.LoseKeys)
	_, err := srv.Try("PING")
	require.ErrorContains(t, err, "connection refused")
	srv.Clock().Advance(time.Hour)
	srv.AssertNone("lock:*")
	srv.Restore("full")
	srv.AssertString("lock:o", "a")
}

func TestATestWithUpstreamsBeginsWithoutKeys(t *testing.T) {
	own := miniredistest.Run(t)
	own.Do("SET", "left", "behind")
	srv := miniredistest.Run(t, proxied.Upstream(own.Addr()))
	srv.AssertNone("*")
	require.Empty(t, srv.Log())
}

func TestAFailedTestPrintsTheHistoryAndTheServersLog(t *testing.T) {
	redistest.Need(t, "redis-server")
	out := failing(t, func(t testing.TB) {
		srv := miniredistest.Run(t, proxied.Server(redisServer))
		srv.Do("SET", "lock:o", "a")
		t.Errorf("red")
	})
	require.Contains(t, out, "SET lock:o a -> OK")
	require.Contains(t, out, "Ready to accept connections")
}

func TestWhatAProxyCannotDoFailsTheTestWithTheReason(t *testing.T) {
	own := miniredistest.Run(t).Addr()
	for want, act := range map[string]func(s *miniredistest.Server){
		"LAB CLOCK FREEZE: the clock is the upstream's": func(s *miniredistest.Server) { s.Clock().Freeze() },
		"LAB LISTEN: a proxy does not have it":          func(s *miniredistest.Server) { s.Listen(false) },
		"LAB PUSH: it needs a server that can be changed from inside": func(s *miniredistest.Server) {
			s.Push("worker", "MOVING", 1)
		},
		"LAB FAILOVER: it needs a server that":       func(s *miniredistest.Server) { s.Failover() },
		"LAB DISK: it needs a server that":           func(s *miniredistest.Server) { s.Disk().Heal() },
		"the proxy has not started the upstream":     func(s *miniredistest.Server) { s.Crash(0, miniredistest.LoseKeys) },
		"there is no replica 1":                      func(s *miniredistest.Server) { s.Replica(1) },
		"there is no Sentinel 1":                     func(s *miniredistest.Server) { s.Sentinel(1) },
		"Stop: a server behind a proxy ends with":    func(s *miniredistest.Server) { s.Stop() },
		"Step().Stopped(): start the server with":    func(s *miniredistest.Server) { s.Step().Stopped() },
		"LAB STEP: it needs a server that":           func(s *miniredistest.Server) { s.Step().Pause() },
		`Fault("idle") has no action`:                func(s *miniredistest.Server) { s.Fault("idle") },
		"a proxy has no ACTION SKIP-PUSH: it passes": func(s *miniredistest.Server) { s.Fault("lost").SkipPush() },
	} {
		require.Contains(t, failing(t, func(t testing.TB) { act(miniredistest.Run(t, proxied.Upstream(own))) }), want)
	}
}

func TestOptionsOfMiniredisdItselfAreRefused(t *testing.T) {
	for want, opts := range map[string][]miniredistest.Option{
		"Frozen: the clock of another server does not stop": {miniredistest.Frozen()},
		"only miniredisd itself has --replicas":             {miniredistest.Seed(7), miniredistest.Replicas(1)},
		"'redis-server' lacks {port}":                       {proxied.Server("redis-server")},
		"Upstream has 0 servers, and the test needs 1":      {proxied.Upstream()},
		"without a name or a database":                      {proxied.Upstream("redis://me:secret@a:1")},
		"connection refused":                                {proxied.Upstream("127.0.0.1:1")},
	} {
		all := append([]miniredistest.Option{proxied.Upstream("127.0.0.1:1")}, opts...)
		require.Contains(t, failing(t, func(t testing.TB) { miniredistest.Run(t, all...) }), want)
	}
}

func TestABubbleHasNoServerOfAnotherProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := failing(t, func(t testing.TB) { miniredistest.Run(t, proxied.Upstream("127.0.0.1:1")) })
		require.Contains(t, said, "cannot be in a bubble of testing/synctest")
	})
	srv := miniredistest.Run(t, proxied.Upstream(miniredistest.Run(t).Addr()))
	synctest.Test(t, func(t *testing.T) {
		_, err := srv.Try("PING")
		require.ErrorContains(t, err, "outside of a testing/synctest bubble")
	})
}

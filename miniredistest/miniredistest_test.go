package miniredistest_test

import (
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/miniredistest"
	"github.com/miniredisd/miniredisd/resp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeT is a test that may fail without failing this one.
type fakeT struct {
	testing.TB
	cleanups []func()
	failed   bool
	out      strings.Builder
}

func (f *fakeT) Helper()           {}
func (f *fakeT) Failed() bool      { return f.failed }
func (f *fakeT) Cleanup(fn func()) { f.cleanups = append(f.cleanups, fn) }
func (f *fakeT) Logf(format string, args ...any) {
	fmt.Fprintf(&f.out, format+"\n", args...)
}

func (f *fakeT) Errorf(format string, args ...any) {
	f.failed = true
	f.Logf(format, args...)
}

// fatal is the panic that stops a fakeT at Fatalf.
type fatal struct{}

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
	for _, fn := range f.cleanups {
		fn()
	}
	require.True(t, f.failed, "the test has not failed")
	return f.out.String()
}

func TestAServerServesClientsAndEndsWithItsTest(t *testing.T) {
	var addr string
	t.Run("inner", func(t *testing.T) {
		srv := miniredistest.Run(t)
		addr = srv.Addr()
		require.Equal(t, "redis://"+addr, srv.URL())
		c := redistest.Dial(t, addr)
		require.Equal(t, "OK", c.Do("SET", "k", "v").Str)
		srv.AssertString("k", "v")
		require.Equal(t, "v", srv.Do("GET", "k").Str)
		_, err := srv.Try("INCR", "k")
		require.EqualError(t, err, "ERR value is not an integer or out of range")
	})
	require.Contains(t, failing(t, func(t testing.TB) {
		srv := miniredistest.Run(t)
		srv.Stop()
		srv.Do("PING")
	}), "ERR LAB: master 1 has ended")
}

func TestTwoHundredServersInOneBinary(t *testing.T) {
	const n = 200
	addrs := map[string]bool{}
	t.Run("group", func(t *testing.T) {
		for i := range n {
			srv := miniredistest.Run(t, miniredistest.Frozen())
			addrs[srv.Addr()] = true
			c := redistest.Dial(t, srv.Addr())
			require.Equal(t, "OK", c.Do("SET", "n", fmt.Sprint(i), "PX", "1000").Str)
			require.Equal(t, i%2, srv.Clock().Advance(time.Duration(1000+i%2)*time.Millisecond))
		}
	})
	require.Len(t, addrs, n)
}

func TestTheTestMovesTheClock(t *testing.T) {
	begin := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	srv := miniredistest.Run(t, miniredistest.FrozenAt(begin))
	clock := srv.Clock()
	require.True(t, begin.Equal(clock.Now()))
	srv.Do("SET", "lock", "v", "PX", "1000")
	require.Equal(t, 0, clock.Advance(time.Second))
	require.Equal(t, 1, clock.Advance(time.Millisecond))
	srv.AssertNone("lock")
	srv.Do("SET", "lock", "v", "PX", "1000")
	clock.Set(begin)
	require.Equal(t, 2001*time.Millisecond, srv.TTL("lock"), "a clock that goes back makes leases longer")
	clock.Rate(1000)
	clock.Run()
	clock.Freeze()
	require.False(t, clock.Now().Before(begin))
	for _, d := range []time.Duration{-time.Second, time.Microsecond} {
		message := failing(t, func(t testing.TB) { miniredistest.Run(t).Clock().Advance(d) })
		require.Contains(t, message, "d must be whole milliseconds, and not negative")
	}
}

func TestMastersAreSeparateAndTheirClocksMoveTogetherOrAlone(t *testing.T) {
	m := miniredistest.RunMasters(t, 5, miniredistest.Frozen())
	require.Len(t, m.Addrs(), 5)
	for i, addr := range m.Addrs() {
		require.Equal(t, "OK", redistest.Dial(t, addr).Do("SET", "lock", fmt.Sprint(i), "PX", "1000").Str)
		m[i].AssertString("lock", fmt.Sprint(i))
	}
	m.AssertAllExpire("lock")
	require.Equal(t, 1, m[2].Clock().Advance(1001*time.Millisecond))
	require.Equal(t, 4, m.Clock().Advance(1001*time.Millisecond))
	m.AssertNone("*")
}

func TestOptionsAreThoseOfTheCommandLine(t *testing.T) {
	password := miniredistest.Config("--requirepass", "secret", "--databases", "3")
	srv := miniredistest.Run(t, miniredistest.Seed(42), password)
	c := redistest.Dial(t, srv.Addr())
	require.Equal(t, "NOAUTH Authentication required.", c.Do("GET", "k").Str)
	require.Equal(t, "OK", c.Do("AUTH", "secret").Str)
	require.Equal(t, "42", c.Do("CONFIG", "GET", "seed").Elems[1].Str)
	require.Equal(t, "ERR DB index is out of range", c.Do("SELECT", "3").Str)
	message := failing(t, func(t testing.TB) { miniredistest.Run(t, miniredistest.Config("--nosuch", "x")) })
	require.Contains(t, message, "nosuch")
}

func TestARuleIsASentence(t *testing.T) {
	srv := miniredistest.Run(t, miniredistest.Frozen())
	lost := srv.Fault("lost").Cmd("SET").Key("lock:*").Nth(2).DropReply()
	c := redistest.Dial(t, srv.Addr())
	require.Equal(t, "OK", c.Do("SET", "lock:a", "v").Str)
	require.NoError(t, c.Send(resp.AppendRequest(nil, "SET", "lock:b", "v", "NX")))
	_, err := c.TryRead()
	require.Error(t, err)
	require.Equal(t, 1, lost.Fired())
	srv.AssertString("lock:b", "v")
	srv.AssertCalled(2, "set", "lock:*")
	again := redistest.Dial(t, srv.Addr())
	require.True(t, again.Do("SET", "lock:b", "w", "NX").Null)
	lost.Remove()
	down := srv.Fault("down").Error("LOADING Redis is loading the dataset in memory")
	require.Equal(t, "LOADING Redis is loading the dataset in memory", again.Do("GET", "lock:b").Str)
	srv.AssertString("lock:b", "v")
	down.Remove()
	require.Equal(t, "v", again.Do("GET", "lock:b").Str)
	message := failing(t, func(t testing.TB) { miniredistest.Run(t).Fault("idle").Cmd("SET") })
	require.Contains(t, message, `Fault("idle") has no action`)
	message = failing(t, func(t testing.TB) { miniredistest.Run(t).Fault("x").Cmd("NOSUCH").DropReply() })
	require.Contains(t, message, "NOSUCH")
}

func TestTheServerAcceptsEveryConditionAndAction(t *testing.T) {
	m := miniredistest.RunMasters(t, 2)
	rule := func(name string) *miniredistest.Rule {
		return m.Fault(name).Key("lock:*").Client("w*").Nth(3).Times(2).Prob(0.5)
	}
	rule("drop-before").Cmd("GET").DropBefore()
	rule("reset-before").ResetBefore()
	rule("reset-after").ResetAfter()
	rule("silent").Silent()
	rule("delay-exec").DelayExec(time.Second)
	rule("delay-reply").DelayReply(time.Second)
	rule("error-after").ErrorAfter("ERR no")
	rule("cut").Cut(3)
	rule("bandwidth").Bandwidth(1000)
	rule("jitter").Jitter(time.Second)
	rule("slice").Slice(3)
	rule("skip-push").SkipPush()
	rule("delay-push").DelayPush(time.Second)
	m.Fault("script").Script("redis.call").ClientID(7).DropReply()
	require.Len(t, m[0].Do("LAB", "FAULT", "LIST").Elems, 14)
	require.Len(t, m[1].Do("LAB", "FAULT", "LIST").Elems, 14)
}

func TestAHeldClientWaitsForTheTest(t *testing.T) {
	srv := miniredistest.Run(t, miniredistest.Frozen())
	pause := srv.Fault("pause").Cmd("DEL").Key("lock:*").Hold()
	owner, other := redistest.Dial(t, srv.Addr()), redistest.Dial(t, srv.Addr())
	owner.Do("CLIENT", "SETNAME", "owner")
	owner.Do("SET", "lock:a", "mine", "PX", "1000")
	require.NoError(t, owner.Send(resp.AppendRequest(nil, "DEL", "lock:a")))
	held := pause.Wait()
	require.Equal(t, "owner", held.Name)
	require.Equal(t, "DEL lock:a", held.Cmd)
	require.Equal(t, "lock:a", held.Key)
	srv.Clock().Advance(1001 * time.Millisecond)
	require.Equal(t, "OK", other.Do("SET", "lock:a", "theirs", "NX", "PX", "1000").Str)
	require.Equal(t, 1, pause.Release())
	require.Equal(t, int64(1), owner.Read().Int, "the lock of another")
	srv.AssertNone("*")
	require.NoError(t, owner.Send(resp.AppendRequest(nil, "DEL", "lock:b")))
	require.NoError(t, other.Send(resp.AppendRequest(nil, "DEL", "lock:b")))
	pause.WaitFor(2)
	pause.ReleaseOne()
	pause.Remove()
	owner.Read()
	other.Read()
	require.Equal(t, 3, pause.Fired()+3, "a rule that is gone has no count")
}

// While a script runs, a test can read the log and hold other clients.
func TestTheLabWorksWhileAScriptRuns(t *testing.T) {
	srv := miniredistest.Run(t, miniredistest.Frozen(), miniredistest.Config("--busy-reply-threshold", "10"))
	script, worker := redistest.Dial(t, srv.Addr()), redistest.Dial(t, srv.Addr())
	endless := "redis.call('get', KEYS[1]) while true do end"
	require.NoError(t, script.Send(resp.AppendRequest(nil, "EVAL", endless, "1", "lock:a")))
	redistest.Until(t, func() bool { return strings.HasPrefix(worker.Do("PING").Str, "BUSY ") })
	srv.AssertCalled(1, "GET", "lock:*")
	pause := srv.Fault("pause").Cmd("SET").Hold()
	require.NoError(t, worker.Send(resp.AppendRequest(nil, "SET", "lock:a", "v")))
	require.Equal(t, "SET lock:a v", pause.Wait().Cmd)
	_, err := srv.Try("LAB", "CLOCK", "ADVANCE", "1")
	require.ErrorContains(t, err, "BUSY ")
	require.Equal(t, "OK", srv.Do("SCRIPT", "KILL").Str)
	require.Contains(t, script.Read().Str, "Script killed")
	require.Equal(t, 1, pause.Release())
	require.Equal(t, "OK", worker.Read().Str)
}

func TestACrashLosesKeysUnlessToldOtherwise(t *testing.T) {
	srv := miniredistest.Run(t, miniredistest.Frozen())
	c := redistest.Dial(t, srv.Addr())
	c.Do("SET", "lock", "v")
	srv.Crash(0, miniredistest.KeepKeys)
	_, err := c.TryRead()
	require.Error(t, err)
	srv.AssertString("lock", "v")
	srv.Crash(time.Minute, miniredistest.LoseKeys)
	srv.AssertNone("lock")
	require.Error(t, dial(srv.Addr()), "down")
	srv.Clock().Advance(time.Minute)
	require.NoError(t, dial(srv.Addr()))
	srv.Listen(false)
	require.Error(t, dial(srv.Addr()))
	srv.Listen(true)
	require.NoError(t, dial(srv.Addr()))
}

func dial(addr string) error {
	conn, err := net.Dial("tcp", addr)
	if err == nil {
		err = conn.Close()
	}
	return err
}

func TestASilentServerAnswersItsTest(t *testing.T) {
	srv := miniredistest.Run(t)
	worker, other := redistest.Dial(t, srv.Addr()), redistest.Dial(t, srv.Addr())
	worker.Do("CLIENT", "SETNAME", "worker-1")
	other.Do("PING")
	srv.Partition("worker-*", true)
	require.NoError(t, worker.Send(resp.AppendRequest(nil, "SET", "k", "worker")))
	require.Equal(t, "OK", other.Do("SET", "k", "other").Str)
	srv.Blackhole(true)
	require.NoError(t, other.Send(resp.AppendRequest(nil, "SET", "k", "silent")))
	srv.AssertString("k", "other")
	srv.Blackhole(false)
	require.Equal(t, "OK", other.Read().Str)
	srv.AssertString("k", "silent")
	srv.Partition("worker-*", false)
	require.Equal(t, "OK", worker.Read().Str)
	srv.AssertString("k", "worker")
}

func TestASnapshotIsRestoredAnyNumberOfTimes(t *testing.T) {
	srv := miniredistest.Run(t, miniredistest.Frozen())
	srv.Do("SET", "a", "1", "PX", "1000")
	srv.Snapshot("clean")
	for range 3 {
		srv.Do("SET", "a", "2")
		srv.Do("SET", "b", "2")
		srv.Restore("clean")
		require.Equal(t, []string{"a"}, srv.Keys("*"))
		require.Equal(t, time.Second, srv.TTL("a"))
	}
}

func TestTheDoctorFindsALockWithoutTTL(t *testing.T) {
	srv := miniredistest.Run(t)
	c := redistest.Dial(t, srv.Addr())
	c.Do("SETNX", "lock:a", "v")
	c.Do("EXPIRE", "lock:a", "30")
	findings := srv.Doctor()
	require.NotEmpty(t, findings)
	require.Equal(t, "lock:a", findings[0].Key)
	require.NotEmpty(t, findings[0].Pattern)
	require.NotEmpty(t, findings[0].Why)
	require.NotEmpty(t, findings[0].Fix)
	require.NotEmpty(t, findings[0].Commands)
	require.Equal(t, 1, findings[0].Count)
	require.Contains(t, failing(t, func(f testing.TB) {
		m := miniredistest.RunMasters(f, 2)
		c := redistest.Dial(t, m.Addrs()[1])
		c.Do("SETNX", "lock:b", "v")
		c.Do("EXPIRE", "lock:b", "30")
		require.Len(t, m.Doctor(), 1)
		m.AssertNoFindings()
	}), "master 2: "+findings[0].Pattern+" of key lock:b")
}

func TestTheHistoryOfAllMastersIsOneArray(t *testing.T) {
	m := miniredistest.RunMasters(t, 2)
	redistest.Dial(t, m[1].Addr()).Do("SET", "k", "v")
	var all []lab.History
	require.NoError(t, json.Unmarshal([]byte(m.History()), &all))
	require.Len(t, all, 2)
	require.Empty(t, all[0].Entries)
	require.Equal(t, 2, all[1].Master)
	require.Equal(t, []string{"SET", "k", "v"}, all[1].Entries[0].Cmd)
}

func TestTheHistoryHasCommandsOfScripts(t *testing.T) {
	srv := miniredistest.Run(t, miniredistest.Frozen())
	c := redistest.Dial(t, srv.Addr())
	c.Do("SET", "lock:a", "v")
	c.Do("EVAL", "return redis.call('del', KEYS[1])", "1", "lock:a")
	c.Do("EVAL", "return redis.call('del', KEYS[1])", "1", "other")
	srv.AssertCalled(1, "EVAL", "lock:*")
	srv.AssertCalled(1, "DEL", "lock:*")
	del := srv.Calls("del", "lock:a")[0]
	require.Equal(t, "1", del.Reply)
	require.Len(t, del.By, 40)
	require.Contains(t, srv.History(), `"format":"`+lab.Format+`"`)
	srv.ResetLog()
	require.Empty(t, srv.Log())
	quiet := miniredistest.Run(t, miniredistest.Watch())
	redistest.Dial(t, quiet.Addr()).Do("SET", "k", "v")
	require.Empty(t, quiet.Log())
}

func TestAFailedTestPrintsItsHistory(t *testing.T) {
	out := failing(t, func(f testing.TB) {
		srv := miniredistest.Run(f, miniredistest.Frozen())
		c := redistest.Dial(t, srv.Addr())
		c.Do("CLIENT", "SETNAME", "worker-1")
		c.Do("SET", "lock:a", "v", "NX")
		srv.Clock().Advance(1500 * time.Millisecond)
		c.Do("SET", "lock:b", "v", "NX", "PX", "1000")
		c.Do("EVAL", "return redis.call('get', KEYS[1]) -- "+strings.Repeat("long", 20), "1", "lock:b")
		srv.AssertCalled(1, "SET", "lock:*")
		srv.AssertAllExpire("*")
		srv.AssertNone("lock:b")
		srv.AssertString("lock:a", "w")
		srv.AssertString("nosuch", "w")
	})
	for _, want := range []string{
		"SET was executed 2 times on lock:*, not 1 times:",
		"keys that match * stay for ever:\nlock:a  \"v\"\n",
		"keys that match lock:b are left:\nlock:b  \"v\"  ttl 1s\n",
		`key lock:a is "v", want "w"`,
		"key nosuch does not exist, want \"w\"",
		"history\n",
	} {
		require.Contains(t, out, want)
	}
	require.Regexp(t, `(?m)^\d+ +\+1\.5s +worker-1 +command +executed +SET lock:b v NX PX 1000 -> OK$`, out)
	require.Regexp(t, `(?m)^\d+ +\+0s +- +clock +executed +\d+ -> \d+$`, out)
	require.NotContains(t, out, strings.Repeat(" ", 40), "the script is in the last column")
}

func TestDumpShowsEveryTypeOfValue(t *testing.T) {
	srv := miniredistest.Run(t, miniredistest.Frozen())
	srv.Do("SET", "a", "1", "PX", "2500")
	srv.Do("RPUSH", "b", "x", "y")
	srv.Do("HSET", "c", "f", "v")
	srv.Do("SADD", "d", "m")
	srv.Do("ZADD", "e", "1.5", "m")
	srv.Do("XADD", "f", "1-1", "f", "v")
	require.Equal(t, "a  \"1\"  ttl 2.5s\n"+
		"b  list [\"x\", \"y\"]\n"+
		"c  hash %{\"f\": \"v\"}\n"+
		"d  set ~[\"m\"]\n"+
		"e  zset [[\"m\", ,1.5]]\n"+
		"f  stream [[\"1-1\", [\"f\", \"v\"]]]\n", srv.Dump())
}

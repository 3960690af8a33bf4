package miniredis_test

import (
	"net"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/miniredistest/miniredis"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// leftOut has the names of miniredis 2.40.0 that this package does not have, or has with another type.
func leftOut() map[string]string {
	const fields = "Redis 7.2 has no TTLs of hash fields"
	return map[string]string{
		"Miniredis.HExpire": fields, "Miniredis.HPersist": fields, "Miniredis.HSetEX": fields, "Miniredis.HTTL": fields,
		"RedisDB.HExpire": fields, "RedisDB.HPersist": fields, "RedisDB.HSetEX": fields, "RedisDB.HTTL": fields,

		"Miniredis.Server":   "it returns the miniredistest.Server: rules take the place of hooks",
		"Miniredis.Lock":     "there is no lock: the server's goroutine owns the keys",
		"Miniredis.TryLock":  "as Lock",
		"Miniredis.Unlock":   "as Lock",
		"Subscriber.Publish": "it is for miniredis itself: Miniredis.Publish reaches all subscribers",
	}
}

func TestNamesAndTypesAreThoseOfMiniredis(t *testing.T) {
	have := map[string]string{}
	for name, fn := range map[string]any{
		"NewMiniRedis": miniredis.NewMiniRedis, "Run": miniredis.Run, "RunT": miniredis.RunT,
		"RunTLS": miniredis.RunTLS,
	} {
		have[name] = reflect.TypeOf(fn).String()
	}
	for _, typ := range []reflect.Type{
		reflect.TypeFor[*miniredis.Miniredis](), reflect.TypeFor[*miniredis.RedisDB](),
		reflect.TypeFor[*miniredis.Subscriber](),
	} {
		for i := range typ.NumMethod() {
			have[typ.Elem().Name()+"."+typ.Method(i).Name] = typ.Method(i).Type.String()
		}
	}
	text, err := os.ReadFile("testdata/miniredis-2.40.0.txt")
	require.NoError(t, err)
	missing := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		name, typ, _ := strings.Cut(strings.TrimSpace(line), " ")
		if have[name] != typ {
			require.Contains(t, leftOut(), name, "%s: have %q, want %q", name, have[name], typ)
			missing[name] = true
		}
	}
	for name := range leftOut() {
		require.True(t, missing[name], "%s exists: remove it from the list", name)
	}
}

func TestAMiniredisEndsWithItsTest(t *testing.T) {
	var addr string
	t.Run("inner", func(t *testing.T) {
		m := miniredis.RunT(t)
		addr = m.Addr()
		require.Equal(t, addr, m.Host()+":"+m.Port())
		require.Equal(t, "OK", redistest.Dial(t, addr).Do("SET", "k", "v").Str)
		m.CheckGet(t, "k", "v")
	})
	m := miniredis.NewMiniRedis()
	require.NoError(t, m.StartAddr(addr), "the port is free again")
	m.Close()
	m.Close()
}

func TestAProgramWithoutATestRunsAMiniredis(t *testing.T) {
	m, err := miniredis.Run()
	require.NoError(t, err)
	defer m.Close()
	require.ErrorContains(t, m.Start(), "is in use by this server")
	other := miniredis.NewMiniRedis()
	require.ErrorContains(t, other.StartAddr(m.Addr()), "Failed listening on port")
	require.ErrorContains(t, other.StartAddr("nonsense"), "missing port in address")
	require.Panics(t, func() { other.Keys() }, "it does not run")
	conn, err := other.Dial()
	require.NoError(t, err, "Dial starts it")
	require.NoError(t, conn.Close())
	other.Close()
}

func TestRestartKeepsKeysPortTimeAndPasswords(t *testing.T) {
	m := miniredis.RunT(t)
	addr := m.Addr()
	require.NoError(t, m.Set("a", "1"))
	m.DB(3).HSet("h", "f", "v")
	m.SetTTL("a", time.Minute)
	m.FastForward(10 * time.Second)
	m.RequireAuth("secret")
	m.Close()
	_, err := net.Dial("tcp", addr)
	require.Error(t, err)
	require.NoError(t, m.Restart())
	require.Equal(t, addr, m.Addr())
	require.Equal(t, 50*time.Second, m.TTL("a"))
	require.Equal(t, "v", m.DB(3).HGet("h", "f"))
	c := redistest.Dial(t, addr)
	require.Contains(t, c.Do("GET", "a").Str, "NOAUTH")
	require.Equal(t, "OK", c.Do("AUTH", "secret").Str)
	require.Equal(t, "1", c.Do("GET", "a").Str)
}

func TestTimeStandsStillUntilTheTestMovesIt(t *testing.T) {
	m := miniredis.RunT(t)
	require.NoError(t, m.Set("lock", "v"))
	m.SetTTL("lock", 30*time.Second)
	require.Equal(t, 30*time.Second, m.TTL("lock"))
	m.FastForward(29 * time.Second)
	require.Equal(t, time.Second, m.TTL("lock"))
	m.SetTTL("lock", 0)
	require.Zero(t, m.TTL("lock"))
	m.SetTTL("lock", time.Second)
	m.FastForward(1001 * time.Millisecond)
	require.False(t, m.Exists("lock"))
	m.SetTime(time.UnixMilli(1_700_000_000_000))
	require.Equal(t, "1700000000", m.Server().Do("TIME").Elems[0].Str)
	c := redistest.Dial(t, m.Addr())
	m.ClockTTL(true)
	require.True(t, c.Do("BLPOP", "q", "0.001").Null, "the clock runs")
	m.ClockTTL(false)
}

func TestErrorsAndPasswordsAreForClients(t *testing.T) {
	m := miniredis.RunT(t)
	m.Seed(7)
	c := redistest.Dial(t, m.Addr())
	m.SetError("LOADING wait")
	require.Equal(t, "LOADING wait", c.Do("GET", "k").Str)
	require.NoError(t, m.Set("k", "v"))
	m.SetError("ERR other")
	require.Equal(t, "ERR other", c.Do("GET", "k").Str)
	m.SetError("")
	require.Equal(t, "v", c.Do("GET", "k").Str)
	m.RequireUserAuth("worker", "secret")
	fresh := redistest.Dial(t, m.Addr())
	require.Contains(t, fresh.Do("GET", "k").Str, "NOAUTH")
	require.Equal(t, "OK", fresh.Do("AUTH", "worker", "secret").Str)
	require.Equal(t, "v", fresh.Do("GET", "k").Str)
	m.RequireUserAuth("worker", "")
	require.Equal(t, "v", redistest.Dial(t, m.Addr()).Do("GET", "k").Str)
}

func TestCountersCountClients(t *testing.T) {
	m := miniredis.RunT(t)
	require.Zero(t, m.CommandCount())
	c := redistest.Dial(t, m.Addr())
	c.Do("SET", "k", "v")
	c.Do("GET", "k")
	m.CheckGet(t, "k", "v")
	m.FastForward(time.Second)
	require.Equal(t, 2, m.CommandCount())
	require.Equal(t, 2, m.CommandCount())
	require.Equal(t, 1, m.CurrentConnectionCount())
	require.Equal(t, 1, m.TotalConnectionCount())
	require.True(t, m.IsReadOnlyCommand("get"))
	require.False(t, m.IsReadOnlyCommand("set"))
	require.False(t, m.IsReadOnlyCommand("nosuch"))
}

package luaeval

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
)

// Ten tables that each contain the one before several times are packed as if each were another one.
func TestTablesThatShareOthersArePackedAsOnRedis(t *testing.T) {
	s := newSides(t)
	for _, made := range []string{
		`local t={1,2,3,4,5,6,7,8} for i=1,6 do t={t,t,t,t,t,t,t} end`,
		`local t={("x"):rep(70)} for i=1,11 do t={t,t} end`,
		`local t={("x"):rep(70)} for i=1,18 do t={t,t} end`,
		`local t={a="b"} for i=1,14 do t={t,2,t} end`,
		`local t={("x"):rep(70000)} t={t,t,{t}}`,
		`local t={} for i=1,2 do t[i]=t end`,
		`local a={} for i=1,20000 do a[i]=i end local t={a,{a},{{a,a}}}`,
		`local t={} for i=1,20000 do t[i]={i,"name",1.5,true} end`,
		`local t=("x"):rep(70000)`, `local t=("x"):rep(65537)`, `local t=("x"):rep(65531)`,
	} {
		s.same(t, made+` local m=cmsgpack.pack(t,{t},t) return {#m,redis.sha1hex(m)}`, nil)
	}
}

// The clock moves with each look, so a count of looks bounds the work.
func TestPackingMeasuresFirstWhatTablesShare(t *testing.T) {
	for _, deep := range []string{
		`for i = 1, 15 do t = {t, t, t, t, t, t, t, t} end`,
		`for i = 1, 15 do t = {t, a = t, b = t, [5] = t, [t] = t} end`,
		`t = {("x"):rep(1e6)} for i = 1, 9 do t = {t, t} end`,
		`for i = 1, 1000 do t[i] = t end`,
	} {
		looks := 0
		e := New(Options{Budget: 64 << 20, Clock: func() int64 { looks++; return int64(looks) * int64(time.Millisecond) }})
		reply := evalOn(e, 2, `local t = {1, 2, 3} `+deep+` return #cmsgpack.pack(t)`, nil)
		require.True(t, strings.HasPrefix(reply, "-") && strings.Contains(reply, "not enough memory"), reply)
		require.Less(t, looks, 10000, deep)
	}
}

func TestJSONThatCannotFitIsRefusedSoon(t *testing.T) {
	for script, want := range map[string]string{
		`for i = 1, 15 do t = {t, t, t, t, t, t, t, t} end`:             "not enough memory",
		`for i = 1, 15 do t = {t, t, a = t, b = t, c = t, [5] = t} end`: "not enough memory",
		`for i = 1, 900 do t = {t, t} end`:                              "not enough memory",
		`for i = 1, 1000 do t = {t, t} end`:                             "excessive nesting (1001)",
		`for i = 1, 3 do t[i] = t end`:                                  "excessive nesting (1001)",
		`for i = 1, 20 do t = {t, t} end`:                               ":10485757\r\n",
	} {
		if !amount.Picked(script, 2) {
			continue
		}
		looks := 0
		e := New(Options{Budget: 64 << 20, Clock: func() int64 { looks++; return int64(looks) * int64(time.Millisecond) }})
		reply := evalOn(e, 2, `local t = {1, 2, 3} `+script+` return #cjson.encode(t)`, nil)
		require.Contains(t, reply, want, script)
		require.Less(t, looks, 250000, script)
	}
}

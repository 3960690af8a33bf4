package lab_test

import (
	"path"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab"
)

func glob(pattern string, s []byte) bool {
	ok, _ := path.Match(pattern, string(s))
	return ok
}

func plan(t testing.TB, seed uint64, lines ...string) *lab.Plan {
	t.Helper()
	p := lab.NewPlan(seed, glob)
	for _, line := range lines {
		require.NoError(t, p.Add(rule(t, line)))
	}
	return p
}

func call(cmd string, keys ...string) lab.Call {
	c := lab.Call{Cmd: cmd}
	for _, key := range keys {
		c.Keys = append(c.Keys, []byte(key))
	}
	return c
}

func request(cmd string, keys ...string) *lab.Request {
	return &lab.Request{Client: 7, Name: "worker-1", Calls: []lab.Call{call(cmd, keys...)}}
}

// fired returns the name of the rule that fires, or "".
func fired(p *lab.Plan, q *lab.Request) string {
	if r := p.Request(q); r != nil {
		return r.Name
	}
	return ""
}

func TestARuleMatchesRequestsThatMeetAllConditions(t *testing.T) {
	unlock := &lab.Request{Calls: []lab.Call{{
		Cmd: "evalsha", Keys: [][]byte{[]byte("lock:a")}, SHA: "abcdef", Body: "return redis.call('del', KEYS[1])",
	}}}
	transaction := &lab.Request{Calls: []lab.Call{call("exec"), call("set", "a"), call("del", "b")}}
	for _, c := range []struct {
		rule string
		req  *lab.Request
		want bool
	}{
		{"r ACTION SILENT", request("ping"), true},
		{"r CMD set ACTION SILENT", request("set", "a"), true},
		{"r CMD set ACTION SILENT", request("setnx", "a"), false},
		{"r CMD client ACTION SILENT", request("client|kill"), true},
		{"r CMD client|kill ACTION SILENT", request("client|kill"), true},
		{"r CMD client|list ACTION SILENT", request("client|kill"), false},
		{"r KEY lock:* ACTION SILENT", request("get", "lock:a"), true},
		{"r KEY lock:* ACTION SILENT", request("mget", "other", "lock:a"), true},
		{"r KEY lock:* ACTION SILENT", request("get", "other"), false},
		{"r KEY * ACTION SILENT", request("ping"), false},
		{"r CLIENT 7 ACTION SILENT", request("ping"), true},
		{"r CLIENT 8 ACTION SILENT", request("ping"), false},
		{"r CLIENT worker-? ACTION SILENT", request("ping"), true},
		{"r CLIENT master-? ACTION SILENT", request("ping"), false},
		{"r SCRIPT ABCDEF ACTION SILENT", unlock, true},
		{"r SCRIPT 'call(' ACTION SILENT", unlock, true},
		{"r SCRIPT pexpire ACTION SILENT", unlock, false},
		{"r SCRIPT abc ACTION SILENT", request("ping"), false},
		{"r CMD exec ACTION SILENT", transaction, true},
		{"r CMD del KEY b ACTION SILENT", transaction, true},
		{"r CMD set KEY b ACTION SILENT", transaction, false},
		{"r ACTION HOLD", &lab.Request{Control: true, Calls: []lab.Call{call("ping")}}, false},
		{"r ACTION SILENT", &lab.Request{Control: true, Calls: []lab.Call{call("ping")}}, true},
	} {
		p := plan(t, 1, c.rule)
		require.Equal(t, c.want, fired(p, c.req) != "", "%s: %+v", c.rule, c.req)
		require.Nil(t, p.Push(c.req))
	}
}

func TestRulesOnMessagesIgnoreRequests(t *testing.T) {
	p := plan(t, 1, "push KEY c ACTION SKIP-PUSH")
	require.False(t, p.OnRequests())
	require.True(t, p.OnPushes())
	require.Empty(t, fired(p, request("publish", "c")))
	require.Equal(t, "push", p.Push(request("message", "c")).Name)
	require.Nil(t, p.Push(request("message", "other")))
}

func TestNthAndTimesDecideWhenARuleFires(t *testing.T) {
	for line, want := range map[string]string{
		"r ACTION SILENT":               "xxxxxx",
		"r NTH 3 ACTION SILENT":         "..x...",
		"r TIMES 2 ACTION SILENT":       "xx....",
		"r NTH 2 TIMES 3 ACTION SILENT": ".xxx..",
		"r NTH 7 ACTION SILENT":         "......",
	} {
		p, got := plan(t, 1, line), ""
		for range 6 {
			require.Empty(t, fired(p, &lab.Request{}))
			if fired(p, request("set")) != "" {
				got += "x"
			} else {
				got += "."
			}
		}
		require.Equal(t, want, got, line)
		require.EqualValues(t, 6, p.Rules[0].Matched)
	}
}

func TestTheFirstRuleFiresAndTheOthersGoOnCounting(t *testing.T) {
	p := plan(t, 1, "first NTH 2 ACTION SILENT", "second NTH 2 TIMES 2 ACTION HOLD")
	var got []string
	for range 5 {
		got = append(got, fired(p, request("set")))
	}
	require.Equal(t, []string{"", "first", "second", "second", ""}, got)
}

func draw(p *lab.Plan, n int) (got string) {
	for range n {
		if r := p.Request(request("set")); r != nil {
			got += "x"
		} else {
			got += "."
		}
	}
	return got
}

func TestDiceDependOnTheSeedAndTheNameAlone(t *testing.T) {
	want := draw(plan(t, 42, "r PROB 0.5 ACTION SILENT"), 64)
	require.Contains(t, want, "x")
	require.Contains(t, want, ".")
	require.Equal(t, want, draw(plan(t, 42, "r PROB 0.5 ACTION SILENT"), 64))
	require.NotEqual(t, want, draw(plan(t, 43, "r PROB 0.5 ACTION SILENT"), 64))
	require.NotEqual(t, want, draw(plan(t, 42, "q PROB 0.5 ACTION SILENT"), 64))

	others := plan(t, 42, "q PROB 0.5 CMD get ACTION SILENT", "r PROB 0.5 ACTION SILENT", "never NTH 1000 ACTION SILENT")
	require.Equal(t, want, draw(others, 64))
}

func TestARuleCanBeRemovedAndAddedAgain(t *testing.T) {
	p := plan(t, 1, "a ACTION SILENT", "b SCRIPT x ACTION SILENT")
	require.EqualError(t, p.Add(rule(t, "a ACTION HOLD")), "ERR LAB FAULT ADD: the rule 'a' already exists")
	require.Nil(t, p.Del("c"))
	require.Len(t, p.Rules, 2)
	require.True(t, p.OnScripts())
	require.Equal(t, "b", p.Del("b").Name)
	require.False(t, p.OnScripts())
	p.Clear()
	require.False(t, p.OnRequests())
	require.Empty(t, fired(p, request("set")))
	require.NoError(t, p.Add(rule(t, "a ACTION HOLD")))
}

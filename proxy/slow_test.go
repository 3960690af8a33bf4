package proxy

import (
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRulesOfALineGoTogetherWithOthers(t *testing.T) {
	r, lab := withServer(t)
	client := r.client()
	require.Equal(t, "+OK", client.do("SET a abcd"))
	for _, line := range []string{"BANDWIDTH 1000", "JITTER 3", "SLICE 2"} {
		name := strings.ToLower(strings.Fields(line)[0])
		require.Equal(t, "+OK", lab.do("LAB FAULT ADD "+name+" CLIENT w ACTION "+line))
	}
	for _, line := range []string{
		"no CMD del ACTION ERROR NO", "after CMD incr ACTION ERROR-AFTER LATER", "held CMD echo ACTION HOLD",
		"wait CMD append ACTION DELAY-EXEC 3", "late CMD get ACTION DELAY-REPLY 2",
		"cut CMD getdel ACTION CUT 6",
	} {
		require.Equal(t, "+OK", lab.do("LAB FAULT ADD "+line))
	}
	require.Equal(t, "+OK", client.do("CLIENT SETNAME w"))
	client.send("GET a", "DEL a", "INCR n", "ECHO x")
	for _, want := range []string{`"abcd"`, "-NO", "-LATER"} {
		require.Equal(t, want, client.read())
	}
	require.Contains(t, lab.do("LAB HOLD WAIT held 0"), "ECHO x")
	require.Equal(t, ":1", lab.do("LAB HOLD RELEASE held"))
	require.Equal(t, `"x"`, client.read())
	require.Equal(t, ":5", client.do("APPEND a e"))
	require.Equal(t, `"1"`, client.do("GET n"), "ERROR-AFTER has executed it")
	client.send("GETDEL a")
	rest, err := io.ReadAll(client.In)
	require.NoError(t, err)
	require.Equal(t, "$5\r\nab", string(rest))
	require.Contains(t, lab.logText(), "|cut|GETDEL a|a|0|reply cut|abcde")
	require.Contains(t, lab.logText(), "|held|ECHO x||0|reply late|x")
	require.Equal(t, "[]", lab.do("LAB HOLD LIST"))
}

func TestASlowReplyTakesNoMemoryAndEndsWithAReset(t *testing.T) {
	r, lab := withServer(t)
	client, other := r.client(), r.client()
	long := strings.Repeat("x", 5<<20)
	client.send("SET a " + long)
	require.Equal(t, "+OK", client.read())
	require.Equal(t, "+OK", lab.do("LAB FAULT ADD slow CMD get ACTION BANDWIDTH 1"))
	client.send("GET a", "PING")
	require.Contains(t, lab.do("LAB FAULT ADD late CMD get ACTION JITTER 9"), "+OK")
	require.Equal(t, "+PONG", other.do("PING"), "the others go on")
	require.Equal(t, "+OK", lab.do("LAB RESET"))
	require.Equal(t, strconv.Quote(long), client.read())
	require.Equal(t, "+PONG", client.read())
}

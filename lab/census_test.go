package lab_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab"
)

func TestAClientKeepsItsNumberWhenItConnectsAgain(t *testing.T) {
	const token = "3f2a9c0d-11aa-42b7"
	var c lab.Census
	require.Equal(t, 1, c.Number(7, "", []string{token, "30000"}))
	require.Equal(t, 2, c.Number(8, "", []string{"another-token-0123", "30000"}))
	require.Equal(t, 1, c.Number(9, "", []string{token}), "the same token")
	require.Equal(t, 1, c.Number(9, "", nil), "the connection is known now")
	require.Equal(t, 3, c.Number(10, "worker", nil))
	require.Equal(t, 3, c.Number(11, "worker", []string{"yet-another-token-99"}), "the same name")
	require.Equal(t, 4, c.Number(12, "", []string{"30000", "short-1", "a text with spaces 12"}), "no token")
}

func TestOrderTellsClientsWithoutNamesApart(t *testing.T) {
	plan := lab.NewPlan(1, func(pattern string, s []byte) bool { return pattern == string(s) })
	r, err := lab.ParseRule(words("second KEY k ORDER 2 NTH 2 ACTION DROP-REPLY"))
	require.NoError(t, err)
	require.Equal(t, "second KEY k ORDER 2 NTH 2 TIMES 1 ACTION DROP-REPLY", lab.Line(r.Words()))
	require.NoError(t, plan.Add(r))
	send := func(client int64, unknown bool, args ...string) bool {
		call := lab.Call{Cmd: args[0], Keys: [][]byte{[]byte(args[1])}, Unknown: unknown}
		for _, arg := range args {
			call.Args = append(call.Args, []byte(arg))
		}
		return plan.Request(&lab.Request{Client: client, Calls: []lab.Call{call}}) != nil
	}
	require.False(t, send(5, false, "set", "other"), "it does not match, so it has no number")
	require.False(t, send(6, false, "set", "k"))
	require.False(t, send(5, false, "set", "k", "token-0123456789-x"))
	require.False(t, send(6, false, "del", "k"))
	require.False(t, send(5, true, "evalsha", "k"), "the EVAL that follows is the same step")
	require.True(t, send(7, false, "eval", "k", "token-0123456789-x"), "client 5, connected again")
	require.False(t, send(7, false, "eval", "k"))
}

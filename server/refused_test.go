package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// Redis supports these commands, so no redis-server can write the expected replies.
func TestCommandsThatNeedOtherServersAreRefusedByName(t *testing.T) {
	c := redistest.Dial(t, start(t, nil))
	const (
		alone = " is not supported: this server does not replicate"
	)
	for _, r := range []struct {
		why     string
		command []string
	}{
		{"ERR SYNC" + alone, []string{"SYNC"}},
		{"ERR PSYNC" + alone, []string{"PSYNC", "?", "-1"}},
		{"ERR REPLCONF" + alone, []string{"REPLCONF", "listening-port", "1"}},
	} {
		require.Equal(t, r.why, c.Do(r.command...).Str)
	}

	c.Do("MULTI")
	require.Equal(t, "QUEUED", c.Do("REPLCONF", "listening-port", "1").Str)
	require.Equal(t, "QUEUED", c.Do("INCR", "n").Str)
	replies := c.Do("EXEC").Elems
	require.Equal(t, "ERR REPLCONF"+alone, replies[0].Str)
	require.Equal(t, int64(1), replies[1].Int)
}

func TestMonitorBlanksThePasswordsOfMigrate(t *testing.T) {
	addr := start(t, nil)
	c, m := redistest.Dial(t, addr), redistest.Dial(t, addr)
	require.Equal(t, "OK", m.Do("MONITOR").Str)
	for args, shown := range map[string][]string{
		`"" "0" "5" "COPY" "AUTH" "(redacted)" "KEYS" "auth" "b"`: {"", "0", "5", "COPY", "AUTH", "pw", "KEYS", "auth", "b"},
		`"k" "0" "5" "AUTH2" "(redacted)" "(redacted)" "REPLACE"`: {"k", "0", "5", "AUTH2", "user", "pw", "REPLACE"},
		`"k" "0" "5" "AUTH"`: {"k", "0", "5", "AUTH"},
	} {
		c.Do(append([]string{"migrate", "h", "1"}, shown...)...)
		require.Contains(t, m.Read().Str, `"migrate" "h" "1" `+args)
	}
}

// A client that asks Sentinel for its master shows this error to its user.
func TestTheErrorOfSentinelBeginsWithRedissWordsAndSaysWhatToDo(t *testing.T) {
	c := redistest.Dial(t, start(t, nil))
	const instead = "(there is no Sentinel here: connect to this port; --masters N runs N masters)"
	require.Equal(t, "ERR unknown command 'sentinel', with args beginning with: 'get-master-addr-by-name' 'mymaster' "+
		instead, c.Do("sentinel", "get-master-addr-by-name", "mymaster").Str)
	require.Equal(t, "ERR unknown command 'SENTINEL', with args beginning with: "+instead, c.Do("SENTINEL").Str)
	require.Equal(t, "ERR unknown command 'SENTINELS', with args beginning with: ", c.Do("SENTINELS").Str)
	require.Equal(t, "OK", c.Do("MULTI").Str)
	require.Contains(t, c.Do("SENTINEL", "masters").Str, instead)
	require.Equal(t, "EXECABORT Transaction discarded because of previous errors.", c.Do("EXEC").Str)
}

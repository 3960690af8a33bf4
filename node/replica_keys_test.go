package node_test

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// A client in MONITOR counts as a replica. No CLIENT PAUSE holds back a replica, so it must not use keys.
func TestAClientInMonitorDoesNotUseKeys(t *testing.T) {
	test := func(t *testing.T, addr string) {
		for request, refused := range map[string]bool{
			"GET k": true, "SET k v": true, "PUBLISH c m": true, "EVAL return(1) 0": true, "DBSIZE": true, "PFCOUNT k": true,
			"EVAL_RO return(1) 0": true, "OBJECT ENCODING k": true, "XREAD STREAMS k 0": true,
			"PING": false, "MULTI": false, "WATCH k": false, "SUBSCRIBE c": false, "SCRIPT EXISTS x": false,
		} {
			c := redistest.Dial(t, addr)
			require.Equal(t, "OK", c.Do("MONITOR").Str)
			words := strings.Fields(request)
			got := c.Do(words...).String()
			for strings.Contains(got, `"`+words[0]+`"`) { // MONITOR shows the request itself
				got = c.Read().String()
			}
			require.Equal(t, refused, strings.Contains(got, "Replica can't interact with the keyspace"), "%s: %s", request, got)
		}
		c, other := redistest.Dial(t, addr), redistest.Dial(t, addr)
		require.Equal(t, "OK", c.Do("MONITOR").Str)
		require.Equal(t, "OK", other.Do("CLIENT", "PAUSE", "3600000", "ALL").Str)
		require.NoError(t, c.Send([]byte("PING\r\n")))
		for c.Read().Str != "PONG" {
		}
	}
	t.Run("miniredisd", func(t *testing.T) { test(t, start(t, nil)) })
	t.Run("redis-server", func(t *testing.T) { test(t, redistest.Start(t).Addr) })
}

func TestAReplicaThatUsesKeysIsDisconnected(t *testing.T) {
	l := born(t, t.TempDir())
	for request, words := range map[string]string{
		"SET k v": "This master is sending an error to its replica: 'ERR Replica can't interact with the keyspace' " +
			"after processing the command 'set'",
		"SLOWLOG GET": "Replica generated a reply to command 'slowlog|get', disconnecting it",
	} {
		c := l.dial()
		require.NoError(t, c.Send([]byte("PSYNC ? -1\r\n"+request+"\r\n")))
		all, err := io.ReadAll(c.Net)
		require.NoError(t, err)
		require.NotContains(t, string(all), "-ERR")
		require.Contains(t, l.logged(), words)
	}
	require.Equal(t, int64(0), l.dial().Do("DBSIZE").Int)
}

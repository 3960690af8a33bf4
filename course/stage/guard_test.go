package stage

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/respclient"
)

// guests starts servers for guests, and returns a guest's connection to the first one.
func guests(t *testing.T, more ...string) (*Stage, *respclient.Conn) {
	s, err := NewForGuests(1, more...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	c, err := respclient.Dial(s.Addrs[0])
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	c.Limit = time.Minute
	return s, c
}

func TestAGuestHasWhatClientLibrariesAskFor(t *testing.T) {
	s, c := guests(t)
	for _, words := range [][]string{
		{"HELLO", "3"}, {"CLIENT", "SETINFO", "LIB-NAME", "x"}, {"CLIENT", "SETNAME", "a"}, {"CLIENT", "ID"},
		{"CLIENT", "LIST"}, {"CLIENT", "UNBLOCK", "9"}, {"CONFIG", "GET", "timeout"}, {"COMMAND"}, {"INFO"}, {"ROLE"},
		{"CLUSTER", "INFO"}, {"SET", "k", "v", "NX", "PX", "1000"},
		{"EVAL", "return redis.call('GET', KEYS[1])", "1", "k"},
		{"KEYS", "*"}, {"SCAN", "0"}, {"SORT", "l"}, {"FLUSHALL"}, {"SCRIPT", "FLUSH"}, {"MULTI"}, {"EXEC"},
		{"WAIT", "0", "1"},
	} {
		v, err := c.Do(words...)
		require.NoError(t, err)
		require.NotContains(t, v.Str, "NOPERM", "%v", words)
	}
	names, err := s.Refused(limited(t))
	require.NoError(t, err)
	require.Empty(t, names)
}

func TestAGuestMayNotTouchTheServerItsLabOrItsUsers(t *testing.T) {
	for _, words := range [][]string{
		{"LAB", "HELP"}, {"LAB", "FAULT", "CLEAR"}, {"LAB", "RESET"}, {"SHUTDOWN", "NOSAVE"}, {"DEBUG", "SLEEP", "0"},
		{"CONFIG", "SET", "maxclients", "1"}, {"CONFIG", "RESETSTAT"}, {"CONFIG", "REWRITE"}, {"ACL", "SETUSER", "x"},
		{"ACL", "LOG", "RESET"}, {"CLIENT", "KILL", "TYPE", "normal"}, {"CLIENT", "PAUSE", "1"},
		{"CLIENT", "NO-EVICT", "on"}, {"MONITOR"}, {"REPLICAOF", "NO", "ONE"}, {"FAILOVER"}, {"SYNC"}, {"PSYNC", "?", "-1"},
		{"REPLCONF", "listening-port", "1"}, {"SAVE"}, {"BGSAVE"}, {"BGREWRITEAOF"}, {"SLOWLOG", "RESET"},
		{"LATENCY", "RESET"}, {"MODULE", "LIST"}, {"MIGRATE", "127.0.0.1", "1", "k", "0", "1"},
	} {
		s, c := guests(t)
		v, err := c.Do(words...)
		require.NoError(t, err)
		require.Contains(t, v.Str, "NOPERM", "%v", words)
		names, err := s.Refused(limited(t))
		require.NoError(t, err)
		require.Len(t, names, 1, "%v", words)
		require.Contains(t, names[0], words[0])
	}
}

// Another login, a transaction and a script do not help, and no crash makes the guest another user.
func TestAGuestStaysOne(t *testing.T) {
	s, c := guests(t)
	for _, words := range [][]string{
		{"AUTH", "judge", "judge"}, {"HELLO", "3", "AUTH", "judge", ""}, {"RESET"},
		{"MULTI"}, {"LAB", "RESET"}, {"EXEC"},
		{"EVAL", "return redis.call('SHUTDOWN')", "0"}, {"LAB", "RESET"},
	} {
		_, err := c.Do(words...)
		require.NoError(t, err)
	}
	names, err := s.Refused(limited(t))
	require.NoError(t, err)
	require.Equal(t, []string{"LAB RESET"}, names)
	_, err = s.Lab(limited(t), 1, "CRASH", "LOSE", "ALL")
	require.NoError(t, err)
	c, err = respclient.Dial(s.Addrs[0])
	require.NoError(t, err)
	defer c.Close()
	v, err := c.Do("LAB", "RESET")
	require.NoError(t, err)
	require.Contains(t, v.Str, "NOPERM")
}

func TestTheStageMayAskOverItsOwnConnection(t *testing.T) {
	s, c := guests(t)
	require.NoError(t, s.Enter())
	_, err := c.Do("CLIENT", "SETNAME", "a")
	require.NoError(t, err)
	v, err := s.Ask(time.Minute, "CLIENT", "LIST")
	require.NoError(t, err)
	require.Contains(t, v.Str, " name=a ")
	v, err = s.Ask(time.Minute, "CLIENT", "KILL", "USER", "default")
	require.NoError(t, err)
	require.Equal(t, int64(1), v.Int)
}

package node_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

func TestDebugRefusesUnsupportedSubcommandsByName(t *testing.T) {
	c := redistest.Dial(t, start(t, []string{"--enable-debug-command", "yes"}))
	for _, step := range []struct{ sub, want string }{
		{"SEGFAULT", "ERR DEBUG SEGFAULT is not supported: the server does not crash on demand"},
		{"CLUSTERLINK", "ERR DEBUG CLUSTERLINK is not supported: the nodes of a cluster have no bus"},
	} {
		require.Equal(t, step.want, string(c.Do("DEBUG", step.sub).Str))
	}
}

func TestDebugReloadEndsAtAKeyThatIsThere(t *testing.T) {
	c := redistest.Dial(t, start(t, []string{"--enable-debug-command", "yes"}))
	const failed = "ERR Error trying to load the RDB dump, check server logs."
	require.Equal(t, failed, string(c.Do("DEBUG", "RELOAD", "NOSAVE").Str), "nothing is saved yet")
	c.Do("SET", "k", "v")
	require.Equal(t, failed, string(c.Do("DEBUG", "RELOAD", "NOFLUSH").Str))
	require.Equal(t, "v", string(c.Do("GET", "k").Str))
}

func TestDebugReloadKeepsIdleTimesAndFrequencies(t *testing.T) {
	for _, policy := range []struct{ name, option, value, object string }{
		{"allkeys-lru", "IDLETIME", "1000", "IDLETIME"},
		{"allkeys-lfu", "FREQ", "77", "FREQ"},
	} {
		c := redistest.Dial(t, start(t, []string{"--enable-debug-command", "yes", "--maxmemory-policy", policy.name}))
		c.Do("SET", "k", "v")
		c.Do("RESTORE", "l", "0", string(c.Do("DUMP", "k").Str), policy.option, policy.value)
		before := c.Do("OBJECT", policy.object, "l").Int
		require.NotZero(t, before)
		require.Equal(t, "OK", string(c.Do("DEBUG", "RELOAD").Str))
		require.InDelta(t, before, c.Do("OBJECT", policy.object, "l").Int, 5, policy.name)
	}
}

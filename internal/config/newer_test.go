package config

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/dialect"
)

func TestADirectiveOfThePlayedServerIsAcceptedWithAWarning(t *testing.T) {
	for _, x := range []struct{ name, has, lacks string }{
		{"prefetch-batch-max-size", "valkey-8.0", "redis-8.10"},
		{"primaryuser", "valkey-8.0", "redis-8.10"},
		{"rdma-port", "valkey-9.1", "valkey-8.1"},
		{"priority-subnets", "valkey-9.2", "valkey-9.1"},
		{"slowlog-entry-max-argc", "redis-8.8", "redis-8.6"},
		{"tls-auth-clients-user", "redis-8.6", "valkey-8.1"},
	} {
		for _, line := range [][]string{{"--" + x.name, "7", "--dialect", x.has}, {"--dialect", x.has, "--" + x.name, "7"}} {
			c, err := Parse(line, nil)
			require.NoError(t, err, x.name)
			require.Equal(t, []string{x.name}, c.Inert())
			require.Equal(t, []string{x.name, "7"}, c.Get([]string{x.name}, glob))
			changed, err := c.Set([]string{x.name, "8"}, true, nil)
			require.NoError(t, err)
			require.Equal(t, []string{x.name}, changed)
			require.Contains(t, c.Get([]string{"*"}, glob), x.name)
		}
		for _, other := range []string{x.lacks, dialect.Default} {
			_, err := Parse([]string{"--dialect", other, "--" + x.name, "7"}, nil)
			require.ErrorContains(t, err, "Bad directive or wrong number of arguments", x.name)
			c, err := Parse([]string{"--dialect", other}, nil)
			require.NoError(t, err)
			require.Empty(t, c.Get([]string{x.name}, glob))
			_, err = c.Set([]string{x.name, "8"}, true, nil)
			require.ErrorContains(t, err, "Unknown option")
		}
	}
	c, err := Parse([]string{"--masters", "2", "--dialect", "redis-7.2,valkey-9.1", "--mptcp", "yes"}, nil)
	require.NoError(t, err, "one of the masters has it")
	require.Equal(t, []string{"mptcp"}, c.Inert())
}

func TestTheLogsOfCommandsHaveDirectivesAsValkey(t *testing.T) {
	for _, name := range []string{"redis-8.10", "valkey-8.0", dialect.Default} {
		_, err := Parse([]string{"--dialect", name, "--commandlog-reply-larger-than", "7"}, nil)
		require.ErrorContains(t, err, "Bad directive or wrong number of arguments", name)
	}
	c, err := Parse([]string{"--commandlog-reply-larger-than", "7", "--dialect", "valkey-8.1"}, nil)
	require.NoError(t, err)
	require.Empty(t, c.Inert())
	require.Equal(t, int64(7), c.CommandlogReplyLargerThan)
	require.Equal(t, int64(1<<20), c.CommandlogRequestLargerThan)
	_, err = c.Set([]string{"commandlog-slow-execution-max-len", "9"}, true, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"slowlog-max-len", "9"}, c.Get([]string{"slowlog-max-len"}, glob))
	require.NotContains(t, Newer(dialect.Named("valkey-9.1")), "commandlog-reply-larger-than")
}

func TestADirectiveIsNewerForOneReason(t *testing.T) {
	for _, name := range dialect.Names() {
		seen := map[string]bool{}
		for r := range (&Config{Dialect: name}).rows() {
			require.False(t, seen[r.name], "%s has %s twice", name, r.name)
			seen[r.name] = true
		}
	}
}

func TestADirectiveOfANewerServerTakesItsValuesOnly(t *testing.T) {
	c, err := Parse([]string{"--dialect", "valkey-9.1"}, nil)
	require.NoError(t, err)
	for _, x := range []struct{ name, value, why string }{
		{"import-mode", "banana", "argument must be 'yes' or 'no'"},
		{"log-format", "banana", "argument(s) must be one of the following: legacy, logfmt, json"},
		{"prefetch-batch-max-size", "129", "argument must be between 0 and 128 inclusive"},
		{"prefetch-batch-max-size", "banana", "argument couldn't be parsed into an integer"},
		{"cluster-blacklist-ttl", "", "argument couldn't be parsed into an integer"},
		{"import-mode", "YES", ""}, {"log-format", "LOGFMT", ""}, {"prefetch-batch-max-size", "128", ""},
		{"cluster-blacklist-ttl", "-1", ""}, {"rdma-port", "65535", ""}, {"primaryauth", "any text", ""},
	} {
		_, err := c.Set([]string{x.name, x.value}, true, nil)
		if x.why == "" {
			require.NoError(t, err, x.name)
			continue
		}
		require.ErrorContains(t, err, x.why, x.name)
	}
	require.Equal(t, []string{"import-mode", "yes"}, c.Get([]string{"import-mode"}, glob))
}

func TestWhatIsFixedInTheNewerServerIsFixedHere(t *testing.T) {
	c, err := Parse([]string{"--dialect", "valkey-9.1", "--mptcp", "yes"}, nil)
	require.NoError(t, err)
	_, err = c.Set([]string{"mptcp", "no"}, true, nil)
	require.ErrorContains(t, err, "can't set immutable config")
	_, err = c.Set([]string{"import-mode", "yes"}, true, nil)
	require.NoError(t, err)
}

package node_test

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// Sentinel does not promote a replica whose link has been down for too long. So INFO must say since when it is down:
// -1 if there was no link, and no field while the link is up. Ours and a real replica say the same.
func TestAReplicaSaysSinceWhenItsLinkIsDown(t *testing.T) {
	t.Parallel()
	const field = "master_link_down_since_seconds"
	master := startWithLog(t, []string{"--repl-diskless-sync-delay", "0"}, (&lines{}).add)
	host, port, err := net.SplitHostPort(master)
	require.NoError(t, err)
	for name, addr := range map[string]string{
		"ours":   startWithLog(t, nil, (&lines{}).add),
		"valkey": redistest.StartValkey(t).Addr,
	} {
		t.Run(name, func(t *testing.T) {
			c := redistest.Dial(t, addr)
			c.Do("REPLICAOF", "127.0.0.1", "1") // nobody listens there
			require.Equal(t, "-1", infoText(c, "replication", field))
			c.Do("REPLICAOF", host, port)
			redistest.Until(t, func() bool { return infoText(c, "replication", "master_link_status") == "up" })
			require.Empty(t, infoText(c, "replication", field))
			c.Do("REPLICAOF", "127.0.0.1", "1")
			require.Regexp(t, `^\d+$`, infoText(c, "replication", field))
			c.Do("REPLICAOF", "NO", "ONE")
			c.Do("REPLICAOF", "127.0.0.1", "1")
			require.Equal(t, "-1", infoText(c, "replication", field))
		})
	}
}

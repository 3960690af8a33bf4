package node_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// Who gets its keys late keeps nobody else waiting: neither other replicas nor a save.
func TestLateKeysKeepNobodyWaiting(t *testing.T) {
	t.Parallel()
	addr, c := startLab(t, "--lab-disk", "yes", "--repl-diskless-sync-delay", "0")
	noise := make([]byte, 4<<20)
	rand.NewChaCha8([32]byte{}).Read(noise)
	ok(t, c, "SET", "k", string(noise))
	f := newFollower(t, addr)
	f.sync()
	ok(t, c, "LAB", "REPLICATION", "LAG", "500", "7777")
	f.Close()
	waitForField(c, "connected_slaves", "0")
	ok(t, c, "CONFIG", "SET", "repl-diskless-sync-delay", "1000", "repl-diskless-sync-max-replicas", "2")
	var all []*follower
	for _, port := range []string{"7777", "7002"} {
		f := newFollower(t, addr)
		require.Equal(t, "+OK", f.ask("REPLCONF", "listening-port", port, "capa", "eof"))
		f.send("PSYNC", "?", "-1")
		all = append(all, f)
	}
	require.Regexp(t, "^.FULLRESYNC ", all[1].line())
	keys := all[1].keys()
	require.Greater(t, len(keys), len(noise))
	redistest.Until(t, func() bool { return c.Do("BGSAVE").Str == "Background saving started" })
	c.Do("LAB", "CLOCK", "ADVANCE", "500")
	require.Regexp(t, "^.FULLRESYNC ", all[0].line())
	require.True(t, keys == all[0].keys())
}

// A replica that gets no keys, and would have got them late, hears at once that it gets none.
func TestAReplicaWithLateKeysIsRefusedAtOnce(t *testing.T) {
	addr, c := startLab(t, "--dbfilename", "", "--repl-diskless-sync", "no")
	ok(t, c, "LAB", "REPLICATION", "LAG", "500")
	f := newFollower(t, addr)
	require.Equal(t, "-ERR BGSAVE failed, replication can't continue", f.ask("PSYNC", "?", "-1"))
	f.ended()
}

// A replica whose keys are late hears that its master is there, so it does not give up.
func TestAReplicaWithLateKeysHearsItsMaster(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"--repl-diskless-sync", "no"}, {"--repl-diskless-sync-delay", "0"}, {"--repl-diskless-sync-delay", "1000"},
	} {
		addr, c := startLab(t, args...)
		ok(t, c, "LAB", "REPLICATION", "LAG", "3600000")
		f := newFollower(t, addr)
		require.Equal(t, "+OK", f.ask("REPLCONF", "capa", "eof"))
		f.send("PSYNC", "?", "-1")
		require.Equal(t, "\n\n", f.bytes(2))
		ok(t, c, "CONFIG", "SET", "repl-diskless-sync-delay", "0")
		ok(t, c, "LAB", "REPLICATION", "RELEASE")
		require.Regexp(t, "^.FULLRESYNC ", f.line())
		require.Contains(t, f.keys(), "REDIS")
	}
}

package node_test

import (
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// bornNode is a node that keeps its files in a folder, and can start again there.
func bornNode(t *testing.T, dir string, args ...string) (member, *life) {
	t.Helper()
	l := born(t, dir, append(append([]string{}, chained...), args...)...)
	return member{"ours", l.addr, l.dial()}, l
}

// A replica that starts again knows from its file where it was, and gets only what is missing.
func TestAReplicaGoesOnAfterARestart(t *testing.T) {
	for name, start := range map[string]func(t *testing.T) member{
		"ours": func(t *testing.T) member { return newNode(t, "a") }, "redis": redisNode, "valkey": valkeyNode,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			master, dir := start(t), t.TempDir()
			follow := "--replicaof " + strings.ReplaceAll(master.addr, ":", " ")
			changeAll(master.conn, 1)
			for i, end := range []string{"SHUTDOWN SAVE", "BGSAVE", "DEBUG RELOAD"} {
				replica, l := bornNode(t, dir, append(strings.SplitN(follow, " ", 2), "--save", "")...)
				changeAll(master.conn, uint64(2+i))
				master.conn.Do("SELECT", "7")
				master.conn.Do("SET", "dying", "v", "PX", "1")
				requireOneHistory(t, master, replica)
				redistest.Until(t, func() bool { return master.conn.Do("EXISTS", "dying").Int == 0 })
				master.conn.Do("INCR", "n")
				requireOneHistory(t, master, replica)
				switch end {
				case "SHUTDOWN SAVE":
					require.NoError(t, replica.conn.Send([]byte("SHUTDOWN SAVE\r\n")))
					l.wait()
				case "BGSAVE":
					replica.conn.Do("BGSAVE")
					waitForField(replica.conn, "rdb_bgsave_in_progress", "0")
					l.kill()
				default:
					require.Equal(t, "OK", replica.conn.Do("DEBUG", "RELOAD").Str)
					requireOneHistory(t, master, replica)
					l.kill()
				}
				master.conn.Do("INCR", "n")
			}
			replica, _ := bornNode(t, dir, strings.SplitN(follow, " ", 2)...)
			requireOneHistory(t, master, replica)
			require.Equal(t, "1", master.info("sync_full"))
			require.Equal(t, "3", master.info("sync_partial_ok"))
		})
	}
}

// A master that starts again from its file begins a new history, which continues the old one: its replicas go on.
// They hear of the keys that have expired meanwhile.
func TestReplicasGoOnAfterARestartOfTheirMaster(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(t *testing.T) member{
		"ours": func(t *testing.T) member { return newNode(t, "b") }, "redis": redisNode, "valkey": valkeyNode,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			master, l := bornNode(t, dir)
			replica := start(t)
			replica.follows(t, master)
			changeAll(master.conn, 1)
			master.conn.Do("DEBUG", "SET-ACTIVE-EXPIRE", "0")
			master.conn.Do("SET", "dying", "v", "PX", "1")
			master.conn.Do("SELECT", "5")
			master.conn.Do("SET", "other", "v", "PX", "1")
			requireOneHistory(t, master, replica)
			id := master.info("master_replid")
			require.NoError(t, master.conn.Send([]byte("SHUTDOWN SAVE\r\n")))
			l.wait()
			_, port, err := net.SplitHostPort(master.addr)
			require.NoError(t, err)

			master, _ = bornNode(t, dir, "--port", port)
			require.Equal(t, id, master.info("master_replid2"))
			requireOneHistory(t, master, replica)
			changeAll(master.conn, 2)
			requireOneHistory(t, master, replica)
			require.Equal(t, "0", master.info("sync_full"))
			require.Equal(t, "1", master.info("sync_partial_ok"))
			for _, db := range []string{"0", "5"} {
				replica.conn.Do("SELECT", db)
				master.conn.Do("SELECT", db)
				require.Equal(t, master.conn.Do("DBSIZE"), replica.conn.Do("DBSIZE"), "what has expired is gone")
			}
		})
	}
}

// A file that was saved before the first replica came names no history.
func TestAMasterWithoutReplicasStartsAlone(t *testing.T) {
	dir := t.TempDir()
	master, l := bornNode(t, dir)
	master.conn.Do("SET", "k", "v")
	master.conn.Do("SAVE")
	l.kill()
	master, _ = bornNode(t, dir)
	require.Equal(t, "0", master.info("repl_backlog_active"))
	require.Equal(t, "-1", master.info("second_repl_offset"))
}

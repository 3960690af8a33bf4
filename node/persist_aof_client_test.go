package node_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/resp"
)

// Redis appends no command that acts on a connection. A file with one costs a line in the log.
func TestAnAppendOnlyFileHasNoConnection(t *testing.T) {
	commands := [][]string{
		{"MONITOR"}, {"AUTH", "name", "password"}, {"CLIENT", "INFO"}, {"RESET"}, {"SYNC"}, {"PSYNC", "?", "-1"},
		{"REPLCONF", "capa", "eof"}, {"REPLICAOF", "127.0.0.1", "1"}, {"SLAVEOF", "127.0.0.1", "1"},
	}
	var file []byte
	for _, c := range commands {
		file = resp.AppendRequest(file, c...)
	}
	file = resp.AppendRequest(file, "SET", "k", "v")
	dir := filepath.Join(t.TempDir(), "appendonlydir")
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "appendonly.aof.1.incr.aof"), file, 0o644))
	manifest := []byte("file appendonly.aof.1.incr.aof seq 1 type i\n")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "appendonly.aof.manifest"), manifest, 0o644))
	l := born(t, filepath.Dir(dir), "--appendonly", "yes")
	c := l.dial()
	require.Equal(t, "v", c.Do("GET", "k").Str)
	require.Equal(t, "master", c.Do("ROLE").Elems[0].Str)
	require.Equal(t, len(commands), strings.Count(l.logged(), "an append only file has no connection for this command"))
}

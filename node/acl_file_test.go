package node_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// Somebody has put a FIFO in the place of the file. Nobody writes into it, and the server continues.
func TestAnACLFileThatIsNoFileStopsNobody(t *testing.T) {
	file := filepath.Join(t.TempDir(), "users.acl")
	require.NoError(t, os.WriteFile(file, []byte("user alice on nopass +@all ~*\n"), 0o600))
	c := redistest.Dial(t, run(t, plainServer(t, func(byte, string, ...any) {}, "--aclfile", file)))
	require.Equal(t, "OK", c.Do("ACL", "LOAD").Str)
	require.NoError(t, os.Remove(file))
	require.NoError(t, unix.Mkfifo(file, 0o600))
	require.Equal(t, "ERR Error loading ACLs, opening file '"+file+"': Not a regular file", c.Do("ACL", "LOAD").Str)
	require.NoError(t, os.Remove(file))
	require.NoError(t, os.WriteFile(file, make([]byte, 17<<20), 0o600))
	require.Equal(t, "ERR Error loading ACLs, opening file '"+file+"': File too large", c.Do("ACL", "LOAD").Str)
	require.Len(t, c.Do("ACL", "USERS").Elems, 2, "the users stay")
}

package node_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is appended to a folder that somebody has removed is lost, as with redis-server. A rewrite makes the folder
// anew, and it belongs to this server again.
func TestARewriteMakesARemovedFolderAnew(t *testing.T) {
	dir := t.TempDir()
	l := born(t, dir, appending()...)
	c := l.dial()
	c.Do("SET", "before", "v")
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "appendonlydir")))
	require.Equal(t, "OK", c.Do("SET", "behind", "v").Str)
	require.Equal(t, "Background append only file rewriting started", c.Do("BGREWRITEAOF").Str)
	rewritten(t, c)
	require.Equal(t, "ok", infoField(c, "aof_last_bgrewrite_status"))
	require.ErrorContains(t, startError(t, configOf(t, dir, appending()...)), "another server appends to")
	c.Do("SET", "later", "v")
	digest := c.Do("DEBUG", "DIGEST").Str
	l.kill()
	require.Equal(t, digest, born(t, dir, appending()...).dial().Do("DEBUG", "DIGEST").Str)
}

// Another server may have made the folder anew. Then it is that server's, also when that server has ended.
func TestARewriteLeavesAFolderThatAnotherServerHasMade(t *testing.T) {
	dir := t.TempDir()
	c := born(t, dir, appending()...).dial()
	c.Do("SET", "k", "first")
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "appendonlydir")))
	other := born(t, dir, appending()...)
	other.dial().Do("SET", "k", "second")
	for range 2 {
		require.Regexp(t, "^ERR ", c.Do("BGREWRITEAOF").Str)
		require.Equal(t, "OK", c.Do("SET", "k", "third").Str)
		other.kill()
	}
	require.Equal(t, "second", born(t, dir, appending()...).dial().Do("GET", "k").Str)
}

package node_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// FLUSHALL with save points saves at once, and a save sets the number of changes to 0. The append only file must have
// the FLUSHALL all the same: otherwise the keys come back.
func TestSavesLeaveTheAppendOnlyFileComplete(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := born(t, dir, appending("--save", "3600", "1")...)
	c := l.dial()
	storeAll(c, 5, 1000)
	require.Equal(t, "Background saving started", c.Do("BGSAVE").Str)
	c.Do("SET", "during", "a save")
	saved(t, c)
	c.Do("INCR", "n")
	require.Equal(t, "OK", c.Do("SAVE").Str)
	c.Do("INCR", "n")
	digest := c.Do("DEBUG", "DIGEST").Str
	after := born(t, image(t, dir), appending()...)
	require.Equal(t, digest, after.dial().Do("DEBUG", "DIGEST").Str)

	c.Do("SET", "gone", "1")
	require.Equal(t, "Background saving started", c.Do("BGSAVE").Str)
	replies := send(t, c, "MULTI", "SET late 1", "FLUSHALL", "INCR kept", "EXEC")
	require.Len(t, replies, 5)
	digest = c.Do("DEBUG", "DIGEST").Str
	after = born(t, image(t, dir), appending()...)
	require.Equal(t, digest, after.dial().Do("DEBUG", "DIGEST").Str)
	require.Equal(t, int64(1), after.dial().Do("DBSIZE").Int)
}

// EXEC may end the append only file behind a change that it has made.
func TestExecMaySwitchTheAppendOnlyFileOff(t *testing.T) {
	dir := t.TempDir()
	l := born(t, dir, appending()...)
	c := l.dial()
	require.Len(t, send(t, c, "MULTI", "SET k v", "INCR n", "CONFIG SET appendonly no", "SET k w", "EXEC"), 6)
	require.Equal(t, "w", c.Do("GET", "k").Str)
	require.Equal(t, "0", infoField(c, "aof_enabled"))
}

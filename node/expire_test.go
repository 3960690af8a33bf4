package node_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

func TestKeysExpireWithoutAnAccess(t *testing.T) {
	t.Parallel()
	c := redistest.Dial(t, start(t, nil))
	for _, db := range []string{"0", "7", "15"} {
		c.Do("SELECT", db)
		each(t, c, []string{"SET", "%", "v", "PX", "50"}, names("string", 1000))
		each(t, c, []string{"HSET", "%", "f", "v"}, names("hash", 1000))
		each(t, c, []string{"PEXPIRE", "%", "60"}, names("hash", 1000))
		each(t, c, []string{"SET", "%", "v", "EX", "1000"}, names("stays", 10))
	}
	for _, db := range []string{"0", "7", "15"} {
		c.Do("SELECT", db)
		for c.Do("DBSIZE").Int != 10 { // DBSIZE counts what has expired and is still there
		}
	}
	require.Equal(t, 6000, info(t, c, "expired_keys"))
	require.Zero(t, info(t, c, "evicted_keys"))
}

func TestNoKeyExpiresBeforeItsTime(t *testing.T) {
	c := redistest.Dial(t, start(t, nil))
	c.Do("SET", "k", "v", "PX", "30")
	at := c.Do("PEXPIRETIME", "k").Int
	for c.Do("EXISTS", "k").Int == 1 {
	}
	now := c.Do("TIME")
	seconds, err := strconv.ParseInt(now.Elems[0].Str, 10, 64)
	require.NoError(t, err)
	micros, err := strconv.ParseInt(now.Elems[1].Str, 10, 64)
	require.NoError(t, err)
	require.GreaterOrEqual(t, seconds*1000+micros/1000, at)
}

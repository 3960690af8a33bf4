package store

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestASnapshotSharesNothingAndAccountsForAll(t *testing.T) {
	ks := NewKeyspace(Options{Databases: 2})
	ks.Now = 1000
	ks.DBs[0].SetStr([]byte("s"), []byte("some text that is no number"), false)
	ks.DBs[0].Lookup([]byte("s"), LookupWrite).SetExpire(2000)
	ks.DBs[1].SetStr([]byte("n"), []byte("12"), false)
	l, err := WriteOrNew[*List](ks.DBs[1], []byte("l"))
	require.NoError(t, err)
	l.PushTail([]byte("a"))
	ks.Settle()
	values := ks.valueBytes
	snap := ks.Snapshot()
	require.Equal(t, 3, snap.Len())
	reported := 0
	ks.OnNew = func(*DB, []byte) { reported++ }
	for range 3 {
		l, err := WriteOrNew[*List](ks.DBs[1], []byte("l"))
		require.NoError(t, err)
		l.PushTail([]byte("b"))
		ks.Settle()
		ks.DBs[0].Delete([]byte("s"))
		require.NotEqual(t, values, ks.valueBytes)
		ks.Replace(ks.Databases(snap))
		require.Equal(t, values, ks.valueBytes)
		l, err = Read[*List](ks.DBs[1], []byte("l"))
		require.NoError(t, err)
		require.Equal(t, 1, l.Len())
		require.Equal(t, int64(2000), ks.DBs[0].Peek([]byte("s")).Expire())
	}
	require.Zero(t, reported)
	ks.Now = 2001
	ks.Replace(ks.Databases(snap))
	require.Equal(t, 0, ks.DBs[0].Len())
	require.Equal(t, 2, ks.DBs[1].Len())
}

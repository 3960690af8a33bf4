package rdb_test

import (
	"bytes"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/persist/rdb"
	"github.com/miniredisd/miniredisd/store"
)

// byValkey is a file of valkey-server 9.1.2. The hash h has one field, f, which expires at fieldEnds.
const (
	byValkey = "56414c4b4559303830fa0a76616c6b65792d76657205392e312e32fa0a72656469732d62697473c040fa056374696d65c2e8" +
		"a2046bfa08757365642d6d656dc290431000fa08616f662d62617365c000fe00fb01001601680101660176559e2b0aa20100" +
		"00ff989dfc8c580e7e5a"
	fieldEnds = 1795466960469
)

func TestFieldsThatExpireAreKeptInFilesOfValkey(t *testing.T) {
	file, err := hex.DecodeString(byValkey)
	require.NoError(t, err)
	ks := keyspace()
	require.NoError(t, loading(ks).Read(bytes.NewReader(file), int64(len(file)), "f"))
	requireField := func(ks *store.Keyspace) {
		at, ok := store.As[*store.Hash](ks.DBs[0].Peek([]byte("h")).Value()).Expire([]byte("f"))
		require.True(t, ok)
		require.EqualValues(t, fieldEnds, at)
	}
	requireField(ks)

	s := saving(ks)
	s.Format, s.Version = rdb.FormatValkey, "9.1.2"
	var saved bytes.Buffer
	require.NoError(t, s.Write(&saved))
	require.Equal(t, "VALKEY080\xfa\x0avalkey-ver\x059.1.2", saved.String()[:9+1+11+6])
	again := keyspace()
	require.NoError(t, loading(again).Read(&saved, int64(saved.Len()), "f"))
	requireField(again)

	late := keyspace()
	late.Now = fieldEnds + 1
	l := loading(late)
	require.NoError(t, l.Read(bytes.NewReader(file), int64(len(file)), "f"))
	require.Zero(t, late.DBs[0].Len())
	require.EqualValues(t, 1, l.Expired)
}

func TestAFileOfRedisHasNoPlaceForFieldsThatExpire(t *testing.T) {
	file, err := hex.DecodeString(byValkey)
	require.NoError(t, err)
	ks := keyspace()
	require.NoError(t, loading(ks).Read(bytes.NewReader(file), int64(len(file)), "f"))
	require.EqualError(t, saving(ks).Write(&bytes.Buffer{}),
		"fields of the hash 'h' expire, and version 11 of the format has no place for that")
}

func TestOtherVersionsOfValkeyAreRefused(t *testing.T) {
	for _, head := range []string{"VALKEY079", "VALKEY081", "VALKEY011", "REDIS0080", "VALKEYxyz"} {
		require.ErrorContains(t, loading(keyspace()).Read(bytes.NewReader([]byte(head)), 9, "f"),
			"f: byte 0: Can't handle RDB format version", head)
	}
}

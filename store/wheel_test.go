package store

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAPageOfTimersExistsAsLongAsAKeyOfItHasADeadline(t *testing.T) {
	ks := NewKeyspace(Options{Databases: 1})
	db := ks.DBs[0]
	key := func(i int) []byte { return fmt.Appendf(nil, "key:%08d", i) }
	const keys = 10_000
	for i := range keys {
		db.SetStr(key(i), []byte("x"), false)
	}
	require.Empty(t, db.wheel.pages)
	pages := func() (n int) {
		for _, p := range db.wheel.pages {
			if p.timers != nil {
				n++
			}
		}
		return n
	}
	for i := range keys {
		db.Peek(key(i)).SetExpire(int64(1000 + i))
	}
	require.Greater(t, pages(), keys/chunkLen-1)
	for i := range keys {
		require.EqualValues(t, 1000+i, db.Peek(key(i)).Expire())
		require.True(t, db.Peek(key(i)).Persist())
	}
	require.Zero(t, pages())
	require.NotNil(t, db.wheel.spare)
	db.Peek(key(0)).SetExpire(5)
	require.Nil(t, db.wheel.spare, "a lock that comes and goes needs no new page")
}

func TestDeadlinesSurviveAClockThatIsSetBack(t *testing.T) {
	ks := NewKeyspace(Options{Databases: 1})
	ks.Now = 1_000_000
	db := ks.DBs[0]
	var fired []string
	ks.OnExpired = func(_ *DB, key string) { fired = append(fired, key) }
	for i := range 300 {
		name := fmt.Appendf(nil, "k%d", i)
		db.SetStr(name, []byte("x"), false)
		db.Peek(name).SetExpire(ks.Now + int64(i))
	}
	require.True(t, ks.ExpireDue())
	ks.Now = 10
	require.True(t, ks.ExpireDue())
	require.Empty(t, fired)
	ks.Now = 1_000_000 + 300
	require.True(t, ks.ExpireDue())
	require.Len(t, fired, 300)
}

package server

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/store"
)

// Many keys of one millisecond do not hold up the clients of a pass.
func TestAPassDeletesForAMillisecond(t *testing.T) {
	const keys = 100_000
	ks := store.NewKeyspace(store.Options{Databases: 1})
	ks.Now = 1
	for i := range keys {
		key := fmt.Append(nil, i)
		ks.DBs[0].SetStr(key, nil, false)
		ks.DBs[0].Lookup(key, store.LookupWrite).SetExpire(1000)
	}
	ks.Now = 2000
	now, passes := int64(0), 0
	for ; ks.DBs[0].Len() > 0; passes++ {
		before := ks.DBs[0].Len()
		expireDue(ks, func() int64 { now += int64(expireTime) / 4; return now })
		require.Less(t, before-ks.DBs[0].Len(), keys/10)
	}
	require.Greater(t, passes, 10)
}

// What a pass has left must not wait for a timer.
func TestTheLoopDoesNotSleepBeforeWorkThatIsLeft(t *testing.T) {
	resumed, unwritten := &Server{}, &Server{}
	resumed.Resumed = []*Client{{}}
	unwritten.PendingWrites = []*Client{{}}
	require.Zero(t, resumed.sleep())
	require.Zero(t, unwritten.sleep())
}

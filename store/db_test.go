package store

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKeysExpireWithTheEndOfTheirMillisecondInOrder(t *testing.T) {
	ks := NewKeyspace(Options{})
	ks.Now = 1_700_000_000_123
	ks.ExpireDue()
	r := rand.New(rand.NewPCG(1, 1))
	due := map[string]int64{}
	db := ks.DBs[3]
	for i := range 5000 {
		key := fmt.Sprintf("k%d", i)
		db.SetStr([]byte(key), []byte("v"), false)
		due[key] = ks.Now + 1 + r.Int64N(1<<(1+r.IntN(22)))
		db.Lookup([]byte(key), LookupWrite).SetExpire(due[key])
	}
	last := int64(0)
	ks.OnExpired = func(_ *DB, key string) {
		require.Equal(t, ks.Now, due[key]+1, key)
		require.GreaterOrEqual(t, due[key], last)
		last = due[key]
		delete(due, key)
	}
	for len(due) > 0 {
		next := ks.NextDeadline()
		require.Greater(t, next, int64(0))
		ks.Now = next
		for !ks.ExpireDue() {
		}
	}
	require.Zero(t, db.Len())
	require.Zero(t, db.Expires())
	require.Equal(t, int64(-1), ks.NextDeadline())
}

func TestChangingATTLMovesItsDeadline(t *testing.T) {
	ks := NewKeyspace(Options{})
	ks.Now = 1000
	db := ks.DBs[0]
	key := []byte("k")
	db.SetStr(key, []byte("v"), false)
	db.Lookup(key, LookupWrite).SetExpire(1500)
	db.Lookup(key, LookupWrite).SetExpire(900_000)
	ks.Now = 2000
	require.True(t, ks.ExpireDue())
	require.True(t, db.Lookup(key, LookupNone).Exists())
	require.True(t, db.Lookup(key, LookupWrite).Persist())
	require.False(t, db.Lookup(key, LookupWrite).Persist())
	require.Equal(t, int64(-1), ks.NextDeadline())
}

func TestLookupFindsAKeyExpiredBeforeTheWheelTurns(t *testing.T) {
	ks := NewKeyspace(Options{})
	ks.Now = 1000
	db := ks.DBs[0]
	db.SetStr([]byte("k"), []byte("v"), false)
	db.Lookup([]byte("k"), LookupWrite).SetExpire(1001)
	ks.Now = 1001 // a lock lasts for all of its lease, and up to a millisecond more
	_, ok, err := db.Str([]byte("k"))
	require.NoError(t, err)
	require.True(t, ok)
	ks.Now = 1002
	_, ok, err = db.Str([]byte("k"))
	require.NoError(t, err)
	require.False(t, ok)
	require.Equal(t, int64(1), ks.Stats.Expired)
}

func TestAClockSetBackKeepsDeadlinesReachable(t *testing.T) {
	ks := NewKeyspace(Options{})
	ks.Now = 10_000_000
	db := ks.DBs[0]
	db.SetStr([]byte("a"), []byte("v"), false)
	db.Lookup([]byte("a"), LookupWrite).SetExpire(10_500_000)
	ks.ExpireDue()
	ks.Now = 5_000_000
	ks.ExpireDue()
	db.SetStr([]byte("b"), []byte("v"), false)
	db.Lookup([]byte("b"), LookupWrite).SetExpire(5_000_500)
	require.LessOrEqual(t, ks.NextDeadline(), int64(5_000_501))
	ks.Now = 5_000_501
	ks.ExpireDue()
	require.False(t, db.Lookup([]byte("b"), LookupNone).Exists())
	require.True(t, db.Lookup([]byte("a"), LookupNone).Exists())
	ks.Now = 10_500_001
	ks.ExpireDue()
	require.Zero(t, db.Len())
}

func TestTheLastMillisecondOfTimeIsADeadlineToo(t *testing.T) {
	ks := NewKeyspace(Options{})
	ks.Now = 1000
	db := ks.DBs[0]
	db.SetStr([]byte("k"), []byte("v"), false)
	db.Lookup([]byte("k"), LookupWrite).SetExpire(math.MaxInt64)
	require.True(t, ks.ExpireDue())
	require.True(t, db.Lookup([]byte("k"), LookupNone).Exists())
	require.Greater(t, ks.NextDeadline(), ks.Now)
}

func TestAMillionKeysOfOneMillisecondLeaveInSlices(t *testing.T) {
	ks := NewKeyspace(Options{})
	ks.Now = 1
	db := ks.DBs[0]
	for i := range 3 * expireBudget {
		key := fmt.Appendf(nil, "%d", i)
		db.SetStr(key, []byte("v"), false)
		db.Lookup(key, LookupWrite).SetExpire(5_000_000)
	}
	ks.Now = 5_000_001
	calls := 1
	for ; !ks.ExpireDue(); calls++ {
		require.Equal(t, ks.Now, max(ks.NextDeadline(), ks.Now))
	}
	require.Greater(t, calls, 3)
	require.Zero(t, db.Len())
}

// However many databases have something due, a pass of the loop must not wait for all of them.
func TestAllDatabasesShareWhatOneCallDeletes(t *testing.T) {
	ks := NewKeyspace(Options{Databases: 16})
	ks.Now = 1
	for _, db := range ks.DBs {
		for i := range expireBudget {
			key := fmt.Appendf(nil, "%d", i)
			db.SetStr(key, []byte("v"), false)
			db.Lookup(key, LookupWrite).SetExpire(1000 + int64(i%3))
		}
	}
	ks.Now = 2000
	left := func() (n int) {
		for _, db := range ks.DBs {
			n += db.Len()
		}
		return n
	}
	for done := false; !done; {
		before := left()
		done = ks.ExpireDue()
		require.LessOrEqual(t, before-left(), expireBudget)
	}
	require.Zero(t, left())
}

func TestADatabaseWithMuchToDeleteKeepsNoOtherWaiting(t *testing.T) {
	ks := NewKeyspace(Options{Databases: 2})
	ks.Now = 1
	due := func(db *DB, key string) {
		db.SetStr([]byte(key), []byte("v"), false)
		db.Lookup([]byte(key), LookupWrite).SetExpire(1000)
	}
	for i := range expireBudget + 1 {
		due(ks.DBs[0], fmt.Sprint(i))
	}
	due(ks.DBs[1], "k")
	ks.Now = 2000
	require.False(t, ks.ExpireDue())
	for i := range expireBudget {
		due(ks.DBs[0], fmt.Sprint("late", i))
	}
	require.False(t, ks.ExpireDue())
	require.Zero(t, ks.DBs[1].Len())
}

func TestStringsTakeTheEncodingRedisGives(t *testing.T) {
	ks := NewKeyspace(Options{})
	db := ks.DBs[0]
	key := []byte("k")
	for val, want := range map[string]string{
		"0": "int", "-1": "int", "9223372036854775807": "int", "-9223372036854775808": "int",
		"9223372036854775808": "embstr", "01": "embstr", "+1": "embstr", "-0": "embstr", "": "embstr",
		"-": "embstr", "1 ": "embstr",
		"12345678901234567890123456789012345678901234": "embstr", "123456789012345678901234567890123456789012345": "raw",
	} {
		db.SetStr(key, []byte(val), false)
		got := db.Peek(key).Encoding()
		require.Equal(t, want, got, val)
		b, _, _ := db.Str(key)
		require.Equal(t, val, string(b))
	}
	_, err := db.Lookup(key, LookupWrite).MutStr(key, 0, 3)
	require.NoError(t, err)
	got := db.Peek(key).Encoding()
	require.Equal(t, "raw", got)
}

func TestOverwritingAStringDoesNotAllocate(t *testing.T) {
	ks := NewKeyspace(Options{})
	ks.Now = 1000
	key, val := []byte("lock:000000000001"), []byte("0123456789abcdef0123456789abcdef")
	db := ks.DBs[0]
	db.SetStr(key, val, false)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		db.SetStr(key, val, false)
		db.Lookup(key, LookupWrite).SetExpire(100_000)
		_, _, _ = db.Str(key)
	}))
}

func TestAccountsReturnToZero(t *testing.T) {
	ks := NewKeyspace(Options{})
	db, other := ks.DBs[0], ks.DBs[1]
	db.SetStr([]byte("a"), make([]byte, 1000), false)
	a := db.Peek([]byte("a"))
	a.CopyTo(other.Peek([]byte("b")), []byte("b"))
	a.MoveTo(db.Peek([]byte("c")), []byte("c"))
	require.Greater(t, ks.Bytes(), 2000)
	require.True(t, other.Delete([]byte("b")))
	require.Equal(t, 1, db.Flush())
	require.Zero(t, ks.valueBytes)
}

func TestIncrByStopsAtTheEdges(t *testing.T) {
	db := NewKeyspace(Options{}).DBs[0]
	key := []byte("n")
	db.SetStr(key, []byte("4611686018427387904"), false)
	_, err := db.Lookup(key, LookupWrite).IncrBy(key, 1<<62)
	require.ErrorIs(t, err, ErrOverflow)
	v, err := db.Lookup(key, LookupWrite).IncrBy(key, -(1 << 62))
	require.NoError(t, err)
	require.Zero(t, v)
	db.SetStr(key, []byte("x"), false)
	_, err = db.Lookup(key, LookupWrite).IncrBy(key, 1)
	require.ErrorIs(t, err, ErrNotInt)
}

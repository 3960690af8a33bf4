package store

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
)

// timed sets fields of the hash at key, all with the same deadline, or without one if at is 0.
func timed(t *testing.T, db *DB, key string, at int64, fields ...string) {
	t.Helper()
	f, err := WriteFields(db, []byte(key))
	require.NoError(t, err)
	if f.Hash == nil {
		f.Create([]byte(key))
	}
	for _, field := range fields {
		f.Set([]byte(field), []byte("value of "+field))
		if at != 0 {
			f.SetExpire([]byte(field), at)
		}
	}
	db.ks.Settle()
}

// fieldsOf returns the fields that a command sees, with their deadlines.
func fieldsOf(t *testing.T, db *DB, key string) map[string]int64 {
	t.Helper()
	h, err := Read[*Hash](db, []byte(key))
	require.NoError(t, err)
	seen := map[string]int64{}
	if h != nil {
		for field := range h.All() {
			at, ok := h.Expire(field)
			require.True(t, ok)
			seen[string(field)] = at
		}
		require.Len(t, seen, h.Len())
	}
	db.ks.Settle()
	return seen
}

// requireAccounts checks that the accounts have the size of all values, and the wheels all deadlines.
func requireAccounts(t *testing.T, ks *Keyspace) {
	t.Helper()
	bytes := 0
	for _, db := range ks.DBs {
		filed := 0
		for i := db.keys.nextLive(0); i != 0; i = db.keys.nextLive(i + 1) {
			e := &db.keys.at(i).Val
			bytes += e.size()
			if e.timed&timedFields == 0 {
				continue
			}
			h := e.timedHash()
			placed := 0
			for i := range uint32(h.places.len()) {
				if h.places.at(i) != 0 {
					placed++
				}
			}
			require.Equal(t, placed, h.queue.len())
			require.Same(t, db, h.db)
			require.Equal(t, i, h.node)
			if h.queue.len() == 0 {
				require.Zero(t, h.filed)
				continue
			}
			filed++
			first := int64(math.MaxInt64)
			for place := range uint32(h.queue.len()) {
				d := h.queue.at(place)
				first = min(first, d.at)
				require.Equal(t, place+1, h.places.at(d.node-chunkLen))
			}
			require.Equal(t, first, h.queue.at(0).at)
			require.Equal(t, first, h.filed)
			require.Equal(t, first, db.fields.at(i).expire)
		}
		require.Equal(t, filed, db.fields.count)
	}
	require.Equal(t, bytes, ks.valueBytes)
}

func TestAFieldWithADeadlineCostsOtherHashesNothing(t *testing.T) {
	require.EqualValues(t, 24, unsafe.Sizeof(entry{}))
	require.EqualValues(t, 192, unsafe.Sizeof(hashTable{}), "a size class of the allocator")
	sizes := func(deadline bool) (small, large int) {
		ks := NewKeyspace(Options{Databases: 1})
		db := ks.DBs[0]
		timed(t, db, "small", 0, "a", "b")
		for i := range 1000 {
			timed(t, db, "large", 0, fmt.Sprint("field", i))
		}
		if deadline {
			timed(t, db, "other", 5000, "a")
		}
		require.Zero(t, db.Peek([]byte("small")).entry().timed|db.Peek([]byte("large")).entry().timed)
		return db.Peek([]byte("small")).entry().size(), db.Peek([]byte("large")).entry().size()
	}
	small, large := sizes(false)
	alsoSmall, alsoLarge := sizes(true)
	require.Equal(t, small, alsoSmall)
	require.Equal(t, large, alsoLarge)
}

func TestAFieldLivesThroughItsLastMillisecond(t *testing.T) {
	ks := NewKeyspace(Options{Databases: 1})
	ks.Now = 1000
	db := ks.DBs[0]
	var expired []string
	ks.OnFieldsExpired = func(_ *DB, key string, gone bool) { expired = append(expired, fmt.Sprint(key, " ", gone)) }
	ks.OnExpired = func(*DB, string) { t.Error("no key has a TTL") }
	timed(t, db, "h", 2000, "a", "b")
	timed(t, db, "h", 3000, "c")
	require.Less(t, ks.Now, ks.NextDeadline())
	require.LessOrEqual(t, ks.NextDeadline(), int64(2001))
	ks.Now = 2000
	require.True(t, ks.ExpireDue())
	require.Len(t, fieldsOf(t, db, "h"), 3)
	ks.Now = 2001
	require.Equal(t, map[string]int64{"c": 3000}, fieldsOf(t, db, "h"), "a read sees what is left at once")
	require.Equal(t, []string{"h false"}, expired)
	requireAccounts(t, ks)
	ks.Now = 3001
	require.True(t, ks.ExpireDue())
	require.Equal(t, []string{"h false", "h true"}, expired)
	require.Zero(t, db.Len(), "the hash goes with its last field")
	require.Zero(t, ks.valueBytes)
	require.EqualValues(t, -1, ks.NextDeadline())
}

func TestAHashWithOnlyLateFieldsIsMissingEverywhere(t *testing.T) {
	for name, missing := range map[string]func(db *DB) bool{
		"lookup":     func(db *DB) bool { return !db.Lookup([]byte("h"), LookupNone).Exists() },
		"no effects": func(db *DB) bool { return !db.Lookup([]byte("h"), LookupNoEffects).Exists() },
		"delete":     func(db *DB) bool { return !db.Delete([]byte("h")) },
		"random":     func(db *DB) bool { _, ok := db.RandomKey(); return !ok },
		"some":       func(db *DB) bool { return len(db.Some(5)) == 0 },
		"overdue":    func(db *DB) bool { return db.Peek([]byte("h")).Overdue() },
		"snapshot":   func(db *DB) bool { return db.ks.Snapshot().Len() == 0 },
		"length":     func(db *DB) bool { n, _ := ReadLen[*Hash](db, []byte("h")); return n == 0 },
		"scan": func(db *DB) bool {
			none := true
			db.Scan(0, func(string) bool { return true }, func(string, Type) { none = false })
			return none
		},
	} {
		ks := NewKeyspace(Options{Databases: 1})
		timed(t, ks.DBs[0], "h", 2000, "a", "b")
		ks.Now = 2001
		require.True(t, missing(ks.DBs[0]), name)
		ks.Settle()
		requireAccounts(t, ks)
	}
}

// While CLIENT PAUSE keeps what is overdue, no read finds it. A command that writes may delete fields.
func TestLateFieldsAreHiddenWhileTheyAreKept(t *testing.T) {
	ks := NewKeyspace(Options{Databases: 1})
	db := ks.DBs[0]
	timed(t, db, "h", 2000, "a", "b")
	timed(t, db, "h", 0, "c")
	ks.Now, ks.KeepDue = 2001, true
	require.Equal(t, map[string]int64{"c": 0}, fieldsOf(t, db, "h"))
	n, err := ReadLen[*Hash](db, []byte("h"))
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, 1, db.Lookup([]byte("h"), LookupNone).Elements())
	require.Equal(t, 2, db.fields.count+db.Len(), "nothing was deleted")
	timed(t, db, "h", 0, "d")
	require.Zero(t, db.fields.count)
	require.Len(t, fieldsOf(t, db, "h"), 2)
	requireAccounts(t, ks)
}

func TestDeadlinesOfFieldsFollowTheKey(t *testing.T) {
	ks := NewKeyspace(Options{Databases: 2})
	a, b := ks.DBs[0], ks.DBs[1]
	h, g := []byte("h"), []byte("g")
	timed(t, a, "h", 2000, "x")
	timed(t, a, "h", 0, "y")
	want := map[string]int64{"x": 2000, "y": 0}
	a.Peek(h).MoveTo(a.Peek(g), g)
	require.Equal(t, want, fieldsOf(t, a, "g"))
	a.Peek(g).MoveTo(b.Peek(g), g)
	require.Equal(t, want, fieldsOf(t, b, "g"))
	require.Equal(t, 1, b.fields.count-a.fields.count)
	b.Peek(g).CopyTo(a.Peek(h), h)
	ks.Swap(0, 1)
	requireAccounts(t, ks)
	require.Equal(t, want, fieldsOf(t, ks.DBs[0], "g"))
	require.Equal(t, want, fieldsOf(t, ks.DBs[1], "h"))
	timed(t, ks.DBs[1], "h", 0, "x")
	require.Equal(t, want, fieldsOf(t, ks.DBs[0], "g"), "a copy shares nothing")

	snap := ks.Snapshot()
	ks.DBs[0].Flush()
	requireAccounts(t, ks)
	ks.Replace(ks.Databases(snap))
	requireAccounts(t, ks)
	require.Equal(t, want, fieldsOf(t, ks.DBs[0], "g"))
	ks.Now = 2001
	ks.Replace(ks.Databases(snap))
	require.Zero(t, ks.DBs[0].fields.count, "a field that expired since the snapshot is not restored")
	require.Equal(t, map[string]int64{"y": 0}, fieldsOf(t, ks.DBs[0], "g"))
	ks.DBs[0].SetStr(g, []byte("text"), true)
	ks.FlushAll()
	requireAccounts(t, ks)
}

func TestManyLateFieldsOfOneHashExpireOverSeveralTurns(t *testing.T) {
	ks := NewKeyspace(Options{Databases: 1})
	db := ks.DBs[0]
	f, err := WriteFields(db, []byte("h"))
	require.NoError(t, err)
	f.Create([]byte("h"))
	const fields = expireBudget + expireBudget/2
	for i := range fields {
		f.Set(fmt.Append(nil, i), []byte("v"))
		f.SetExpire(fmt.Append(nil, i), 1000+int64(i%2))
	}
	ks.Settle()
	timed(t, db, "h", 0, "stays")
	ks.Now = 2000
	require.False(t, ks.ExpireDue())
	require.Equal(t, fields+1-expireBudget, db.Peek([]byte("h")).entry().len())
	requireAccounts(t, ks)
	require.True(t, ks.ExpireDue())
	require.Equal(t, 1, db.Peek([]byte("h")).entry().len())
	timed(t, db, "h", 2000, "stays")
	ks.Now = 2001
	require.True(t, ks.ExpireDue())
	require.Zero(t, db.Len())
}

func TestFieldsWithDeadlinesBehaveAsAModel(t *testing.T) {
	type field struct {
		value string
		at    int64
	}
	r := rand.New(rand.NewPCG(5, 6))
	ks := NewKeyspace(Options{Databases: 1})
	ks.Now = 1
	db, model, key := ks.DBs[0], map[string]field{}, []byte("h")
	for step := range amount.Count(4000, 20_000) {
		name, value := fmt.Sprint("f", r.IntN(60)), fmt.Sprint("v", r.IntN(1000))
		f, err := WriteFields(db, key)
		require.NoError(t, err)
		if f.Hash == nil {
			f.Create(key)
		}
		old, had := model[name]
		switch r.IntN(7) {
		case 0:
			require.Equal(t, !had, f.Set([]byte(name), []byte(value)))
			model[name] = field{value, 0}
		case 1:
			require.Equal(t, !had, f.SetKeepTTL([]byte(name), []byte(value)))
			model[name] = field{value, old.at}
		case 2, 3:
			if had {
				old.at = ks.Now + r.Int64N(400)
				f.SetExpire([]byte(name), old.at)
				model[name] = old
			}
		case 4:
			require.Equal(t, had && old.at != 0, f.Persist([]byte(name)))
			if had {
				model[name] = field{old.value, 0}
			}
		case 5:
			require.Equal(t, had, f.Delete([]byte(name)))
			delete(model, name)
		}
		if f.Len() == 0 {
			db.Delete(key)
		}
		ks.Settle()
		if step%5 == 0 {
			ks.Now += r.Int64N(20)
			for name, want := range model {
				if want.at != 0 && want.at < ks.Now {
					delete(model, name)
				}
			}
			if r.IntN(2) == 0 {
				ks.ExpireDue()
			}
		}
		h, err := Write[*Hash](db, key)
		require.NoError(t, err)
		if h == nil {
			require.Empty(t, model)
			continue
		}
		require.Equal(t, len(model), h.Len())
		deadlines := 0
		for name, want := range model {
			value, ok := h.Get([]byte(name))
			require.True(t, ok)
			at, ok := h.Expire([]byte(name))
			require.True(t, ok)
			require.Equal(t, want, field{string(value), at})
			if at != 0 {
				deadlines++
			}
		}
		require.Equal(t, deadlines, h.Timed())
		ks.Settle()
		if step%50 == 0 {
			requireAccounts(t, ks)
		}
	}
}

// Redis keeps a small hash with deadlines in a listpack of its own kind. Valkey makes every such hash a table.
func TestTheEncodingOfATimedHashIsThatOfItsFamily(t *testing.T) {
	for _, packs := range []bool{false, true} {
		ks := NewKeyspace(Options{Databases: 1})
		ks.FieldsInPacks = packs
		db, key := ks.DBs[0], []byte("h")
		timed(t, db, "h", 2000, "a")
		require.Equal(t, map[bool]string{false: "hashtable", true: "listpackex"}[packs], db.Peek(key).Encoding())
		db.Peek(key).CopyTo(db.Peek([]byte("c")), []byte("c"))
		require.Equal(t, db.Peek(key).Encoding(), db.Peek([]byte("c")).Encoding())
		for i := range ks.Limits.HashMaxListpackEntries {
			timed(t, db, "h", 0, fmt.Sprint(i))
		}
		require.Equal(t, "hashtable", db.Peek(key).Encoding())
	}
}

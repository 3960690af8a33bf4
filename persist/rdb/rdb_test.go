package rdb_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	values "github.com/miniredisd/miniredisd/internal/rdb"
	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/persist/disk"
	"github.com/miniredisd/miniredisd/persist/rdb"
	"github.com/miniredisd/miniredisd/store"
)

const now = 1_700_000_000_000

func keyspace() *store.Keyspace {
	ks := store.NewKeyspace(store.Options{Databases: 4, Seed: 7})
	ks.Now = now
	return ks
}

// fill stores random keys of all types in several databases.
func fill(ks *store.Keyspace, r *rand.Rand, keys int) {
	for i := range keys {
		db, name := ks.DBs[r.IntN(len(ks.DBs))], fmt.Appendf(nil, "key:%d", i)
		at := int64(0)
		if r.IntN(3) == 0 {
			at = now + r.Int64N(1e6)
		}
		db.Peek(name).Put(name, value(ks, r), at, store.Past{})
		ks.Settle()
	}
}

func value(ks *store.Keyspace, r *rand.Rand) store.Value {
	size := []int{1, 5, 130, 700}[r.IntN(4)]
	text := func() []byte {
		switch r.IntN(3) {
		case 0:
			return fmt.Append(nil, r.Int64()>>r.IntN(64))
		case 1:
			return bytes.Repeat([]byte{byte('a' + r.IntN(26))}, 1+r.IntN(100))
		}
		b := make([]byte, 1+r.IntN(40))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return b
	}
	switch r.IntN(6) {
	case 0:
		return store.TextValue(text())
	case 1:
		l := store.NewList(ks)
		for range size {
			l.PushTail(text())
		}
		return store.ValueOf(l)
	case 2:
		s := store.NewSet(ks)
		for range size {
			s.Add(text())
		}
		return store.ValueOf(s)
	case 3:
		b := store.NewZSetBuilder(ks)
		for range size {
			if slot, added := b.Slot(text()); added {
				*slot = float64(r.IntN(1000)) / 8
			}
		}
		return store.ValueOf(b.Finish())
	case 4:
		h := store.NewHash(ks)
		for range size {
			h.Set(text(), text())
		}
		return store.ValueOf(h)
	}
	s := store.NewStream(ks)
	for i := range size {
		_ = s.Add(store.StreamID{Ms: uint64(i + 1)}, [][]byte{[]byte("f"), text()}, store.StreamNodeLimits{Entries: 100})
	}
	s.CreateGroup([]byte("g"), store.StreamID{Ms: 1}, 1)
	return store.ValueOf(s)
}

// picture describes all keys, whatever order their tables have.
func picture(ks *store.Keyspace) (lines []string) {
	for _, db := range ks.DBs {
		for name, v := range db.Values() {
			encoding := v.Encoding()
			if v.Type() == store.TypeList { // commands, not the store, change it when a list grows
				encoding = "list"
			}
			lines = append(lines, fmt.Sprintf("%d %s %d %s %s", db.ID, name, v.Expire(), encoding, content(v)))
		}
	}
	slices.Sort(lines)
	return lines
}

// requireSame compares two keyspaces. It prints only the beginning of a key that differs.
func requireSame(t *testing.T, want, got *store.Keyspace) {
	t.Helper()
	a, b := picture(want), picture(got)
	require.Equal(t, len(a), len(b))
	for i := range a {
		if a[i] != b[i] {
			require.Fail(t, "a key differs", "%.200s\n%.200s", a[i], b[i])
		}
	}
}

func content(v store.Value) string {
	var parts []string
	switch v.Type() {
	case store.TypeSet:
		for m := range store.As[*store.Set](v).All() {
			parts = append(parts, fmt.Sprintf("%q", m))
		}
	case store.TypeHash:
		for field, value := range store.As[*store.Hash](v).All() {
			parts = append(parts, fmt.Sprintf("%q %q", field, value))
		}
	default:
		return fmt.Sprintf("%q", values.Dump(nil, v, values.VersionRead))
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

func saving(ks *store.Keyspace) *rdb.Saving {
	return &rdb.Saving{
		Keys: ks, Now: ks.Now, Compress: true, Checksum: true, Format: rdb.FormatRedis, Version: "7.2.6",
		UsedMemory: 1 << 20,
	}
}

func loading(ks *store.Keyspace) *rdb.Loading {
	return &rdb.Loading{
		Keys: ks, Checksum: true, Log: func(byte, string, ...any) {}, Library: func([]byte) error { return nil },
	}
}

func TestWhatIsSavedIsLoaded(t *testing.T) {
	for seed := range uint64(amount.Count(3, 6)) {
		ks, r := keyspace(), rand.New(rand.NewPCG(seed, 1))
		fill(ks, r, 200)
		s := saving(ks)
		s.Compress, s.Checksum, s.Libraries = seed%2 == 0, seed%3 == 0, []string{"#!lua name=a", "#!lua name=b"}
		on, got := disk.NewSim(seed), keyspace()
		require.NoError(t, rdb.Save(on, "/d/dump.rdb", s))
		var libraries []string
		l := loading(got)
		l.Library = func(code []byte) error { libraries = append(libraries, string(code)); return nil }
		require.NoError(t, l.Load(on, "/d/dump.rdb"))
		requireSame(t, ks, got)
		require.Equal(t, s.Libraries, libraries)
		require.Equal(t, int64(200), l.Loaded)
		got.FlushAll()
		require.Equal(t, keyspace().Bytes(), got.Bytes(), "the accounts of memory")
	}
}

func TestCompressionMakesAFileSmaller(t *testing.T) {
	ks := keyspace()
	for i := range 100 {
		name := fmt.Appendf(nil, "k%d", i)
		ks.DBs[0].Peek(name).Put(name, store.TextValue(bytes.Repeat([]byte("abcdefgh"), 1000)), 0, store.Past{})
	}
	var packed, plain bytes.Buffer
	s := saving(ks)
	require.NoError(t, s.Write(&packed))
	s.Compress = false
	require.NoError(t, s.Write(&plain))
	require.Less(t, packed.Len()*20, plain.Len())
	got := keyspace()
	require.NoError(t, loading(got).Read(&packed, int64(packed.Len()), "f"))
	requireSame(t, ks, got)
}

func TestIdleTimesAndFrequenciesAreKept(t *testing.T) {
	for _, by := range []store.EvictBy{store.EvictLRU, store.EvictLFU} {
		ks, name := keyspace(), []byte("k")
		ks.Policy.By, ks.LFU = by, by == store.EvictLFU
		ks.DBs[0].Peek(name).Put(name, store.TextValue(name), 0, store.Past{By: by, Idle: 1000, Freq: 77})
		var file bytes.Buffer
		require.NoError(t, saving(ks).Write(&file))
		got := keyspace()
		got.Policy.By, got.LFU = by, ks.LFU
		require.NoError(t, loading(got).Read(&file, int64(file.Len()), "f"))
		key := got.DBs[0].Peek(name)
		if by == store.EvictLFU {
			require.Equal(t, 77, key.Freq())
		} else {
			require.Equal(t, int64(1000), key.IdleTime())
		}
	}
}

func TestOverdueKeysAreSavedAndNotLoaded(t *testing.T) {
	ks := keyspace()
	ks.DBs[1].Peek([]byte("gone")).Put([]byte("gone"), store.TextValue([]byte("v")), now-1, store.Past{})
	ks.DBs[1].Peek([]byte("now")).Put([]byte("now"), store.TextValue([]byte("v")), now, store.Past{})
	var file bytes.Buffer
	require.NoError(t, saving(ks).Write(&file))
	got := keyspace()
	l := loading(got)
	require.NoError(t, l.Read(&file, int64(file.Len()), "f"))
	require.Equal(t, []int64{1, 1}, []int64{l.Loaded, l.Expired})
	require.True(t, got.DBs[1].Peek([]byte("now")).Exists())
}

func TestAKeyThatExistsIsReplacedOrEndsTheLoading(t *testing.T) {
	ks := keyspace()
	fill(ks, rand.New(rand.NewPCG(1, 1)), 50)
	var file bytes.Buffer
	require.NoError(t, saving(ks).Write(&file))
	l := loading(keyspace())
	require.NoError(t, l.Read(bytes.NewReader(file.Bytes()), int64(file.Len()), "f"))
	l.Merge = true
	require.NoError(t, l.Read(bytes.NewReader(file.Bytes()), int64(file.Len()), "f"))
	requireSame(t, ks, l.Keys)
	require.Equal(t, int64(100), l.Loaded)
	l.Merge = false
	require.ErrorContains(t, l.Read(bytes.NewReader(file.Bytes()), int64(file.Len()), "f"), "RDB has duplicated key 'key:")
}

func TestAMissingFileIsNoDamage(t *testing.T) {
	err := loading(keyspace()).Load(disk.NewSim(1), "/dump.rdb")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// A file is refused with its name, the place and the reason.
func TestADamagedFileIsRefusedWithPlaceAndReason(t *testing.T) {
	const head = "REDIS0011"
	for _, c := range []struct{ file, want string }{
		{"", "f: byte 0: no RDB file"},
		{"RADIS0011", "f: byte 0: no RDB file: it does not begin with REDIS"},
		{"REDIS0012\xff", "f: byte 0: Can't handle RDB format version 12"},
		{"REDIS0000\xff", "f: byte 0: Can't handle RDB format version 0"},
		{"REDIS00x1\xff", "f: byte 0: Can't handle RDB format version 0"},
		{head, "f: byte 9: the end mark is missing: the file ends too early, or a length is wrong"},
		{head + "\xfe\x01\xfe\x04\xff", "f: byte 11: database 4: the directive databases says that there are 4"},
		{head + "\xfe", "f: byte 9: record 254: the file ends too early"},
		{head + "\xfd\x01", "f: byte 9: record 253: the file ends too early"},
		{head + "\xfa\x05redis", "f: byte 9: record 250: the file ends too early"},
		{head + "\x00\x01k", "f: byte 9: the key 'k', of type 0: the file ends too early"},
		{head + "\x00\x81\x00\x00\x00\x01\x00\x00\x00\x00k", "f: byte 9: the name of a key: the file ends too early"},
		{head + "\x02\x01k\x81\x00\x00\x00\x01\x00\x00\x00\x00k", "the key 'k', of type 2: the bytes make no sense"},
		{head + "\x02\x01k\x02\x01a\x01a", "the key 'k', of type 2: the bytes make no sense"},
		{head + "\x08\x01k\x01a", "f: byte 9: the key 'k', of type 8: the bytes make no sense"},
		{head + "\xc8\x01k\x01a", "f: byte 9: the key 'k', of type 200: the bytes make no sense"},
		{head + "\x06\x01k\x01a", "f: byte 9: a module's value of a release candidate"},
		{head + "\x07\x01k\x81\x05\xc9\x12\xe8\x9c\x73\x04\x01", "belongs to the module 'BckS6JxzB', which is not here"},
		{head + "\xf7\x81\x05\xc9\x12\xe8\x9c\x73\x04\x01", "f: byte 9: data of the module 'BckS6JxzB', which is not here"},
		{head + "\xf6\x01a", "f: byte 9: functions of a release candidate"},
		{head + "\xf5\x05wrong", "f: byte 9: Failed loading library, no"},
		{head + "\x00\x01k\x01v\x00\x01k\x01v", "f: byte 14: RDB has duplicated key 'k' in DB 0"},
		{head + "\xff", "f: byte 10: the checksum: the file ends too early"},
		{head + "\xff12345678", "f: byte 10: RDB CRC error: expected "},
	} {
		l := loading(keyspace())
		l.Library = func([]byte) error { return errors.New("no") }
		err := l.Read(strings.NewReader(c.file), int64(len(c.file)), "f")
		require.ErrorContains(t, err, c.want, "%q", c.file)
		require.ErrorAs(t, err, new(*rdb.DamageError))
	}
}

func TestAChecksumCanBeMissingOrIgnored(t *testing.T) {
	for _, c := range []struct {
		file  string
		check bool
	}{
		{"REDIS0004\xff", true}, {"REDIS0011\xff\x00\x00\x00\x00\x00\x00\x00\x00", true}, {"REDIS0011\xff12345678", false},
	} {
		l := loading(keyspace())
		l.Checksum = c.check
		require.NoError(t, l.Read(strings.NewReader(c.file), int64(len(c.file)), "f"))
	}
}

// Redis skips them, too: some of its versions have written them (rdb.c: RDB_LOAD_ERR_EMPTY_KEY).
func TestKeysWithoutElementsAreSkipped(t *testing.T) {
	const file = "REDIS0011\x02\x03set\x00\x04\x04hash\x00\x05\x04zset\x00\x01\x04list\x00\x12\x05quick\x00" +
		"\x10\x05small\x07\x07\x00\x00\x00\x00\x00\xff\x00\x01k\x01v\xff\x00\x00\x00\x00\x00\x00\x00\x00"
	l := loading(keyspace())
	var log []string
	l.Log = func(_ byte, format string, args ...any) { log = append(log, fmt.Sprintf(format, args...)) }
	require.NoError(t, l.Read(strings.NewReader(file), int64(len(file)), "f"))
	require.Equal(t, []int64{1, 6}, []int64{l.Loaded, l.Empty})
	require.Contains(t, log, "rdbLoadObject skipping empty key: quick")
	require.Contains(t, log, "Done loading RDB, keys loaded: 1, keys expired: 0, empty keys skipped: 6.")
}

func TestAnErrorOfTheDiskIsNamed(t *testing.T) {
	d := disk.NewSim(1)
	require.NoError(t, rdb.Save(d, "/dump.rdb", saving(keyspace())))
	d.Fail(2, disk.Failure) // after open and size
	require.ErrorContains(t, loading(keyspace()).Load(d, "/dump.rdb"), "input/output error")
}

package rdb_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/persist/disk"
	"github.com/miniredisd/miniredisd/persist/rdb"
	"github.com/miniredisd/miniredisd/store"
)

func TestASurveyCountsWhatWasSaved(t *testing.T) {
	ks, r := keyspace(), rand.New(rand.NewPCG(3, 1))
	fill(ks, r, 300)
	ks.DBs[2].Peek([]byte("gone")).Put([]byte("gone"), store.TextValue([]byte("v")), now-1, store.Past{})
	var want []rdb.DBSurvey
	for _, db := range ks.DBs {
		s := rdb.DBSurvey{ID: uint64(db.ID), Types: map[string]int64{}, Expires: int64(db.Expires())}
		for _, v := range db.Values() {
			s.Types[v.Type().String()]++
			if at := v.Expire(); at != 0 && at < now {
				s.Expired++
			}
		}
		want = append(want, s)
	}
	var file bytes.Buffer
	from := saving(ks)
	from.Libraries = []string{"#!lua name=a", "#!lua name=b"}
	require.NoError(t, from.Write(&file))
	size := file.Len()
	file.WriteString("the rest")

	s := rdb.Survey{Now: now}
	require.NoError(t, s.Read(&file, int64(file.Len()), "f"))
	require.Equal(t, want, s.DBs)
	require.Equal(t, int64(1), s.DBs[2].Expired)
	require.Equal(t, from.Libraries, s.Libraries)
	require.Equal(t, rdb.FormatRedis, s.Version)
	require.Equal(t, [2]string{"redis-ver", "7.2.6"}, s.Aux[0])
	require.False(t, s.Unsummed)
	require.Equal(t, int64(size), s.Bytes)
	rest, err := io.ReadAll(s.Rest)
	require.NoError(t, err)
	require.Equal(t, "the rest", string(rest))
}

// What a server cannot load is not damage.
func TestASurveyTakesWhatAServerCannotLoad(t *testing.T) {
	const module = "\x81\x05\xc9\x12\xe8\x9c\x73\x04\x01"
	const data = "\x01\x05\x02\x06\x03\x00\x00\x80\x3f\x04\x00\x00\x00\x00\x00\x00\xf0\x3f\x05\x03abc\x00"
	file := "REDIS0011" + "\xf7" + module + "\x02\x01" + data + "\xfe\x81\x00\x00\x00\x00\x00\x00\xff\xff" +
		"\xfd\x01\x00\x00\x00\x07\x01k" + module + data + "\x00\x01k\x01v\x00\x01k\x01v\x02\x05empty\x00" +
		"\xff\x00\x00\x00\x00\x00\x00\x00\x00"
	s := rdb.Survey{Now: now}
	require.NoError(t, s.Read(strings.NewReader(file), int64(len(file)), "f"))
	require.Equal(t, []rdb.DBSurvey{{
		ID: 65535, Types: map[string]int64{"string": 2, "module": 1}, Expires: 1, Expired: 1,
	}}, s.DBs)
	require.Equal(t, []string{"BckS6JxzB"}, s.Modules)
	require.Equal(t, int64(1), s.Empty)
	require.True(t, s.Unsummed)
	for n := range file {
		require.Error(t, new(rdb.Survey).Read(strings.NewReader(file), int64(n), "f"), "%d bytes", n)
	}
}

func TestASurveyRefusesWhatALoadingRefuses(t *testing.T) {
	for seed := range uint64(3) {
		whole := file(t, seed, seed%2 == 0)
		r := rand.New(rand.NewPCG(seed, 4))
		for range 300 {
			b := bytes.Clone(whole[:len(whole)-r.IntN(2)*r.IntN(len(whole))])
			if len(b) > 0 {
				b[r.IntN(len(b))] ^= 1 << r.IntN(8)
			}
			loaded := loading(keyspace())
			want := loaded.Read(bytes.NewReader(b), int64(len(b)), "f")
			got := new(rdb.Survey).Read(bytes.NewReader(b), int64(len(b)), "f")
			require.Equal(t, want == nil, got == nil, "%v, %v: %q", want, got, b)
		}
	}
}

func TestASurveyNamesTheDamage(t *testing.T) {
	for body, want := range map[string]string{
		"":                             "f: byte 9: the end mark is missing: the file ends too early",
		"\xfe":                         "f: byte 9: record 254: the file ends too early",
		"\xfa\x01a":                    "f: byte 9: record 250: the file ends too early",
		"\x00":                         "f: byte 9: the name of a key: the file ends too early",
		"\x00\x01k":                    "f: byte 9: the key 'k', of type 0: the file ends too early",
		"\x06\x01k":                    "f: byte 9: a module's value of a release candidate",
		"\xf5":                         "f: byte 9: a library of functions: the file ends too early",
		"\xf7\x00\x01\x00":             "f: byte 9: data of the module 'AAAAAAAAA': bad when_opcode",
		"\xf7\x00\x02\x00":             "f: byte 9: data of the module 'AAAAAAAAA': the file ends too early",
		"\x07\x01k\x00\x05":            "f: byte 9: the key 'k' of the module 'AAAAAAAAA': the file ends too early",
		"\xff1234567":                  "f: byte 10: the checksum: the file ends too early",
		"\xff12345678":                 "f: byte 10: RDB CRC error: expected ",
		"\x00\x01k\x01v\xc8\x01k\x01v": "f: byte 14: the key 'k', of type 200: the bytes make no sense",
	} {
		text := "REDIS0011" + body
		err := new(rdb.Survey).Read(strings.NewReader(text), int64(len(text)), "f")
		require.ErrorContains(t, err, want, "%q", body)
		require.ErrorAs(t, err, new(*rdb.DamageError))
	}
}

func TestASurveyKeepsNoKeys(t *testing.T) {
	ks := keyspace()
	fill(ks, rand.New(rand.NewPCG(1, 1)), amount.Count(1500, 5000))
	on := disk.NewSim(1)
	require.NoError(t, rdb.Save(on, "f", saving(ks)))
	f, err := on.Open("f")
	require.NoError(t, err)
	size, err := f.Size()
	require.NoError(t, err)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	s := &rdb.Survey{}
	require.NoError(t, s.Read(f, size, "f"))
	runtime.GC()
	runtime.ReadMemStats(&after)
	require.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), size/10)
	runtime.KeepAlive(s)
}

// FuzzSurvey takes any bytes for a file.
func FuzzSurvey(f *testing.F) {
	for seed := range uint64(4) {
		f.Add(file(f, seed, seed%2 == 0))
	}
	f.Add([]byte("REDIS0011\xf7\x00\x02\x01\x05\x03abc\x00\x07\x01k\x00\x04\x00\x00\x00\x00\x00\x00\xf0\x3f\x00\xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := rdb.Survey{}
		var damage *rdb.DamageError
		if err := s.Read(bytes.NewReader(b), int64(len(b)), "f"); err != nil {
			require.ErrorAs(t, err, &damage)
			require.LessOrEqual(t, damage.Offset, int64(len(b)))
			return
		}
		require.LessOrEqual(t, s.Bytes, int64(len(b)))
	})
}

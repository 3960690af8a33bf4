package rdb_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	values "github.com/miniredisd/miniredisd/internal/rdb"
	"github.com/miniredisd/miniredisd/persist/rdb"
	"github.com/miniredisd/miniredisd/store"
)

// file is a small file with keys of all types.
func file(t testing.TB, seed uint64, compress bool) []byte {
	ks, r := keyspace(), rand.New(rand.NewPCG(seed, 9))
	for i := 0; i < 12; {
		name, v := fmt.Appendf(nil, "k%d", i), value(ks, r)
		if len(values.Dump(nil, v, values.VersionRead)) < 300 {
			ks.DBs[i%2].Peek(name).Put(name, v, int64(i%2)*now, store.Past{})
			i++
		}
		ks.Settle()
	}
	var b bytes.Buffer
	s := saving(ks)
	s.Compress, s.Libraries = compress, []string{"#!lua name=a"}
	require.NoError(t, s.Write(&b))
	return b.Bytes()
}

// load loads bytes that may be anything. It fails the test if they take too much memory.
func load(t testing.TB, b []byte) error {
	var before, after runtime.MemStats
	ks := keyspace()
	l := loading(ks)
	l.Checksum = false
	runtime.ReadMemStats(&before)
	err := l.Read(bytes.NewReader(b), int64(len(b)), "f")
	runtime.ReadMemStats(&after)
	if !bytes.Contains(b, []byte{0xc3}) { // LZF makes 264 bytes of three
		require.LessOrEqual(t, after.TotalAlloc-before.TotalAlloc, uint64(2<<20+1000*len(b)))
	}
	if err == nil {
		var again bytes.Buffer
		require.NoError(t, saving(ks).Write(&again), "what was loaded is whole")
		twin := keyspace()
		require.NoError(t, loading(twin).Read(&again, int64(again.Len()), "f"))
		require.Equal(t, count(ks), count(twin))
	}
	return err
}

// The number of keys, too, is a number in a file. Each database may say one.
func TestTheNumberOfKeysClaimsNoMemory(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, saving(keyspace()).Write(&b))
	claim := b.Bytes()[:b.Len()-9] // without the end mark and the checksum
	ks := keyspace()
	for i := range ks.DBs {
		claim = append(claim, 0xfe, byte(i), 0xfb, 0x81, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00)
	}
	const size = 1 << 20
	claim = append(claim, 0, 1, 'k', 0x80)
	claim = append(binary.BigEndian.AppendUint32(claim, size), make([]byte, size)...)
	l := loading(ks)
	l.Checksum = false
	claim = append(claim, 0xff, 0, 0, 0, 0, 0, 0, 0, 0)
	require.NoError(t, l.Read(bytes.NewReader(claim), int64(len(claim)), "f"))
	tables := 0
	for _, db := range ks.DBs {
		tables += db.TableBytes()
	}
	require.Greater(t, tables, size/2, "one database gets the room that it asks for")
	require.LessOrEqual(t, tables, 2*len(claim))
}

func count(ks *store.Keyspace) (keys []int) {
	for _, db := range ks.DBs {
		keys = append(keys, db.Len())
	}
	return keys
}

// FuzzLoad takes any bytes for a file: they are refused with a place in it, or make a keyspace that can be saved.
func FuzzLoad(f *testing.F) {
	for seed := range uint64(6) {
		f.Add(file(f, seed, seed%2 == 0))
	}
	f.Add([]byte("REDIS0003\xfd\x01\x02\x03\x04\xfe\x00\x00\x01k\x01v\xf8\x05\xf9\x06\xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var damage *rdb.DamageError
		if err := load(t, b); err != nil {
			require.ErrorAs(t, err, &damage)
			require.LessOrEqual(t, damage.Offset, int64(len(b)))
		}
	})
}

// A file that was cut is never taken for a whole one.
func TestEveryShorterFileIsRefused(t *testing.T) {
	whole := file(t, 1, true)
	for n := range whole {
		err := loading(keyspace()).Read(bytes.NewReader(whole[:n]), int64(n), "f")
		require.Error(t, err, "%d of %d bytes", n, len(whole))
	}
}

// The checksum finds each changed byte, unless it is in the checksum itself or ends the file early.
func TestEveryChangedByteIsFound(t *testing.T) {
	whole := file(t, 2, true)
	for i := range whole {
		changed := bytes.Clone(whole)
		changed[i] ^= 1 << (i % 8)
		require.Error(t, loading(keyspace()).Read(bytes.NewReader(changed), int64(len(changed)), "f"), "byte %d", i)
	}
}

func TestALengthCannotClaimMemory(t *testing.T) {
	const long = "\x81\x00\x00\x00\x10\x00\x00\x00\x00" // 64 GB
	for _, body := range []string{
		"\x00\x01k" + long, "\x00" + long, "\x02\x01k" + long, "\x04\x01k" + long, "\x05\x01k" + long, "\x0e\x01k" + long,
		"\x12\x01k" + long, "\x12\x01k\x01\x02" + long, "\x0f\x01k" + long, "\x15\x01k\x01" + long, "\xfa" + long,
		"\xf5" + long, "\xfb" + long + long, "\x00\x01k\xc3" + long + long, "\x00\x01k\xc3\x05" + long + "abcde",
	} {
		require.Error(t, load(t, []byte("REDIS0011"+body)))
	}
	require.NoError(t, load(t, []byte("REDIS0011\xfb"+long+long+"\xff12345678")), "the sizes of a database are a hint")
}

package rdb

import (
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestChecksumIsTheOneOfRedis(t *testing.T) {
	require.Equal(t, uint64(0xe9c6d914c4b8d9ca), checksum([]byte("123456789")))
}

func TestDumpedLibrariesAreReadBack(t *testing.T) {
	var code []string
	for _, n := range []int{1, 63, 64, 1<<14 - 1, 1 << 14, 1 << 20} {
		code = append(code, strings.Repeat("x", n))
	}
	read, err := RestoreLibraries(DumpLibraries(code, Oldest), Oldest)
	require.NoError(t, err)
	require.Len(t, read, len(code))
	for i := range code {
		require.Equal(t, code[i], string(read[i]))
	}
}

func TestUnpackLZF(t *testing.T) {
	for _, c := range []struct{ packed, want string }{
		{"\x02abc", "abc"},
		{"\x02abc\x20\x02", "abcabc"},
		{"\x00a\xe0\x08\x00", strings.Repeat("a", 18)},
		{"\x01ab\x80\x01", "abababab"},
		{"", ""},
	} {
		got, ok := unpackLZF([]byte(c.packed), uint64(len(c.want)))
		require.True(t, ok, "%q", c.packed)
		require.Equal(t, c.want, string(got))
		_, ok = unpackLZF([]byte(c.packed), uint64(len(c.want)+1))
		require.False(t, ok, "a size that is not its own")
	}
	for _, packed := range []string{"\x02ab", "\x20\x00", "\x00a\x20", "\x00a\xe0", "\x00a\xe0\x00", "\x00a\x20\x01"} {
		_, ok := unpackLZF([]byte(packed), 10)
		require.False(t, ok, "%q", packed)
		got, ok := unpackLZF([]byte(packed), 0)
		require.True(t, ok, "%q", packed)
		require.Empty(t, got)
	}
}

// A payload with a valid checksum is read to its end or refused. It never takes more memory than the
// values it holds.
func FuzzRestoreLibraries(f *testing.F) {
	f.Add([]byte("\xf5\x05abcde"))
	f.Add([]byte("\xf5\xc3\x05\x06\x02abc\x20\x02"))
	f.Add([]byte("\xf5\x81\x7f\xff\xff\xff\xff\xff\xff\xff"))
	f.Add([]byte("\xf5\xc3\x81\xff\xff\xff\xff\xff\xff\xff\xff\x81\xff\xff\xff\xff\xff\xff\xff\xff"))
	f.Add([]byte("\xf5\xc2\x01"))
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		b := []byte{OpcodeLibrary, byte(0xc0 | r.IntN(5))}
		for range r.IntN(30) {
			b = append(b, byte(r.Uint32()))
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		payload := binary.LittleEndian.AppendUint16(append([]byte(nil), body...), VersionRead)
		payload = binary.LittleEndian.AppendUint64(payload, checksum(payload))
		code, err := RestoreLibraries(payload, Oldest)
		size := 0
		for _, text := range code {
			size += len(text)
		}
		require.LessOrEqual(t, size, 264*len(payload))
		if err != nil {
			require.Contains(t, []error{ErrLibraryType, ErrLibraryRead}, err)
		}
	})
}

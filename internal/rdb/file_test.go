package rdb

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/store"
)

// What is packed is unpacked, whatever repeats in it and however far away.
func TestPackedStringsAreUnpacked(t *testing.T) {
	p, r := &packer{}, rand.New(rand.NewPCG(1, 2))
	p.base = 1<<32 - 50_000 // the places of earlier strings are forgotten on the way
	packed := 0
	for range 3000 {
		var text []byte
		for range 1 + r.IntN(40) {
			if n := len(text); n > 0 && r.IntN(2) == 0 { // what was there before, maybe with itself behind it
				for back := 1 + r.IntN(n); len(text) < n+r.IntN(600); {
					text = append(text, text[len(text)-back])
				}
				continue
			}
			for range r.IntN(1 << r.IntN(11)) {
				text = append(text, byte(r.IntN(60)))
			}
		}
		b := p.pack(text)
		if b == nil {
			continue
		}
		packed++
		require.LessOrEqual(t, len(b), len(text)-4)
		out, ok := unpackLZF(b, uint64(len(text)))
		require.True(t, ok)
		require.True(t, bytes.Equal(text, out))
	}
	require.Greater(t, packed, 1000)
}

func TestAStringOfOneLetterIsPackedInFewBytes(t *testing.T) {
	p := &packer{}
	require.Less(t, len(p.pack(bytes.Repeat([]byte("a"), 10_000))), 130)
	require.Nil(t, p.pack([]byte("abcdefghijklmnopqrstuvwxyz0123456789")))
}

// A Source reads in pieces, so a string may begin in one and end in another.
func TestASourceReadsWhatASinkWrites(t *testing.T) {
	ks := store.NewKeyspace(store.Options{Databases: 1})
	r := rand.New(rand.NewPCG(3, 4))
	for _, compress := range []bool{false, true} {
		var texts [][]byte
		var file bytes.Buffer
		out := NewSink(&file, VersionRead, compress, true)
		for range 400 {
			text := make([]byte, r.IntN(1<<r.IntN(16)))
			for i := range text {
				text[i] = byte(r.IntN(4))
			}
			texts = append(texts, text)
			out.Text(text)
			out.Fixed(uint64(len(text)))
			out.Value([]byte("name"), store.TextValue(text))
		}
		require.NoError(t, out.Flush())
		in := NewSource(iotest.OneByteReader(bytes.NewReader(file.Bytes())), int64(file.Len()), ks)
		for _, text := range texts {
			require.True(t, bytes.Equal(text, in.Text()))
			require.Equal(t, uint64(len(text)), in.Fixed())
			kind := in.Byte()
			require.Equal(t, "name", string(in.Text()))
			v, empty := in.Value(kind)
			require.False(t, empty)
			require.True(t, bytes.Equal(text, v.Text()))
		}
		require.NoError(t, in.Err())
		require.Equal(t, int64(file.Len()), in.Offset())
		require.Equal(t, out.Checksum(), in.Checksum())
		require.Equal(t, Checksum(0, file.Bytes()), in.Checksum())
		in.Byte()
		require.ErrorIs(t, in.Err(), ErrShort)
	}
}

func TestASinkKeepsTheFirstError(t *testing.T) {
	in, out := io.Pipe()
	require.NoError(t, in.CloseWithError(io.ErrNoProgress))
	s := NewSink(out, VersionRead, false, true)
	s.Text(make([]byte, 1<<20))
	s.Text([]byte("x"))
	require.ErrorIs(t, s.Flush(), io.ErrNoProgress)
}

func TestASourceReportsTheErrorOfItsReader(t *testing.T) {
	in := NewSource(iotest.ErrReader(io.ErrNoProgress), 10, store.NewKeyspace(store.Options{Databases: 1}))
	in.Bytes(3)
	require.ErrorIs(t, in.Err(), io.ErrNoProgress)
}

package resp

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// joined returns the output with the bytes of each reference in its place.
func joined(w *Writer) string {
	var b strings.Builder
	from := 0
	for _, r := range w.Refs {
		b.Write(w.Buf[from:r.At])
		b.Write(r.Bytes)
		from = r.At
	}
	b.Write(w.Buf[from:])
	return b.String()
}

func TestAReferenceStandsWhereItsStringWouldBe(t *testing.T) {
	big := []byte(strings.Repeat("x", RefMin))
	w, copied := Writer{MayRefer: true}, Writer{}
	for _, one := range []*Writer{&w, &copied} {
		bulk := one.Bulk
		if one.Refers(len(big)) {
			bulk = one.BulkRef
		}
		bulk(big)
		outer := one.Defer()
		for range 10 {
			bulk(big)
			one.Int(1)
		}
		one.EndArray(outer, 20) // a longer header moves the references
		bulk(big)
	}
	require.Len(t, w.Refs, 12)
	require.Equal(t, string(copied.Buf), joined(&w))
	require.Equal(t, len(copied.Buf), len(w.Buf)+w.RefLen)
}

func TestTruncateRemovesReferencesToo(t *testing.T) {
	big := []byte(strings.Repeat("x", RefMin))
	w := Writer{MayRefer: true}
	w.BulkRef(big)
	mark, before := len(w.Buf), joined(&w)
	w.BulkRef(big)
	w.BulkRef(big)
	w.Truncate(mark)
	require.Equal(t, before, joined(&w))
	require.Equal(t, RefMin, w.RefLen)
}

func TestOnlyALongStringOfAnOwnerThatCanSendItIsReferredTo(t *testing.T) {
	require.True(t, (&Writer{MayRefer: true}).Refers(RefMin))
	require.False(t, (&Writer{MayRefer: true}).Refers(RefMin-1))
	require.False(t, (&Writer{}).Refers(RefMin))
}

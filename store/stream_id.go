package store

import (
	"cmp"
	"math"
	"math/bits"
	"strconv"
)

// StreamID is the ID of a stream entry: a unix time in milliseconds and a sequence number within
// it.
type StreamID struct{ Ms, Seq uint64 }

// MaxStreamID is the highest ID. After it a stream accepts no more entries.
func MaxStreamID() StreamID { return StreamID{math.MaxUint64, math.MaxUint64} }

// IsZero reports whether id is 0-0.
func (id StreamID) IsZero() bool { return id.Ms|id.Seq == 0 }

// Compare is negative, zero or positive if id is below, equal to or above o.
func (id StreamID) Compare(o StreamID) int {
	if c := cmp.Compare(id.Ms, o.Ms); c != 0 {
		return c
	}
	return cmp.Compare(id.Seq, o.Seq)
}

// Less reports whether id is below o.
func (id StreamID) Less(o StreamID) bool {
	return id.Ms < o.Ms || id.Ms == o.Ms && id.Seq < o.Seq
}

// Next is the lowest ID above id, false if no such ID exists.
func (id StreamID) Next() (StreamID, bool) {
	if id.Seq < math.MaxUint64 {
		return StreamID{id.Ms, id.Seq + 1}, true
	}
	return StreamID{id.Ms + 1, 0}, id.Ms < math.MaxUint64
}

// Prev is the highest ID below id, false if no such ID exists.
func (id StreamID) Prev() (StreamID, bool) {
	if id.Seq > 0 {
		return StreamID{id.Ms, id.Seq - 1}, true
	}
	return StreamID{id.Ms - 1, math.MaxUint64}, id.Ms > 0
}

// Append appends the ID as clients see it: "ms-seq".
func (id StreamID) Append(b []byte) []byte {
	b = strconv.AppendUint(b, id.Ms, 10)
	b = append(b, '-')
	return strconv.AppendUint(b, id.Seq, 10)
}

// String is "ms-seq".
func (id StreamID) String() string { return string(id.Append(nil)) }

// sharedBytes is the length of the common prefix of both IDs, as 16 big-endian bytes.
func (id StreamID) sharedBytes(o StreamID) int {
	if d := id.Ms ^ o.Ms; d != 0 {
		return bits.LeadingZeros64(d) / 8
	}
	return 8 + bits.LeadingZeros64(id.Seq^o.Seq)/8
}

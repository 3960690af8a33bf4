package resp

// Ref is a part of the output that is not copied into Buf: Bytes belong between Buf[:At] and Buf[At:].
// Nobody may change them until they are sent.
//
//	Buf    $20000\r\n \r\n:1\r\n$30000\r\n \r\n
//	                 ^                   ^
//	Refs      At: 8, 20,000 bytes   At: 22, 30,000 bytes
type Ref struct {
	At    int
	Bytes []byte
}

// RefMin is the length of the shortest string that BulkRef does not copy.
const RefMin = 16 << 10

// Refers reports whether BulkRef would refer to a string of n bytes.
func (w *Writer) Refers(n int) bool { return n >= RefMin && w.MayRefer }

// BulkRef is Bulk for a string that Refers is true for. It appends a reference instead of a copy.
func (w *Writer) BulkRef(v []byte) {
	w.Buf = appendHeader(w.Buf, '$', len(v))
	w.Refs = append(w.Refs, Ref{len(w.Buf), v})
	w.RefLen += len(v)
	w.Buf = append(w.Buf, '\r', '\n')
}

// LenFrom returns the bytes of the output that were appended since len(Buf) was mark.
func (w *Writer) LenFrom(mark int) int {
	n := len(w.Buf) - mark
	for i := len(w.Refs) - 1; i >= 0 && w.Refs[i].At > mark; i-- {
		n += len(w.Refs[i].Bytes)
	}
	return n
}

// Refer appends bytes that are no reply of their own, as a reference: a stream of requests to a replica.
func (w *Writer) Refer(b []byte) {
	w.Refs = append(w.Refs, Ref{len(w.Buf), b})
	w.RefLen += len(b)
}

// Truncate removes everything that was appended since len(Buf) was mark.
func (w *Writer) Truncate(mark int) {
	w.Buf = w.Buf[:mark]
	for n := len(w.Refs); n > 0 && w.Refs[n-1].At > mark; n-- { // a header comes first, so At is never mark
		w.RefLen -= len(w.Refs[n-1].Bytes)
		w.Refs[n-1] = Ref{}
		w.Refs = w.Refs[:n-1]
	}
}

// moveRefs follows a move of the bytes from Buf[from] on by n bytes.
func (w *Writer) moveRefs(from, n int) {
	for i := len(w.Refs) - 1; i >= 0 && w.Refs[i].At > from; i-- {
		w.Refs[i].At += n
	}
}

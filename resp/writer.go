package resp

import (
	"strconv"

	"github.com/tidwall/redcon"
)

// Writer appends replies to Buf in the protocol version Proto: 3 for RESP3, anything less for RESP2. Where RESP2 has no
// such type it gets Redis's substitute, so commands never ask for the version.
type Writer struct {
	Buf   []byte
	Proto int
}

// Int appends an integer.
func (w *Writer) Int(n int64) {
	if uint64(n) < 10 {
		w.Buf = append(w.Buf, ':', byte('0'+n), '\r', '\n')
		return
	}
	w.Buf = redcon.AppendInt(w.Buf, n)
}

// Bulk appends a string of any bytes.
func (w *Writer) Bulk(v []byte) {
	b := w.Buf
	if len(v) < 10 {
		b = append(b, '$', byte('0'+len(v)), '\r', '\n')
	} else {
		b = appendHeader(b, '$', len(v))
	}
	w.Buf = append(append(b, v...), '\r', '\n')
}

// BulkString is Bulk for a string.
func (w *Writer) BulkString(v string) {
	w.Buf = append(append(appendHeader(w.Buf, '$', len(v)), v...), '\r', '\n')
}

// BulkInt appends an integer as a bulk string.
func (w *Writer) BulkInt(n int64) {
	var text [20]byte
	w.Bulk(strconv.AppendInt(text[:0], n, 10))
}

// Status appends a simple string. CR and LF in it become spaces, as they would end it.
func (w *Writer) Status(text string) { w.Buf = appendLine(w.Buf, '+', text) }

// Error appends an error line; text starts with its code ("ERR ..."). It may quote a client's words: line ends at its
// edges are dropped and those inside become spaces.
func (w *Writer) Error(text string) {
	for len(text) > 0 && isLineEnd(text[0]) {
		text = text[1:]
	}
	for len(text) > 0 && isLineEnd(text[len(text)-1]) {
		text = text[:len(text)-1]
	}
	w.Buf = appendLine(w.Buf, '-', text)
}

// OK appends the most common status.
func (w *Writer) OK() { w.Buf = redcon.AppendOK(w.Buf) }

// Null appends the absence of a value.
func (w *Writer) Null() {
	if w.Proto < 3 {
		w.Buf = redcon.AppendNull(w.Buf)
		return
	}
	w.Buf = append(w.Buf, "_\r\n"...)
}

// NullArray appends the absence of an array, which only RESP2 tells from Null.
func (w *Writer) NullArray() {
	if w.Proto < 3 {
		w.Buf = append(w.Buf, "*-1\r\n"...)
		return
	}
	w.Buf = append(w.Buf, "_\r\n"...)
}

// Array announces n elements, which the caller appends next.
func (w *Writer) Array(n int) { w.Buf = redcon.AppendArray(w.Buf, n) }

// Map announces n pairs; in RESP2 an array of twice as many elements.
func (w *Writer) Map(n int) {
	if w.Proto < 3 {
		w.Buf = appendHeader(w.Buf, '*', 2*n)
		return
	}
	w.Buf = appendHeader(w.Buf, '%', n)
}

// IntField appends a pair of a map whose value is an integer.
func (w *Writer) IntField(name string, n int64) {
	w.BulkString(name)
	w.Int(n)
}

// TextField appends a pair of a map whose value is a string.
func (w *Writer) TextField(name, v string) {
	w.BulkString(name)
	w.BulkString(v)
}

// Set announces n distinct elements; in RESP2 an array.
func (w *Writer) Set(n int) { w.Buf = appendHeader(w.Buf, w.mark('~'), n) }

// Push announces n elements that answer no request; in RESP2 an array, told apart by its place alone.
func (w *Writer) Push(n int) { w.Buf = appendHeader(w.Buf, w.mark('>'), n) }

// Attribute announces n pairs about the reply that follows them. RESP2 has nothing to put in their place: ask Proto.
func (w *Writer) Attribute(n int) { w.Buf = appendHeader(w.Buf, '|', n) }

// mark is the type's own in RESP3 and an array's in RESP2.
func (w *Writer) mark(resp3 byte) byte {
	if w.Proto < 3 {
		return '*'
	}
	return resp3
}

// Double appends a floating point number in AppendFloat's form; in RESP2 a bulk string.
func (w *Writer) Double(f float64) {
	if w.Proto < 3 {
		var text [32]byte
		w.Bulk(AppendFloat(text[:0], f))
		return
	}
	w.Buf = append(AppendFloat(append(w.Buf, ','), f), '\r', '\n')
}

// Bool appends true or false; in RESP2 1 or 0.
func (w *Writer) Bool(v bool) {
	switch {
	case w.Proto < 3 && v:
		w.Buf = append(w.Buf, ":1\r\n"...)
	case w.Proto < 3:
		w.Buf = append(w.Buf, ":0\r\n"...)
	case v:
		w.Buf = append(w.Buf, "#t\r\n"...)
	default:
		w.Buf = append(w.Buf, "#f\r\n"...)
	}
}

// BigNumber appends an integer of any size, given in decimal; in RESP2 a bulk string.
func (w *Writer) BigNumber(decimal string) {
	if w.Proto < 3 {
		w.BulkString(decimal)
		return
	}
	w.Buf = appendLine(w.Buf, '(', decimal)
}

// Verbatim appends text for people; ext says how to show it, in three letters ("txt", "mkd"). In RESP2 a bulk string.
func (w *Writer) Verbatim(ext, text string) {
	if w.Proto < 3 {
		w.BulkString(text)
		return
	}
	three := [3]byte{' ', ' ', ' '}
	copy(three[:], ext)
	w.Buf = appendHeader(w.Buf, '=', len(text)+4)
	w.Buf = append(append(append(append(w.Buf, three[:]...), ':'), text...), '\r', '\n')
}

// Raw appends bytes that are a reply already.
func (w *Writer) Raw(reply []byte) { w.Buf = append(w.Buf, reply...) }

// Mark is the place of a header whose count is known only after its elements.
type Mark int

// deferred has room for a count of one digit, the most common; a longer one moves the elements.
const deferred = "*0\r\n"

// Defer leaves room for a header. After the elements, one of the End methods fills it in; nested ones end first.
func (w *Writer) Defer() Mark {
	m := Mark(len(w.Buf))
	w.Buf = append(w.Buf, deferred...)
	return m
}

// EndArray makes what was appended since m an array of n elements.
func (w *Writer) EndArray(m Mark, n int) { w.end(m, '*', n) }

// EndSet makes what was appended since m a set of n elements.
func (w *Writer) EndSet(m Mark, n int) { w.end(m, w.mark('~'), n) }

// EndMap makes what was appended since m a map of n pairs.
func (w *Writer) EndMap(m Mark, n int) {
	if w.Proto < 3 {
		n *= 2
	}
	w.end(m, w.mark('%'), n)
}

func (w *Writer) end(m Mark, mark byte, n int) {
	var room [24]byte
	header := appendHeader(room[:0], mark, n)
	if more := len(header) - len(deferred); more > 0 {
		body := int(m) + len(deferred)
		size := len(w.Buf)
		w.Buf = append(w.Buf, room[:more]...)
		copy(w.Buf[body+more:], w.Buf[body:size])
	}
	copy(w.Buf[m:], header)
}

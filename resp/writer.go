package resp

import (
	"strconv"

	"github.com/miniredisd/miniredisd/internal/double"
)

// Writer appends replies to Buf in the protocol version Proto: 3 for RESP3, less for RESP2. A type that
// RESP2 does not have becomes Redis's substitute, so commands never ask for the version.
//
// Refs is empty unless MayRefer is set. Then the output is Buf with the bytes of each Ref in between:
// see BulkRef.
type Writer struct {
	Buf   []byte
	Proto int

	MayRefer bool // the owner can send bytes that lie outside of Buf
	Refs     []Ref
	RefLen   int // bytes in all Refs
}

// Int appends an integer.
func (w *Writer) Int(n int64) {
	if uint64(n) < 10 { // the most common integers: half the time of a call
		w.Buf = append(w.Buf, ':', byte('0'+n), '\r', '\n')
		return
	}
	w.Buf = append(strconv.AppendInt(append(w.Buf, ':'), n, 10), '\r', '\n')
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

// Status appends a simple string. CR and LF in text become spaces.
func (w *Writer) Status(text string) { w.Buf = appendLine(w.Buf, '+', text) }

// Error appends an error. text begins with its code ("ERR ..."). Since text may quote a client, Error
// drops CR and LF at its ends and replaces them inside by spaces.
func (w *Writer) Error(text string) {
	for len(text) > 0 && isLineEnd(text[0]) {
		text = text[1:]
	}
	for len(text) > 0 && isLineEnd(text[len(text)-1]) {
		text = text[:len(text)-1]
	}
	w.Buf = appendLine(w.Buf, '-', text)
}

// OK appends the status "OK" (networking.c: addReply).
func (w *Writer) OK() { w.Buf = append(w.Buf, "+OK\r\n"...) }

// Null appends the null value: a null bulk string in RESP2.
func (w *Writer) Null() {
	if w.Proto < 3 {
		w.Buf = append(w.Buf, "$-1\r\n"...)
		return
	}
	w.Buf = append(w.Buf, "_\r\n"...)
}

// NullArray appends a null array. In RESP3 it is the same as Null.
func (w *Writer) NullArray() {
	if w.Proto < 3 {
		w.Buf = append(w.Buf, "*-1\r\n"...)
		return
	}
	w.Buf = append(w.Buf, "_\r\n"...)
}

// Array begins an array. The caller appends its n elements next.
func (w *Writer) Array(n int) { w.Buf = appendHeader(w.Buf, '*', n) }

// Map begins a map of n pairs; in RESP2 an array of 2n elements.
func (w *Writer) Map(n int) {
	if w.Proto < 3 {
		w.Buf = appendHeader(w.Buf, '*', 2*n)
		return
	}
	w.Buf = appendHeader(w.Buf, '%', n)
}

// IntField appends a pair of a map: a name and an integer.
func (w *Writer) IntField(name string, n int64) {
	w.BulkString(name)
	w.Int(n)
}

// TextField appends a pair of a map: a name and a string.
func (w *Writer) TextField(name, v string) {
	w.BulkString(name)
	w.BulkString(v)
}

// Set begins a set of n elements; in RESP2 an array.
func (w *Writer) Set(n int) { w.Buf = appendHeader(w.Buf, w.mark('~'), n) }

// Push begins a message of n elements that answers no request; in RESP2 an array.
func (w *Writer) Push(n int) { w.Buf = appendHeader(w.Buf, w.mark('>'), n) }

// Attribute begins n pairs that describe the next reply. RESP2 has no substitute: the caller must check
// Proto.
func (w *Writer) Attribute(n int) { w.Buf = appendHeader(w.Buf, '|', n) }

// mark returns the first byte of a type: resp3, or '*' in RESP2.
func (w *Writer) mark(resp3 byte) byte {
	if w.Proto < 3 {
		return '*'
	}
	return resp3
}

// Double appends a floating-point number as double.Append formats it; in RESP2 a bulk string.
func (w *Writer) Double(f float64) {
	if w.Proto < 3 {
		var text [32]byte
		w.Bulk(double.Append(text[:0], f))
		return
	}
	w.Buf = append(double.Append(append(w.Buf, ','), f), '\r', '\n')
}

// DoubleText is Double for a number that is formatted already.
func (w *Writer) DoubleText(decimal []byte) {
	if w.Proto < 3 {
		w.Bulk(decimal)
		return
	}
	w.Buf = append(append(append(w.Buf, ','), decimal...), '\r', '\n')
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

// BigNumber appends an integer of any size, as decimal digits; in RESP2 a bulk string.
func (w *Writer) BigNumber(decimal string) {
	if w.Proto < 3 {
		w.BulkString(decimal)
		return
	}
	w.Buf = appendLine(w.Buf, '(', decimal)
}

// Verbatim appends text for people; in RESP2 a bulk string. ext is its format, in three letters ("txt",
// "mkd").
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

// Raw appends an encoded reply.
func (w *Writer) Raw(reply []byte) { w.Buf = append(w.Buf, reply...) }

// Mark is the position of a header whose count is not known yet.
type Mark int

// deferred has room for a count of one digit, the most common. A longer count moves the elements.
const deferred = "*0\r\n"

// Defer leaves room for a header. After the elements, the caller fills it in by one of the End methods,
// inner headers before outer ones.
func (w *Writer) Defer() Mark {
	m := Mark(len(w.Buf))
	w.Buf = append(w.Buf, deferred...)
	return m
}

// EndArray makes an array of the n elements appended since m.
func (w *Writer) EndArray(m Mark, n int) { w.end(m, '*', n) }

// EndSet makes a set of the n elements appended since m.
func (w *Writer) EndSet(m Mark, n int) { w.end(m, w.mark('~'), n) }

// EndMap makes a map of the n pairs appended since m.
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
		w.moveRefs(body, more)
	}
	copy(w.Buf[m:], header)
}

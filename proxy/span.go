package proxy

import (
	"bytes"
	"strings"

	"github.com/miniredisd/miniredisd/internal/ascii"
)

// span is an element of a reply: where its bytes are. A reply that is changed in a few places keeps all other bytes as
// the upstream has written them, in RESP2 and RESP3.
type span struct {
	kind       byte
	from, to   int    // all of it
	text, end  int    // of a line or a string: its text
	elems      []span // of an aggregate, those of a map in turn
	null, open bool   // it is null; its elements are not all there
}

// spanOf finds the element of a reply that begins at an offset. If the reply has arrived in part, what is missing is
// left out. ok is false for a form that no command uses. ok is false for what is no reply.
func spanOf(reply []byte, at int) (s span, ok bool) {
	n := bytes.IndexByte(reply[at:], '\n')
	if n < 2 || reply[at+n-1] != '\r' {
		return span{open: true}, false
	}
	s = span{kind: reply[at], from: at, to: at + n + 1, text: at + 1, end: at + n - 1}
	switch s.kind {
	case '+', '-', ':', ',', '(', '_', '#':
		s.null = s.kind == '_'
		return s, true
	}
	size, isNumber := ascii.ParseInt(reply[s.text:s.end])
	switch {
	case !isNumber:
		return s, false
	case size < 0:
		s.null = true
		return s, true
	}
	switch s.kind {
	case '$', '=', '!':
		return s.string(reply, size)
	case '%':
		return s.aggregate(reply, 2*size)
	case '*', '~', '>':
		return s.aggregate(reply, size)
	}
	return s, false
}

func (s span) string(reply []byte, size int64) (span, bool) {
	if size > int64(len(reply)-s.to-2) {
		return s, false
	}
	s.text, s.end = s.to, s.to+int(size)
	s.to = s.end + 2
	if s.kind == '=' && size >= int64(len("txt:")) {
		s.text += len("txt:")
	}
	return s, true
}

func (s span) aggregate(reply []byte, size int64) (span, bool) {
	for range size {
		if s.to >= len(reply) {
			s.open = true
			return s, true
		}
		e, ok := spanOf(reply, s.to)
		if !ok {
			return s, false
		}
		s.elems = append(s.elems, e)
		s.to = e.to
	}
	return s, true
}

// isText reports whether an element is a line or a string.
func (s span) isText() bool {
	return s.elems == nil && !s.null && !strings.ContainsRune("*%~>", rune(s.kind))
}

// at returns an element, or the zero value if there are not so many.
func (s span) at(i int) span {
	if i < 0 || i >= len(s.elems) {
		return span{null: true}
	}
	return s.elems[i]
}

package verdict

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// How much text Read accepts. The log shortens what clients send, so an entry has some hundred bytes.
const (
	mostPiece = 1 << 20   // bytes without an entry
	mostText  = 256 << 20 // bytes in all
)

// budget counts the bytes of a text. A text in quotes has a budget of its text around it.
type budget struct {
	piece int // bytes since the last entry
	all   int
}

// renew is for when the text has had an entry.
func (b *budget) renew() { b.piece = 0 }

func (b *budget) spend(n int) error {
	b.piece += n
	b.all += n
	switch {
	case b.piece > mostPiece:
		return fmt.Errorf("is not a history: %d bytes without an entry", mostPiece)
	case b.all > mostText:
		return fmt.Errorf("is too long: more than %d MB", mostText>>20)
	}
	return nil
}

// source is a text that is read by bytes, and by decoders which read too far.
type source struct {
	src    *bufio.Reader
	back   []byte // read, and given back
	budget *budget
}

func newSource(src io.Reader, b *budget) *source {
	return &source{src: bufio.NewReader(src), budget: b}
}

func (in *source) Read(b []byte) (n int, err error) {
	if len(in.back) > 0 {
		n = copy(b, in.back)
		in.back = in.back[n:]
		return n, nil
	}
	n, err = in.src.Read(b)
	if long := in.budget.spend(n); long != nil {
		return 0, long
	}
	return n, err
}

// unread gives bytes back. They are the next ones to be read.
func (in *source) unread(b []byte) { in.back = append(b, in.back...) }

// ReadByte reads a byte.
func (in *source) ReadByte() (byte, error) {
	if len(in.back) > 0 {
		c := in.back[0]
		in.back = in.back[1:]
		return c, nil
	}
	c, err := in.src.ReadByte()
	if err != nil {
		return 0, err
	}
	return c, in.budget.spend(1)
}

// next reads the next byte that is no white space.
func (in *source) next() (byte, error) {
	for {
		switch c, err := in.ReadByte(); {
		case err != nil:
			return 0, err
		case c != ' ' && c != '\n' && c != '\r' && c != '\t':
			return c, nil
		}
	}
}

// unquoter reads the text of a JSON string behind its first quote. It ends behind the last one.
type unquoter struct {
	in   *source
	over bool
}

func (q *unquoter) Read(b []byte) (n int, err error) {
	for !q.over && n+utf8.UTFMax <= len(b) {
		c, err := q.in.ReadByte()
		switch {
		case err != nil:
		case c == '"':
			q.over = true
		case c == '\\':
			var r rune
			r, err = q.escape()
			n += utf8.EncodeRune(b[n:], r)
		case c < ' ':
			err = fmt.Errorf("is not JSON: %q in a string", c)
		default:
			b[n] = c
			n++
		}
		if err == io.EOF {
			err = io.ErrUnexpectedEOF // the last quote is missing
		}
		if err != nil {
			return 0, err
		}
	}
	if n == 0 && q.over {
		return 0, io.EOF
	}
	return n, nil
}

// escape reads an escape behind its backslash.
func (q *unquoter) escape() (rune, error) {
	c, err := q.in.ReadByte()
	if err != nil {
		return 0, err
	}
	switch c {
	case '"', '\\', '/':
		return rune(c), nil
	case 'b':
		return '\b', nil
	case 'f':
		return '\f', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case 'u':
		r, err := q.hex()
		if err != nil || !utf16.IsSurrogate(r) {
			return r, err
		}
		return q.secondHalf(r)
	}
	return 0, fmt.Errorf("is not JSON: %q in a string", `\`+string(rune(c)))
}

// secondHalf reads the second half of a character that UTF-16 has in two.
func (q *unquoter) secondHalf(first rune) (rune, error) {
	both := utf8.RuneError
	var begin [2]byte
	_, err := io.ReadFull(q.in, begin[:])
	if err == nil && string(begin[:]) == `\u` {
		var second rune
		second, err = q.hex()
		both = utf16.DecodeRune(first, second)
	}
	if err == nil && both == utf8.RuneError {
		err = errors.New("is not JSON: half of a character in a string")
	}
	return both, err
}

func (q *unquoter) hex() (rune, error) {
	var digits [4]byte
	if _, err := io.ReadFull(q.in, digits[:]); err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(string(digits[:]), 16, 16)
	if err != nil {
		return 0, fmt.Errorf("is not JSON: %q in a string", `\u`+string(digits[:]))
	}
	return rune(n), nil
}

package resp

import (
	"bytes"
	"fmt"

	"github.com/miniredisd/miniredisd/internal/ascii"
)

// Cutter finds where the replies of a stream end, in RESP2 and RESP3. It is for a program that passes replies on: it
// builds no values, and it never needs a byte again that it has seen.
//
//	bytes    *2\r\n:1\r\n$5\r\nhel          lo\r\n+OK\r\n
//	Cut      takes all 16, no reply ends    takes 4: an array ends; takes 5: a status ends
//
// The zero value is ready. After an error nothing shows where the next reply starts, so the Cutter is of no more use.
//
// A Cutter also takes what [ReadReply] does not know: deeper replies, and those that RESP3 streams ($? and *?). It
// refuses numbers that Redis would write otherwise, such as +1.
type Cutter struct {
	kind byte   // the first byte of the reply that is arriving, after its attributes; 0 between two replies
	open []open // aggregates and streamed strings that have begun, the outermost first
	at   place

	mark byte  // while at a line: its first byte
	last byte  // while at a line: its latest byte
	left int64 // while at a body: how many bytes of it are missing

	line [longestNumber]byte // a short line that has arrived in part
	len  int
}

// open is an aggregate that misses elements.
type open struct {
	kind byte
	left int64 // missing elements; if their number is unknown: -1, and less by one for each that was there
}

// place is what the next byte belongs to.
type place uint8

const (
	atHead  place = iota // the first byte of an element
	atText               // a line of any length
	atShort              // a line with a number or a boolean
	atBody               // a string
	atCR                 // the two bytes after it
	atLF
)

const (
	longestNumber = len("-9223372036854775808") // the longest text of a short line

	// deepest bounds the aggregates inside one another. A script of Redis can reply with some 2,000 of them, as
	// the stack of Lua allows.
	deepest = 8192
)

// Cut takes bytes up to the end of the next reply, or all of them. kind is the first byte of the reply that ends
// there, after its attributes, and 0 if none ends. A push message is a reply of the kind '>'.
func (c *Cutter) Cut(buf []byte) (n int, kind byte, err error) {
	for n < len(buf) {
		took, ends, err := c.step(buf[n:])
		if err != nil {
			return n, 0, err
		}
		n += took
		if ends && c.ended() {
			kind, c.kind = c.kind, 0
			return n, kind, nil
		}
	}
	return n, 0, nil
}

// Inside returns the first byte of a reply that has arrived in part, 0 between two replies. It is '|' while only an
// attribute has come.
func (c *Cutter) Inside() byte { return c.kind }

// step takes some bytes, at least one. ends reports whether an element without missing elements ends there.
func (c *Cutter) step(buf []byte) (took int, ends bool, err error) {
	switch c.at {
	case atHead:
		return 1, false, c.head(buf[0])
	case atText:
		return c.text(buf)
	case atShort:
		return c.short(buf)
	case atBody:
		took = int(min(c.left, int64(len(buf))))
		if c.left -= int64(took); c.left == 0 {
			c.at = atCR
		}
		return took, false, nil
	}
	want := byte('\r')
	if c.at == atLF {
		want = '\n'
	}
	if buf[0] != want {
		return 0, false, fmt.Errorf("resp: a string is longer than announced: %q", buf[:1])
	}
	if c.at == atCR {
		c.at = atLF
		return 1, false, nil
	}
	c.at = atHead
	return 1, true, nil
}

// head takes the first byte of an element.
func (c *Cutter) head(mark byte) error {
	top := c.top()
	if (mark == ';') != (top.kind == '$') || mark == '.' && (top.left >= 0 || top.kind == '%' && top.left%2 == 0) {
		return fmt.Errorf("resp: reply type %q at the wrong place", mark)
	}
	switch mark {
	case '+', '-', ',', '(', '_':
		c.at = atText
	case ':', '#', '$', '=', '!', '*', '~', '>', '%', '|', ';', '.':
		c.at, c.len = atShort, 0
	default:
		return fmt.Errorf("resp: unknown reply type %q", mark)
	}
	c.mark, c.last = mark, mark
	if len(c.open) == 0 {
		c.kind = mark
	}
	return nil
}

// top is the innermost aggregate, or the zero value outside of all.
func (c *Cutter) top() open {
	if len(c.open) == 0 {
		return open{}
	}
	return c.open[len(c.open)-1]
}

// text takes bytes of a line that may have any length.
func (c *Cutter) text(buf []byte) (took int, ends bool, err error) {
	i := bytes.IndexByte(buf, '\n')
	if i < 0 {
		c.last = buf[len(buf)-1]
		return len(buf), false, nil
	}
	if i > 0 {
		c.last = buf[i-1]
	}
	if c.last != '\r' {
		return 0, false, fmt.Errorf("resp: a line of type %q ends without \\r", c.mark)
	}
	c.at = atHead
	return i + 1, true, nil
}

// short takes bytes of a line that has a number or a boolean.
func (c *Cutter) short(buf []byte) (took int, ends bool, err error) {
	for took, b := range buf {
		switch {
		case b == '\n' && c.last == '\r':
			ends, err = c.announced(c.line[:c.len])
			return took + 1, ends, err
		case b == '\n', c.last == '\r', b != '\r' && c.len == longestNumber:
			return 0, false, c.badLine()
		case b != '\r':
			c.line[c.len] = b
			c.len++
		}
		c.last = b
	}
	return len(buf), false, nil
}

func (c *Cutter) badLine() error {
	return fmt.Errorf("resp: bad reply line %q", string(c.mark)+string(c.line[:c.len]))
}

// announced reads a short line. ends is that of step.
func (c *Cutter) announced(text []byte) (ends bool, err error) {
	c.at = atHead
	n, isNumber := ascii.ParseInt(text)
	switch {
	case c.mark == '#' && (string(text) == "t" || string(text) == "f"):
		return true, nil
	case c.mark == '.' && len(text) == 0, c.mark == ';' && isNumber && n == 0:
		c.open = c.open[:len(c.open)-1]
		return true, nil
	case string(text) == "?" && bytes.IndexByte([]byte("$*~%"), c.mark) >= 0:
		return false, c.push(-1)
	case !isNumber || c.mark == '#' || c.mark == '.' || c.mark == ';' && n < 0:
		return false, c.badLine()
	}
	switch c.mark {
	case ':':
		return true, nil
	case '$', '=', '!', ';':
		return c.bulk(n), nil
	}
	return c.aggregate(n)
}

// bulk begins a string of n bytes. A negative length is null.
func (c *Cutter) bulk(n int64) (ends bool) {
	switch {
	case n < 0:
		return true
	case n == 0:
		c.at = atCR
	default:
		c.at, c.left = atBody, n
	}
	return false
}

// aggregate begins n elements or pairs. A negative number is null.
func (c *Cutter) aggregate(n int64) (ends bool, err error) {
	switch {
	case n < 0:
		return true, nil
	case n > maxElems:
		return false, fmt.Errorf("resp: %d elements announced", n)
	case n == 0:
		return c.mark != '|', nil // what an attribute describes comes next
	case c.mark == '%' || c.mark == '|':
		n *= 2
	}
	return false, c.push(n)
}

func (c *Cutter) push(left int64) error {
	if len(c.open) == deepest {
		return fmt.Errorf("resp: reply nested too deeply: %d aggregates inside one another", deepest)
	}
	c.open = append(c.open, open{c.mark, left})
	return nil
}

// ended counts an element that has ended, and the aggregates that end with it. It reports whether the reply is whole.
// An attribute is no element, because it belongs to the one that comes next.
func (c *Cutter) ended() bool {
	for len(c.open) > 0 {
		top := &c.open[len(c.open)-1]
		if top.left--; top.left != 0 {
			return false
		}
		kind := top.kind
		c.open = c.open[:len(c.open)-1]
		if kind == '|' {
			return false
		}
	}
	if cap(c.open) > 1024 {
		c.open = nil
	}
	return true
}

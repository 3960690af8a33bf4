package resp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Value is one reply as a client sees it.
type Value struct {
	Kind byte // the first byte of the type on the wire: + - : $ * _ , # ( = % ~ > | !
	Null bool // `$-1`, `*-1` and `_`

	Int int64  // the value of ':'; 0 or 1 for '#'
	Str string // the text of all other types without elements; a verbatim string begins with "txt:"

	// Elems are the elements of an aggregate. Maps and attributes have keys and values in turn. The
	// last element of an attribute is the reply that it describes.
	Elems []Value
}

const (
	maxDepth = 128     // bounds the recursion
	maxElems = 1 << 32 // Redis never announces more

	trustedBulk = 16 << 10 // the longest string that readBytes allocates at once, in bytes
)

// ReadReply reads one reply, in RESP2 or RESP3. The error is io.EOF if the connection ended between two
// replies, and io.ErrUnexpectedEOF if it ended inside one.
func ReadReply(r *bufio.Reader) (Value, error) { return readReply(r, maxDepth) }

func readReply(r *bufio.Reader, depth int) (Value, error) {
	if depth == 0 {
		return Value{}, errors.New("resp: reply nested too deeply")
	}
	line, err := readLine(r)
	if err != nil {
		return Value{}, err
	}
	v := Value{Kind: line[0]}
	text := line[1:]
	switch v.Kind {
	case '+', '-', ',', '(':
		v.Str = text
		return v, nil
	case '_':
		v.Null = true
		return v, nil
	case '#':
		if text != "t" && text != "f" {
			return v, fmt.Errorf("resp: bad boolean %q", line)
		}
		v.Str = text
		if text == "t" {
			v.Int = 1
		}
		return v, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return v, fmt.Errorf("resp: bad reply line %q", line)
	}
	switch v.Kind {
	case ':':
		v.Int = n
		return v, nil
	case '$', '=', '!':
		return readBulk(r, v, n)
	case '*', '~', '>', '%', '|':
		return readElems(r, v, n, depth)
	}
	return v, fmt.Errorf("resp: unknown reply type in %q", line)
}

func readLine(r *bufio.Reader) (string, error) {
	line, err := r.ReadString('\n')
	switch {
	case err == io.EOF && line != "":
		return "", io.ErrUnexpectedEOF
	case err != nil:
		return "", err
	case len(line) < 3 || line[len(line)-2] != '\r':
		return "", fmt.Errorf("resp: bad reply line %q", line)
	}
	return line[:len(line)-2], nil
}

func readBulk(r *bufio.Reader, v Value, n int64) (Value, error) {
	if n < 0 {
		v.Null = true
		return v, nil
	}
	body, err := readBytes(r, n)
	if err != nil {
		return v, cutShort(err)
	}
	var end [2]byte
	if _, err := io.ReadFull(r, end[:]); err != nil {
		return v, cutShort(err)
	}
	if end != [2]byte{'\r', '\n'} {
		return v, fmt.Errorf("resp: %d bytes announced, followed by %q", n, end)
	}
	v.Str = string(body)
	return v, nil
}

// readBytes reads n bytes. It allocates a large buffer only as the bytes arrive, because a server may
// announce more than it sends.
func readBytes(r *bufio.Reader, n int64) ([]byte, error) {
	if n <= trustedBulk {
		body := make([]byte, n)
		_, err := io.ReadFull(r, body)
		return body, err
	}
	var body bytes.Buffer
	_, err := io.CopyN(&body, r, n)
	return body.Bytes(), err
}

func readElems(r *bufio.Reader, v Value, n int64, depth int) (Value, error) {
	if n < 0 {
		v.Null = true
		return v, nil
	}
	if n > maxElems {
		return v, fmt.Errorf("resp: %d elements announced", n)
	}
	switch v.Kind {
	case '%':
		n *= 2
	case '|':
		n = 2*n + 1
	}
	for range n {
		e, err := readReply(r, depth-1)
		if err != nil {
			return v, cutShort(err)
		}
		v.Elems = append(v.Elems, e)
	}
	return v, nil
}

// cutShort replaces io.EOF inside a reply.
func cutShort(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// String formats the reply. Two replies are equal, types included, if and only if their texts are:
//
//	+OK  -ERR no  :1  "bulk"  [:1, "a"]  (nil)  (nil array)
//	(null)  ,1.5  #t  (12345)  =txt:"words"  %{"k": :1}  ~["a"]  >["message"]  |{"k": :1} +OK  !"ERR no"
func (v Value) String() string {
	var b strings.Builder
	v.render(&b)
	return b.String()
}

func (v Value) render(b *strings.Builder) {
	switch {
	case v.Null && v.Kind == '_':
		b.WriteString("(null)")
		return
	case v.Null && v.Kind == '*':
		b.WriteString("(nil array)")
		return
	case v.Null:
		b.WriteString("(nil)")
		return
	}
	switch v.Kind {
	case '+', '-', ',', '#':
		b.WriteByte(v.Kind)
		b.WriteString(v.Str)
	case ':':
		b.WriteByte(':')
		b.WriteString(strconv.FormatInt(v.Int, 10))
	case '(':
		b.WriteString("(" + v.Str + ")")
	case '=':
		ext, text, _ := strings.Cut(v.Str, ":")
		b.WriteString("=" + ext + ":" + strconv.Quote(text))
	case '!':
		b.WriteString("!" + strconv.Quote(v.Str))
	case '$':
		b.WriteString(strconv.Quote(v.Str))
	case '%':
		b.WriteByte('%')
		renderPairs(b, v.Elems)
	case '|':
		last := len(v.Elems) - 1
		b.WriteByte('|')
		renderPairs(b, v.Elems[:last])
		b.WriteByte(' ')
		v.Elems[last].render(b)
	default:
		if v.Kind != '*' {
			b.WriteByte(v.Kind)
		}
		b.WriteByte('[')
		for i, e := range v.Elems {
			if i > 0 {
				b.WriteString(", ")
			}
			e.render(b)
		}
		b.WriteByte(']')
	}
}

func renderPairs(b *strings.Builder, pairs []Value) {
	b.WriteByte('{')
	for i := 0; i+1 < len(pairs); i += 2 {
		if i > 0 {
			b.WriteString(", ")
		}
		pairs[i].render(b)
		b.WriteString(": ")
		pairs[i+1].render(b)
	}
	b.WriteByte('}')
}

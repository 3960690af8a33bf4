package resp

import (
	"bufio"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// readAll reads one reply. It returns an error if bytes are left.
func readAll(wire string) (Value, error) {
	r := bufio.NewReader(strings.NewReader(wire))
	v, err := ReadReply(r)
	if err == nil {
		if rest, _ := io.ReadAll(r); len(rest) > 0 {
			return v, io.ErrShortBuffer
		}
	}
	return v, err
}

func TestRepliesRenderWithTheirTypes(t *testing.T) {
	for wire, want := range map[string]string{
		"+OK\r\n": "+OK", "-ERR no\r\n": "-ERR no", "+\r\n": "+", ":-1\r\n": ":-1",
		"$4\r\nbulk\r\n": `"bulk"`, "$0\r\n\r\n": `""`, "$5\r\na\r\n\xff\"\r\n": `"a\r\n\xff\""`,
		"$-1\r\n": "(nil)", "*-1\r\n": "(nil array)", "_\r\n": "(null)",
		"*0\r\n": "[]", "*2\r\n:1\r\n*2\r\n$1\r\na\r\n$-1\r\n": `[:1, ["a", (nil)]]`,
		",1.5\r\n": ",1.5", ",inf\r\n": ",inf", "#t\r\n": "#t", "#f\r\n": "#f",
		"(12345678901234567890\r\n": "(12345678901234567890)",
		"=9\r\ntxt:words\r\n":       `=txt:"words"`, "!6\r\nERR no\r\n": `!"ERR no"`,
		"%2\r\n$1\r\nk\r\n:1\r\n+a\r\n~1\r\n:2\r\n": `%{"k": :1, +a: ~[:2]}`, "%0\r\n": "%{}",
		">2\r\n+message\r\n$1\r\nx\r\n":   `>[+message, "x"]`,
		"|1\r\n+ttl\r\n:3\r\n$1\r\nv\r\n": `|{+ttl: :3} "v"`,
	} {
		v, err := readAll(wire)
		require.NoError(t, err, "%q", wire)
		require.Equal(t, want, v.String(), "%q", wire)
	}
}

func TestWhatTheWriterWritesIsReadBack(t *testing.T) {
	var w Writer
	w.Proto = 3
	w.Map(2)
	w.BulkString("null")
	w.Null()
	w.Status("set")
	w.Set(2)
	w.Double(0.5)
	w.Bool(true)
	v, err := readAll(string(w.Buf))
	require.NoError(t, err)
	require.Equal(t, Value{Kind: '%', Elems: []Value{
		{Kind: '$', Str: "null"}, {Kind: '_', Null: true},
		{Kind: '+', Str: "set"}, {Kind: '~', Elems: []Value{{Kind: ',', Str: "0.5"}, {Kind: '#', Int: 1, Str: "t"}}},
	}}, v)
}

func TestBrokenRepliesAreErrors(t *testing.T) {
	_, err := readAll("")
	require.Equal(t, io.EOF, err, "the clean end between two replies")
	for _, wire := range []string{"+OK", "$3\r\nab", "$3\r\nabc", "*2\r\n:1\r\n", "%1\r\n:1\r\n", "*1\r\n"} {
		_, err := readAll(wire)
		require.Equal(t, io.ErrUnexpectedEOF, err, "%q", wire)
	}
	for wire, text := range map[string]string{
		"\r\n": "bad reply line", "+OK\n": "bad reply line", ":x\r\n": "bad reply line",
		"$3\r\nabcde": "announced, followed by",
		"?1\r\n":      "unknown reply type", "#1\r\n": "bad boolean", "*9223372036854775807\r\n": "elements announced",
		strings.Repeat("*1\r\n", 200): "nested too deeply",
	} {
		_, err := readAll(wire)
		require.ErrorContains(t, err, text, "%q", wire)
	}
}

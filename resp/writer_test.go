package resp

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func written(proto int, do func(w *Writer)) string {
	w := Writer{Proto: proto}
	do(&w)
	return string(w.Buf)
}

func TestRepliesTakeTheFormOfTheProtocol(t *testing.T) {
	for _, c := range []struct {
		name         string
		do           func(w *Writer)
		resp2, resp3 string
	}{
		{"int", func(w *Writer) { w.Int(7) }, ":7\r\n", ":7\r\n"},
		{"big int", func(w *Writer) { w.Int(math.MinInt64) }, ":-9223372036854775808\r\n", ":-9223372036854775808\r\n"},
		{"negative int", func(w *Writer) { w.Int(-1) }, ":-1\r\n", ":-1\r\n"},
		{"bulk", func(w *Writer) { w.Bulk([]byte("a\r\nb")) }, "$4\r\na\r\nb\r\n", "$4\r\na\r\nb\r\n"},
		{"empty bulk", func(w *Writer) { w.Bulk(nil) }, "$0\r\n\r\n", "$0\r\n\r\n"},
		{"bulk string", func(w *Writer) { w.BulkString(strings.Repeat("x", 12)) }, "$12\r\nxxxxxxxxxxxx\r\n",
			"$12\r\nxxxxxxxxxxxx\r\n"},
		{"bulk int", func(w *Writer) { w.BulkInt(-10) }, "$3\r\n-10\r\n", "$3\r\n-10\r\n"},
		{"status", func(w *Writer) { w.Status("a\nb\r\n") }, "+a b  \r\n", "+a b  \r\n"},
		{"error", func(w *Writer) { w.Error("\r\nERR a\r\nb\n") }, "-ERR a  b\r\n", "-ERR a  b\r\n"},
		{"empty error", func(w *Writer) { w.Error("\n") }, "-\r\n", "-\r\n"},
		{"ok", func(w *Writer) { w.OK() }, "+OK\r\n", "+OK\r\n"},
		{"null", func(w *Writer) { w.Null() }, "$-1\r\n", "_\r\n"},
		{"null array", func(w *Writer) { w.NullArray() }, "*-1\r\n", "_\r\n"},
		{"array", func(w *Writer) { w.Array(3) }, "*3\r\n", "*3\r\n"},
		{"array of many", func(w *Writer) { w.Array(1234) }, "*1234\r\n", "*1234\r\n"},
		{"map", func(w *Writer) { w.Map(5) }, "*10\r\n", "%5\r\n"},
		{"set", func(w *Writer) { w.Set(0) }, "*0\r\n", "~0\r\n"},
		{"push", func(w *Writer) { w.Push(99) }, "*99\r\n", ">99\r\n"},
		{"double", func(w *Writer) { w.Double(3.141) }, "$5\r\n3.141\r\n", ",3.141\r\n"},
		{"formatted double", func(w *Writer) { w.DoubleText([]byte("0.25")) }, "$4\r\n0.25\r\n", ",0.25\r\n"},
		{"infinity", func(w *Writer) { w.Double(math.Inf(-1)) }, "$4\r\n-inf\r\n", ",-inf\r\n"},
		{"true", func(w *Writer) { w.Bool(true) }, ":1\r\n", "#t\r\n"},
		{"false", func(w *Writer) { w.Bool(false) }, ":0\r\n", "#f\r\n"},
		{"big number", func(w *Writer) { w.BigNumber("1234567999999999999999999999999999999") },
			"$37\r\n1234567999999999999999999999999999999\r\n", "(1234567999999999999999999999999999999\r\n"},
		{"verbatim", func(w *Writer) { w.Verbatim("txt", "This is a verbatim\nstring") },
			"$25\r\nThis is a verbatim\nstring\r\n", "=29\r\ntxt:This is a verbatim\nstring\r\n"},
		{"verbatim of a short kind", func(w *Writer) { w.Verbatim("md", "a") }, "$1\r\na\r\n", "=5\r\nmd :a\r\n"},
		{"raw", func(w *Writer) { w.Raw([]byte(":1\r\n")) }, ":1\r\n", ":1\r\n"},
		{"deferred map", func(w *Writer) { m := w.Defer(); w.Int(1); w.OK(); w.EndMap(m, 1) }, "*2\r\n:1\r\n+OK\r\n",
			"%1\r\n:1\r\n+OK\r\n"},
		{"deferred set", func(w *Writer) { w.EndSet(w.Defer(), 0) }, "*0\r\n", "~0\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.resp2, written(2, c.do))
			require.Equal(t, c.resp2, written(0, c.do))
			require.Equal(t, c.resp3, written(3, c.do))
		})
	}
	require.Equal(t, "|2\r\n", written(3, func(w *Writer) { w.Attribute(2) }))
}

func TestDeferredCountsOfAnyWidthFrameTheirElements(t *testing.T) {
	for _, n := range []int{0, 1, 9, 10, 99, 100, 12345} {
		got := written(2, func(w *Writer) {
			w.OK()
			outer := w.Defer()
			w.Int(1)
			inner := w.Defer()
			for i := range n {
				w.Int(int64(i))
			}
			w.EndArray(inner, n)
			w.EndArray(outer, 2)
			w.Int(2)
		})
		want := written(2, func(w *Writer) {
			w.OK()
			w.Array(2)
			w.Int(1)
			w.Array(n)
			for i := range n {
				w.Int(int64(i))
			}
			w.Int(2)
		})
		require.Equal(t, want, got)
	}
}

package resp

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/redcon"
)

func pipeline(n int, args ...string) []byte {
	return []byte(strings.Repeat(frame(args...), n))
}

func TestReadingDoesNotAllocate(t *testing.T) {
	for name, input := range map[string][]byte{
		"one":           pipeline(1, "GET", "key:000000000001"),
		"pipeline":      pipeline(16, "SET", "key:000000000001", strings.Repeat("x", 200)),
		"many args":     pipeline(2, strings.Split(strings.Repeat("arg ", 300), " ")...),
		"plain inline":  []byte("SET key value\r\nPING\r\n"),
		"odd but legal": []byte("*1\rX$4\rXPINGXX*0\r\n"),
	} {
		var p Parser
		var b Batch
		half := len(input) / 2
		require.Zero(t, testing.AllocsPerRun(100, func() {
			b.Reset()
			if n, err := p.Parse(input, &b); n != len(input) || err != nil {
				t.Fatal(n, err)
			}
			b.Reset()
			n, err := p.Parse(input[:half], &b)
			if err != nil {
				t.Fatal(err)
			}
			if m, err := p.Parse(input[n:], &b); n+m != len(input) || err != nil {
				t.Fatal(n, m, err)
			}
		}), name)
	}
}

// A parser that starts over after each read would look at these arguments 180 times.
func TestManyArgumentsInSmallReadsAreScannedOnce(t *testing.T) {
	const count = 400_000
	input := []byte("*400000\r\n" + strings.Repeat("$1\r\na\r\n", count))
	var p Parser
	var b Batch
	for end := 16384; ; end += 16384 {
		end = min(end, len(input))
		n, err := p.Parse(input[:end], &b)
		require.NoError(t, err)
		if end == len(input) {
			require.Equal(t, len(input), n)
			break
		}
		require.Zero(t, n)
		require.Greater(t, p.seen, end-16, "what was understood is not read again")
		require.LessOrEqual(t, p.Mem(), 8*end)
		clear(input[9 : p.at-16]) // and it cannot be read again
	}
	require.Equal(t, 1, b.Len())
	require.Len(t, b.Args(0), count)
	require.Zero(t, p.Mem(), "room for so many is freed")
	b.Reset()
	require.Zero(t, cap(b.args))
}

func TestDeclaredLengthsCostNothing(t *testing.T) {
	for _, input := range []string{
		"*1048576\r\n", "*1048576\r\n$1\r\na\r\n", "*2\r\n$536870912\r\nab", "*1000\r\n$1\r\na\r\n",
	} {
		var p Parser
		var b Batch
		_, err := p.Parse([]byte(input), &b)
		require.NoError(t, err)
		require.LessOrEqual(t, cap(b.args), 8)
		require.LessOrEqual(t, cap(p.args), 8)
	}
}

func TestWritingDoesNotAllocate(t *testing.T) {
	for _, proto := range []int{2, 3} {
		w := Writer{Buf: make([]byte, 0, 4096), Proto: proto}
		value := bytes.Repeat([]byte("x"), 100)
		require.Zero(t, testing.AllocsPerRun(100, func() {
			w.Buf = w.Buf[:0]
			m := w.Defer()
			w.Int(5)
			w.Int(-123456789)
			w.Bulk(value)
			w.BulkString("text")
			w.BulkInt(1 << 40)
			w.Status("QUEUED")
			w.Error("ERR no\nsuch")
			w.OK()
			w.Null()
			w.NullArray()
			w.Array(3)
			w.Map(3)
			w.Set(30)
			w.Push(300)
			w.Double(0.1)
			w.Double(1e300)
			w.Double(17)
			w.Bool(true)
			w.BigNumber("123")
			w.Verbatim("txt", "hello")
			w.EndMap(m, 1234)
		}))
	}
}

func BenchmarkParse(b *testing.B) {
	value := strings.Repeat("x", 32)
	for _, c := range []struct {
		name  string
		input []byte
	}{
		{"GET/1", pipeline(1, "GET", "key:000000000001")},
		{"GET/16", pipeline(16, "GET", "key:000000000001")},
		{"SET/1", pipeline(1, "SET", "key:000000000001", value)},
		{"SET/16", pipeline(16, "SET", "key:000000000001", value)},
		{"LRANGE/16", pipeline(16, "LRANGE", "mylist", "0", "99")},
		{"MSET10/16", pipeline(16, strings.Fields("MSET "+strings.Repeat("key:000000000001 xxx ", 10))...)},
	} {
		b.Run(c.name, func(b *testing.B) {
			var p Parser
			var batch Batch
			b.SetBytes(int64(len(c.input)))
			for b.Loop() {
				batch.Reset()
				p.Parse(c.input, &batch)
			}
		})
		b.Run(c.name+"/redcon", func(b *testing.B) {
			var args [][]byte
			b.SetBytes(int64(len(c.input)))
			for b.Loop() {
				for rest := c.input; len(rest) > 0; {
					_, args, _, rest, _ = redcon.ReadNextCommand(rest, args[:0])
				}
			}
		})
	}
}

func BenchmarkResume(b *testing.B) {
	input := []byte("*400000\r\n" + strings.Repeat("$1\r\na\r\n", 400_000))
	for b.Loop() {
		var p Parser
		var batch Batch
		for end := 0; end < len(input); {
			end = min(end+16384, len(input))
			p.Parse(input[:end], &batch)
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	w := Writer{Buf: make([]byte, 0, 1<<20)}
	value := bytes.Repeat([]byte("x"), 32)
	for _, c := range []struct {
		name string
		do   func()
	}{
		{"Int 1", func() { w.Int(1) }},
		{"Int 12345", func() { w.Int(12345) }},
		{"Bulk 3", func() { w.Bulk(value[:3]) }},
		{"Bulk 3 redcon", func() { w.Buf = redcon.AppendBulk(w.Buf, value[:3]) }},
		{"Bulk 32", func() { w.Bulk(value) }},
		{"Bulk 32 redcon", func() { w.Buf = redcon.AppendBulk(w.Buf, value) }},
		{"BulkInt 12345", func() { w.BulkInt(12345) }},
		{"Array 3", func() { w.Array(3) }},
		{"Array 3 redcon", func() { w.Buf = redcon.AppendArray(w.Buf, 3) }},
		{"Array 100", func() { w.Array(100) }},
		{"OK", func() { w.OK() }},
		{"Null", func() { w.Null() }},
		{"Error", func() { w.Error("ERR value is not an integer or out of range") }},
		{"Double 0.1", func() { w.Double(0.1) }},
		{"Double 17", func() { w.Double(17) }},
	} {
		b.Run(fmt.Sprint(c.name), func(b *testing.B) {
			for b.Loop() {
				w.Buf = w.Buf[:0]
				for range 16 {
					c.do()
				}
			}
		})
	}
}

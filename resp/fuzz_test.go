package resp

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/redcon"
)

func addFrames(f *testing.F, add func(string)) {
	for _, s := range []string{
		"PING\r\n", frame("SET", "k", "v"), frame("") + frame("GET", "k") + "*1\r\n$3\r\nab", "*0\r\n*-1\r\n\r\nPING\n",
		"*1\r\n$-2\r\n", "$9223372036854775807\r\n", "*1\r\n$9223372036854775807\r\n", "*1\r\nx\r\n", "*a\r\n",
		"*1048576\r\n",
		`set "a\x00\n" 'b\''` + "\r\n", "set \"a\r\n", "ping\x00\r\n", "*1\rX$4\rXPINGXX", "*11\r\n$1\r\na\r\n",
		"*1\r\n$16385\r\n",
	} {
		add(s)
	}
}

func FuzzParserNeverPanics(f *testing.F) {
	addFrames(f, func(s string) { f.Add([]byte(s), false) })
	f.Fuzz(func(t *testing.T, input []byte, unauthenticated bool) {
		p := Parser{Limits: Limits{Unauthenticated: unauthenticated}}
		var b Batch
		before := slices.Clone(input)
		n, err := p.Parse(input, &b)
		require.True(t, n >= 0 && n <= len(input))
		require.Equal(t, before, input, "the input belongs to the caller")
		bytesHeld, args := 0, 0
		for i := range b.Len() {
			require.NotEmpty(t, b.Args(i))
			args += len(b.Args(i))
			for _, a := range b.Args(i) {
				bytesHeld += len(a)
			}
		}
		require.LessOrEqual(t, bytesHeld, n, "arguments are part of what was consumed")
		// Slices grow by doubling, from a few elements.
		require.LessOrEqual(t, cap(b.args)+cap(p.args), 2*len(input)+16, "%d arguments", args)
		require.LessOrEqual(t, cap(b.ends), 2*len(input)+16)
		m, again := p.Parse(input[n:], &Batch{})
		if !unauthenticated {
			require.Zero(t, m, "every complete command was taken the first time")
			require.Equal(t, err, again, "nothing has changed")
		}
	})
}

func FuzzChunkingGivesSameCommands(f *testing.F) {
	addFrames(f, func(s string) { f.Add([]byte(s), uint8(1), uint8(3)) })
	f.Fuzz(func(t *testing.T, input []byte, first, step uint8) {
		limits := Limits{MaxBulk: 300, MaxArgs: 100, MaxInline: 50}
		want, rest, wantErr := feed(limits, string(input), 1<<30)
		p := Parser{Limits: limits}
		var b Batch
		var got []string
		var err error
		var buf []byte
		left := input
		for size := int(first) + 1; len(left) > 0 && err == nil; size = int(step) + 1 {
			n := min(size, len(left))
			buf = append(bytes.Clone(buf), left[:n]...)
			left = left[n:]
			b.Reset()
			n, err = p.Parse(buf, &b)
			got = append(got, words(&b)...)
			clear(buf[:n]) // the parser may not need consumed bytes
			buf = buf[n:]
		}
		require.Equal(t, want, got)
		require.Equal(t, wantErr, err)
		if err == nil {
			require.Len(t, buf, rest)
		}
	})
}

// Each line of input is an argument, and an empty line ends a command. So all frames are well-formed.
func FuzzAgreesWithRedcon(f *testing.F) {
	f.Add([]byte("SET\nk\nv\n\nGET\nk"), 0)
	f.Add([]byte("PING\n\n\n\nECHO\n\x00\r\xff"), 7)
	f.Add(bytes.Repeat([]byte("MSET\nkkkkkkkkkk\nv\n"), 40), 100)
	f.Fuzz(func(t *testing.T, input []byte, cut int) {
		var wire []byte
		for _, command := range bytes.Split(input, []byte("\n\n")) {
			args := bytes.Split(command, []byte("\n"))
			wire = redcon.AppendArray(wire, len(args))
			for _, a := range args {
				wire = redcon.AppendBulk(wire, a)
			}
		}
		var p Parser
		var b Batch
		cut = max(0, min(cut, len(wire)))
		n, err := p.Parse(wire[:cut], &b)
		require.NoError(t, err)
		m, err := p.Parse(wire[n:], &b)
		require.NoError(t, err)
		require.Equal(t, len(wire), n+m)
		i := 0
		for rest := wire; len(rest) > 0; i++ {
			complete, args, _, after, err := redcon.ReadNextCommand(rest, nil)
			require.True(t, complete)
			require.NoError(t, err)
			require.Equal(t, len(args), len(b.Args(i)))
			for k := range args {
				require.Equal(t, string(args[k]), string(b.Args(i)[k]))
			}
			rest = after
		}
		require.Equal(t, i, b.Len())
	})
}

func FuzzReadReplyEndsInAValueOrAnError(f *testing.F) {
	for _, s := range []string{"+OK\r\n", "*2\r\n:1\r\n$-1\r\n", "%1\r\n+a\r\n,1.5\r\n", "|1\r\n+a\r\n:1\r\n_\r\n",
		"=5\r\ntxt:a\r\n", "*-1\r\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		v, err := readAll(string(input))
		if err == nil {
			require.NotEmpty(t, v.String())
		}
	})
}

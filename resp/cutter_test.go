package resp

import (
	"bufio"
	"bytes"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// cut is a reply that a Cutter has found: where it ends in the stream, and its kind.
type cut struct {
	end  int
	kind byte
}

// cuts gives a stream to a Cutter in pieces. Each piece has size bytes more than the one before, beginning with first.
func cuts(wire []byte, first, more int) (found []cut, inside bool, err error) {
	var c Cutter
	at := 0
	for size := first; at < len(wire); size += more {
		piece := bytes.Clone(wire[at:min(at+size, len(wire))])
		for len(piece) > 0 {
			n, kind, err := c.Cut(piece)
			at += n
			if err != nil {
				return found, c.Inside() != 0, err
			}
			if kind != 0 {
				found = append(found, cut{at, kind})
			}
			clear(piece[:n]) // the Cutter may not need them again
			piece = piece[n:]
		}
	}
	return found, c.Inside() != 0, nil
}

// replyStreams are streams of replies, each with the kinds of its replies.
func replyStreams() map[string]string {
	return map[string]string{
		"+OK\r\n-ERR no\r\n+\r\n:-1\r\n": "+-+:", "+a\rb\r\n": "+",
		"$5\r\na\r\n\xff\"\r\n$0\r\n\r\n$-1\r\n*-1\r\n_\r\n":                              "$$$*_",
		"*0\r\n*2\r\n:1\r\n*2\r\n$1\r\na\r\n$-1\r\n:7\r\n":                                "**:",
		",1.5\r\n,inf\r\n#t\r\n#f\r\n":                                                    ",,##",
		"(-12345678901234567890123\r\n":                                                   "(",
		"=9\r\ntxt:words\r\n!6\r\nERR no\r\n":                                             "=!",
		"%2\r\n$1\r\nk\r\n:1\r\n+a\r\n~1\r\n:2\r\n%0\r\n":                                 "%%",
		">2\r\n+message\r\n$1\r\nx\r\n+OK\r\n":                                            ">+",
		"|1\r\n+ttl\r\n:3\r\n$1\r\nv\r\n|0\r\n+OK\r\n":                                    "$+",
		"|1\r\n+a\r\n|1\r\n+b\r\n:1\r\n:2\r\n|0\r\n*1\r\n|1\r\n+c\r\n:1\r\n:2\r\n+OK\r\n": "*+",
		// RESP3 streams
		"$?\r\n;4\r\nHell\r\n;1\r\no\r\n;0\r\n+OK\r\n$?\r\n;0\r\n":   "$+$",
		"*?\r\n:1\r\n*?\r\n.\r\n$1\r\na\r\n.\r\n:7\r\n":              "*:",
		"%?\r\n+a\r\n:1\r\n.\r\n~?\r\n+a\r\n.\r\n%?\r\n.\r\n":        "%~%",
		"*2\r\n$?\r\n;1\r\na\r\n;0\r\n%?\r\n+a\r\n*0\r\n.\r\n:1\r\n": "*:",
	}
}

func TestACutterFindsTheEndOfEachReply(t *testing.T) {
	for wire, want := range replyStreams() {
		found, inside, err := cuts([]byte(wire), len(wire), 0)
		require.NoError(t, err, "%q", wire)
		require.False(t, inside, "%q", wire)
		kinds := ""
		for _, one := range found {
			kinds += string(one.kind)
		}
		require.Equal(t, want, kinds, "%q", wire)
		require.Equal(t, len(wire), found[len(found)-1].end, "%q", wire)
		for first := range len(wire) {
			again, _, err := cuts([]byte(wire), first+1, 1)
			require.NoError(t, err, "%q", wire)
			require.Equal(t, found, again, "%q in pieces from %d", wire, first+1)
		}
	}
}

func TestACutterKnowsThatAReplyHasArrivedInPart(t *testing.T) {
	for _, wire := range []string{"+", "+OK\r", "$3\r\nab", "$3\r\nabc\r", "*1\r\n", "|1\r\n+a\r\n:1\r\n",
		"$?\r\n;1\r\na\r\n",
		"*?\r\n:1\r\n", ">1\r\n"} {
		found, inside, err := cuts([]byte(wire), 1, 0)
		require.NoError(t, err, "%q", wire)
		require.Empty(t, found, "%q", wire)
		require.True(t, inside, "%q", wire)
	}
}

func TestACutterRefusesWhatIsNoReply(t *testing.T) {
	for wire, text := range map[string]string{
		"\r\n": "unknown reply type", "?1\r\n": "unknown reply type", "HTTP/1.1 400\r\n": "unknown reply type",
		"+OK\n": "ends without", ":x\r\n": "bad reply line", ":\r\n": "bad reply line", ":1\r2": "bad reply line",
		":1\n": "bad reply line", "$123456789012345678901": "bad reply line", "#1\r\n": "bad reply line",
		"$3\r\nabcde": "longer than announced", "$3\r\nabc\rx": "longer than announced",
		"*9223372036854775807\r\n": "elements announced",
		";1\r\n":                   "at the wrong place", ".\r\n": "at the wrong place", "*1\r\n.\r\n": "at the wrong place",
		"*?\r\n;1\r\n": "at the wrong place", "$?\r\n:1\r\n": "at the wrong place", "$?\r\n.\r\n": "at the wrong place",
		"$?\r\n;-1\r\n": "bad reply line", "%?\r\n:1\r\n.\r\n": "at the wrong place", "*?\r\n.x\r\n": "bad reply line",
		">?\r\n": "bad reply line", "|?\r\n": "bad reply line",
	} {
		_, _, err := cuts([]byte(wire), len(wire), 0)
		require.ErrorContains(t, err, text, "%q", wire)
		_, _, again := cuts([]byte(wire), 1, 0)
		require.Equal(t, err, again, "%q", wire)
	}
}

func TestTheDepthOfAReplyIsBounded(t *testing.T) {
	for _, head := range []string{"*1\r\n", "%?\r\n", "|1\r\n", "*?\r\n", ">1\r\n"} {
		_, _, err := cuts([]byte(strings.Repeat(head, 10_000)), 1<<10, 0)
		require.ErrorContains(t, err, "nested too deeply", "%q", head)
	}
	const lua = 5000 // no script of Redis replies with more
	found, _, err := cuts([]byte(strings.Repeat("*1\r\n", lua)+":1\r\n+OK\r\n"), 1<<10, 0)
	require.NoError(t, err)
	require.Equal(t, []cut{{4*lua + 4, '*'}, {4*lua + 9, '+'}}, found)
}

func TestACutterHoldsNothingOfALargeReply(t *testing.T) {
	piece := bytes.Repeat([]byte("x"), 1<<20)
	var c Cutter
	got := testing.AllocsPerRun(1, func() {
		_, _, err := c.Cut([]byte("*1\r\n$1073741824\r\n"))
		require.NoError(t, err)
		for range 1 << 10 {
			n, kind, err := c.Cut(piece)
			require.True(t, n == len(piece) && kind == 0 && err == nil)
		}
		n, kind, err := c.Cut([]byte("\r\n:1\r\n"))
		require.NoError(t, err)
		require.Equal(t, 2, n)
		require.Equal(t, byte('*'), kind)
	})
	require.Less(t, got, 50.0)
}

// ReadReply says what a reply is, as far as it knows it.
func FuzzACutterAgreesWithReadReply(f *testing.F) {
	for wire := range replyStreams() {
		f.Add([]byte(wire))
	}
	otherwise := regexp.MustCompile(`[-:$=!*~>%|](\+|-?0[0-9]|-0)`) // numbers that Redis does not write
	f.Fuzz(func(t *testing.T, input []byte) {
		left := bytes.NewReader(input)
		r := bufio.NewReader(left)
		var c Cutter
		for at := 0; at < len(input); {
			_, theirs := ReadReply(r)
			n, kind, ours := c.Cut(input[at:])
			end := len(input) - left.Len() - r.Buffered()
			switch {
			case kind != 0 && theirs == nil:
				require.Equal(t, end, at+n)
			case kind != 0:
				known := bytes.Contains(input[at:at+n], []byte("?\r\n")) || bytes.Count(input[at:at+n], []byte("1\r\n")) >= maxDepth
				require.True(t, known, "only the Cutter finds a reply: %v", theirs)
				return
			case theirs == nil:
				require.Error(t, ours)
				require.Regexp(t, otherwise, string(input[at:end]))
				return
			case ours == nil:
				known := theirs == io.EOF || theirs == io.ErrUnexpectedEOF || bytes.Contains(input[at:], []byte("?\r\n"))
				require.True(t, known || bytes.Count(input[at:], []byte("\n")) >= maxDepth, "%v", theirs)
				return
			default:
				return
			}
			at += n
		}
	})
}

func FuzzCuttingInPiecesGivesTheSameReplies(f *testing.F) {
	for wire := range replyStreams() {
		f.Add([]byte(wire), uint8(1), uint8(0))
		f.Add([]byte(wire), uint8(3), uint8(2))
	}
	f.Fuzz(func(t *testing.T, input []byte, first, more uint8) {
		want, inside, wantErr := cuts(input, len(input), 0)
		got, insideToo, err := cuts(input, int(first)+1, int(more))
		require.Equal(t, want, got)
		require.Equal(t, wantErr, err)
		require.Equal(t, inside, insideToo)
	})
}

func BenchmarkACutter(b *testing.B) {
	wire := bytes.Repeat([]byte("+OK\r\n$3\r\nabc\r\n:1\r\n*2\r\n$1\r\na\r\n:2\r\n"), 100)
	b.SetBytes(int64(len(wire)))
	b.ReportAllocs()
	for b.Loop() {
		var c Cutter
		for at := 0; at < len(wire); {
			n, _, err := c.Cut(wire[at:])
			if err != nil {
				b.Fatal(err)
			}
			at += n
		}
	}
}

package respclient

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/resp"
)

// pair is a client, and the server's end of its connection.
func pair(t *testing.T) (*Conn, net.Conn) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	c, err := Dial(l.Addr().String())
	require.NoError(t, err)
	server, err := l.Accept()
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = c.Close()
		_ = server.Close()
	})
	return c, server
}

// answer takes a request of n bytes and sends a reply. The channel gets what it took.
func answer(server net.Conn, n int, reply string) <-chan string {
	took := make(chan string, 1)
	go func() {
		request := make([]byte, n)
		n, _ := io.ReadFull(server, request)
		_, _ = io.WriteString(server, reply)
		took <- string(request[:n])
	}()
	return took
}

func TestDoSendsARequestAndReadsItsReply(t *testing.T) {
	c, server := pair(t)
	c.Limit = time.Minute
	const request = "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n"
	took := answer(server, len(request), "$1\r\nv\r\n-ERR no\r\n")
	v, err := c.Do("GET", "k")
	require.NoError(t, err)
	require.Equal(t, request, <-took)
	require.Equal(t, "v", v.Str)
	v, err = c.Read()
	require.NoError(t, err, "an error reply is a reply")
	require.Equal(t, resp.Value{Kind: '-', Str: "ERR no"}, v)
}

func TestTheEndOfTheConnectionIsEOFBetweenRepliesOnly(t *testing.T) {
	for sent, want := range map[string]error{"": io.EOF, "+OK\r\n$5\r\nhel": io.ErrUnexpectedEOF} {
		c, server := pair(t)
		answer(server, 0, sent)
		if sent != "" {
			_, err := c.Read()
			require.NoError(t, err)
		}
		require.NoError(t, server.(*net.TCPConn).CloseWrite())
		_, err := c.Read()
		require.ErrorIs(t, err, want)
	}
}

func TestALimitEndsTheWait(t *testing.T) {
	c, _ := pair(t)
	c.Limit = time.Millisecond
	_, err := c.Read()
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	_, _, err = c.Skim()
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	for err = nil; err == nil; { // nobody reads it
		err = c.Send(make([]byte, 1<<20))
	}
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
}

func TestWithoutALimitDeadlinesAreTheCallers(t *testing.T) {
	c, _ := pair(t)
	require.NoError(t, c.Net.SetReadDeadline(time.Unix(1, 0)))
	_, err := c.Read()
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
}

func TestALargeArgumentIsSentInPieces(t *testing.T) {
	for _, size := range []int{0, 1, 1 << 20, 3<<20 + 7} {
		c, server := pair(t)
		want := string(resp.AppendRequest(nil, "SET", "k", strings.Repeat("x", size)))
		took := answer(server, len(want), "+OK\r\n")
		words := []string{"SET", "k", "untouched"}[:2]
		require.NoError(t, c.SendLarge(size, words...))
		require.True(t, want == <-took, "%d bytes", size)
		require.Equal(t, "untouched", words[:3][2], "the caller's words are not written to")
		v, err := c.Read()
		require.NoError(t, err)
		require.Equal(t, "OK", v.Str)
	}
}

func TestArriveReturnsWhenTheServersSocketHasAll(t *testing.T) {
	c, server := pair(t)
	sent := make([]byte, 10_000)
	require.NoError(t, c.Send(sent))
	require.NoError(t, c.Arrive())
	require.NoError(t, server.SetReadDeadline(time.Now().Add(time.Minute)))
	n, err := io.ReadFull(server, sent)
	require.NoError(t, err)
	require.Equal(t, len(sent), n)
	one, other := net.Pipe()
	defer one.Close()
	defer other.Close()
	require.ErrorContains(t, New(one, 16).Arrive(), "only TCP")
}

func TestSkimReadsOneReplyToItsEnd(t *testing.T) {
	for raw, want := range map[string]string{
		"+OK\r\n":                         "+OK",
		"-ERR no\r\n":                     "-ERR no",
		"$3\r\na\r\n\r\n":                 "$a\r\n",
		"$-1\r\n":                         "$",
		"*-1\r\n":                         "*-1",
		"%-1\r\n":                         "%-1",
		"*2\r\n*1\r\n:1\r\n$0\r\n\r\n":    "*2",
		"%1\r\n+a\r\n*1\r\n:1\r\n":        "%1",
		">2\r\n$1\r\na\r\n~1\r\n_\r\n":    ">2",
		"!6\r\nERR no\r\n":                "!ERR no",
		"$20000\r\n" + x(20_000) + "\r\n": "$" + x(skimmed),
	} {
		c := &Conn{In: bufio.NewReader(strings.NewReader(raw + ":7\r\n"))}
		kind, text, err := c.Skim()
		require.NoError(t, err, "%.20q", raw)
		require.Equal(t, want, string(kind)+text, "%.20q", raw)
		kind, text, err = c.Skim()
		require.NoError(t, err, "%.20q", raw)
		require.Equal(t, ":7", string(kind)+text, "%.20q", raw)
		_, _, err = c.Skim()
		require.ErrorIs(t, err, io.EOF)
	}
}

func TestSkimReportsAReplyThatEndsEarly(t *testing.T) {
	for _, raw := range []string{"*2\r\n:1\r\n", "$3\r\na", "$20000\r\n" + x(18_000), "+O"} {
		c := &Conn{In: bufio.NewReader(strings.NewReader(raw))}
		_, _, err := c.Skim()
		require.True(t, errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF), "%.20q: %v", raw, err)
	}
}

func TestReadingManyRepliesAllocatesOnlyTheirText(t *testing.T) {
	c := &Conn{In: bufio.NewReader(strings.NewReader(strings.Repeat(":1\r\n", 200)))}
	got := testing.AllocsPerRun(100, func() {
		if _, err := c.Read(); err != nil {
			panic(fmt.Sprint("reading a reply: ", err))
		}
	})
	require.LessOrEqual(t, got, 1.0, "the line")
}

func x(n int) string { return strings.Repeat("x", n) }

package node_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

// follower is a replica of a test. It keeps no data.
type follower struct {
	t *testing.T
	net.Conn
	r *bufio.Reader
}

func newFollower(t *testing.T, addr string) *follower {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	return &follower{t, conn, bufio.NewReader(conn)}
}

func (f *follower) send(args ...string) {
	f.t.Helper()
	_, err := f.Write(resp.AppendRequest(nil, args...))
	require.NoError(f.t, err)
}

// line reads a line, but for those that only say that the master is there.
func (f *follower) line() string {
	f.t.Helper()
	for {
		line, err := f.r.ReadString('\n')
		require.NoError(f.t, err)
		if line != "\n" {
			return strings.TrimSuffix(line, "\r\n")
		}
	}
}

func (f *follower) ask(args ...string) string {
	f.t.Helper()
	f.send(args...)
	return f.line()
}

// bytes reads n bytes.
func (f *follower) bytes(n int) string {
	f.t.Helper()
	b := make([]byte, n)
	_, err := io.ReadFull(f.r, b)
	require.NoError(f.t, err)
	return string(b)
}

// keys reads the file of all keys, with a mark or a length.
func (f *follower) keys() string {
	f.t.Helper()
	head := f.line()
	if mark, isMark := strings.CutPrefix(head, "$EOF:"); isMark {
		require.Len(f.t, mark, 40)
		return strings.TrimSuffix(f.until(mark), mark)
	}
	n, err := strconv.Atoi(strings.TrimPrefix(head, "$"))
	require.NoError(f.t, err, head)
	return f.bytes(n)
}

// keysFor says a version, asks for all keys and reads them.
func (f *follower) keysFor(version string) string {
	f.t.Helper()
	if version != "" {
		require.Equal(f.t, "+OK", f.ask("REPLCONF", "version", version))
	}
	f.send("SYNC")
	return f.keys()
}

// until reads up to the end of a text.
func (f *follower) until(end string) string {
	f.t.Helper()
	var all []byte
	for !strings.HasSuffix(string(all[max(0, len(all)-len(end)):]), end) {
		more, err := f.r.ReadBytes(end[len(end)-1])
		all = append(all, more...)
		require.NoError(f.t, err, "%q", all)
	}
	return string(all)
}

// sync gets all keys and then the stream, and returns its ID and offset.
func (f *follower) sync() (id string, offset int) {
	f.t.Helper()
	require.Equal(f.t, "+OK", f.ask("REPLCONF", "listening-port", "7777"))
	require.Equal(f.t, "+OK", f.ask("REPLCONF", "capa", "eof", "capa", "psync2"))
	words := strings.Fields(f.ask("PSYNC", "?", "-1"))
	require.Len(f.t, words, 3, "%v", words)
	require.Equal(f.t, "+FULLRESYNC", words[0])
	offset, err := strconv.Atoi(words[2])
	require.NoError(f.t, err)
	f.keys()
	watcher := redistest.Dial(f.t, f.RemoteAddr().String())
	defer watcher.Close()
	redistest.Until(f.t, func() bool { // a Redis whose child has not ended yet would miss the offset
		return strings.Contains(infoField(watcher, "slave0")+infoField(watcher, "slave1"), "port=7777,state=online")
	})
	f.ack(offset)
	return words[1], offset
}

func (f *follower) ack(offset int) { f.send("REPLCONF", "ACK", fmt.Sprint(offset)) }

// ended reads until the master has closed the connection.
func (f *follower) ended() {
	f.t.Helper()
	_, err := io.Copy(io.Discard, f.r)
	if err != nil {
		require.ErrorContains(f.t, err, "reset")
	}
}

// These bytes come when time passes.
func withoutPings(stream string) string {
	return strings.ReplaceAll(stream, "*1\r\n$4\r\nPING\r\n", "")
}

package luaeval

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

// oracle is a connection to a real redis-server. It returns replies as bytes.
type oracle struct {
	t   testing.TB
	c   *redistest.Conn
	r   *bufio.Reader
	raw bytes.Buffer
}

func newOracle(t testing.TB, s *redistest.Server, proto string) *oracle {
	o := &oracle{t: t, c: redistest.Dial(t, s.Addr)}
	o.r = bufio.NewReader(io.TeeReader(o.c.Net, &o.raw))
	o.do("HELLO", proto)
	return o
}

func (o *oracle) do(args ...string) string {
	o.t.Helper()
	o.raw.Reset()
	require.NoError(o.t, o.c.Send(resp.AppendRequest(nil, args...)))
	_, err := resp.ReadReply(o.r)
	require.NoError(o.t, err, "%q", args)
	return o.raw.String()
}

// sides are the engine and the server to compare it with. Commands of the engine's scripts run on
// that server.
type sides struct {
	e      *Engine
	eval   map[int]*oracle // EVAL, by protocol
	direct map[int]*oracle // commands of the engine's scripts, by protocol
}

func newSides(t testing.TB) *sides {
	server := redistest.Start(t)
	s := &sides{eval: map[int]*oracle{}, direct: map[int]*oracle{}}
	for _, proto := range []int{2, 3} {
		s.eval[proto] = newOracle(t, server, strconv.Itoa(proto))
		s.direct[proto] = newOracle(t, server, strconv.Itoa(proto))
	}
	s.e = New(Options{Version: "7.0.15", VersionNum: 0x07000f, Call: func(args [][]byte, w *resp.Writer) {
		words := make([]string, len(args))
		for i, arg := range args {
			words[i] = string(arg)
		}
		w.Raw([]byte(s.direct[w.Proto].do(words...)))
	}})
	return s
}

// ours returns the engine's answer to EVAL.
func (s *sides) ours(proto int, script string, keys []string, args ...string) string {
	return evalOn(s.e, proto, script, keys, args...)
}

func evalOn(e *Engine, proto int, script string, keys []string, args ...string) string {
	w := resp.Writer{Proto: proto}
	loaded, err := e.Load([]byte(script))
	if err != nil {
		w.Error(err.Error())
		return string(w.Buf)
	}
	e.Run(loaded, words(keys), words(args), &w)
	return string(w.Buf)
}

func words(list []string) [][]byte {
	out := make([][]byte, len(list))
	for i, s := range list {
		out[i] = []byte(s)
	}
	return out
}

func (s *sides) theirs(proto int, script string, keys []string, args ...string) string {
	command := append([]string{"EVAL", script, strconv.Itoa(len(keys))}, keys...)
	return s.eval[proto].do(append(command, args...)...)
}

// same compares the answers of both sides in both protocols.
func (s *sides) same(t *testing.T, script string, keys []string, args ...string) {
	t.Helper()
	for _, proto := range []int{2, 3} {
		s.direct[2].do("FLUSHALL")
		theirs := s.theirs(proto, script, keys, args...)
		s.direct[2].do("FLUSHALL")
		ours := s.ours(proto, script, keys, args...)
		if theirs != ours {
			t.Errorf("RESP%d\n%s\nredis:  %q\nengine: %q", proto, script, theirs, ours)
		}
		s.direct[2].do("FLUSHALL")
		if named := s.named(proto, script, keys, args...); named != ours {
			t.Errorf("RESP%d\n%s\nengine: %q\nwith globals by name: %q", proto, script, ours, named)
		}
	}
}

// named is ours, but all globals of the script are found by name.
func (s *sides) named(proto int, script string, keys []string, args ...string) string {
	const reach = "if _G then end "
	if strings.HasPrefix(script, "#!") {
		return s.ours(proto, script, keys, args...)
	}
	reply := s.ours(proto, reach+script, keys, args...)
	return strings.ReplaceAll(reply, sha1hex([]byte(reach+script)), sha1hex([]byte(script)))
}

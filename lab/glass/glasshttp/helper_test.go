package glasshttp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/course/claims"
	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/node"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/server/glass"
)

// site is a server with a page, in the process of the test.
type site struct {
	t       testing.TB
	masters node.Nodes
	url     string
}

// start runs a server with args, and its page.
func start(t testing.TB, args ...string) *site {
	t.Helper()
	args = append([]string{"--port", "0", "--bind", "127.0.0.1", "--save", "", "--lab", "yes", "--seed", "1",
		"--watch", "127.0.0.1:0"}, args...)
	cfg, err := config.Parse(args, nil)
	require.NoError(t, err)
	masters, err := node.NewNodes(cfg, func(int) server.Log { return func(byte, string, ...any) {} })
	require.NoError(t, err)
	o := Options{
		Ask: func(ctx context.Context, n int, args []string) (resp.Value, error) {
			return masters.Do(ctx, n, args...)
		},
		Claims:   claims.List(),
		RunClaim: func(ctx context.Context, n int) (any, error) { return claims.Run(ctx, n) },
	}
	for i, addr := range masters.Addrs() {
		o.Masters = append(o.Masters, Master{View: glass.ViewOf(masters[i]), Addr: addr, Name: masters[i].NameClient})
	}
	s := New(o)
	h := httptest.NewServer(s.Handler())
	ended := make(chan error, 1)
	go func() { ended <- masters.Run() }()
	t.Cleanup(func() {
		s.Close()
		masters.Stop()
		require.NoError(t, <-ended)
		h.Close()
	})
	return &site{t: t, masters: masters, url: h.URL}
}

// post sends a body and returns the result, or the error.
func (s *site) post(path, body string) (result string, fault string) {
	s.t.Helper()
	r, err := http.Post(s.url+path, "application/json", strings.NewReader(body))
	require.NoError(s.t, err)
	defer r.Body.Close()
	var reply struct {
		OK     bool
		Result json.RawMessage
		Error  string
	}
	require.NoError(s.t, json.NewDecoder(r.Body).Decode(&reply))
	require.Equal(s.t, r.StatusCode == http.StatusOK, reply.OK)
	return string(reply.Result), reply.Error
}

// must is post that fails the test for an error.
func (s *site) must(path, body string) string {
	s.t.Helper()
	result, fault := s.post(path, body)
	require.Empty(s.t, fault, "%s %s", path, body)
	return result
}

// feed is an open stream of events.
type feed struct {
	t    testing.TB
	r    *bufio.Reader
	body io.Closer
}

// listen opens /watch/events. It is closed when the test ends.
func (s *site) listen(query string) *feed {
	s.t.Helper()
	r, err := http.Get(s.url + "/watch/events" + query)
	require.NoError(s.t, err)
	require.Equal(s.t, "text/event-stream", r.Header.Get("Content-Type"))
	s.t.Cleanup(func() { r.Body.Close() })
	return &feed{t: s.t, r: bufio.NewReader(r.Body), body: r.Body}
}

// next returns the data of the next message of a kind.
func (f *feed) next(kind string) []byte {
	f.t.Helper()
	for {
		event, data := f.message()
		if event == kind {
			return data
		}
	}
}

func (f *feed) message() (kind string, data []byte) {
	f.t.Helper()
	for {
		line, err := f.r.ReadBytes('\n')
		require.NoError(f.t, err)
		line = bytes.TrimSuffix(line, []byte("\n"))
		switch name, value, _ := bytes.Cut(line, []byte(": ")); string(name) {
		case "event":
			kind = string(value)
		case "data":
			data = value
		case "":
			return kind, data
		}
	}
}

// until reads messages about the page's clients until one has received a text.
func (f *feed) until(name, got string) {
	f.t.Helper()
	for all := ""; !strings.Contains(all, got); {
		var m news
		require.NoError(f.t, json.Unmarshal(f.next("cl"), &m))
		if m.Name == name {
			all += m.Got + m.Closed
		}
	}
}

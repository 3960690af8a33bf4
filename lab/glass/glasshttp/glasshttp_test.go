package glasshttp

import (
	"bytes"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// get asks for a path as a browser would, whose address line has host.
func get(h http.Handler, path, host, origin string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.URL.Path, r.Host = path, host
	if origin != "" {
		r.Header.Set("Origin", origin)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

const here = "127.0.0.1:7379"

func TestEveryFileOfThePageIsServedWithItsTypeAndThePolicy(t *testing.T) {
	h := New(Options{}).Handler()
	served := 0
	require.NoError(t, fs.WalkDir(page, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		served++
		w := get(h, "/"+strings.TrimPrefix(path, "page/"), here, "")
		require.Equal(t, http.StatusOK, w.Code, path)
		want, err := page.ReadFile(path)
		require.True(t, bytes.Equal(want, w.Body.Bytes()), path)
		require.NotEmpty(t, w.Header().Get("Content-Type"), path)
		require.Equal(t, policy, w.Header().Get("Content-Security-Policy"))
		return err
	}))
	require.NotZero(t, served)
}

func TestNothingButTheFilesOfThePageIsServed(t *testing.T) {
	h := New(Options{}).Handler()
	for _, path := range []string{"/page", "/text", "/text/",
		"/recordings", "/recordings/", "/recordings/../glasshttp.go",
		"/glasshttp.go", "/../glasshttp.go", "/%2e%2e/glasshttp.go",
		"/page/../../glasshttp.go", "/watch", "/watch/", "/nothing"} {
		require.NotEqual(t, http.StatusOK, get(h, path, here, "").Code, path)
	}
}

func TestOtherSitesAndNamesAreRefusedEverywhere(t *testing.T) {
	h := New(Options{Masters: make([]Master, 1)}).Handler()
	for _, path := range []string{"/", "/icon.svg", "/watch/events", "/watch/clients", "/watch/load", "/watch/claims",
		"/watch/sources", "/lab/step", "/lab"} {
		require.Equal(t, http.StatusForbidden, get(h, path, "rebound.example:7379", "").Code, path)
		require.Equal(t, http.StatusForbidden, get(h, path, here, "http://evil.example").Code, path)
		require.Equal(t, http.StatusForbidden, get(h, path, here, "http://127.0.0.1:8000").Code, path)
	}
}

func TestAStreamBeginsWithHello(t *testing.T) {
	s := start(t, "--masters", "2")
	require.Contains(t, string(s.listen("?from=0&master=2").next("hello")), `"v":1`)
	for query, want := range map[string]string{
		"?from=x":   "ERR from is a number from 0 to 9007199254740992, not 'x'",
		"?from=-1":  "ERR from is a number from 0 to 9007199254740992, not '-1'",
		"?master=3": "ERR master is a number from 1 to 2, not '3'",
		"?master=0": "ERR master is a number from 1 to 2, not '0'",
	} {
		r, err := http.Get(s.url + "/watch/events" + query)
		require.NoError(t, err)
		text, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		r.Body.Close()
		require.Equal(t, http.StatusBadRequest, r.StatusCode)
		require.Contains(t, string(text), want)
	}
}

func TestThereAreAtMostSixteenStreams(t *testing.T) {
	s := start(t)
	var feeds []*feed
	for range maxStreams {
		f := s.listen("")
		f.next("hello")
		feeds = append(feeds, f)
	}
	r, err := http.Get(s.url + "/watch/events")
	require.NoError(t, err)
	r.Body.Close()
	require.Equal(t, http.StatusBadRequest, r.StatusCode)
	feeds[0].body.Close()
	for { // until the server has seen that it has left
		r, err := http.Get(s.url + "/watch/events")
		require.NoError(t, err)
		r.Body.Close()
		if r.StatusCode == http.StatusOK {
			return
		}
	}
}

// A reader that reads nothing for a while misses events, and is told how many. The server does not wait
// for it.
func TestASlowReaderIsToldHowMuchItHasMissed(t *testing.T) {
	s := start(t)
	f := s.listen("")
	f.next("hello")
	s.manyEvents()
	require.Regexp(t, `^{"lost":[1-9]\d*}$`, string(f.next("gap")))
}

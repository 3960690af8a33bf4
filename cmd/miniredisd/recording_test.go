package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

const someRecording = "../../lab/glass/glasshttp/recordings/one-command.loop.gz"

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	r, err := http.Get(url)
	require.NoError(t, err)
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return r.StatusCode, string(text)
}

func TestWatchShowsARecordingUntilItIsStopped(t *testing.T) {
	text, err := os.ReadFile(someRecording)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "my run.loop.gz")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	p := start(t, "miniredisd", "", "watch", path)
	line := p.waitFor("The recording is at http://127.0.0.1:")
	url, _, _ := strings.Cut(line[strings.Index(line, "http://"):], " ")
	page, query, found := strings.Cut(url, "?")
	require.True(t, found)
	require.Equal(t, "recording=my+run", query)
	status, html := get(t, url)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, html, "<html")
	status, body := get(t, page+"recordings/my%20run.loop.gz")
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, string(text), body)
	status, _ = get(t, page+"watch/events")
	require.Equal(t, http.StatusNotFound, status, "there is no server behind it")

	r, err := http.NewRequest(http.MethodGet, page, nil)
	require.NoError(t, err)
	r.Host = "evil.example"
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	answer.Body.Close()
	require.Equal(t, http.StatusForbidden, answer.StatusCode)

	require.NoError(t, p.cmd.Process.Signal(syscall.SIGINT))
	require.Zero(t, p.exit())
}

func TestWatchRefusesADamagedRecordingByName(t *testing.T) {
	text, err := os.ReadFile(someRecording)
	require.NoError(t, err)
	cut := filepath.Join(t.TempDir(), "cut.loop.gz")
	require.NoError(t, os.WriteFile(cut, text[:len(text)/2], 0o600))
	other := filepath.Join(t.TempDir(), "other.loop.gz")
	require.NoError(t, os.WriteFile(other, []byte("PK"), 0o600))
	for args, why := range map[string]string{
		cut:                "watch: " + cut + ": line ",
		other:              "watch: " + other + ": not a recording: ",
		"/nowhere.loop.gz": "watch: /nowhere.loop.gz: no such file or directory\n",
		"":                 "usage: miniredisd watch FILE.loop.gz",
		cut + " " + cut:    "usage: miniredisd watch FILE.loop.gz",
	} {
		p := start(t, "miniredisd", "", append([]string{"watch"}, strings.Fields(args)...)...)
		require.Equal(t, exitNoInput, p.exit(), args)
		require.Contains(t, p.errs.String(), why)
	}
}

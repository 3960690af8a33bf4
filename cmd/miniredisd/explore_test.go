package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/respclient"
	"github.com/miniredisd/miniredisd/lab/explore"
)

func TestExploreSaysWhatIsWrongWithItsWords(t *testing.T) {
	for _, c := range []struct {
		args []string
		why  string
	}{
		{nil, exploreUsage},
		{[]string{"--"}, exploreUsage},
		{[]string{"--lang", "fr", "--", "true"}, "explore: --lang is en or zh, not 'fr'\n"},
		{[]string{"--masters", "0", "--", "true"}, "explore: --masters is from 1 to 99, not 0\n"},
		{[]string{"--port", "65536", "--", "true"}, "explore: --port is from 1 to 65535, not 65536\n"},
		{[]string{"--port", "7", "--jobs", "2", "--", "true"},
			"explore: --jobs does not go with --port: each trial has a server of its own\n"},
		{[]string{"--budget", "0s", "--", "true"}, "explore: --budget and --patience are times above 0, such as 60s\n"},
		{[]string{"--fault", "nope", "--", "true"}, "explore: there is no failure 'nope'. --fault expects one of " +
			strings.Join(explore.FaultNames(), ", ") + "\n"},
		{[]string{"--budgett", "5m", "--", "true"}, "explore: there is no option --budgett. Did you mean --budget?\n"},
		{[]string{"--key", "", "--", "true"}, "explore: --key expects a glob\n"},
		{[]string{"pytest", "--", "true"},
			"explore: 'pytest' is unexpected: the command of your program follows --\n"},
	} {
		p := start(t, "miniredisd", "", append([]string{"explore"}, c.args...)...)
		require.Equal(t, exploreWrong, p.exit(), "%v", c.args)
		require.Equal(t, c.why, p.errs.String())
	}
	for _, words := range [][]string{{"--limit", "k"}, {"--limit", "=2"}, {"--limit", "k=0"}} {
		p := start(t, "miniredisd", "", append(append([]string{"explore"}, words...), "--", "true")...)
		require.Equal(t, exploreWrong, p.exit(), "%v", words)
		require.Contains(t, p.errs.String(), words[0]+" expects ")
	}
}

func TestExploreSaysWhyAProgramCannotBeExplored(t *testing.T) {
	t.Parallel()
	for program, why := range map[string]string{
		"exit 0":              "the program sent no command about a key. It finds the server by REDIS_URL",
		"echo broken; exit 4": "the program fails without a fault (exit status 4); it printed: broken",
		"exec sleep 60":       "the program does not end without a fault either",
	} {
		p := start(t, "miniredisd", "", "explore", "--budget", "1s", "--", "sh", "-c", program)
		require.Equal(t, exploreWrong, p.exit(), program)
		require.Contains(t, p.errs.String(), why)
		require.Empty(t, p.out.String())
	}
}

// ownerVariable makes this test binary a program that owns a lock without a lease.
const ownerVariable = "EXPLORE_OWNER"

func ownLock() {
	c, err := respclient.Dial(strings.TrimPrefix(os.Getenv("REDIS_URL"), "redis://"))
	if err != nil {
		panic(err)
	}
	_, _ = c.Do("SETNX", "lock:o", "me")
	_, _ = c.Do("DEL", "lock:o")
}

func TestExploreFindsAndReportsALockForEver(t *testing.T) {
	t.Setenv(ownerVariable, "1")
	dir := t.TempDir()
	page := filepath.Join(dir, "report.html")
	p := start(t, "miniredisd", "", "explore", "--fault", "request-lost", "--html", page, "--", os.Args[0])
	require.Equal(t, exploreBroken, p.exit(), p.errs.String())
	require.Contains(t, p.out.String(), "If #1's first DEL is lost, nobody can ever take lock:o again.")
	require.Contains(t, p.out.String(), "LAB FAULT ADD explore-1 KEY lock:o ORDER 1 NTH 2 ACTION DROP-BEFORE")
	require.FileExists(t, page)
	p = start(t, "miniredisd", "", "explore", "--fault", "request-lost", "--json", "--", os.Args[0])
	require.Equal(t, exploreBroken, p.exit(), p.errs.String())
	require.True(t, json.Valid([]byte(p.out.String())))
	p = start(t, "miniredisd", "", "explore", "--fault", "error-busy", "--limit", "lock:o=2", "--lang", "zh",
		"--", os.Args[0])
	require.Equal(t, exploreSafe, p.exit(), p.errs.String()+p.out.String())
}

func TestTheHelpHasExplore(t *testing.T) {
	p := start(t, "miniredisd", "", "help", "explore")
	require.Equal(t, 0, p.exit())
	require.Contains(t, p.out.String(), exploreUsage)
}

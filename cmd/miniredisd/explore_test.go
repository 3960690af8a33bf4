package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/respclient"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/lab/explore/trials"
)

// faultLines are the names of the failures, as a message has them.
const faultLines = "" +
	"  request-lost reply-lost paused lease-over silent restart keys-lost evicted\n" +
	"  clock-jump master-gone power-cut fsync-fails disk-full failover message-lost\n" +
	"  message-late reset-before reset-after promotion sentinel-late slot-moves\n" +
	"  slot-half old-map error-loading error-readonly error-misconf error-oom\n" +
	"  error-noscript error-busy executed-loading executed-readonly\n" +
	"  executed-misconf executed-oom executed-busy\n"

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
		{[]string{"--fault", "reply-lots", "--", "true"},
			"explore: there is no failure 'reply-lots'. Did you mean reply-lost? --fault expects one of:\n" + faultLines},
		{[]string{"--fault", "nope"}, "explore: there is no failure 'nope'. --fault expects one of:\n" + faultLines},
		{[]string{"--budget", "5m"}, "explore: the command of your program is missing: it follows --\n"},
		{[]string{"--budget", "5m", "--"}, "explore: the command of your program is missing: it follows --\n"},
		{[]string{"pytest"}, "explore: 'pytest' is unexpected: the command of your program follows --\n"},
		{[]string{"--budgett", "5m", "--", "true"}, "explore: there is no option --budgett. Did you mean --budget?\n"},
		{[]string{"--key", "", "--", "true"}, "explore: --key expects a glob\n"},
		{[]string{"--cluster", "--masters", "2", "--", "true"},
			"explore: --cluster needs three masters or more: two cannot agree on a failover\n"},
		{[]string{"--cluster", "--sentinels"}, "explore: --cluster does not go with --sentinels: a cluster has none\n"},
		{[]string{"--sentinels", "--masters", "3"},
			"explore: --sentinels does not go with --masters: they watch one master\n"},
		{[]string{"--sentinels", "--replica"}, "explore: --replica does not go with --cluster and --sentinels: " +
			"they have replicas that are not behind\n"},
		{[]string{"--fault", "slot-half"}, "explore: --fault slot-half needs --cluster\n"},
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
	redistest.Need(t, "sh")
	t.Parallel()
	for program, why := range map[string]string{
		"exit 0":              "the program sent no command about a key. It finds the server by REDIS_URL",
		"echo broken; exit 4": "the program fails without a fault (exit status 4); it printed: broken",
		"exec sleep 60":       "the program does not end without a fault either",
	} {
		xml := filepath.Join(t.TempDir(), "explore.xml")
		p := start(t, "miniredisd", "", "explore", "--budget", "1s", "--junit-xml", xml, "--", "sh", "-c", program)
		require.Equal(t, exploreWrong, p.exit(), program)
		require.Contains(t, p.errs.String(), why)
		require.Empty(t, p.out.String())
		text, err := os.ReadFile(xml)
		require.NoError(t, err)
		require.Contains(t, string(text), why, "CI systems show it")
		require.Contains(t, string(text), "<error ")
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
	page, xml := filepath.Join(dir, "report.html"), filepath.Join(dir, "report.xml")
	p := start(t, "miniredisd", "", "explore", "--fault", "request-lost", "--html", page, "--junit", xml,
		"--", os.Args[0])
	require.Equal(t, exploreBroken, p.exit(), p.errs.String())
	require.Contains(t, p.out.String(), "If #1's first DEL is lost, nobody can ever take lock:o again.")
	require.Contains(t, p.out.String(), "LAB FAULT ADD explore-1 KEY lock:o ORDER 1 NTH 2 ACTION DROP-BEFORE")
	require.Regexp(t, `\nIt took \S+ s\. The runs of the program add up to \S+ s: it computed for `, p.out.String())
	require.FileExists(t, page)
	text, err := os.ReadFile(xml)
	require.NoError(t, err)
	require.Contains(t, string(text), "<failure ")
	foreign := filepath.Join(dir, "foreign")
	require.NoError(t, os.WriteFile(foreign, []byte("mine"), 0o600))
	for _, option := range []string{"--html", "--junit"} {
		p = start(t, "miniredisd", "", "explore", "--fault", "request-lost", option, foreign, "--", os.Args[0])
		require.Equal(t, exploreWrong, p.exit())
		require.Contains(t, p.errs.String(), "is no report of miniredisd explore")
		require.Contains(t, p.out.String(), "nobody can ever take lock:o again", "the report is not lost")
	}
	p = start(t, "miniredisd", "", "explore", "--fault", "request-lost", "--json", "--", os.Args[0])
	require.Equal(t, exploreBroken, p.exit(), p.errs.String())
	require.True(t, json.Valid([]byte(p.out.String())))
	p = start(t, "miniredisd", "", "explore", "--fault", "error-busy", "--limit", "lock:o=2", "--lang", "zh",
		"--", os.Args[0])
	require.Equal(t, exploreUndecided, p.exit(), "a permit is lost, and nobody says whether that is right")
	require.Contains(t, p.out.String(), "没有评判")
}

func TestALogShowsTheProgressEachHalfMinute(t *testing.T) {
	var log strings.Builder
	progress := progressLog(&log)
	for second := range 100 {
		progress(trials.Progress{Trial: "paused at a's first SET", Done: second, Left: 100 - second,
			Passed: time.Duration(second) * time.Second})
	}
	require.Equal(t, "explore: after 30s: 30 runs done, 70 left, about 1m10s: paused at a's first SET\n"+
		"explore: after 1m0s: 60 runs done, 40 left, about 40s: paused at a's first SET\n"+
		"explore: after 1m30s: 90 runs done, 10 left, about 10s: paused at a's first SET\n", log.String())
	log.Reset()
	progress(trials.Progress{Passed: 305 * time.Second}) // after a long trial
	progress(trials.Progress{Passed: 329 * time.Second})
	progress(trials.Progress{Passed: 330 * time.Second})
	require.Equal(t, 2, strings.Count(log.String(), "\n"))
}

func TestTheHelpHasExplore(t *testing.T) {
	p := start(t, "miniredisd", "", "help", "explore")
	require.Equal(t, 0, p.exit())
	require.Contains(t, p.out.String(), exploreUsage)
}

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/respclient"
)

// scenarioVariable makes this test binary the program of a client.
const scenarioVariable = "EXPLORE_SCENARIO"

func TestMain(m *testing.M) {
	if os.Getenv(scenarioVariable) == "" {
		os.Exit(m.Run())
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		failed := ""
		if err := scenario(lines.Text()); err != nil {
			failed = err.Error()
		}
		line, _ := json.Marshal(answer{failed})
		fmt.Println(string(line))
	}
}

// scenario takes and releases a lock, in a way that leaves it for ever if the first reply is lost.
func scenario(addr string) error {
	c, err := respclient.Dial(addr)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.Net.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return err
	}
	for _, words := range [][]string{
		{"CLIENT", "SETNAME", "a"}, {"SETNX", "lock:o", "me"}, {"PEXPIRE", "lock:o", "30000"}, {"DEL", "lock:o"},
	} {
		v, err := c.Do(words...)
		if err != nil {
			return err
		}
		if v.Kind == '-' {
			return fmt.Errorf("%s: %s", words[0], v.Str)
		}
	}
	return nil
}

// folderOf makes an ecosystem whose client is the scenario above, and changes into its project.
func folderOf(t *testing.T) client {
	t.Helper()
	t.Chdir(t.TempDir())
	c := client{Name: "by-hand", Version: "1.0", ecosystem: "go"}
	require.NoError(t, os.MkdirAll(folder("go"), 0o755))
	script := fmt.Sprintf("#!/bin/sh\n%s=1 exec %q\n", scenarioVariable, os.Args[0])
	require.NoError(t, os.WriteFile(filepath.Join(folder("go"), "explore"), []byte(script), 0o755))
	return c
}

var (
	setnx = point{Client: "a", N: 1, Command: "SETNX", Key: "lock:o"}
	del   = point{Client: "a", N: 3, Command: "DEL", Key: "lock:o"}
)

func TestAReplayFindsTheRecordedMarks(t *testing.T) {
	p := plan{folderOf(t), map[cell]string{{setnx, "reply-lost"}: broken, {setnx, "request-lost"}: noticed}}
	require.NoError(t, p.check(t.Context(), options{seed: 1}))
}

func TestAChangedMarkNamesItsCell(t *testing.T) {
	none := point{Client: "b", N: 1, Command: "SET", Key: "lock:o"}
	p := plan{folderOf(t), map[cell]string{
		{setnx, "reply-lost"}: "fine", {setnx, "request-lost"}: noticed,
		{none, "silent"}: "fine", {del, "error-busy"}: noticed,
	}}
	err := p.check(t.Context(), options{seed: 1})
	require.EqualError(t, err, "by-hand 1.0 has changed:\n"+
		"  error-busy at a 3 DEL: before noticed, now left behind: lock:o is free again when its lease ends\n"+
		"  reply-lost at a 1 SETNX: before fine, now broken\n"+
		"  silent at b 1 SET: before fine, now not tried: there is no such request")
}

func TestAnUpdateRecordsWhatItHasFound(t *testing.T) {
	c := folderOf(t)
	r, err := c.measure(t.Context(), options{seed: 1}, func(c cell) bool { return c.fault == "reply-lost" })
	require.NoError(t, err)
	rec := recordOf(c, r, 1500*time.Millisecond)
	require.Equal(t, map[string]string{"reply-lost": broken}, rec.at(setnx))
	require.Equal(t, "If the reply to a's first SETNX is lost, nobody can ever take lock:o again.",
		rec.Findings[0].Sentence)
	require.Equal(t, 2, rec.Seconds)
}

func TestWhatDependsOnTimeLimitsChangesOnlyIfItBreaks(t *testing.T) {
	for _, c := range []struct {
		fault, before, now string
		changed            bool
	}{
		{"reply-lost", noticed, noticed, false},
		{"reply-lost", noticed, "fine", true},
		{"paused", noticed, "left behind", false},
		{"silent", hangs, noticed, false},
		{"paused", noticed, broken, true},
		{"message-late", broken, "fine", true},
		{"paused", noticed, "", true},
	} {
		require.Equal(t, c.changed, differ(c.fault, c.before, c.now), "%v", c)
	}
}

func TestAReplayTriesWhatIsBrokenOrNoticedAndAFewOthers(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.MkdirAll(filepath.Join(records, alone), 0o755))
	marks := map[string]string{"one": broken, "two": noticed, "three": hangs, "four": varies, silent: noticed}
	for i := range 30 {
		marks[fmt.Sprint("fine-", i)] = "fine"
	}
	r := recorded(pointRecord{setnx, marks})
	r.client = r.in([]string{alone})[0]
	text, err := json.Marshal(r)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(r.path(), text, 0o644))
	sizes := map[bool]int{true: 2 + others, false: 34}
	for replay, size := range sizes {
		plans, err := options{replay: replay, seed: 7}.plans([]client{r.client})
		require.NoError(t, err)
		require.Len(t, plans[0].cells, size)
		again, err := options{replay: replay, seed: 7}.plans([]client{r.client})
		require.NoError(t, err)
		require.Equal(t, plans, again)
		require.Equal(t, broken, plans[0].cells[cell{setnx, "one"}])
	}
	beside := r.in([]string{"disk"})[0]
	require.NoError(t, os.MkdirAll(filepath.Dir(beside.path()), 0o755))
	require.NoError(t, os.WriteFile(beside.path(), text, 0o644))
	plans, err := options{replay: true, seed: 7}.plans([]client{beside})
	require.NoError(t, err)
	require.Len(t, plans[0].cells, 1+others, "beside a disk it does not try again what was noticed")
	r.client.Version = "2.0"
	_, err = options{}.plans([]client{r.client})
	require.EqualError(t, err, "one is 2.0, and its record is of 1.0: -update makes another")
	r.client.Name = "unknown"
	_, err = options{}.plans([]client{r.client})
	require.ErrorContains(t, err, "-update makes it")
}

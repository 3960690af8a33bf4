package verdict

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func judgeFile(t *testing.T, file string) (*Verdict, string) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", file))
	require.NoError(t, err)
	defer f.Close()
	histories, err := Read(f)
	require.NoError(t, err)
	v, err := Judge(histories)
	require.NoError(t, err)
	var out bytes.Buffer
	v.Print(&out)
	return v, out.String()
}

func TestHistoriesOfASafeLockAreOK(t *testing.T) {
	for file, first := range map[string]string{
		"good.json":            "masters: 1, entries: 14, locks: 1, grants: 3",
		"good-majority.json":   "masters: 5, entries: 39, locks: 1, grants: 10",
		"delayed-restart.json": "masters: 1, entries: 7, locks: 1, grants: 2",
		"reply-lost.json":      "masters: 1, entries: 8, locks: 1, grants: 2",
	} {
		v, text := judgeFile(t, file)
		require.True(t, v.OK(), "%s: %s", file, text)
		require.Equal(t, first+"\nOK: no two holders at one time, and linearizable\n", text, file)
	}
}

func TestAClockThatJumpsGivesTwoHoldersOfTheMajority(t *testing.T) {
	v, text := judgeFile(t, "clock-jump.json")
	require.NotEmpty(t, v.NotLinearizable)
	require.Len(t, v.TwoHolders, 1)
	require.Contains(t, text, `TWO HOLDERS of lock:job
  master 1, 1700000000000, client 7 alice: SET lock:job token-a1 NX PX 10000 -> OK
  master 2, 1700000000000, client 7 alice: SET lock:job token-a1 NX PX 10000 -> OK
  master 3, 1700000000000, client 7 alice: SET lock:job token-a1 NX PX 10000 -> OK
  master 3, 1700000010001: the lease ended by this master's clock
  master 3, 1700000010001, client 8 bob: SET lock:job token-b1 NX PX 10000 -> OK
  master 4, 1700000000000, client 8 bob: SET lock:job token-b1 NX PX 10000 -> OK
  master 5, 1700000000000, client 8 bob: SET lock:job token-b1 NX PX 10000 -> OK
`)
	require.Contains(t, text, "the holders have no fencing tokens")
	require.Contains(t, text, "NOT LINEARIZABLE")
}

func TestFencingTokensThatWouldHaveHelpedAreNamed(t *testing.T) {
	_, text := judgeFile(t, "clock-jump-fenced.json")
	require.Contains(t, text, "the first holder has token 33, the second 34")
}

func TestAnUnlockOfAnotherClientsLockIsNotLinearizable(t *testing.T) {
	v, text := judgeFile(t, "overlapping-unlock.json")
	require.NotEmpty(t, v.NotLinearizable)
	require.Len(t, v.TwoHolders, 1)
	require.Contains(t, text, `TWO HOLDERS of lock:job
  master 1, 1700000010001, client 8 bob: SET lock:job token-b1 NX PX 10000 -> OK
  master 1, 1700000010001, client 7 alice: DEL lock:job -> 1
  master 1, 1700000010001, client 9 carol: SET lock:job token-c1 NX PX 10000 -> OK
  Why: a command of another client took the lock from its first holder`)
}

func TestALockOfOneMasterNamesThatMaster(t *testing.T) {
	_, text := judged(t, 3, `
		2 1000 a SET lock:x token-a NX PX 500 = OK
		2 1100 m DEL lock:x = 1
		2 1200 b SET lock:x token-b NX PX 500 = OK`)
	require.Contains(t, text, "  master 2, 1000, client 97 a: SET lock:x token-a NX PX 500 -> OK\n"+
		"  master 2, 1100, client 109 m: DEL lock:x -> 1\n  master 2, 1200, client 98 b: SET")
}

func TestACrashThatLosesALockGivesTwoHolders(t *testing.T) {
	v, text := judgeFile(t, "crash.json")
	require.False(t, v.OK())
	require.Contains(t, text, "this master lost its keys")
	require.Contains(t, text, "away for longer than the longest lease")
}

func TestThePictureOfACounterExampleIsAPageWithTheOperations(t *testing.T) {
	v, _ := judgeFile(t, "clock-jump.json")
	var page bytes.Buffer
	require.NoError(t, v.Picture(&page))
	require.True(t, strings.HasPrefix(strings.ToLower(page.String()), "<!doctype html>"))
	require.Contains(t, page.String(), "acquire lock:job by bob (token-b1)")
	require.Contains(t, page.String(), "clock moved by 10001 ms")
}

func TestHistoriesAreReadFromObjectsArraysAndTexts(t *testing.T) {
	one := `{"format":"miniredisd-history/1","master":1,"masters":2,"entries":[]}`
	two := strings.Replace(one, `"master":1`, `"master":2`, 1)
	quoted := `"` + strings.ReplaceAll(two, `"`, `\"`) + `"`
	for _, text := range []string{
		one + two, one + "\n" + two + "\n", "[" + one + "," + two + "]", "[" + one + "," + quoted + "]",
	} {
		histories, err := Read(strings.NewReader(text))
		require.NoError(t, err, text)
		require.Len(t, histories, 2, text)
		require.Equal(t, 2, histories[1].Master)
		v, err := Judge(histories)
		require.NoError(t, err)
		require.True(t, v.OK())
	}
}

func TestBadHistoriesAreRefusedWithTheReason(t *testing.T) {
	head := `{"format":"miniredisd-history/1","master":1,"masters":2,"entries":`
	for text, why := range map[string]string{
		"":                                  "no history found",
		"   ":                               "no history found",
		"[]":                                "no history found",
		"# comment":                         "is not JSON",
		"17":                                "is not a history",
		`{"format":"x"}`:                    `format is "x", not "miniredisd-history/2"`,
		`{"format":"miniredisd-history/1"}`: "masters is 0",
		`{"format":"miniredisd-history/1","masters":3,"master":4}`: "master is 4, not 1 to 3",
		`{"format":"miniredisd-history/1","masters":1000000000}`:   "masters is 1000000000",
		head + `[{"seq":2},{"seq":1}]}`:                            "entry 1 comes before entry 2",
		head + `[{"seq":1,"mono":5},{"seq":2,"mono":4}]}`:          "entry 2 comes before entry 1",
		head + `[{"seq":"one"}]}`:                                  "is not a history",
		head + `[`:                                                 "is not JSON",
		`["x"]`:                                                    "is not JSON",
	} {
		_, err := Read(strings.NewReader(text))
		require.ErrorContains(t, err, why, text)
	}
	one, err := Read(strings.NewReader(head + "[]}"))
	require.NoError(t, err)
	_, err = Judge(append(one, one...))
	require.ErrorContains(t, err, "two histories of master 1")
}

func TestEntriesWithoutWordsAreHarmless(t *testing.T) {
	h, err := Read(strings.NewReader(`{"format":"miniredisd-history/1","master":1,"masters":1,"entries":[
		{"seq":1,"outcome":"executed"},{"seq":2,"outcome":"executed","cmd":["SET"],"key":"k"},
		{"seq":3,"outcome":"executed","cmd":["SETNX","k"],"key":"k","reply":"0"},{"seq":4,"event":"expired","key":"k"}]}`))
	require.NoError(t, err)
	v, err := Judge(h)
	require.NoError(t, err)
	var out bytes.Buffer
	v.Print(&out)
	require.Contains(t, out.String(), "no watched key changed")
}

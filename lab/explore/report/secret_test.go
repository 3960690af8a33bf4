package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/explore"
)

func TestPasswordsOfCommandsAreHidden(t *testing.T) {
	for command, shown := range map[string]string{
		"AUTH pw":                               "AUTH (redacted)",
		"auth default pw":                       "auth (redacted) (redacted)",
		"HELLO 3 AUTH u pw SETNAME a":           "HELLO 3 AUTH (redacted) (redacted) SETNAME a",
		"ACL SETUSER bob on >pw ~*":             "ACL SETUSER (redacted) (redacted) (redacted) (redacted)",
		"CONFIG SET maxmemory 1 requirepass pw": "CONFIG SET maxmemory 1 requirepass (redacted)",
		"MIGRATE h 1 k 0 5 AUTH pw":             "MIGRATE h 1 k 0 5 AUTH (redacted)",
		"MIGRATE h 1 k 0 5 AUTH2 u pw KEYS k":   "MIGRATE h 1 k 0 5 AUTH2 (redacted) (redacted) KEYS k",
		"SET lock:order auth NX":                "SET lock:order auth NX",
		"SET url redis://u:pw@h:1/0":            "SET url redis://(redacted)@h:1/0",
		"AUTH":                                  "AUTH",
		"HELLO 3 AUTH":                          "HELLO 3 AUTH",
		"":                                      "",
	} {
		require.Equal(t, shown, strings.Join(hide(strings.Fields(command)), " "))
	}
}

func TestPasswordsOfProgramsAreHidden(t *testing.T) {
	for program, shown := range map[string]string{
		"redis-cli -a pw PING":             "redis-cli -a (redacted) PING",
		"app --redis-password pw --port 1": "app --redis-password (redacted) --port 1",
		"app --password=pw":                "app --password=(redacted)",
		"env REDIS_PASSWORD=pw ./app":      "env REDIS_PASSWORD=(redacted) ./app",
		"app rediss://:pw@host/0?x=1":      "app rediss://(redacted)@host/0?x=1",
		"app http://host/@me":              "app http://host/@me",
		"ls -l a":                          "ls -l a",
	} {
		require.Equal(t, shown, strings.Join(hideProgram(strings.Fields(program)), " "))
	}
}

// The words are those of a whole report, in all of its forms.
func TestNoFormOfAReportHasAPassword(t *testing.T) {
	r := sample(t)
	f := facts(r)[0].Finding
	f.History = []lab.History{{Master: 1, Masters: 1, Entries: []lab.Entry{
		{Seq: 1, Event: lab.EventCommand, Client: 1, Cmd: []string{"AUTH", "user", "hunter2"}, Reply: "OK"},
		{Seq: 2, Event: lab.EventCommand, Client: 1, Cmd: []string{"CONFIG", "GET", "requirepass"},
			Reply: "[requirepass hunter2]"},
		{Seq: 3, Event: lab.EventCommand, Client: 1, Cmd: []string{"ACL", "SETUSER", "a", ">hunter2"}, Reply: "OK"},
	}}}
	f.Commands = append(f.Commands, "AUTH hunter2", "redis-cli -a hunter2 LAB CLOCK", `HELLO 3 AUTH u "hunter2"`)
	f.Output = "cannot connect to redis://default:hunter2@localhost:6379/0"
	r.Program = []string{"app", "--password", "hunter2", "redis://:hunter2@h"}
	text, _ := jsonOf(t, r)
	texts := []string{text, textOf(t, r, "en"), textOf(t, r, "zh"), htmlOf(t, r, "en")}
	for _, language := range Languages() {
		for _, f := range facts(r) {
			texts = append(texts, testOf(t, r, f.Finding, language))
		}
	}
	for _, text := range texts {
		absent(t, ".*hunter2.*", text)
		present(t, hidden, text)
	}
}

func TestACleanTextIsOneShortLine(t *testing.T) {
	require.Equal(t, `a\x00\x1b\n\xff\u2028\u202e\d`, clean("a\x00\x1b\n\xff\u2028\u202e\\d", 100))
	require.Equal(t, "锁锁…(+3 bytes)", clean("锁锁锁", 2))
	all, _ := lines("\x1b[31mred\x1b[0m\r\n\x07\n\n")
	require.Equal(t, []string{"red", `\x07`}, all)
}

func TestOnlyTheLastLinesOfAnOutputAreShown(t *testing.T) {
	all, left := lines(strings.Repeat("x\n", mostOutput+7))
	require.Len(t, all, mostOutput)
	require.Equal(t, 7, left)
	r := sample(t)
	r.Cells[0][1].Finding.Output = strings.Repeat("x\n", mostOutput+7)
	require.Contains(t, textOf(t, r, "en"), "7 earlier lines are left out.")
	require.Equal(t, explore.Broken, r.Cells[0][1].Mark)
}

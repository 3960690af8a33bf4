package clean

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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
		require.Equal(t, shown, strings.Join(Words(strings.Fields(command)), " "))
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
		require.Equal(t, shown, strings.Join(Program(strings.Fields(program)), " "))
	}
}

func TestACleanTextIsOneShortLine(t *testing.T) {
	require.Equal(t, `a\x00\x1b\n\xff\u2028\u202e\d`, Text("a\x00\x1b\n\xff\u2028\u202e\\d", 100))
	require.Equal(t, "锁锁…(+3 bytes)", Text("锁锁锁", 2))
	all, _ := Lines("\x1b[31mred\x1b[0m\r\n\x07\n\n")
	require.Equal(t, []string{"red", `\x07`}, all)
}

func TestOnlyTheLastLinesOfAnOutputStay(t *testing.T) {
	all, left := Lines(strings.Repeat("x\n", mostOutput+7))
	require.Len(t, all, mostOutput)
	require.Equal(t, 7, left)
}

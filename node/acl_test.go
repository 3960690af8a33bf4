package node_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// asIn72 rewrites the rules that 7.0 reports into the words of 7.2.
func asIn72(text string) string {
	if !strings.Contains(text, "sanitize-payload") {
		for _, flag := range []string{" on ", " off "} {
			text = strings.ReplaceAll(text, flag+"nopass ", flag+"nopass sanitize-payload ")
			text = strings.ReplaceAll(text, flag+"#", flag+"sanitize-payload #")
		}
	}
	return text
}

// Both servers load, change, save, break and repair an aclfile.
func TestAnACLFileIsLoadedAndSavedAsByRedis(t *testing.T) {
	redistest.Require(t)
	story := func(run func(args ...string) string) []string {
		file := filepath.Join(t.TempDir(), "users.acl")
		write := func(text string) { require.NoError(t, os.WriteFile(file, []byte(text), 0o600)) }
		write("user default on nopass sanitize-payload ~* &* +@all\n\n" +
			"user alice on #30c952fab122c3f9759f02a6d95c3758b246b4fee239957b2d4fee46e26170c4 " +
			"sanitize-payload ~a* resetchannels -@all +get +acl|whoami (%R~b* +@read)\r\n")
		addr := run("--aclfile", file)
		var told []string
		tell := func(text string) { told = append(told, strings.ReplaceAll(asIn72(text), file, "FILE")) }
		c, alice := redistest.Dial(t, addr), redistest.Dial(t, addr)
		do := func(c *redistest.Conn, line string) { tell(line + "\n" + c.Do(strings.Fields(line)...).String()) }

		do(c, "CONFIG GET aclfile")
		do(c, "ACL USERS")
		do(alice, "AUTH alice pw")
		do(alice, "ACL WHOAMI")
		do(c, "ACL SETUSER bob on nopass sanitize-payload +@all ~b")
		do(c, "ACL SAVE")
		saved, err := os.ReadFile(file)
		require.NoError(t, err)
		words := strings.Fields(string(saved))
		slices.Sort(words) // 7.0 writes the commands in a different order in each run
		tell(strings.Join(words, " "))
		do(c, "ACL DELUSER bob")
		do(c, "ACL LOAD")
		do(c, "ACL USERS")
		_, err = alice.TryRead()
		tell("alice: " + err.Error())

		write("# no comments\nuser alice on +nosuch +nonesuch ~* ~a foo\nuser alice\nalice on\nuser bob (+get\n")
		do(c, "ACL LOAD")
		do(c, "ACL USERS")
		write("user alice on >pw sanitize-payload +@all ~*")
		do(c, "CONFIG SET requirepass secret")
		do(c, "ACL LOAD") // the default user has its default rules again
		do(c, "ACL USERS")
		do(c, "PING")
		do(redistest.Dial(t, addr), "PING")
		write("user default off nopass sanitize-payload ~* &* +@all")
		do(c, "ACL LOAD")
		do(c, "ACL LIST")
		do(redistest.Dial(t, addr), "PING")
		require.NoError(t, os.Remove(file))
		do(c, "ACL LOAD")
		do(c, "ACL SAVE")
		return told
	}
	theirs := story(func(args ...string) string { return redistest.Start(t, args...).Addr })
	ours := story(func(args ...string) string { return start(t, args) })
	require.Equal(t, theirs, ours)
}

func TestPasswordsAreNotShown(t *testing.T) {
	addr := start(t, []string{"--slowlog-log-slower-than", "0"})
	c := redistest.Dial(t, addr)
	c.Do("ACL", "SETUSER", "alice", "on", ">secret")
	c.Do("ACL", "GETUSER", "alice")
	c.Do("AUTH", "alice", "secret")
	c.Do("AUTH", "alice", "wrong")
	c.Do("RESET")
	slow := c.Do("SLOWLOG", "GET", "-1").String()
	require.Contains(t, slow, "(redacted)")
	require.NotContains(t, slow, "alice")
	require.NotContains(t, slow, "secret")
	require.NotContains(t, c.Do("ACL", "LIST").String(), "secret")
}

func TestRefusalsAreCounted(t *testing.T) {
	c := redistest.Dial(t, start(t, nil))
	c.Do("ACL", "SETUSER", "u", "on", "nopass", "+@all", "-del", "~a", "&c")
	c.Do("ACL", "SETUSER", "v", "on", ">pw")
	denied := func() (lines []string) {
		for _, line := range strings.Split(c.Do("INFO", "stats").Str, "\r\n") {
			if strings.HasPrefix(line, "acl_") {
				lines = append(lines, strings.TrimPrefix(line, "acl_access_denied_"))
			}
		}
		return lines
	}
	c.Do("AUTH", "v", "x")
	c.Do("AUTH", "u", "x")
	for range 2 {
		c.Do("DEL", "a")
	}
	for range 3 {
		c.Do("GET", "b")
	}
	for range 4 {
		c.Do("PUBLISH", "d", "x")
	}
	require.Equal(t, []string{"auth:1", "cmd:2", "key:3", "channel:4"}, denied())
	c.Do("CONFIG", "RESETSTAT")
	require.Equal(t, []string{"auth:0", "cmd:0", "key:0", "channel:0"}, denied())
}

// A password for the default user applies to every client. Protected mode then has nothing to
// protect.
func TestUsersOfTheConfigurationAreThereFromTheStart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "redis.conf")
	const users = "user default on >pw ~* &* +@all\n" + "user alice on nopass +@all (+get ~x)\n"
	require.NoError(t, os.WriteFile(file, []byte(users), 0o600))
	addr := start(t, []string{"--include", file})
	c := redistest.Dial(t, addr)
	require.Equal(t, "NOAUTH Authentication required.", c.Do("PING").Str)
	require.Equal(t, "OK", c.Do("AUTH", "pw").Str)
	require.Equal(t, "alice", c.Do("ACL", "USERS").Elems[0].Str)
	require.Equal(t, "OK", c.Do("AUTH", "alice", "x").Str)
}

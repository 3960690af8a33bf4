package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// startErrors starts a server with wrong users and returns what it prints: its error output, and the
// warnings in its log that are about users.
func startErrors(t *testing.T, program, conf, aclfile string) string {
	t.Helper()
	cmd := exec.Command(program, "-", "--port", "0", "--unixsocket", "s")
	cmd.Dir = t.TempDir()
	cmd.Stdin = strings.NewReader(conf)
	require.NoError(t, os.WriteFile(filepath.Join(cmd.Dir, "users.acl"), []byte(aclfile), 0o600))
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	require.Error(t, err, "%s starts with %s", program, conf)
	require.Equal(t, 1, cmd.ProcessState.ExitCode())
	text := errs.String()
	warning := regexp.MustCompile(`(?m)^\d+:M .*? [#*] (.*(?:ACL|user).*)$`)
	for _, m := range warning.FindAllStringSubmatch(string(out), -1) {
		text += m[1] + "\n"
	}
	return strings.Replace(text, "Redis 7.0.15", "Redis "+config.RedisVersion, 1)
}

func TestWrongUsersStopTheStart(t *testing.T) {
	redistest.Require(t)
	for _, c := range []struct{ conf, aclfile string }{
		{"user", ""},
		{"user alice on +nosuch", ""},
		{"user alice on\nuser bob (+nosuch)", ""},
		{"user \"a b\" on", ""},
		{"user alice\nuser \"a b\" on", ""},
		{"user alice on\nuser alice off", ""},
		{"aclfile users.acl\nuser alice on", "user bob on\n"},
		{"aclfile nosuch.acl", ""},
		{"aclfile users.acl", "user alice on +nosuch +get ~* ~a foo\n# comment\nuser\nuser alice off\nuser bob " +
			"(+get\nUSER carol\n"},
		{"aclfile users.acl", "user alice #abc\nuser bob >x <y\nuser carol (+nosuch)\nuser dave (on)\n"},
	} {
		theirs := startErrors(t, "redis-server", c.conf, c.aclfile)
		require.NotEmpty(t, theirs)
		require.Equal(t, theirs, startErrors(t, filepath.Join(bin, "miniredisd"), c.conf, c.aclfile), "%s\n%s",
			c.conf, c.aclfile)
	}
}

// Redis counts the words of the line from the wrong end and names another rule.
func TestTheErrorNamesTheWrongRule(t *testing.T) {
	for line, why := range map[string]string{
		"user alice on foo": "Error in user declaration 'foo': Syntax error",
		"user alice ~* on ~a": "Error in user declaration '~a': Adding a pattern after the * pattern (or the " +
			"'allkeys' flag) is not valid and does not have any effect. Try 'resetkeys' to start with an empty list " +
			"of patterns",
		"user alice (+get on)": "Error in user declaration '(+get on)': Syntax error",
		"user alice (+get ~x":  "Error in user declaration '(+get': Unmatched parenthesis in selector definition",
		"user alice on >pw <qw": "Error in user declaration '<qw': The password you are trying to remove from the " +
			"user does not exist",
	} {
		require.Contains(t, startErrors(t, filepath.Join(bin, "miniredisd"), "\n"+line, ""),
			"at line 2\n>>> '"+line+"'\n"+why)
	}
}

func TestUsersAreRewrittenIntoTheConfiguration(t *testing.T) {
	file := filepath.Join(t.TempDir(), "redis.conf")
	require.NoError(t, os.WriteFile(file, []byte("user bob on nopass +@all ~b*\nport 0\nrequirepass pw\n"), 0o600))
	p := start(t, "miniredisd", "", file)
	c := redistest.Dial(t, p.addr())
	c.Do("AUTH", "pw")
	c.Do("ACL", "SETUSER", "alice", "on", "#30c952fab122c3f9759f02a6d95c3758b246b4fee239957b2d4fee46e26170c4",
		"+select|1", "(+get ~x)")
	c.Do("ACL", "SETUSER", "bob", "off")
	before := c.Do("ACL", "LIST").String()
	require.Equal(t, "OK", c.Do("CONFIG", "REWRITE").Str)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(text), "user alice on sanitize-payload "+
		"#30c952fab122c3f9759f02a6d95c3758b246b4fee239957b2d4fee46e26170c4 resetchannels -@all +select|1 (~x "+
		"resetchannels -@all +get)\n")

	again := start(t, "miniredisd", "", file, "--port", "0")
	again.waitFor("The user 'bob' is disabled (there is no 'on' modifier in the user description). Make sure this is " +
		"not a configuration error.")
	c = redistest.Dial(t, again.addr())
	c.Do("AUTH", "pw")
	require.Equal(t, before, c.Do("ACL", "LIST").String())
}

package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func glob(pattern, name string) bool {
	ok, _ := filepath.Match(pattern, name)
	return ok
}

func pairs(list []string) map[string]string {
	m := map[string]string{}
	for i := 0; i+1 < len(list); i += 2 {
		m[list[i]] = list[i+1]
	}
	return m
}

func TestEveryDefaultIsAcceptedAndReadBackAsItself(t *testing.T) {
	c := Default()
	for i := range table {
		r := &table[i]
		if r.kind == directory {
			continue
		}
		value, why := c.parse(r, splitValue(r, r.def), false)
		if r.kind == replicaOf {
			require.Equal(t, errArgs, why)
			continue
		}
		require.Empty(t, why, r.name)
		require.Equal(t, r.def, value, r.name)
		require.Equal(t, r.def, c.value(r), r.name)
	}
	require.Empty(t, c.Inert())
}

func TestADirectiveThatRedisDoesNotHaveSaysWhatItDoes(t *testing.T) {
	for i := range table {
		r := &table[i]
		require.Equal(t, r.flags&own != 0, r.arg != "" && r.help != "", r.name)
	}
	require.Equal(t, Option{"lab", "yes", "answer LAB: faults, a clock and crashes, to test lock clients"}, Own()[0])
}

// other returns a valid value that differs from the default.
func other(r *row) string {
	switch r.kind {
	case boolean:
		return map[string]string{"yes": "no", "no": "yes"}[r.def]
	case integer, memory, percent:
		if r.def == "2" || r.max == 2 {
			return "1"
		}
		return map[bool]string{true: "2097152", false: "2"}[r.max > 2097152]
	case octal:
		return "700"
	case word, words:
		if r.words[0] == r.def {
			return r.words[1]
		}
		return r.words[0]
	case text:
		return "x"
	case bind:
		return "10.0.0.1 -::1"
	case replicaOf:
		return "10.0.0.1 6380"
	case save:
		return "60 1 7 3"
	case outputLimit:
		return "normal 1024 5 6 slave 3 2 1 pubsub 8388608 0 2"
	case oomValues:
		return "1 2 3"
	case percentiles:
		return "12.5 99.99"
	case events:
		return "g$KE"
	case played:
		return "valkey-9.1"
	}
	return "/tmp"
}

func TestEveryDirectiveSurvivesSetRewriteAndParse(t *testing.T) {
	for i := range table {
		r := &table[i]
		if r.flags&(refused|withheld) != 0 || r.name == "logfile" {
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "redis.conf")
			line := ""
			if r.flags&own != 0 {
				line = r.name + " " + quote(r.def) + "\n"
			}
			require.NoError(t, os.WriteFile(file, []byte(line), 0o600))
			c, err := Parse([]string{file}, nil)
			require.NoError(t, err)
			want := other(r)
			c.EnableProtectedConfigs = "yes"
			_, err = c.Set([]string{r.name, want}, false, nil)
			if r.flags&immutable != 0 {
				require.EqualError(t, err, "ERR CONFIG SET failed (possibly related to "+
					"argument '"+r.name+"') - can't set immutable config")
				c.store(r, want)
			} else {
				require.NoError(t, err)
			}
			if r.name == "hz" {
				want = "500"
			}
			require.Equal(t, []string{r.name, want}, c.Get([]string{r.name}, glob))
			require.NoError(t, c.Rewrite(nil))
			again, err := Parse([]string{file}, nil)
			require.NoError(t, err)
			require.Equal(t, want, again.value(r))
		})
	}
}

func TestRefusedDirectivesSayWhy(t *testing.T) {
	for line, why := range map[string]string{
		"tls-cluster yes":        "not supported by miniredisd: its nodes live in one process and have no bus",
		"tls-key-file-pass x":    "encrypted private keys are not supported by miniredisd: crypto/tls does not read them",
		"loadmodule a.so":        "modules are not supported by miniredisd",
		"sentinel monitor m x 1": "sentinel directive while not in sentinel mode",
	} {
		_, err := Parse([]string{"-"}, strings.NewReader("# first\n"+line))
		require.Equal(t, &LineError{2, line, why}, err)
	}
	_, err := Parse([]string{"--cluster-enabled", "no", "--tls-cluster", "no", "--replicaof", "no", "one"}, nil)
	require.NoError(t, err)
}

func TestAClusterHasOneDatabaseAndNoReplicaOf(t *testing.T) {
	for _, word := range []string{"--cluster", "--cluster-enabled"} {
		c, err := Parse([]string{word, "yes", "--databases", "5"}, nil)
		require.NoError(t, err)
		require.True(t, c.ClusterEnabled)
		require.Equal(t, 1, c.Databases)
		_, err = Parse([]string{word, "yes", "--replicaof", "localhost", "1"}, nil)
		require.ErrorContains(t, err, "replicaof directive not allowed in cluster mode")
	}
}

func TestInertDirectivesAreReportedOnce(t *testing.T) {
	c, err := Parse([]string{"--replica-lazy-flush", "yes", "--disable-thp", "no", "--maxclients", "5",
		"--hz", "20"}, nil)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"replica-lazy-flush", "disable-thp"}, c.Inert())
	require.Empty(t, c.Inert())
	_, err = c.Set([]string{"replica-lazy-flush", "no", "rdbchecksum", "yes"}, false, nil)
	require.ErrorContains(t, err, "immutable")
	_, err = c.Set([]string{"replica-lazy-flush", "no", "appendfsync", "always",
		"activerehashing", "no"}, false, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"activerehashing"}, c.Inert())
}

func TestActivedefragIsRefusedAtRunTimeAndNamedAtTheStart(t *testing.T) {
	c, err := Parse([]string{"--activedefrag", "yes"}, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"activedefrag"}, c.Inert())
	require.Equal(t, []string{"activedefrag", "no"}, c.Get([]string{"activedefrag"}, glob))
	_, err = c.Set([]string{"activedefrag", "yes"}, true, nil)
	require.ErrorContains(t, err, "active defragmentation is not supported")
}

func TestDataOfAnotherServerIsFound(t *testing.T) {
	dir := t.TempDir()
	c, err := Parse([]string{"--dir", dir}, nil)
	require.NoError(t, err)
	require.Empty(t, c.Unread())
	require.NoError(t, os.Mkdir(filepath.Join(dir, "appendonlydir"), 0o700))
	require.Equal(t, []string{filepath.Join(dir, "appendonlydir")}, c.Unread())
	c.AppendOnly = true
	require.Empty(t, c.Unread())
}

func TestOurOwnDirectivesAreAnsweredByNameOnly(t *testing.T) {
	all := pairs(Default().Get([]string{"*", "se*", "SEED"}, glob))
	require.Equal(t, "0", all["SEED"])
	require.NotContains(t, all, "seed")
	require.NotContains(t, all, "port-file")
}

func TestCommandLine(t *testing.T) {
	conf := filepath.Join(t.TempDir(), "redis.conf")
	require.NoError(t, os.WriteFile(conf, []byte("port 1\nsave 1 2\ntimeout 7\n"), 0o600))
	for _, c := range []struct {
		args []string
		in   string
		want map[string]string
	}{
		{[]string{"--save", "60", "1", "--save", "", "--port", "7"}, "", map[string]string{"save": "", "port": "7"}},
		{[]string{"--save", "60 1", "--port", "7", "--oom-score-adj-values", "1 2 3"}, "",
			map[string]string{"save": "60 1", "port": "7", "oom-score-adj-values": "1 2 3"}},
		{[]string{"--save", "60", "1", "--save", "7", "2"}, "", map[string]string{"save": "60 1 7 2"}},
		{[]string{"--save", "--port", "8"}, "", map[string]string{"save": "", "port": "8"}},
		{[]string{"--port", "8", "--save"}, "", map[string]string{"save": "", "port": "8"}},
		{[]string{"--port 8", "--timeout", "3"}, "", map[string]string{"port": "8", "timeout": "3"}},
		{[]string{"--bind", "127.0.0.1", "-::1", "--requirepass", "--x"}, "",
			map[string]string{"bind": "127.0.0.1 -::1", "requirepass": "--x"}},
		{[]string{"--requirepass", "a b\"c"}, "", map[string]string{"requirepass": "a b\"c"}},
		{[]string{conf, "--port", "2"}, "", map[string]string{"port": "2", "timeout": "7", "save": "1 2"}},
		{[]string{"-"}, "port 3\nrequirepass \"\"\n", map[string]string{"port": "3", "requirepass": ""}},
		{[]string{conf, "-", "--port", "4"}, "timeout 9\nport 3", map[string]string{"port": "4", "timeout": "9"}},
		{[]string{conf, "--port", "4", "-"}, "timeout 9\nport 3", map[string]string{"port": "4", "timeout": "9"}},
		{[]string{"-"}, "save 60 1\nsave\nbind 127.0.0.1\nbind\nlatency-tracking-info-percentiles\n", map[string]string{
			"save": "60 1", "bind": "", "latency-tracking-info-percentiles": ""}},
		{[]string{"-"}, "save\n", map[string]string{"save": ""}},
		{[]string{"--maxmemory", "2kb", "--hz", "9999"}, "", map[string]string{"maxmemory": "2048", "hz": "500"}},
		{[]string{"-"}, "slaveof no one\nLUA-time-limit 7\nlua-replicate-commands yes\n",
			map[string]string{"busy-reply-threshold": "7"}},
		{[]string{"-"}, "client-output-buffer-limit pubsub 1k 1kb 1\nclient-output-buffer-limit normal 2m 0 0",
			map[string]string{
				"client-output-buffer-limit": "normal 2000000 0 0 slave 268435456 67108864 60 pubsub 1000 1024 1"}},
	} {
		cfg, err := Parse(c.args, strings.NewReader(c.in))
		if c.want == nil {
			require.Error(t, err, "%q", c.args)
			continue
		}
		require.NoError(t, err, "%q", c.args)
		got := pairs(cfg.Get([]string{"*"}, glob))
		for name, value := range c.want {
			require.Equal(t, value, got[name], "%q %s", c.args, name)
		}
	}
}

func TestPortZeroMeansFreePortOnlyWithoutUnixSocket(t *testing.T) {
	c, err := Parse([]string{"--port", "0"}, nil)
	require.NoError(t, err)
	require.Equal(t, 0, c.Port)
	c, err = Parse([]string{"--port", "0", "--unixsocket", "/tmp/x"}, nil)
	require.NoError(t, err)
	require.Equal(t, -1, c.Port)
	require.Equal(t, []string{"port", "0"}, c.Get([]string{"port"}, glob))
}

func TestIncludeReadsFilesAndPatterns(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	write("a.inc", "port 5\n")
	write("b.inc", "timeout 6\nport x\n")
	main := write("main", "include "+dir+"/a*.inc\ninclude "+dir+"/none*.inc\n")
	c, err := Parse([]string{main}, nil)
	require.NoError(t, err)
	require.Equal(t, 5, c.Port)
	require.Equal(t, main, c.File)

	_, err = Parse([]string{write("bad", "include "+dir+"/b.inc")}, nil)
	require.Equal(t, &LineError{2, "port x", errNotInt}, err)

	_, err = Parse([]string{write("missing", "include "+dir+"/none")}, nil)
	require.EqualError(t, err, "Fatal error, can't open config file '"+dir+"/none': No such file or directory")

	loop := filepath.Join(dir, "loop")
	_, err = Parse([]string{write("loop", "include "+loop)}, nil)
	require.ErrorContains(t, err, "too many nested includes")
}

func TestSetUndoesEverythingWhenApplyFails(t *testing.T) {
	c := Default()
	var applied []string
	_, err := c.Set([]string{"timeout", "5", "hz", "10", "port", "1", "maxclients", "9"}, false,
		func(name string) error {
			applied = append(applied, name)
			if name == "port" && c.Port == 1 {
				return errors.New("Unable to listen on this port. Check server logs.")
			}
			return nil
		})
	require.EqualError(t, err, "ERR CONFIG SET failed (possibly related to argument 'port') - Unable to listen on "+
		"this port. Check server logs.")
	require.Equal(t, []string{"timeout", "port", "timeout", "port"}, applied)
	require.Equal(t, Default(), c)

	_, err = c.Set([]string{"timeout", "5", "maxmemory", "x"}, false, nil)
	require.Error(t, err)
	require.Equal(t, Default(), c)
}

func TestProtectedDirectivesNeedPermission(t *testing.T) {
	c := Default()
	for _, step := range []struct {
		mode  string
		local bool
		ok    bool
	}{{"no", true, false}, {"local", false, false}, {"local", true, true}, {"yes", false, true}} {
		c.EnableProtectedConfigs = step.mode
		_, err := c.Set([]string{"dbfilename", "x"}, step.local, nil)
		require.Equal(t, step.ok, err == nil, "%v", step)
	}
}

func TestPasswordsAreSensitive(t *testing.T) {
	require.True(t, Sensitive("RequirePass"))
	require.True(t, Sensitive("masterauth"))
	require.False(t, Sensitive("port"))
	require.False(t, Sensitive("nosuch"))
}

func TestWordsAreSplitAsRedisDoes(t *testing.T) {
	for line, want := range map[string][]string{
		``:                  nil,
		`a  b	c`:            {"a", "b", "c"},
		`a "b c" 'd e'`:     {"a", "b c", "d e"},
		`"\x41\n\"\\" '\''`: {"A\n\"\\", "'"},
		`a"b"`:              {"ab"},
		`""`:                {""},
		`'a\n'`:             {`a\n`},
		`"\q\xzz"`:          {"qxzz"},
		`a "b`:              {"!"},
		`"a"b`:              {"!"},
		`'a`:                {"!"},
		`"a\`:               {"!"},
	} {
		got, ok := SplitArgs(line)
		if len(want) == 1 && want[0] == "!" {
			require.False(t, ok, line)
			continue
		}
		require.True(t, ok, line)
		require.Equal(t, want, got, line)
	}
}

func FuzzQuotedTextIsReadBack(f *testing.F) {
	f.Add("a \"b\" \x00\xff\n")
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := SplitArgs("name " + quote(s))
		require.True(t, ok)
		require.Equal(t, []string{"name", s}, got)
		_, _ = SplitArgs(s)
	})
}

func TestOptionsWinOverDefaultsOfTheCaller(t *testing.T) {
	c := Default()
	c.Port, c.MaxClients = 0, 1000
	c, err := ParseOver(c, []string{"--maxclients", "7"}, strings.NewReader(""))
	require.NoError(t, err)
	require.Equal(t, 7, c.MaxClients)
	require.Equal(t, 0, c.Port)
	require.Equal(t, 16, c.Databases)
}

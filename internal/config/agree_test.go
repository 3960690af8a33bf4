package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// differs has the directives whose default differs from redis-server 7.0.15, or that redis-server does
// not have. Each has its reason.
func differs() map[string]string {
	return map[string]string{
		"bind":                            "only this machine may connect unless told otherwise",
		"save":                            "a test server saves only when it is asked to",
		"dir":                             "the test's directories differ",
		"port":                            "set by the test",
		"unixsocket":                      "set by the test",
		"cluster-announce-human-nodename": "new in 7.2",
		"locale-collate":                  "new in 7.2",
		"set-max-listpack-entries":        "new in 7.2",
		"set-max-listpack-value":          "new in 7.2",
		"aof-disable-auto-gc":             "hidden since 7.2",
	}
}

func TestConfigGetAgreesWithRedis(t *testing.T) {
	theirs := pairs(startRedis(t).do("CONFIG", "GET", "*"))
	ours := pairs(Default().Get([]string{"*"}, glob))
	for name, value := range theirs {
		if differs()[name] == "" {
			require.Contains(t, ours, name)
			require.Equal(t, value, ours[name], name)
		}
	}
	for name := range ours {
		if differs()[name] == "" {
			require.Contains(t, theirs, name)
		}
	}
	for name := range differs() {
		if name != "aof-disable-auto-gc" {
			require.Contains(t, ours, name)
		}
		value, there := theirs[name]
		require.False(t, there && value == ours[name], "%s no longer differs", name)
	}
}

func TestHiddenDirectivesAreThereWhenNamed(t *testing.T) {
	redis := startRedis(t)
	for _, name := range []string{"watchdog-period", "use-exit-on-panic", "rdb-key-save-delay", "key-load-delay",
		"loading-process-events-interval-bytes"} {
		require.Equal(t, redis.do("CONFIG", "GET", name), Default().Get([]string{name}, glob))
		require.NotContains(t, Default().Get([]string{"*"}, glob), name)
	}
}

func TestConfigSetAgreesWithRedis(t *testing.T) {
	redis := startRedis(t, "--save", "")
	ours := Default()
	for _, line := range []string{
		`maxmemory 5gb`, `maxmemory 5GB`, `maxmemory 1.5gb`, `maxmemory -1`, `maxmemory ""`, `maxmemory 12b`,
		`maxmemory 3k`, `maxmemory 3x`,
		`maxmemory-clients 5%`, `maxmemory-clients 100%`, `maxmemory-clients 101%`, `maxmemory-clients -1`,
		`maxmemory-clients 3mb`, `maxmemory-clients x%`,
		`maxmemory-policy allkeys-LRU`, `maxmemory-policy x`, `maxclients 0`, `maxclients 4294967296`,
		`maxclients 100`, `nosuch 1`,
		`timeout 01`, `timeout +1`, `timeout " 1"`, `timeout 1x`, `timeout -1`, `timeout 2147483648`, `timeout 3`,
		`timeout ""`, `TIMEOUT 4`,
		`hz 1000`, `hz 0`, `hz 20`, `list-max-listpack-size -3`, `list-max-ziplist-size 4`, `lua-time-limit 77`,
		`slowlog-log-slower-than -1`, `slowlog-log-slower-than -2`, `repl-backlog-ttl 99999999999999999999`,
		`appendfsync sometimes`, `lazyfree-lazy-expire 1`, `lazyfree-lazy-expire YES`,
		`appendonly x`, `appendonly no`, `save "1 2 3"`, `save "1  2"`, `save "60 1 7 2"`, `save ""`, `save "0 1"`,
		`save " "`,
		`client-output-buffer-limit "normal 1 2 3 pubsub 4kb 5 6"`, `client-output-buffer-limit "normal 1 2"`,
		`client-output-buffer-limit "x 1 2 3"`,
		`client-output-buffer-limit "replica 1 x 3"`, `client-output-buffer-limit "replica 1 1 -3"`,
		`client-output-buffer-limit "Slave 1 1 3"`, `client-output-buffer-limit ""`,
		`notify-keyspace-events KEA`, `notify-keyspace-events Eg$lshzxetdmn`, `notify-keyspace-events E$gn`,
		`notify-keyspace-events mAn`, `notify-keyspace-events q`, `notify-keyspace-events ""`,
		`latency-tracking-info-percentiles "50 99.900"`, `latency-tracking-info-percentiles "x"`,
		`latency-tracking-info-percentiles "101"`, `latency-tracking-info-percentiles ""`,
		`shutdown-on-sigterm "now nosave"`, `shutdown-on-sigterm "save nosave"`, `shutdown-on-sigterm x`,
		`shutdown-on-sigterm "default force"`, `shutdown-on-sigterm default`, `shutdown-on-sigint ""`,
		`oom-score-adj-values "1 2 3"`, `oom-score-adj-values "1 2"`, `oom-score-adj-values "1 2 3000"`,
		`unixsocketperm 777`, `databases 3`, `dir /tmp`, `dbfilename x`, `timeout 9 timeout 8`, `timeout 9 nosuch 8`,
		`timeout 9 hz x`, `min-slaves-to-write 1 min-replicas-to-write 2`,
		`proc-title-template "{title} {port}"`, `proc-title-template "{foo}"`, `cluster-announce-hostname "a b"`,
		`cluster-announce-hostname a.b-c`,
		`proto-max-bulk-len 1024`, `proto-max-bulk-len 2mb`, `active-defrag-cycle-min 100`,
		`proto-max-bulk-len 9223372036854775807`, `proto-max-bulk-len 9223372036854775808`,
		`client-query-buffer-limit 8589934592gb`, `repl-backlog-size 18446744073709551615`,
		`stream-node-max-bytes 99999999999999999999999`, `stream-node-max-bytes -1`, `requirepass ""`,
		`acl-pubsub-default x`, `tracking-table-max-keys 1kb`,
	} {
		args, ok := SplitArgs(line)
		require.True(t, ok, line)
		want := redis.do(append([]string{"CONFIG", "SET"}, args...)...)
		got := []string{"OK"}
		if _, err := ours.Set(args, true, nil); err != nil {
			got[0] = err.Error()
		}
		require.Equal(t, want, got, line)
		if args[0] != "dir" {
			require.Equal(t, redis.do("CONFIG", "GET", args[0]), ours.Get(args[:1], glob), line)
		}
	}
}

func TestRefusedLinesAgreeWithRedis(t *testing.T) {
	dir := t.TempDir()
	for _, line := range []string{
		`--port|abc`, `--port|70000`, `--port`, `--save|60|--port|0`, `--protected-mode|maybe`,
		`--maxmemory-policy|foo`, `--maxmemory|12xb`, `--port 70000`,
		`--maxmemory-clients|150%`, `--maxmemory-clients|-200`, `--unixsocketperm|999`, `--unixsocketperm|7777`,
		`--maxclients|0`, `--nosuch|1`,
		`--client-output-buffer-limit|normal|0|0`, `--client-output-buffer-limit|foo|0|0|0`,
		`--client-output-buffer-limit|normal|x|0|0`,
		`--oom-score-adj-values|1|2`, `--oom-score-adj-values|1|2|x`, `--notify-keyspace-events|Kq`,
		`--notify-keyspace-events`,
		`--dir|/nonexist`, `--dir|/etc/passwd`, `--replicaof|a`, `--replicaof|a|b`,
		`--latency-tracking-info-percentiles|200`, `--latency-tracking-info-percentiles|abc`,
		`--shutdown-on-sigterm|foo`, `--shutdown-on-sigterm`, `--oom-score-adj-values`,
		`--shutdown-on-sigterm|save|nosave`, `--dbfilename|a/b`, `--appendfilename|a/b`, `--appenddirname|a/b`,
		`--appendfilename|`, `--appenddirname|`,
		`--proc-title-template|{foo}`, `--cluster-announce-hostname|a b`, `--port|1 2`, `--logfile|/nonexist/x`,
		`--save|a b`, `--save|0|1`, `--save|1|-1`, `--port|"`,
		`--databases|0`, `--databases|99999999999999999999`, `--a.b`, `--port|`, `--timeout|7|--hz|10|--port|x`,
		`--requirepass|a|b`, `--appendonly|yes|no`, `--rename-command|a`,
		`--shutdown-on-sigint`, `--shutdown-on-sigint|now force|--shutdown-on-sigterm`, `--oom-score-adj-values`,
		`--oom-score-adj-values|1 2`, `--save|60 1|7 2`,
		`--client-output-buffer-limit|normal 0 0`, `--latency-tracking-info-percentiles|50 x`, `--include`, `--user`,
		`--loadmodule`, `-x|7`, `-`, `--sentinel|x|y`, `--port|7|-x`, `--timeout|\x01"\`,
	} {
		args := strings.Split(line, "|")
		in := "# comment\n\n port 'x\n"
		_, err := Parse(args, strings.NewReader(in))
		require.Error(t, err, line)
		if args[0] == "-" {
			require.Equal(t, &LineError{3, "port 'x", "Unbalanced quotes in configuration line"}, err)
			continue
		}
		if args[0] == "--sentinel" {
			require.ErrorContains(t, err, "sentinel directive while not in sentinel mode")
			continue
		}
		require.Equal(t, refusedBy(t, dir, args...), err.Error()+"\n", line)
	}
}

// redis-server writes a file with every kind of line.
func TestFilesRewrittenByRedisAreUnderstood(t *testing.T) {
	file := filepath.Join(t.TempDir(), "redis.conf")
	require.NoError(t, os.WriteFile(file, []byte("save 60 1\n"), 0o600))
	redis := startRedis(t, file)
	require.Equal(t, []string{"OK"}, redis.do("CONFIG", "REWRITE"))
	_, err := Parse([]string{file}, nil)
	require.NoError(t, err)
	for _, pair := range [][2]string{
		{"maxmemory", "5gb"}, {"maxmemory-clients", "7%"}, {"notify-keyspace-events", "KEA"}, {"save", "1 2 3 4"},
		{"latency-tracking-info-percentiles", "1.5 2"}, {"client-output-buffer-limit", "normal 1 2 3"},
		{"syslog-ident", "x"},
		{"requirepass", "secret"}, {"masterauth", "a \"b\x01"}, {"oom-score-adj-values", "1 2 3"},
		{"shutdown-on-sigterm", "nosave now"}, {"appendfsync", "always"},
	} {
		redis.do("CONFIG", "SET", pair[0], pair[1])
	}
	require.Equal(t, []string{"OK"}, redis.do("CONFIG", "REWRITE"))
	ours, err := Parse([]string{file}, nil)
	require.NoError(t, err)
	theirs := pairs(redis.do("CONFIG", "GET", "*"))
	for name, value := range pairs(ours.Get([]string{"*"}, glob)) {
		if differs()[name] == "" || name == "save" {
			require.Equal(t, theirs[name], value, name)
		}
	}
}

func TestStockConfigurationFileIsAccepted(t *testing.T) {
	const stock = "/etc/redis/redis.conf" // Debian's
	if _, err := os.Stat(stock); err != nil && os.Getenv("CI") != "true" {
		t.Skip("Debian's redis-server is not installed: ", err)
	}
	c, err := Parse([]string{stock, "--logfile", ""}, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"127.0.0.1", "-::1"}, c.Bind)
	require.True(t, c.Daemonize)
}

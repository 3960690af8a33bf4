package node_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

var (
	replicated = flag.Int("follow.commands", 6000, "how many random commands a replica gets from its master")
	cuts       = flag.Int("follow.cuts", 12, "how often the link is cut meanwhile")
)

// masters are the servers that a replica of ours follows in tests.
func masters() map[string]func(t testing.TB, args ...string) *redistest.Server {
	return map[string]func(t testing.TB, args ...string) *redistest.Server{
		"Redis": redistest.Start, "Valkey": redistest.StartValkey,
	}
}

// lines collects a log.
type lines struct {
	mu   sync.Mutex
	text []string
}

func (l *lines) add(_ byte, format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, fmt.Sprintf(format, args...))
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.text, "\n")
}

// infoText returns a field of INFO.
func infoText(c *redistest.Conn, section, field string) string {
	_, rest, _ := strings.Cut(c.Do("INFO", section).Str, "\n"+field+":")
	value, _, _ := strings.Cut(rest, "\r\n")
	return value
}

// replicaOf starts a replica of ours and waits for its link.
func replicaOf(t testing.TB, master string, args ...string) (*redistest.Conn, *lines) {
	t.Helper()
	log := &lines{}
	host, port, err := net.SplitHostPort(master)
	require.NoError(t, err)
	args = append([]string{"--enable-debug-command", "yes", "--replicaof", host + " " + port}, args...)
	c := redistest.Dial(t, startWithLog(t, args, log.add))
	redistest.Until(t, func() bool { return infoText(c, "replication", "master_link_status") == "up" })
	return c, log
}

// caughtUp waits until a replica has everything of its master.
func caughtUp(t testing.TB, master, replica *redistest.Conn) {
	t.Helper()
	redistest.Until(t, func() bool {
		return infoText(replica, "replication", "master_link_status") == "up" &&
			infoText(master, "replication", "master_repl_offset") == infoText(replica, "replication", "slave_repl_offset")
	})
}

const replicatedLibrary = "#!lua name=lib\n" +
	"redis.register_function('add', function(keys, args) return redis.call('INCRBY', keys[1], args[1]) end)"

// workload are commands whose words in braces stand for something random. Each master knows them.
const workload = `
SET {string} {text}
SET {string} {text} PX {ms}
SET {string} {text} EX 100 NX
GETEX {string} PX {ms}
GETEX {string} PERSIST
GETDEL {string}
APPEND {string} {text}
SETRANGE {string} 5 {text}
SETBIT {string} {n} 1
BITFIELD {string} SET u8 {n} 7 INCRBY i16 3 {n}
BITOP XOR {string} {string} {string}
INCRBY {counter} {n}
INCRBYFLOAT {counter} 0.1
PFADD {string}h {text} {text}
PFMERGE {string}m {string}h {string}h
RPUSH {list} {text} {text} {text}
LPUSH {list} {text}
LPOP {list} 2
LMOVE {list} {list} LEFT RIGHT
LINSERT {list} BEFORE {text} {text}
LTRIM {list} 0 20
LMPOP 2 {list} {list} RIGHT COUNT 2
BLPOP {list} {list} 0.001
SADD {set} {text} {n} {n}
SPOP {set}
SPOP {set} 3
SMOVE {set} {set} {n}
SUNIONSTORE {set} {set} {set}
SORT {set} BY nosort STORE {list}
ZADD {zset} {n} {text} {n} {text}
ZINCRBY {zset} 0.5 {n}
ZPOPMIN {zset} 2
ZRANGESTORE {zset} {zset} 0 5
ZUNIONSTORE {zset} 2 {zset} {set} WEIGHTS 2 3
GEOADD {zset}g 13.36 38.11 {n}
GEOSEARCHSTORE {zset} {zset}g FROMLONLAT 13 38 BYRADIUS 900 km
HSET {hash} {n} {text} {n} {text}
HINCRBYFLOAT {hash}f {n} 1.5
HDEL {hash} {n}
XADD {stream} * f {text}
XADD {stream} MAXLEN ~ 20 * f {text}
XGROUP CREATE {stream} g 0 MKSTREAM
XREADGROUP GROUP g {n} COUNT 2 STREAMS {stream} >
XAUTOCLAIM {stream} g {n} 0 0 COUNT 2
XTRIM {stream} MAXLEN 10
XDEL {stream} 1-1
EXPIRE {any} 100
PEXPIRE {any} {ms}
PERSIST {any}
DEL {any} {any}
UNLINK {any}
RENAME {any} {any}
COPY {any} {any} DB 2 REPLACE
MOVE {any} 3
SELECT {db}
SELECT {db}
EVAL redis.call('INCR',KEYS[1]);redis.call('PEXPIRE',KEYS[1],ARGV[1]) 1 {counter} {ms}
EVAL return{redis.call('SPOP',KEYS[1]),redis.call('TIME')} 1 {set}
FCALL add 1 {counter} {n}
PUBLISH channel {text}
SWAPDB 1 2
`

// churn sends random commands, many at a time, and some of them in transactions.
func churn(c *redistest.Conn, r *rand.Rand, commands int) {
	all := strings.Split(strings.TrimSpace(workload), "\n")
	word := func(w string) string {
		if strings.Contains("string counter list set zset hash stream", w) {
			return w + strconv.Itoa(r.IntN(6))
		}
		switch w {
		case "any":
			kinds := strings.Fields("string counter list set zset hash stream")
			return kinds[r.IntN(len(kinds))] + strconv.Itoa(r.IntN(6))
		case "text":
			return randomText(r)
		case "ms":
			return strconv.Itoa(1 + r.IntN(300))
		case "db":
			return strconv.Itoa(r.IntN(4))
		}
		return strconv.Itoa(r.IntN(100))
	}
	command := func() (args []string) {
		for _, arg := range strings.Fields(all[r.IntN(len(all))]) {
			before, rest, found := strings.Cut(arg, "{")
			name, after, closed := strings.Cut(rest, "}")
			if found && closed && before == "" && !strings.Contains(name, "'") {
				arg = word(name) + after
			}
			args = append(args, arg)
		}
		return args
	}
	for commands > 0 {
		var batch []byte
		n := 1 + r.IntN(20)
		atOnce := r.IntN(5) == 0
		for i := range n {
			if atOnce && i == 0 {
				batch = resp.AppendRequest(batch, "MULTI")
			}
			batch = resp.AppendRequest(batch, command()...)
		}
		commands -= n
		if atOnce {
			batch = resp.AppendRequest(batch, "EXEC")
			n += 2
		}
		_ = c.Send(batch)
		for range n {
			c.Read()
		}
	}
}

// settle ends what the passing of time would change.
func settle(c *redistest.Conn) {
	for db := range 4 {
		c.Do("SELECT", strconv.Itoa(db))
		for _, key := range c.Do("KEYS", "*").Elems {
			c.Do("PERSIST", key.Str)
		}
	}
}

func TestAReplicaHasTheDataOfItsMaster(t *testing.T) {
	t.Parallel()
	others := map[string][]string{"swapdb": {"--exec", "queue"}, "on-empty-db": {"--io-threads", "2", "--lab", "yes"}}
	for name, startMaster := range masters() {
		for _, how := range []string{"disabled", "on-empty-db", "swapdb"} {
			t.Run(name+"/"+how, func(t *testing.T) {
				t.Parallel()
				theirs := startMaster(t, "--repl-diskless-sync-delay", "0", "--repl-diskless-sync",
					map[bool]string{true: "yes", false: "no"}[how != "on-empty-db"])
				master, r := redistest.Dial(t, theirs.Addr), rand.New(rand.NewPCG(7, 7))
				require.Equal(t, "lib", master.Do("FUNCTION", "LOAD", replicatedLibrary).Str)
				churn(master, r, *replicated/4)
				replica, log := replicaOf(t, theirs.Addr, append(others[how], "--repl-diskless-load", how)...)
				churn(master, r, *replicated)
				settle(master)
				requireSameData(t, master, replica)
				require.Equal(t, master.Do("FUNCTION", "LIST", "WITHCODE"), replica.Do("FUNCTION", "LIST", "WITHCODE"))
				require.NotContains(t, log.String(), "CRITICAL")
				require.Equal(t, "1", infoText(master, "stats", "sync_full"))
			})
		}
	}
}

// A cut link is made again and continues where it was: nothing is sent twice, and nothing is left out.
func TestACutLinkGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	for name, startMaster := range masters() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			theirs := startMaster(t, "--repl-diskless-sync-delay", "0", "--repl-backlog-size", "64mb")
			master, r := redistest.Dial(t, theirs.Addr), rand.New(rand.NewPCG(8, 8))
			master.Do("FUNCTION", "LOAD", replicatedLibrary)
			replica, log := replicaOf(t, theirs.Addr)
			knife := redistest.Dial(t, theirs.Addr)
			for range *cuts {
				churn(master, r, *replicated / *cuts)
				redistest.Until(t, func() bool { return knife.Do("CLIENT", "KILL", "TYPE", "replica").Int == 1 })
			}
			settle(master)
			caughtUp(t, master, replica)
			require.Equal(t, master.Do("DEBUG", "DIGEST").Str, replica.Do("DEBUG", "DIGEST").Str)
			require.NotContains(t, log.String(), "CRITICAL")
			require.Equal(t, "1", infoText(master, "stats", "sync_full"))
			require.Equal(t, strconv.Itoa(*cuts), infoText(master, "stats", "sync_partial_ok"))
		})
	}
}

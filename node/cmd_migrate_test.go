package node_test

import (
	"bufio"
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

// migrateTo calls MIGRATE to the server at addr. words are the key, or "" for none, and the
// arguments after the timeout.
func migrateTo(c *redistest.Conn, addr, key, db string, words ...string) resp.Value {
	host, port, _ := net.SplitHostPort(addr)
	return c.Do(append([]string{"MIGRATE", host, port, key, db, "30000"}, words...)...)
}

// bothServers runs a test twice: with this server and with redis-server.
func bothServers(t *testing.T, test func(t *testing.T, addr string, ours bool)) {
	t.Run("miniredisd", func(t *testing.T) { test(t, start(t, nil), true) })
	t.Run("redis-server", func(t *testing.T) { test(t, redistest.Start(t).Addr, false) })
}

func TestMigrateMovesValuesOfEveryTypeBetweenServers(t *testing.T) {
	t.Parallel()
	for _, way := range []struct{ name, from, to string }{
		{"from miniredisd to miniredisd", "ours", "ours"},
		{"from miniredisd to redis-server", "ours", "redis"},
		{"from redis-server to miniredisd", "redis", "ours"},
	} {
		t.Run(way.name, func(t *testing.T) {
			server := func(kind string) string {
				if kind == "redis" {
					return redistest.Start(t).Addr
				}
				return start(t, nil)
			}
			from, to := redistest.Dial(t, server(way.from)), redistest.Dial(t, server(way.to))
			ok(t, to, "SELECT", "9")
			for i, kind := range dumpWriters {
				for n := range 3 {
					w := &dumpWriter{r: rand.New(rand.NewPCG(uint64(n), uint64(i))), size: []int{2, 100, 700}[n]}
					from.Do("FLUSHALL")
					to.Do("FLUSHALL")
					kind.write(w)
					w.send(from)
					value := read(from)
					require.Equal(t, "+OK", migrateTo(from, to.Net.RemoteAddr().String(), "k", "9", "COPY").String(), kind.name)
					same(t, value, read(from))
					same(t, value, read(to))
					require.Equal(t, "+OK", migrateTo(from, to.Net.RemoteAddr().String(), "k", "9", "REPLACE").String(), kind.name)
					same(t, value, read(to))
					require.Equal(t, ":0", from.Do("EXISTS", "k").String(), kind.name)
				}
			}
		})
	}
}

// The requests are too large for one write, so they are sent in chunks. A key that exists on the
// other server does not stop the other keys.
func TestMigrateMovesTheKeysThatTheOtherServerAccepts(t *testing.T) {
	t.Parallel()
	from, addr := redistest.Dial(t, start(t, nil)), start(t, nil)
	to := redistest.Dial(t, addr)
	ok(t, from, "MSET", "a", "1", "b", "2", "c", "3")
	ok(t, from, "SET", "big", strings.Repeat("x", 20<<20))
	ok(t, to, "SET", "b", "kept")
	const busy = "-ERR Target instance replied with error: BUSYKEY Target key name already exists."
	require.Equal(t, busy, migrateTo(from, addr, "", "0", "KEYS", "a", "nosuch", "b", "big", "c").String())
	require.Equal(t, `["b"]`, from.Do("KEYS", "*").String())
	require.Equal(t, `["1", "kept", "3"]`, to.Do("MGET", "a", "b", "c").String())
	require.Equal(t, ":20971520", to.Do("STRLEN", "big").String())
	require.Equal(t, "+OK", migrateTo(from, addr, "b", "0", "REPLACE").String())
	require.Equal(t, `"2"`, to.Do("GET", "b").String())
	require.Equal(t, "+NOKEY", migrateTo(from, addr, "b", "0", "REPLACE").String())
	require.Equal(t, "-ERR Target instance replied with error: ERR DB index is out of range", func() string {
		ok(t, from, "SET", "b", "4")
		return migrateTo(from, addr, "b", "16").String()
	}())
}

func TestMigratedKeysKeepTheTimeTheyHaveLeft(t *testing.T) {
	addr, to := startLab(t)
	_, from := startLab(t)
	for _, c := range []*redistest.Conn{from, to} {
		ok(t, c, "LAB", "CLOCK", "SET", "5000000000000")
	}
	ok(t, from, "SET", "long", "v", "PX", "123456")
	ok(t, from, "SET", "last", "v", "PXAT", "5000000000001")
	from.Do("LAB", "CLOCK", "ADVANCE", "1")
	require.Equal(t, "+OK", migrateTo(from, addr, "", "0", "KEYS", "long", "last").String())
	require.Equal(t, ":123455", to.Do("PTTL", "long").String())
	require.Equal(t, ":1", to.Do("PTTL", "last").String(), "0 would be no end at all")
}

// Other clients see a moved key as a deleted one.
func TestMigrateDeletesKeysAsDelDoes(t *testing.T) {
	bothServers(t, func(t *testing.T, addr string, _ bool) {
		to := start(t, nil)
		c, watches := redistest.Dial(t, addr), redistest.Dial(t, addr)
		tracks, listens := redistest.Dial(t, addr), redistest.Dial(t, addr)
		ok(t, c, "CONFIG", "SET", "notify-keyspace-events", "KEA")
		ok(t, c, "MSET", "a", "1", "b", "2")
		ok(t, watches, "WATCH", "b")
		ok(t, watches, "MULTI")
		require.Equal(t, "+QUEUED", watches.Do("PING").String())
		tracks.Do("HELLO", "3")
		ok(t, tracks, "CLIENT", "TRACKING", "ON")
		tracks.Do("MGET", "a", "b")
		listens.Do("PSUBSCRIBE", "__key*")
		dirty := infoField(c, "rdb_changes_since_last_save")

		require.Equal(t, "+OK", migrateTo(c, to, "a", "0", "COPY").String())
		require.Equal(t, dirty, infoField(c, "rdb_changes_since_last_save"))
		require.Equal(t, "+OK", migrateTo(c, to, "", "0", "REPLACE", "KEYS", "a", "b", "a").String())
		require.NotEqual(t, dirty, infoField(c, "rdb_changes_since_last_save"))

		require.Equal(t, "(nil array)", watches.Do("EXEC").String())
		require.Equal(t, `>["invalidate", ["a"]]`, tracks.Read().String())
		require.Equal(t, `>["invalidate", ["b"]]`, tracks.Read().String())
		for _, key := range []string{"a", "b", "a"} {
			require.Equal(t, `["pmessage", "__key*", "__keyspace@0__:`+key+`", "del"]`, listens.Read().String())
			require.Equal(t, `["pmessage", "__key*", "__keyevent@0__:del", "`+key+`"]`, listens.Read().String())
		}
		require.Equal(t, ":0", c.Do("DBSIZE").String())
	})
}

// target is a fake server. Its n-th connection reads some requests, writes the n-th answer and
// ends.
type target struct {
	net.Listener
	requests chan string // one line for each connection, without payloads
}

// answer is the behaviour of a target on one connection.
type answer struct {
	requests int
	replies  string
	more     int // further requests; the reply to each is +OK
}

func startTarget(t *testing.T, answers ...answer) *target {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	tg := &target{Listener: l, requests: make(chan string, len(answers))}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for _, a := range answers {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			tg.requests <- a.play(conn)
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-ended
	})
	return tg
}

func (a *answer) play(conn net.Conn) string {
	defer conn.Close()
	r := bufio.NewReader(conn)
	var asked []string
	for n := 1; n <= a.requests+a.more; n++ {
		v, err := resp.ReadReply(r)
		if err != nil {
			break
		}
		if len(v.Elems) > 3 {
			v.Elems[3].Str = "payload"
		}
		asked = append(asked, v.String())
		if n == a.requests {
			_, _ = io.WriteString(conn, a.replies) // the other side reports an error
		} else if n > a.requests {
			_, _ = io.WriteString(conn, "+OK\r\n")
		}
	}
	return strings.Join(asked, " ")
}

func TestMigrateReportsWhatGoesWrong(t *testing.T) {
	const (
		reading = "-IOERR error or timeout reading to target instance"
		refused = "-ERR Target instance replied with error: "
	)
	for _, row := range []struct {
		name    string
		answers []answer // one for each connection, which gets all three keys
		want    string
		left    int  // how many of the three keys remain
		ours    bool // Redis accepts any line but an error as the reply
	}{
		{"closes", []answer{{requests: 4}, {requests: 4}}, reading, 3, false},
		{"closes once", []answer{{requests: 4}, {4, "+OK\r\n+OK\r\n+OK\r\n+OK\r\n", 0}}, "+OK", 0, false},
		{"closes behind SELECT", []answer{{4, "+OK\r\n", 0}, {4, "+OK\r\n", 0}}, reading, 3, false},
		{"refuses SELECT and closes", []answer{{4, "-ERR no\r\n", 0}, {4, "-ERR no\r\n", 0}}, reading, 3, false},
		{"half a reply", []answer{{4, "+OK\r\n+O", 0}, {4, "+OK\r\n+OK\r", 0}}, reading, 3, false},
		{"closes in the middle", []answer{{4, "+OK\r\n+OK\r\n", 0}}, reading, 2, false},
		{"refuses one and closes", []answer{{4, "+OK\r\n+OK\r\n-ERR no\r\n", 0}}, refused + "ERR no", 2, false},
		{"refuses SELECT", []answer{{4, "-ERR no\r\n+OK\r\n+OK\r\n-ERR other\r\n", 0}}, refused + "ERR no", 3, false},
		{"refuses two", []answer{{4, "+OK\r\n-BUSYKEY yes\r\n+OK\r\n-ERR other\r\n", 0}}, refused + "BUSYKEY yes", 2, false},
		{"refuses without a word", []answer{{4, "+OK\r\n-\r\n+OK\r\n+OK\r\n", 0}}, refused, 1, false},
		{"ends lines with LF", []answer{{4, "+OK\n+OK\n+OK\n-ERR no\n", 0}}, refused + "ERR no", 1, false},
		{"empty line", []answer{{4, "+OK\r\n\r\n+OK\r\n", 0}, {4, "\r\n", 0}}, reading, 3, true},
		{"another protocol", []answer{
			{4, "HTTP/1.1 400 Bad Request\r\nServer: x\r\n\r\n\r\n", 0}, {4, "HTTP/1.1 400\r\n\r\n\r\n\r\n", 0},
		}, reading, 3, true},
		{"another reply", []answer{{4, "+OK\r\n+OK\r\n$-1\r\n+OK\r\n", 0}}, reading, 2, true},
		{"a very long line", []answer{{4, "+OK\r\n+OK\r\n-" + strings.Repeat("x", 1<<20), 0}}, reading, 2, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			bothServers(t, func(t *testing.T, addr string, ours bool) {
				if row.ours && !ours {
					t.Skip("docs/differences.md lists this difference")
				}
				c, tg := redistest.Dial(t, addr), startTarget(t, row.answers...)
				ok(t, c, "MSET", "a", "1", "b", "2", "c", "3")
				require.Equal(t, row.want, migrateTo(c, tg.Addr().String(), "", "0", "KEYS", "a", "b", "c").String())
				require.Equal(t, int64(row.left), c.Do("DBSIZE").Int)
				for range row.answers {
					require.Equal(t, 4, strings.Count(<-tg.requests, "["))
				}
			})
		})
	}
}

// The server migrates a key to itself: it waits for its own reply until the timeout of 1 ms. On a busy
// machine that time may be over before it waits for the reply.
func TestMigrateGivesUpAnotherServerThatDoesNotAnswer(t *testing.T) {
	bothServers(t, func(t *testing.T, addr string, _ bool) {
		c := redistest.Dial(t, addr)
		ok(t, c, "SET", "k", "v")
		host, port, _ := net.SplitHostPort(addr)
		require.Regexp(t, "^-IOERR error or timeout (connecting to the client|(writing|reading) to target instance)$",
			c.Do("MIGRATE", host, port, "k", "1", "1").String())
		require.Equal(t, "0", infoField(c, "migrate_cached_sockets"))
		require.Equal(t, ":1", c.Do("EXISTS", "k").String())
	})
}

func TestMigrateSendsWhatRedisSends(t *testing.T) {
	const restore = `["RESTORE", "k", "0", "payload"]`
	bothServers(t, func(t *testing.T, addr string, _ bool) {
		for _, row := range []struct{ db, words, want string }{
			{"0", "", `["SELECT", "0"] ` + restore},
			{"7", "COPY", `["SELECT", "7"] ` + restore},
			{"0", "REPLACE", `["SELECT", "0"] ["RESTORE", "k", "0", "payload", "REPLACE"]`},
			{"0", "AUTH pw", `["AUTH", "pw"] ["SELECT", "0"] ` + restore},
			{"0", "AUTH pw AUTH other", `["AUTH", "other"] ["SELECT", "0"] ` + restore},
			{"0", "AUTH2 me pw COPY", `["AUTH", "me", "pw"] ["SELECT", "0"] ` + restore},
			{"0", "AUTH2 me pw AUTH other", `["AUTH", "me", "other"] ["SELECT", "0"] ` + restore},
			{"-1", "", restore}, // Redis takes -1 for "unknown" and selects no database
		} {
			n := strings.Count(row.want, "[")
			c, tg := redistest.Dial(t, addr), startTarget(t, answer{requests: n, replies: strings.Repeat("+OK\r\n", n)})
			ok(t, c, "SET", "k", "v")
			require.Equal(t, "+OK", migrateTo(c, tg.Addr().String(), "k", row.db, strings.Fields(row.words)...).String())
			require.Equal(t, row.want, <-tg.requests)
		}
	})
}

// SELECT is sent for another database, and again after an error that leaves the database in doubt.
func TestMigrateUsesAConnectionAgain(t *testing.T) {
	bothServers(t, func(t *testing.T, addr string, _ bool) {
		c := redistest.Dial(t, addr)
		tg := startTarget(t, answer{requests: 4, replies: "+OK\r\n+OK\r\n+OK\r\n-ERR no\r\n", more: 5})
		move := func(db string, keys ...string) string {
			c.Do("MSET", "a", "1", "b", "2", "c", "3")
			return migrateTo(c, tg.Addr().String(), "", db, append([]string{"KEYS"}, keys...)...).String()
		}
		require.Contains(t, move("3", "a", "b", "c"), "-ERR Target instance replied with error")
		require.Equal(t, "+OK", move("3", "a"))
		require.Equal(t, "+OK", move("3", "b"))
		require.Equal(t, "+OK", move("4", "c"))
		require.Equal(t, "1", infoField(c, "migrate_cached_sockets"))
		require.Equal(t, `["SELECT", "3"] `+restoreOf("a", "b", "c")+` ["SELECT", "3"] `+restoreOf("a", "b")+
			` ["SELECT", "4"] `+restoreOf("c"), <-tg.requests)
	})
}

func restoreOf(keys ...string) string {
	var all []string
	for _, key := range keys {
		all = append(all, `["RESTORE", "`+key+`", "0", "payload"]`)
	}
	return strings.Join(all, " ")
}

func TestMigrateClosesConnectionsThatAreNotUsed(t *testing.T) {
	t.Parallel()
	_, c := startLab(t)
	addr := start(t, nil)
	ok(t, c, "MSET", "a", "1", "b", "2")
	require.Equal(t, "+OK", migrateTo(c, addr, "a", "0").String())
	require.Equal(t, "1", infoField(c, "migrate_cached_sockets"))
	c.Do("LAB", "CLOCK", "ADVANCE", "10001")
	waitForField(c, "migrate_cached_sockets", "0")
	require.Equal(t, "+OK", migrateTo(c, addr, "b", "0").String())
	require.Equal(t, "1", infoField(c, "migrate_cached_sockets"))
}

// Redis tells servers apart by the text of host and port.
func TestMigrateKeepsConnectionsTo64Servers(t *testing.T) {
	bothServers(t, func(t *testing.T, addr string, _ bool) {
		to := redistest.Dial(t, start(t, nil))
		c := redistest.Dial(t, addr)
		_, port, _ := net.SplitHostPort(to.Net.RemoteAddr().String())
		for i := range 70 {
			c.Do("SET", "k", strconv.Itoa(i))
			padded := strings.Repeat("0", i) + port
			require.Equal(t, "+OK", c.Do("MIGRATE", "127.0.0.1", padded, "k", "0", "30000", "REPLACE").String())
		}
		require.Equal(t, "64", infoField(c, "migrate_cached_sockets"))
		waitForField(to, "connected_clients", "65")
		require.Equal(t, `"69"`, to.Do("GET", "k").String())
	})
}

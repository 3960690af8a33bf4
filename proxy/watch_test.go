package proxy

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/respclient"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/labverdict"
	"github.com/miniredisd/miniredisd/miniredistest"
	"github.com/miniredisd/miniredisd/resp"
)

func judge(w *resp.Writer, args [][]byte, logs []lab.History) error {
	ask, err := labverdict.Parse(args)
	if err != nil {
		return err
	}
	return ask.Write(w, logs)
}

// world is a server with a lab, or a proxy with one before a real redis-server.
type world struct {
	t       *testing.T
	dial    func() conn
	lab     conn
	clients map[string]conn
	past    conn     // goes past the proxy
	proxy   *running // nil for a server of ours
}

// ownWorld is a server of ours.
func ownWorld(t *testing.T) *world {
	own := miniredistest.Run(t, miniredistest.Seed(1))
	return newWorld(t, func() conn { return conn{t, respclient.New(dialPort(t, own.Port()), 4096)} })
}

// realWorld is a proxy before a real server.
func realWorld(t *testing.T) *world {
	s := redistest.Start(t, "--save", "", "--enable-debug-command", "yes")
	r := startWith(t, Config{Upstreams: []string{s.Addr}, Judge: judge, ClockKeys: 1000})
	w := newWorld(t, r.client)
	w.proxy = r
	c, err := respclient.Dial(s.Addr)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	w.past = conn{t, c}
	return w
}

func newWorld(t *testing.T, dial func() conn) *world {
	return &world{t: t, dial: dial, lab: dial(), clients: map[string]conn{}}
}

// does plays "a: SET k v", where a is the name of a client, or "LAB ...". It returns the reply. "a! SET k v" is for a
// request that ends its connection.
func (w *world) does(step string) string {
	w.t.Helper()
	if name, line, dies := strings.Cut(step, "! "); dies && len(name) == 1 { // a fault ends the connection
		w.does(name + ": PING")
		c := w.clients[name]
		delete(w.clients, name)
		words, _ := resp.Words([]byte(line))
		require.NoError(w.t, c.Send(resp.AppendRequest(nil, words...)))
		_, err := c.Read()
		require.Error(w.t, err)
		return ""
	}
	for _, half := range []string{"> ", "< ", "~ "} {
		if name, line, is := strings.Cut(step, half); is && len(name) == 1 {
			return w.half(name, half, line)
		}
	}
	name, line, named := strings.Cut(step, ": ")
	switch {
	case !named || strings.HasPrefix(step, "LAB"):
		return w.lab.ask(step)
	case name == "past":
		return w.past.ask(line)
	case w.clients[name].t == nil:
		w.clients[name] = w.dial()
		require.Equal(w.t, "+OK", w.clients[name].do("CLIENT SETNAME "+name))
	}
	return w.clients[name].ask(line)
}

// half plays "a> BLPOP k 0", whose reply comes with "a< ", and "a~ SET k v", which has none.
func (w *world) half(name, half, line string) string {
	if w.clients[name].t == nil {
		w.does(name + ": PING")
	}
	c := w.clients[name]
	words, ok := resp.Words([]byte(line))
	require.True(w.t, ok, line)
	if half == "< " {
		return c.read()
	}
	require.NoError(w.t, c.Send(resp.AppendRequest(nil, words...)))
	if half == "> " {
		w.proxy.isUnderWay(name)
	} else if strings.HasSuffix(line, "REPLY ON") {
		require.Equal(w.t, "+OK", c.read())
	}
	return ""
}

// isUnderWay waits until a request of a client has gone to the upstream.
func (r *running) isUnderWay(name string) {
	redistest.Until(r.t, func() bool {
		sent := make(chan bool)
		r.proxy.loop.Post(func() {
			is := false
			for c := range r.proxy.upstreams[0].pairs {
				is = is || c.name == name && c.under != nil
			}
			sent <- is
		})
		return <-sent
	})
}

// ask sends a line, whose words may be in quotes.
func (c conn) ask(line string) string {
	c.t.Helper()
	words, ok := resp.Words([]byte(line))
	require.True(c.t, ok, line)
	require.NoError(c.t, c.Send(resp.AppendRequest(nil, words...)))
	return c.read()
}

// entries is the log with what has changed, a line for each entry.
func (w *world) entries() string {
	v, err := w.lab.Do("LAB", "LOG")
	require.NoError(w.t, err)
	var lines []string
	for _, e := range v.Elems {
		f := map[string]string{}
		for i := 0; i < len(e.Elems); i += 2 {
			f[e.Elems[i].Str] = e.Elems[i+1].Str
		}
		if f["by"] != "" && f["by"] != "exec" && f["changes"] == "" {
			continue // what a script reads, only the server itself sees
		}
		lines = append(lines, strings.Join([]string{f["name"], f["event"], strings.ToLower(f["cmd"]), f["key"], f["by"],
			f["outcome"], f["reply"], about(f["changes"])}, "|"))
	}
	return strings.Join(lines, "\n")
}

// about leaves out of a text what differs by a few milliseconds.
func about(text string) string {
	text = regexp.MustCompile(`\d\d:\d\d:\d\d\.\d\d\d`).ReplaceAllString(text, "TIME")
	return regexp.MustCompile(`until ([+-]\d+)\d\d ms`).ReplaceAllString(text, "until")
}

// verdict is what LAB VERDICT says, without times.
func (w *world) verdict() string {
	v, err := w.lab.Do("LAB", "VERDICT")
	require.NoError(w.t, err)
	f := map[string]resp.Value{}
	for i := 0; i+1 < len(v.Elems); i += 2 {
		f[v.Elems[i].Str] = v.Elems[i+1]
	}
	text := f["verdict"].Str
	for _, part := range []string{"violations", "undecided"} {
		for _, one := range f[part].Elems {
			for i := 0; i+1 < len(one.Elems); i += 2 {
				if name := one.Elems[i].Str; name == "key" || name == "why" || name == "fix" {
					text += fmt.Sprintf("\n%s %s: %s", part, name, about(one.Elems[i+1].Str))
				}
			}
		}
	}
	return text
}

const release = `"if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end"`

// A proxy before a real server and a server of ours log the same changes.
func TestTheProxyLogsWhatOurServerLogs(t *testing.T) {
	own, real := ownWorld(t), realWorld(t)
	for i, step := range []string{
		"LAB RESET", "a: SET lock:old x", "a: SELECT 1", "a: SET lock:other x", "a: SELECT 0",
		"LAB LOG WATCH lock:*", "LAB LOG WATCH sem AS SEMAPHORE 2",
		"a: SET lock:1 token-a NX PX 30000", "b: SET lock:1 token-b NX PX 30000", "b: GET lock:1", "b: GET other",
		"a: PEXPIRE lock:1 60000", "a: DEL lock:1 other", "b: DEL lock:1", "b: SET lock:1 x", "b: SET lock:1 y XX GET",
		"b: EXPIRE lock:1 0", "a: LPUSH lock:1 one two", "b: GET lock:1", "b: LPOP lock:1",
		"a: RPOPLPUSH lock:1 lock:2", "a: BLPOP lock:2 0", "a: HSET lock:h f 1 g 2", "a: HINCRBY lock:h f 1",
		"b: HDEL lock:h f g",
		"a: SADD lock:s b a", "b: SREM lock:s a", "a: ZADD sem 17 a 18.5 b", "b: ZREM sem a", "a: ZINCRBY sem 1 c",
		"a: RENAME lock:s lock:t", "b: COPY lock:t lock:u", "b: COPY lock:t lock:u REPLACE", "b: MOVE lock:u 1",
		"b: SELECT 1", "b: GET lock:other", "b: EXISTS lock:u", "b: SELECT 0", "a: SORT lock:t ALPHA STORE lock:l",
		"a: APPEND lock:bytes \"a\\r\\n\\xff\"", "a: SETBIT lock:bits 7 1", "a: INCR lock:n", "a: NOPE lock:n", "a: GET",
		"a: MSET lock:m1 a other b lock:m2 c", "a: MSETNX lock:m1 a lock:m3 b", "b: OBJECT ENCODING lock:m1",
		`a: EVAL "return redis.call('set', KEYS[1], ARGV[1], 'PX', 30000)" 1 lock:e token`,
		"b: EVAL " + release + " 1 lock:e token",
		"b: EVAL " + release + " 1 lock:e token",
		"a: MULTI", "a: SETNX lock:tx token", "a: GET other", "a: EXPIRE lock:tx 30", "a: EXEC",
		"b: MULTI", "b: SET lock:tx x", "b: DISCARD", "b: WATCH lock:tx", "a: DEL lock:tx",
		"b: MULTI", "b: DEL lock:tx", "b: EXEC",
		"a: XADD stream 1-1 f v", "a: DEL lock:bytes lock:bits lock:n lock:m1 lock:m2 lock:l lock:t lock:old sem",
		"a: SELECT 1", "a: DEL lock:u", "a: SELECT 0", "a: SWAPDB 0 1", "a: FLUSHALL", "b: FLUSHDB",
		"LAB LOG UNWATCH lock:*", "a: SET lock:1 x",
		"LAB LOG RESET", "a: ZADD sem 1 a", "LAB LOG RESET", "LAB LOG UNWATCH lock:x",
	} {
		require.Equal(t, own.does(step), real.does(step), step)
		if strings.HasPrefix(step, "a: EVAL") || i%5 == 0 {
			require.Equal(t, own.entries(), real.entries(), step)
		}
	}
	require.Equal(t, own.entries(), real.entries())
	require.Equal(t, own.verdict(), real.verdict())
}

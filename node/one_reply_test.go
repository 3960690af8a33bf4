package node_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

// cannotBeAskedAtRandom has the commands that would break this test, and the reason.
func cannotBeAskedAtRandom() map[string]string {
	return map[string]string{
		"client|kill":  "may close the connection that asks",
		"client|pause": "holds the commands that follow",
		"client|reply": "takes away the replies to be counted",
		"config|set":   "may set a limit that the test itself breaks",
		"debug":        "may wait, fill the memory or end the server",
		"migrate":      "asks a server that the arguments make up",
		"multi":        "has what follows queued",
		"monitor":      "is answered by every command that follows",
		"quit":         "closes the connection",
		"replicaof":    "makes the server read only",
		"shutdown":     "ends the server",
		"psync":        "makes the connection a replica, which gets no replies",
		"replconf":     "does not answer to an offset",
		"slaveof":      "the same as replicaof",
		"subscribe":    "is answered once for every name",
		"sync":         "makes the connection a replica, which gets no replies",
		"unsubscribe":  "the same",
		"pfselftest":   "takes seconds",
		"psubscribe":   "the same",
		"punsubscribe": "the same",
		"ssubscribe":   "the same",
		"sunsubscribe": "the same",
		"wait":         "waits",
		"waitaof":      "waits",
	}
}

// waits reports whether a request may block its client until another client acts.
func waits(args []string, flags []string) bool {
	if !slices.Contains(flags, "blocking") {
		return false
	}
	return args[0] != "xread" || slices.ContainsFunc(args, func(a string) bool { return strings.EqualFold(a, "BLOCK") })
}

// A client matches replies to requests by counting. After one reply too many or too few, each later
// reply goes to the wrong request: a refused lock looks granted. So the test sends each command in
// many forms: with too few arguments, with nonsense, and by its syntax. The next reply must be the
// one to an ECHO.
func TestEveryCommandAnswersExactlyOnce(t *testing.T) {
	t.Parallel()
	for _, proto := range []string{"2", "3"} {
		t.Run("RESP"+proto, func(t *testing.T) {
			t.Parallel()
			log := &panics{}
			addr := startWithLog(t, []string{"--proto-max-bulk-len", "1mb"}, log.write)
			a := &asker{t: t, c: redistest.Dial(t, addr), proto: proto, syntax: generator{rng: rand.New(rand.NewPCG(1, 2))}}
			a.prepare()
			skip := cannotBeAskedAtRandom()
			for _, name := range a.c.Do("COMMAND", "LIST").Elems {
				if _, skipped := skip[name.Str]; !skipped {
					a.ask(name.Str)
				}
				delete(skip, name.Str)
			}
			require.Empty(t, skip, "no commands any more")
			require.Greater(t, a.asked, 1000)
			require.Empty(t, log.found())
		})
	}
}

// panics collects the log lines of commands that panicked.
type panics struct {
	mu   sync.Mutex
	text string
}

func (p *panics) write(_ byte, format string, args ...any) {
	if line := fmt.Sprintf(format, args...); strings.HasPrefix(line, "Panic") {
		p.mu.Lock()
		p.text += line
		p.mu.Unlock()
	}
}

func (p *panics) found() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text
}

type asker struct {
	t      *testing.T
	c      *redistest.Conn
	proto  string
	syntax generator
	asked  int
	batch  [][]string // requests that are sent in one write

	keys     []byte // the requests of fixture
	commands int    // their number
}

// fixture returns requests that create keys of every type and encoding. They first undo the effects
// of earlier requests.
func fixture(proto string) (requests [][]string) {
	words := strings.Fields
	big := words("RPUSH list:big")
	for i := range 200 {
		big = append(big, fmt.Sprint("element-", i))
	}
	pairs := words("HSET hash:big")
	for i := range 600 {
		pairs = append(pairs, fmt.Sprint("f", i), fmt.Sprint(i))
	}
	scored := words("ZADD zset:big")
	for i := range 200 {
		scored = append(scored, fmt.Sprint(i), fmt.Sprint("m", i))
	}
	return [][]string{
		words("HELLO " + proto), words("CLIENT TRACKING OFF"), words("SELECT 0"), words("FLUSHALL"),
		words("SET string value"), words("SET number 12"), words("SET float 1.5"), words("SET ttl x PX 100000000"),
		words("RPUSH list a b c 1 2"), big, words("SADD set a b c"), words("SADD set:ints 1 2 3"),
		words("HSET hash f v n 1 x 1.5"), pairs, words("ZADD zset 1 a 2 b 2 c inf d"), scored,
		words("XADD stream 1-1 f v"), words("XADD stream 2-1 f v g w"),
	}
}

func (a *asker) prepare() {
	a.t.Helper()
	if a.keys == nil {
		for _, r := range fixture(a.proto) {
			a.keys = resp.AppendRequest(a.keys, r...)
			a.commands++
		}
	}
	require.NoError(a.t, a.c.Send(a.keys))
	for i := range a.commands {
		require.NotEqual(a.t, byte('-'), a.c.Read().Kind, "request %d", i)
	}
}

func (a *asker) ask(name string) {
	a.t.Helper()
	info := a.c.Do("COMMAND", "INFO", name).Elems[0]
	arity := int(info.Elems[1].Int)
	var flags []string
	for _, f := range info.Elems[2].Elems {
		flags = append(flags, f.Str)
	}
	docs := pairs(a.c.Do("COMMAND", "DOCS", name).Elems[1])
	a.syntax.group = docs["group"].Str
	call := strings.Split(name, "|")
	least := max(arity, -arity)
	once := func(args []string) {
		if !waits(args, flags) || len(args) < least {
			a.batch = append(a.batch, args)
		}
	}
	for n := len(call); n < least; n++ {
		once(append(call[:len(call):len(call)], a.syntax.nonsense(n-len(call))...))
	}
	for i := range amount.Count(10, 60) {
		if i%10 == 0 {
			a.exchange()
			a.prepare()
		}
		plausible := a.syntax.arguments(docs["arguments"])
		if i%3 == 0 && len(plausible) > 0 {
			plausible[a.syntax.rng.IntN(len(plausible))] = a.syntax.nonsense(1)[0]
		}
		once(append(call[:len(call):len(call)], plausible...))
		if i%3 == 0 {
			extra := 0
			if arity < 0 {
				extra = a.syntax.rng.IntN(5)
			}
			once(append(call[:len(call):len(call)], a.syntax.nonsense(max(least-len(call), 0)+extra)...))
		}
	}
	a.exchange()
}

// exchange sends the batch with an ECHO after each request, and expects two replies for each.
func (a *asker) exchange() {
	a.t.Helper()
	var out []byte
	for i, args := range a.batch {
		out = resp.AppendRequest(out, args...)
		out = resp.AppendRequest(out, "ECHO", fmt.Sprint("marker-", a.asked+i))
	}
	require.NoError(a.t, a.c.Send(out))
	for _, args := range a.batch {
		v, err := a.c.TryRead()
		require.NoError(a.t, err, "%q", args)
		require.NotEqual(a.t, byte('>'), v.Kind, "a push for an answer to %q", args)
		next, err := a.c.TryRead()
		require.NoError(a.t, err, "behind %q", args)
		require.Equal(a.t, fmt.Sprint("marker-", a.asked), next.Str, "%q was answered with %s and more", args, v)
		a.asked++
	}
	a.inTransactions()
	a.batch = a.batch[:0]
}

// inTransactions sends some of the batch again, each in its own transaction. It expects one reply
// from EXEC.
func (a *asker) inTransactions() {
	a.t.Helper()
	atOnce := []string{"discard", "exec", "reset", "watch"}
	for i, args := range a.batch {
		if i%4 != 0 || slices.Contains(atOnce, args[0]) {
			continue
		}
		out := resp.AppendRequest(nil, "MULTI")
		out = resp.AppendRequest(out, args...)
		out = resp.AppendRequest(out, "EXEC")
		require.NoError(a.t, a.c.Send(resp.AppendRequest(out, "ECHO", "marker")))
		require.Equal(a.t, "OK", a.c.Read().Str)
		queued, reply := a.c.Read(), a.c.Read()
		if queued.Str == "QUEUED" {
			require.Len(a.t, reply.Elems, 1, "%q", args)
		} else {
			require.Equal(a.t, "EXECABORT Transaction discarded because of previous errors.", reply.Str, "%q", args)
		}
		require.Equal(a.t, "marker", a.c.Read().Str, "behind %q", args)
	}
}

// pairs reads a map. In RESP2 a map is a list.
func pairs(v resp.Value) map[string]resp.Value {
	m := map[string]resp.Value{}
	for i := 0; i+1 < len(v.Elems); i += 2 {
		m[v.Elems[i].Str] = v.Elems[i+1]
	}
	return m
}

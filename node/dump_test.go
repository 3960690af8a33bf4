package node_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

// dumpWriter generates commands that build the key k with one type.
type dumpWriter struct {
	r    *rand.Rand
	size int // approximate number of elements
	all  []byte
	n    int
}

func (w *dumpWriter) do(args ...string) {
	w.all = resp.AppendRequest(w.all, args...)
	w.n++
}

func (w *dumpWriter) send(c *redistest.Conn) (replies []resp.Value) {
	_ = c.Send(w.all) // Read reports the error
	for range w.n {
		replies = append(replies, c.Read())
	}
	return replies
}

// word returns a number or some bytes. Most words are short, and some lie at the limits of
// encodings.
func (w *dumpWriter) word() string {
	switch r := w.r; r.IntN(6) {
	case 0:
		return strconv.FormatInt(int64(r.Uint64())>>r.IntN(64), 10)
	case 1:
		border := int64(1) << []int{6, 7, 12, 13, 15, 16, 23, 24, 31, 32, 62}[r.IntN(11)]
		return strconv.FormatInt((border+int64(r.IntN(3))-1)*int64(1-2*r.IntN(2)), 10)
	case 2:
		return strings.Repeat("ab", r.IntN(32))
	case 3:
		if w.size < 100 {
			return w.text([]int{62, 63, 64, 65, 125, 126, 127, 128, 4095, 4096, 16383, 16384, 20000}[r.IntN(13)])
		}
	}
	return w.text(w.r.IntN(20))
}

func (w *dumpWriter) text(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(w.r.Uint32())
	}
	return string(b)
}

func (w *dumpWriter) short() string { return w.text(1 + w.r.IntN(5)) }

// dumpWriters has one generator for each type. A value that is exact has only one order, and so
// only one payload.
var dumpWriters = []struct {
	name  string
	exact func(size int) bool
	write func(w *dumpWriter)
}{
	{"string", always, func(w *dumpWriter) { w.do("SET", "k", w.word()) }},
	{"appended", always, func(w *dumpWriter) { w.do("APPEND", "k", "12"); w.do("APPEND", "k", w.short()) }},
	{"list", never, func(w *dumpWriter) {
		for range w.size {
			w.do([]string{"RPUSH", "LPUSH"}[w.r.IntN(2)], "k", w.word())
			if w.r.IntN(10) == 0 {
				w.do("LSET", "k", "0", w.word())
			}
		}
	}},
	{"list of one node", always, func(w *dumpWriter) {
		for range w.size {
			w.do([]string{"RPUSH", "LPUSH"}[w.r.IntN(2)], "k", w.short())
			if w.r.IntN(10) == 0 {
				w.do("LSET", "k", "0", w.short())
			}
		}
	}},
	{"intset", func(size int) bool { return size <= 512 }, func(w *dumpWriter) {
		shift := w.r.IntN(64)
		for range w.size {
			w.do("SADD", "k", strconv.FormatInt(int64(w.r.Uint64())>>shift, 10))
		}
	}},
	{"set", never, func(w *dumpWriter) {
		for range w.size {
			w.do("SADD", "k", w.short(), w.word())
		}
	}},
	{"hash", never, func(w *dumpWriter) {
		for range w.size {
			w.do("HSET", "k", w.word(), w.word())
		}
	}},
	{"listpack hash", func(size int) bool { return size <= 256 }, func(w *dumpWriter) {
		for i := range w.size {
			w.do("HSET", "k", w.short(), strconv.Itoa(i), w.short(), w.short())
			if w.r.IntN(10) == 0 {
				w.do("HDEL", "k", w.short())
			}
		}
	}},
	{"zset", always, func(w *dumpWriter) {
		for range w.size {
			w.do("ZADD", "k", w.score(), w.word())
		}
	}},
	{"listpack zset", always, func(w *dumpWriter) {
		for range w.size {
			w.do("ZADD", "k", w.score(), w.short())
		}
	}},
	{"stream", always, writeStream},
}

func always(int) bool { return true }
func never(int) bool  { return false }

func (w *dumpWriter) score() string {
	switch w.r.IntN(5) {
	case 0:
		return []string{
			"inf", "-inf", "0", "1e300", "-1e-300", "4611686018427387904", "4611686018427388928", "1e17", "0.1",
		}[w.r.IntN(9)]
	case 1:
		return fmt.Sprint(w.r.NormFloat64())
	}
	return strconv.Itoa(w.r.IntN(300000) - 1000)
}

func writeStream(w *dumpWriter) {
	ms, seq := uint64(w.r.Int64()>>w.r.IntN(60))+1, uint64(0)
	var ids []string
	for range w.size {
		switch w.r.IntN(3) {
		case 0:
			ms, seq = ms+uint64(w.r.IntN(1000)), seq+1
		case 1:
			ms, seq = ms+1, w.r.Uint64()>>w.r.IntN(64)
		default:
			seq++
		}
		ids = append(ids, fmt.Sprintf("%d-%d", ms, seq))
		add := []string{"XADD", "k", ids[len(ids)-1]}
		for i := range 1 + w.r.IntN(4)/3*w.r.IntN(4) {
			add = append(add, []string{"field", "7", "other"}[(i+w.r.IntN(5)/4)%3], w.word())
		}
		w.do(add...)
	}
	id := func() string { return ids[w.r.IntN(len(ids))] }
	for range w.r.IntN(1 + w.size/2) {
		w.do("XDEL", "k", id())
	}
	for _, g := range []string{"g", "12", w.short()}[:w.r.IntN(4)] {
		w.do("XGROUP", "CREATE", "k", g, []string{"0", "$", id()}[w.r.IntN(3)])
		for range w.r.IntN(5) {
			w.do("XREADGROUP", "GROUP", g, []string{"alice", "bob", "1"}[w.r.IntN(3)],
				"COUNT", strconv.Itoa(1+w.r.IntN(10)), "STREAMS", "k", ">")
			w.do("XACK", "k", g, id(), id())
		}
	}
	if w.r.IntN(3) == 0 {
		w.do("XTRIM", "k", "MAXLEN", strconv.Itoa(w.r.IntN(w.size)))
	}
}

// readings has the commands that read a whole value, by type.
var readings = map[string][]string{
	"string": {"GET k"}, "list": {"LRANGE k 0 -1"}, "set": {"SMEMBERS k"}, "hash": {"HGETALL k"},
	"zset": {"ZRANGE k 0 -1 WITHSCORES"}, "stream": {"XRANGE k - +", "XINFO STREAM k FULL COUNT 0"},
}

// read returns the value of k in an order that does not depend on the server.
func read(c *redistest.Conn) string {
	kind := c.Do("TYPE", "k").Str
	all := []string{kind}
	for _, command := range readings[kind] {
		all = flatten(all, c.Do(strings.Fields(command)...))
	}
	switch kind {
	case "zset":
		for i := 2; i < len(all); i += 2 {
			score, _ := strconv.ParseFloat(all[i], 64) // 7.2 prints fewer digits
			all[i] = fmt.Sprint(score)
		}
	case "hash":
		var pairs []string
		for i := 1; i < len(all); i += 2 {
			pairs = append(pairs, fmt.Sprintf("%q=%q", all[i], all[i+1]))
		}
		all = pairs
		slices.Sort(all)
	case "set":
		slices.Sort(all)
	}
	return strings.Join(all, "\n")
}

// flatten drops the fields that only 7.2 has.
func flatten(all []string, v resp.Value) []string {
	if v.Kind == ':' {
		return append(all, strconv.FormatInt(v.Int, 10))
	}
	if v.Elems == nil {
		return append(all, v.Str)
	}
	for i := 0; i < len(v.Elems); i++ {
		if v.Elems[i].Str == "active-time" {
			i++
			continue
		}
		all = flatten(all, v.Elems[i])
	}
	return all
}

// Each server restores the payload of the other. Where the order is fixed, it dumps the same bytes
// again. Both servers read compressed payloads.
func TestDumpIsExchangedWithRedis(t *testing.T) {
	redistest.Require(t)
	ours := redistest.Dial(t, start(t, nil))
	plain := redistest.Dial(t, redistest.Start(t, "--rdbcompression", "no", "--sanitize-dump-payload", "yes").Addr)
	packing := redistest.Dial(t, redistest.Start(t, "--sanitize-dump-payload", "yes").Addr)
	servers := []*redistest.Conn{ours, plain, packing}
	for _, kind := range dumpWriters {
		t.Run(kind.name, func(t *testing.T) {
			for n := range 10 {
				size := []int{1, 2, 5, 15, 60, 127, 129, 140, 513, 1000}[n%10]
				w := &dumpWriter{r: rand.New(rand.NewPCG(uint64(n), 1)), size: size}
				kind.write(w)
				for _, c := range servers {
					c.Do("FLUSHALL")
					for _, v := range w.send(c) {
						require.NotEqual(t, byte('-'), v.Kind, v.Str)
					}
				}
				exchange(t, servers, kind.exact(size))
			}
		})
	}
}

// exchange restores the payload of each server on every server.
func exchange(t *testing.T, servers []*redistest.Conn, exact bool) {
	t.Helper()
	ours, plain := servers[0], servers[1]
	var payloads, values []string
	for _, c := range servers {
		payloads, values = append(payloads, c.Do("DUMP", "k").Str), append(values, read(c))
	}
	if exact && !strings.Contains(values[0], "\npel") { // pending entries have delivery times
		same(t, payloads[1], payloads[0])
	}
	for from, payload := range payloads {
		for _, c := range servers {
			v := c.Do("RESTORE", "k", "0", payload, "REPLACE")
			require.Equal(t, "OK", v.Str, "%q", payload)
			same(t, values[from], read(c))
		}
		if exact {
			same(t, plain.Do("DUMP", "k").Str, ours.Do("DUMP", "k").Str)
		}
	}
}

func same(t *testing.T, want, got string) {
	t.Helper()
	if want != got { // require is slow to compare long strings
		t.Fatalf("want %q\ngot  %q", want, got)
	}
}

// A TTL and an absolute expiry time both follow the lab's clock.
func TestRestoredKeysExpireByTheClockOfTheLab(t *testing.T) {
	_, c := startLab(t)
	ok(t, c, "LAB", "CLOCK", "SET", "5000000000000")
	ok(t, c, "SET", "k", "v")
	payload := c.Do("DUMP", "k").Str
	ok(t, c, "RESTORE", "ttl", "100", payload)
	ok(t, c, "RESTORE", "at", "5000000000200", payload, "ABSTTL")
	ok(t, c, "RESTORE", "past", "4999999999999", payload, "ABSTTL")
	require.Equal(t, int64(2), c.Do("EXISTS", "ttl", "at", "past").Int)
	c.Do("LAB", "CLOCK", "ADVANCE", "101")
	require.Equal(t, int64(99), c.Do("PTTL", "at").Int)
	require.Equal(t, int64(-2), c.Do("PTTL", "ttl").Int)
	c.Do("LAB", "CLOCK", "ADVANCE", "100")
	require.Equal(t, int64(1), c.Do("DBSIZE").Int)
}

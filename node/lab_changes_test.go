package node_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/internal/test/differential"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/resp"
)

// dumpScript returns every key of every database, with its type, deadline and value.
const dumpScript = `local out = {}
for db = 0, 15 do
  redis.call('select', db)
  for _, k in ipairs(redis.call('keys', '*')) do
    local t, v, at = redis.call('type', k).ok, nil, {}
    if t == 'string' then v = redis.call('get', k)
    elseif t == 'list' then v = redis.call('lrange', k, 0, -1)
    elseif t == 'set' then v = redis.call('smembers', k)
    elseif t == 'zset' then v = redis.call('zrange', k, 0, -1, 'withscores')
    elseif t == 'stream' then v = redis.call('dump', k)
    else
      v = redis.call('hgetall', k)
      local names = redis.call('hkeys', k)
      at = redis.call('hpexpiretime', k, 'fields', #names, unpack(names))
    end
    out[#out+1] = {db, k, t, redis.call('pexpiretime', k), v, at}
  end
end
return out`

// aKey is a place of a key.
type aKey struct {
	db  int
	key string
}

// aValue is what a client can see of a key. Parts are sorted. order shows what their order is, or what else there is.
type aValue struct {
	lab.Value
	order string
}

// dumpAll returns everything that clients can see.
func dumpAll(t *testing.T, c *redistest.Conn, sha string) map[aKey]aValue {
	t.Helper()
	found := map[aKey]aValue{}
	for _, e := range c.Do("EVALSHA", sha, "0").Elems {
		if e.Elems[1].Str == "" {
			continue // no pattern matches it
		}
		v := aValue{Value: lab.Value{Type: e.Elems[2].Str, Deadline: readable(e.Elems[3].Int)}, order: e.Elems[4].String()}
		parts := e.Elems[4].Elems
		add := func(name string, value string, at int64) {
			v.Parts = append(v.Parts, lab.Part{
				Name: lab.Word([]byte(name)), Value: lab.Word([]byte(value)), Deadline: max(at, 0),
			})
		}
		switch v.Type {
		case "string":
			v.Text, v.order = lab.Word([]byte(e.Elems[4].Str)), ""
		case "hash":
			v.order = ""
			for i := 0; i < len(parts); i += 2 {
				add(parts[i].Str, parts[i+1].Str, e.Elems[5].Elems[i/2].Int)
			}
		case "zset":
			v.order = ""
			for i := 0; i < len(parts); i += 2 {
				score, err := strconv.ParseFloat(parts[i+1].Str, 64)
				require.NoError(t, err)
				add(parts[i].Str, strconv.FormatFloat(score, 'g', -1, 64), 0)
			}
		case "stream":
		default:
			if v.Type == "set" {
				v.order = ""
			}
			for _, p := range parts {
				add(p.Str, "", 0)
			}
		}
		v.Len = len(v.Parts)
		slices.SortFunc(v.Parts, func(a, b lab.Part) int { return strings.Compare(a.Name, b.Name) })
		found[aKey{int(e.Elems[0].Int), e.Elems[1].Str}] = v
	}
	return found
}

// readable returns a deadline as a script can read it: 0 for none, and the greatest integer of Lua for a later one.
func readable(at int64) int64 {
	const most = 1 << 53
	if at > most || at < -2 { // the script's number has no place in an int64
		return most
	}
	return max(at, 0)
}

// explain requires that the changes of a log lead from one state of all keys to another one, and that none changes
// a key twice. at is the time. It returns how many changes there were.
func explain(t *testing.T, h lab.History, before, after map[aKey]aValue, at int64, what string) (n int) {
	t.Helper()
	now, changed, unread := map[aKey]aValue{}, map[aKey]bool{}, map[aKey]bool{}
	gone := map[aKey]bool{} // its time had come, before a command made it again
	for k, v := range before {
		now[k] = v
	}
	for _, e := range h.Entries {
		if e.Event == lab.EventWatched {
			continue
		}
		for _, c := range e.Changes {
			k := aKey{c.DB, unprintable(t, c.Key)}
			require.False(t, changed[k] && !gone[k], "%s changes %v twice: %s", what, k, h.JSON())
			gone[k] = c.Cause == lab.ByExpiry
			n, changed[k], unread[k] = n+1, true, c.Before != nil && c.Before.Unread
			v, is := now[k]
			if !is && c.Before != nil && c.Before.Deadline != 0 && c.Before.Deadline < at {
				v, is = aValue{Value: *c.Before}, true // its time had come, so no client saw it
			}
			requireFits(t, c.Before, v, is, c.Before == nil || c.After == nil || c.Before.Type != c.After.Type, what)
			moved := c.Before != nil && (c.Before.Unread || c.Before.Type == "list" && len(c.Before.Parts) > 0)
			require.True(t, moved || !reflect.DeepEqual(c.Before, c.After), what)
			if c.After == nil {
				delete(now, k)
				continue
			}
			now[k] = apply(c, v)
		}
	}
	for k := range both(before, after) {
		was, isWas := before[k]
		is, isIs := after[k]
		same := isWas == isIs && equal(was, is)
		require.False(t, !same && !changed[k], "%s: no change of %v: %v, %v", what, k, was, is)
		require.False(t, same && changed[k] && !unread[k], "%s: a change of %v, which is as it was: %s", what, k, h.JSON())
		got, isGot := now[k]
		isGot = isGot && (got.Deadline == 0 || got.Deadline >= at)
		require.Equal(t, isIs, isGot, "%s: %v", what, k)
		if isIs && changed[k] {
			requireFits(t, &got.Value, is, true, true, what)
		}
	}
	return n
}

func both(a, b map[aKey]aValue) map[aKey]bool {
	all := map[aKey]bool{}
	for k := range a {
		all[k] = true
	}
	for k := range b {
		all[k] = true
	}
	return all
}

func equal(a, b aValue) bool {
	return a.Type == b.Type && a.Text == b.Text && a.Deadline == b.Deadline && a.order == b.order &&
		slices.Equal(a.Parts, b.Parts)
}

// requireFits compares what the log says of a value with the value. The log may have some of the parts only.
func requireFits(t *testing.T, said *lab.Value, v aValue, is, whole bool, what string) {
	t.Helper()
	require.Equal(t, is, said != nil, "%s: %v", what, v)
	if !is {
		return
	}
	require.Equal(t, v.Type, said.Type, what)
	require.Equal(t, v.Deadline, readable(said.Deadline), "%s: %v", what, v)
	require.Equal(t, v.Text, said.Text, what)
	if v.Type == "string" || v.Type == "stream" {
		return
	}
	require.Equal(t, v.Len, said.Len, what)
	if !said.Unread && (whole || v.Len <= lab.MostParts) {
		left := subtract(v.Parts, said.Parts)
		require.Len(t, left, len(v.Parts)-len(said.Parts), "%s: %v has not all of %v", what, v, said)
		require.False(t, whole && len(left) > 0, "%s: %v has more than %v", what, v, said)
	}
}

// subtract returns the parts that stay.
func subtract(all, less []lab.Part) []lab.Part {
	left := slices.Clone(all)
	for _, p := range less {
		if i := slices.Index(left, p); i >= 0 {
			left = slices.Delete(left, i, i+1)
		}
	}
	return left
}

// apply returns a value after a change.
func apply(c lab.Change, v aValue) aValue {
	is := aValue{Value: *c.After}
	if c.Before != nil && c.Before.Type == c.After.Type && !is.Unread {
		is.Parts = append(subtract(v.Parts, c.Before.Parts), c.After.Parts...)
	}
	return is
}

func unprintable(t *testing.T, key string) string {
	t.Helper()
	s, err := strconv.Unquote(`"` + strings.ReplaceAll(key, `"`, `\"`) + `"`)
	require.NoError(t, err)
	return s
}

// ways are the ways in which a client can send a command.
func ways() []func(c *redistest.Conn, args []string) resp.Value {
	return []func(c *redistest.Conn, args []string) resp.Value{
		func(c *redistest.Conn, args []string) resp.Value { return c.Do(args...) },
		func(c *redistest.Conn, args []string) resp.Value {
			c.Do("MULTI")
			c.Do(args...)
			return c.Do("EXEC")
		},
		func(c *redistest.Conn, args []string) resp.Value {
			return c.Do(append([]string{"EVAL", "return redis.pcall(unpack(ARGV))", "0"}, args...)...)
		},
		func(c *redistest.Conn, args []string) resp.Value {
			return c.Do(append([]string{"FCALL", "run", "0"}, args...)...)
		},
	}
}

// The log explains every difference that a command of the table makes, and says nothing of one that only reads. A new
// command joins by itself.
func TestTheLogExplainsWhatEveryCommandChanges(t *testing.T) {
	t.Parallel()
	for _, dialect := range []string{"redis-8.10", "valkey-9.1"} {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			addr, admin := startLab(t, "--dialect", dialect)
			w := &witness{t: t, c: redistest.Dial(t, addr), admin: admin}
			w.begin()
			syntax, commands := generator{rng: w.rng}, 0
			for _, name := range admin.Do("COMMAND", "LIST").Elems {
				info := admin.Do("COMMAND", "INFO", name.Str).Elems[0]
				times := amount.Count(10, 50)
				switch {
				case name.Str == "migrate":
					continue
				case has(info, "write"):
				case has(info, "readonly"):
					times = amount.Count(2, 20)
				default:
					continue
				}
				docs := pairs(admin.Do("COMMAND", "DOCS", name.Str).Elems[1])
				syntax.group = docs["group"].Str
				for i := range times {
					syntax.numkeys = 0
					args := append(strings.Split(name.Str, "|"), syntax.arguments(docs["arguments"])...)
					w.run(args, has(info, "blocking"), i)
				}
				commands++
			}
			require.Greater(t, commands, 200)
			next := differential.Commands(t, 1, dialect != "redis-7.2")
			for i := range amount.Count(600, 5000) {
				if args := next(); mayRun(admin, args) {
					w.run(args, true, i)
				}
			}
			require.Greater(t, w.changes, 500)
		})
	}
}

func has(info resp.Value, flag string) bool {
	is := func(f resp.Value) bool { return f.Str == flag }
	return len(info.Elems) > 2 && slices.ContainsFunc(info.Elems[2].Elems, is)
}

// mayRun leaves out what concerns the connection of the test, or waits.
func mayRun(admin *redistest.Conn, args []string) bool {
	info := admin.Do("COMMAND", "INFO", args[0]).Elems[0]
	return has(info, "write") && !strings.EqualFold(args[0], "migrate")
}

// witness runs commands and compares all keys before and after.
type witness struct {
	t        *testing.T
	c, admin *redistest.Conn
	rng      *rand.Rand
	sha      string          // of dumpScript
	now      int64           // unix ms
	fields   []string        // that hash:big need not have
	since    int             // commands until the keys are made again
	before   map[aKey]aValue // all keys, nil if nobody knows
	changes  int             // so far
}

func (w *witness) begin() {
	for i := 130; i < 600; i++ {
		w.fields = append(w.fields, fmt.Sprint("f", i))
	}
	w.now = labNow(w.admin)
	w.rng = rand.New(rand.NewPCG(3, 4))
	w.sha = w.admin.Do("SCRIPT", "LOAD", dumpScript).Str
	ok(w.t, w.admin, "LAB", "LOG", "WATCH", "*")
	w.c.Do("FUNCTION", "LOAD", "#!lua name=l\nredis.register_function('run',"+
		" function(_, args) return redis.pcall(unpack(args)) end)")
}

func (w *witness) run(args []string, blocks bool, i int) {
	if w.since--; w.since < 0 {
		w.since = 6
		for _, request := range fixture("2") {
			w.c.Do(request...)
		}
		w.c.Do("LTRIM", "list:big", "0", "129") // small enough to be read often, too large for the log
		w.c.Do("ZREMRANGEBYRANK", "zset:big", "130", "-1")
		w.c.Do(append([]string{"HDEL", "hash:big"}, w.fields...)...)
		w.before = nil
	}
	if w.before == nil {
		w.before = dumpAll(w.t, w.admin, w.sha)
	}
	ok(w.t, w.admin, "LAB", "LOG", "RESET")
	way := i % len(ways())
	if blocks && way == 0 {
		way = 1
	}
	reply := ways()[way](w.c, args)
	var h lab.History
	require.NoError(w.t, json.Unmarshal([]byte(w.admin.Do("LAB", "LOG", "EXPORT").Str), &h))
	after := dumpAll(w.t, w.admin, w.sha)
	what := fmt.Sprintf("%q, way %d, reply %.200s", args, way, reply.String())
	w.changes += explain(w.t, h, w.before, after, w.now, what)
	w.before = after
}

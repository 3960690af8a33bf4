package luaeval

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
)

// history draws what happens to a table: how it is made, and what is assigned to it. It logs lengths in
// between.
type history struct {
	r    *rand.Rand
	b    strings.Builder
	only []string // the kinds of statements
}

const historyHead = `redis.call('del','l') redis.call('rpush','l',1,2,3,4,5,6,7,8,9) local out,n={},0
local function log(x) n=n+1 out[n]=x end local function some(...) return ... end
local function list(...) return {...} end
`

func (h *history) one(list ...string) string { return list[h.r.IntN(len(list))] }

func (h *history) number() string {
	return strconv.Itoa(1 + h.r.IntN([]int{3, 6, 12, 20, 40, 70}[h.r.IntN(6)]))
}

// fill replaces %k by a key, %n by a small number, %v by a value that may be nil, %w by one that is not, and %l by
// a list of values.
func (h *history) fill(form string) string {
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(form, "%")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		switch after[0] {
		case 'n':
			b.WriteString(h.number())
		case 'k':
			b.WriteString(h.one(h.number(), h.number(), h.number(), h.number(), "'s"+h.number()+"'", "0", "-1", "1.5", "true",
				"#t+1", "#t", "#t+2"))
		case 'v':
			b.WriteString(h.one("nil", "nil", "1", "'x'", "false", "some(nil)", "some(2)"))
		case 'w':
			b.WriteString(h.one("1", "'x'", "true", "some(3)", "redis.call('llen','l')"))
		case 'l':
			for range h.r.IntN(9) {
				b.WriteString(h.fill(h.one("%w", "%w", "%w", "%v", "%v", "[%n]=%w", "s%n=%v", "['s%n']=%w") + ", "))
			}
		}
		form = after[1:]
	}
}

var historyForms = map[string][]string{
	"make": {
		"local t={}", "local t={}", "local t={%l}", "local t={%l}", "local t={%l some(%v,%v,%w)}",
		"local t=list(%v,%w,%v,%w)", "local t={unpack({%l})}", "local p={c={%l}} local t=p.c",
		"local t=redis.call('lrange','l',0,%n)", "local t=redis.call('mget','a','b','c','d','e')",
		"local t=cjson.decode('[1,2,null,4,5]')", "local t=cjson.decode('{\"a\":1,\"b\":[1,2]}')",
		"local t=cmsgpack.unpack(cmsgpack.pack({1,2,3,4,5}))", "local t={pcall(some,%v,%w)}",
		"local t={KEYS[1],%w,ARGV[1],%w}", "local t={{%l},%w} t=t[1]",
		"local t={} for i=1,%n do t[i]=%w end", "local t={} for i=1,%n do t[#t+1]=%w end",
		"local t={} for i=%n,1,-1 do t[i]=%w end", "local t={} for _,x in ipairs({%l}) do t[#t+1]=x end",
		"redis.setresp(3) local t=redis.call('mget','a','b','l') redis.setresp(2)",
		"local t=setmetatable({%l},{__len=function() return 9 end})",
	},
	"set": {"t[%k]=%w", "t[%k]=%w", "t[%k]=%v", "t[%n],t[%k]=%v,%w"}, "nil": {"t[%n]=nil", "t[%n],t[%n]=nil"},
	"append": {"t[#t+1]=%w", "t[#t+1]=%v", "for i=1,%n do t[#t+1]=%w end"},
	"field":  {"t.x=%v", "t.s%n=%w", "t['s'..%n]=%v", "t.s%n=nil"},
	"loop": {"for i=1,%n do t[i]=%w end", "for i=%n,%n do t[i]=%v end", "for i=%n,1,-%n do t[i]=%w end",
		"for i=%n,70 do t[i]=nil end"},
	"insert":  {"table.insert(t,%w)", "table.insert(t,%v)", "table.insert(t,1,%w)", "table.insert(t,%n,%w)"},
	"remove":  {"log(table.remove(t) or 0)", "log(table.remove(t,1) or 0)", "table.remove(t,%n)"},
	"raw":     {"rawset(t,%k,%v)", "rawset(t,%n,%w)"},
	"queue":   {"for i=1,%n do t[i]=nil t[#t+1]=%w end", "local a=%n for i=a,a+%n do t[i]=%w t[i-3]=nil end"},
	"meta":    {"setmetatable(t,{})", "setmetatable(t,nil)"},
	"lengths": {"log(#t)", "log(table.getn(t))", "log(select('#',unpack(t)))", "log(#t) log(#t)"},
}

// write draws a history of a few statements.
func (h *history) write() {
	h.b.WriteString("do " + h.fill(h.one(historyForms["make"]...)) + " log(#t) ")
	for range 2 + h.r.IntN(14) {
		kind := h.one(h.only...)
		h.b.WriteString(h.fill(h.one(historyForms[kind]...)) + " ")
		if h.r.IntN(2) == 0 {
			h.b.WriteString(h.fill(h.one(historyForms["lengths"]...)) + " ")
		}
	}
	h.b.WriteString("log(#t) end\n")
}

// historyScript draws a script of some histories. Scripts of few kinds of statements may not need to be exact.
func historyScript(seed, i uint64) string {
	h := &history{r: rand.New(rand.NewPCG(seed, i))}
	kinds := []string{"set", "nil", "append", "field", "loop", "insert", "remove", "raw", "queue", "meta"}
	h.r.Shuffle(len(kinds), func(a, b int) { kinds[a], kinds[b] = kinds[b], kinds[a] })
	h.only = kinds[:1+h.r.IntN(len(kinds))]
	for range []int{1, 1, 10, 40}[h.r.IntN(4)] {
		h.write()
	}
	return historyHead + h.b.String() + "return out"
}

var lengthScripts = flag.Int("length.scripts", amount.Count(60, 600), "how many scripts ask for lengths")

// The length of a table with holes is what it is in Lua 5.1 after the same history.
func TestTheLengthOfATableIsThatOfLua(t *testing.T) {
	s := newSides(t)
	const seed = 1
	histories, different := 0, 0
	for i := range *lengthScripts {
		script := historyScript(seed, uint64(i))
		theirs := s.theirs(2, script, nil)
		require.NotContains(t, theirs, "-ERR", script)
		histories += strings.Count(script, "\ndo ") + 1
		if ours := s.ours(2, script, nil); ours != theirs {
			if different++; different <= 5 {
				t.Error(firstDifference(s, script))
			}
		}
	}
	t.Log(fmt.Sprint(histories, " histories; scripts with a difference: ", different))
	require.Zero(t, different)
}

// firstDifference returns the first history of a script that has other lengths, with the lengths.
func firstDifference(s *sides, script string) string {
	body := strings.TrimSuffix(strings.TrimPrefix(script, historyHead), "return out")
	for _, one := range strings.SplitAfter(body, " end\n") {
		exact := historyHead + "setmetatable({},nil) " + one + "return out" // the whole script may be exact, and this one not
		for _, alone := range []string{historyHead + one + "return out", exact} {
			if theirs, ours := s.theirs(2, alone, nil), s.ours(2, alone, nil); ours != theirs {
				return fmt.Sprintf("%s\nredis:  %q\nengine: %q", alone[len(historyHead):], theirs, ours)
			}
		}
	}
	return script
}

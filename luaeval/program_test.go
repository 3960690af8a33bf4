package luaeval

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// program draws a Lua program that ends soon, because its loops count. Functions around the program
// make any value fit any operation.
type program struct {
	r    *rand.Rand
	b    strings.Builder
	vars []string
	n    int // names so far
	deep int // functions around
	left int // statements
	loop int // loops around
}

const programHead = `local out, fs, ticks = {}, {}, 0
local function S(x)
  if type(x) == 'table' then return 't' elseif type(x) == 'function' then return 'f' end
  return tostring(x)
end
local function log(...)
  for i = 1, select('#', ...) do
    local y = select(i, ...)
    out[#out+1] = S(y)
    if type(y) == 'table' then out[#out+1] = '{' .. S(y[1]) .. ',' .. S(y[2]) .. ',' .. S(y.x) .. '}' end
  end
  if #out > 400 then error({err='long'}) end
end
local function N(x) if type(x) == 'number' and x > -1e6 and x < 1e6 then return x end return 7 end
local function T(x) if type(x) == 'table' then return x end return {x=x} end
local function id(...) return ... end
local function tick(x) ticks = ticks + 1 if ticks > 300 then error({err='ticks'}) end return x + 1 end
local function main(...)
`

const programTail = `
end
local r = {pcall(main, 'a', 2)}
for i = 1, 3 do out[#out+1] = S(r[i]) end
for turn = 1, 2 do
  for i = 1, math.min(r[1] and #fs or 0, 20) do
    local a, b, c = fs[i](i, i+1)
    out[#out+1] = S(a) .. S(b) .. S(c)
  end
end
return table.concat(out, ' ')`

func (p *program) one(list ...string) string { return list[p.r.IntN(len(list))] }

func (p *program) name(prefix string) string {
	p.n++
	return fmt.Sprint(prefix, p.n)
}

func (p *program) variable() string {
	if len(p.vars) == 0 {
		return "1"
	}
	return p.one(p.vars...)
}

// expr draws an expression. In a form, %e is another expression and %v a variable.
func (p *program) expr(depth int) string {
	form := p.one("%v", "%v", "%v", "%v", "nil", "true", "false", "0", "1", "3", "'s'", "...")
	if depth > 0 {
		form = p.one("(%e and %e)", "(%e or %e)", "not %e", "(%e == %e)", "(%e ~= %e)", "N(%e) + N(%e)", "S(%e) .. S(%e)",
			"id(%e, %e)", "(id(%e))", "T(%v).x", "T(%e)[2]", "{%e, x=%e, %e}", "{%e, x=%e}", "{x=%e, %e, y=%e, ...}",
			"{%e, id(%e, %e)}", "(N(%e) < N(%e))", "-N(%e)", "N(%e) % 3", "#S(%e)", "(...)", "%f")
	}
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(form, "%")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		switch after[0] {
		case 'e':
			b.WriteString(p.expr(depth - 1 - p.r.IntN(2)))
		case 'v':
			b.WriteString(p.variable())
		case 'f':
			b.WriteString("(" + p.function(6) + ")(" + p.expr(0) + "," + p.expr(0) + ")")
		default:
			b.WriteString("%" + after[:1])
		}
		form = after[1:]
	}
}

func (p *program) function(size int) string {
	in := &program{r: p.r, vars: append(append([]string{}, p.vars...), "p", "q"), deep: p.deep + 1, n: p.n + 100,
		left: size}
	if in.deep <= 3 {
		in.block(2)
	}
	return "function(p, q, ...) " + in.b.String() + " end"
}

func (p *program) say(format string, args ...any) { fmt.Fprintf(&p.b, " "+format+" ", args...) }

func (p *program) block(depth int, vars ...string) {
	from := len(p.vars)
	p.vars = append(p.vars, vars...)
	for range 1 + p.r.IntN(4) {
		if p.left--; p.left < 0 {
			break
		}
		p.statement(depth)
	}
	switch {
	case p.loop > 0 && p.r.IntN(8) == 0:
		p.say("break")
	case p.r.IntN(16) == 0:
		p.say("return %s, %s", p.expr(1), p.expr(1))
	}
	p.vars = p.vars[:from]
}

func (p *program) statement(depth int) {
	x := func() string { return p.expr(2) }
	values := p.one(x(), x()+","+x(), x()+","+x()+","+x())
	switch kind := p.r.IntN(12); {
	case kind < 4 && depth > 0:
		p.compound(depth)
	case kind == 10:
		p.say(p.one("if %s then error(%s) end", "if %s then error(%s, 0) end", "log(pcall(error, %s, %s));", "pcall(%s, %s);",
			"local ok, e = %s, %s; if not ok then error(e, 2) end"), x(), x())
	case kind == 11 && len(p.vars) > 0:
		f, v := p.name("g"), p.variable()
		p.say("local %s = function(a) %s = a; return %s end;", f, v, v)
		p.say("%s", strings.ReplaceAll(p.one("", "pcall(error);", "pcall(F, 1);", "log(pcall(F, 1));",
			"log(xpcall(F, S));"), "F", f))
		p.say("log(%s, %s(%s), %s);", v, f, x(), v)
		p.vars = append(p.vars, f)
	case kind < 2:
		name := p.name("v")
		p.say("local %s = %s;", name, x())
		p.vars = append(p.vars, name)
	case kind < 4:
		a, b := p.name("v"), p.name("v")
		p.say("local %s, %s = %s;", a, b, values)
		p.vars = append(p.vars, a, b)
	case kind == 4 || len(p.vars) == 0:
		p.say("log(%s);", x())
	case kind == 5:
		p.say("%s, %s = %s;", p.variable(), p.variable(), values)
	case kind == 6:
		p.say("T(%s).x, %s = %s;", p.variable(), p.variable(), values)
	case kind == 7:
		v := p.variable()
		p.say("local r = fs; r[#r+1] = function(a, ...) %s = a; return %s, a, ... end;", v, p.variable())
	default:
		p.say("%s = %s;", p.variable(), x())
	}
}

func (p *program) compound(depth int) {
	x := func() string { return p.expr(2) }
	first := p.one("", "", "if false then log(1) end", "if nil then log(2) else log(3) end", "while false do end",
		"local z = nil or 3 log(z)", "do end")
	body := func(vars ...string) {
		p.loop++
		p.block(depth-1, vars...)
		p.loop--
	}
	switch p.r.IntN(12) {
	case 8, 9:
		p.say("log(pcall(%s, %s))", p.function(8), x())
		return
	case 10:
		p.say("log(xpcall(%s, function(m) return (select(2, pcall(%s, m))) end))", p.function(8), p.function(4))
		return
	case 11:
		p.say("log(pcall(coroutine.wrap(%s), %s))", p.function(8), x())
		return
	case 0, 1:
		p.say("if %s then", x())
		p.block(depth - 1)
		p.say("elseif %s then", x())
		p.block(depth - 1)
		p.say("else")
		p.block(depth - 1)
	case 2:
		c := p.name("c")
		p.say("local %s = 0 while %s do %s", c, p.one("true", "1", c+" < 2", c+" < 3 and "+x(), x()+" and "+c+" < 3"), first)
		p.say("%s = tick(%s) if %s > 3 then break end", c, c, c)
		body()
	case 3:
		c := p.name("c")
		p.say("local %s = 0 repeat %s %s = tick(%s) do", c, first, c, c)
		body()
		p.say("end until %s", p.one(c+" > 2", c+" > 3 or "+x(), "N("+x()+") > 1 or "+c+" > 2"))
		return
	case 4:
		i := p.name("i")
		p.say("for %s = 1, 3 do", i)
		body(i)
	case 5:
		k, v := p.name("k"), p.name("e")
		p.say("for %s, %s in ipairs({1, %s, 3}) do %s", k, v, x(), first)
		body(k, v)
	case 6:
		p.say("do")
		p.block(depth - 1)
	default:
		f := p.name("f")
		p.say("local function %s(...) return (%s)(...) end log(%s(%s))", f, p.function(8), f, x())
		return
	}
	p.say("end")
}

// Random programs mean the same to our compiler as to Lua's.
func TestProgramsMeanTheSame(t *testing.T) {
	s := newSides(t)
	for i := range 900 {
		p := &program{r: rand.New(rand.NewPCG(7, uint64(i))), left: 4 + i%12}
		p.block(3)
		script := programHead + p.b.String() + programTail
		theirs := s.theirs(2, script, nil)
		require.NotContains(t, theirs, "-ERR", p.b.String())
		require.Equal(t, theirs, s.ours(2, script, nil), p.b.String())
		require.Equal(t, theirs, s.named(2, script, nil), p.b.String())
	}
}

func TestACallWhoseReplyIsUnusedMakesNoValue(t *testing.T) {
	e := alone(Options{})
	allocations := func(script string) float64 {
		return testing.AllocsPerRun(100, func() { evalOn(e, 2, script, nil) })
	}
	for _, name := range []string{"call", "pcall"} {
		statement := "redis." + name + "('set', 'k', 'v') "
		twice := allocations(strings.Repeat(statement, 2))
		require.Equal(t, twice, allocations(strings.Repeat(statement, 9)))
		require.Less(t, twice, allocations("local reply = "+statement))
	}
}

package compile

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"
)

// operators are the functions of a test, which need not be exact.
func operators(l *lua.LState) map[string]lua.LValue {
	list := map[string]lua.LValue{}
	for name, do := range map[string]func(l *lua.LState) lua.LValue{
		"..": func(l *lua.LState) lua.LValue {
			text := ""
			for i := 1; i <= l.GetTop(); i++ {
				text += l.Get(i).String()
			}
			return lua.LString(text)
		},
		"%": func(l *lua.LState) lua.LValue { return lua.LNumber(l.ToInt(1) % l.ToInt(2)) },
		"^": func(l *lua.LState) lua.LValue { return l.Get(1) },
		"#": func(l *lua.LState) lua.LValue { return lua.LNumber(l.ObjLen(l.Get(1))) },
	} {
		list[name] = l.NewFunction(func(l *lua.LState) int { l.Push(do(l)); return 1 })
	}
	list["for"] = l.NewFunction(func(l *lua.LState) int { return 3 })
	list["{}"] = l.NewFunction(func(*lua.LState) int { return 0 })
	list["[]="] = l.NewFunction(func(l *lua.LState) int { l.SetTable(l.Get(1), l.Get(2), l.Get(3)); return 0 })
	list["{...}"] = l.NewFunction(func(l *lua.LState) int {
		for i := 3; i <= l.GetTop(); i++ {
			l.Get(1).(*lua.LTable).RawSetInt(l.ToInt(2)+i-3, l.Get(i))
		}
		return 0
	})
	return list
}

func text(l *lua.LState) *Text {
	return &Text{
		Chunk: "text", Source: "text", Operators: operators(l), Env: l.NewTable(),
		Known:  map[string]lua.LValue{"known": lua.LString("known")},
		Member: func(lua.LValue, string) lua.LValue { return nil },
	}
}

func compiled(t *testing.T, l *lua.LState, source string) (*lua.LFunction, *Code) {
	t.Helper()
	tree, err := parse.Parse(strings.NewReader(source), "text")
	require.NoError(t, err)
	code, err := Compile(tree, text(l))
	require.NoError(t, err, source)
	return functionOf(l, code), code
}

func functionOf(l *lua.LState, code *Code) *lua.LFunction {
	fn := l.NewFunctionFromProto(code.Proto)
	for i, b := range code.Bound {
		fn.Upvalues[i] = &lua.Upvalue{}
		fn.Upvalues[i].SetValue(b.Value)
	}
	return fn
}

func result(t *testing.T, source string) string {
	t.Helper()
	l := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer l.Close()
	fn, _ := compiled(t, l, source)
	l.Push(fn)
	require.NoError(t, l.PCall(0, lua.MultRet, nil), source)
	var list []string
	for i := 1; i <= l.GetTop(); i++ {
		list = append(list, l.Get(i).String())
	}
	return strings.Join(list, " ")
}

func TestCodeDoesWhatLuaSays(t *testing.T) {
	for _, c := range [][2]string{
		{"return 1 + 2 * 3, -2 - 3, 7 % 4, 'a' .. 1 .. 'b'", "7 -5 3 a1b"},
		{"local a, b = 1, 2 a, b = b, a return a, b", "2 1"},
		{"local i, t = 1, {} i, t[i] = i + 1, 20 return i, t[1], t[2]", "2 20 nil"},
		{"local x, t = 5, {} x = t.y and 3 return x", "nil"},
		{"local a return a or 7, a and 7, not a, 1 == 1, 1 < 1 or 'x'", "7 nil true true x"},
		{"local s = 0 for i = 3, 1, -1 do s = s * 10 + i end return s", "321"},
		{"local f = function(...) return ... end return f(1, 2), (f(1, 2)), f(3, 4)", "1 1 3 4"},
		{"local f = function(...) return arg.n, arg[2] end return f(7, 8)", "2 8"},
		{"local f = function(a, ...) local t = {a, ...} return t[3], #t end return f(7, 8, 9)", "9 3"},
		{"local fs = {} for i = 1, 2 do fs[i] = function() i = i + 1 return i end end " +
			"return fs[1](), fs[1](), fs[2]()", "2 3 3"},
		{"local t = {f = function(self, x) return self.n, x end, n = 4} return t:f(5)", "4 5"},
		{"local n = 0 repeat local m = n n = n + 1 until m == 3 return n", "4"},
		{"local n = 0 while true do n = n + 1 if n > 4 then break end end return n", "5"},
		{"local a = 5 local f = function() a = 7 return 2 end return a % f(), a - f()", "1 5"},
		{"return known", "known"},
		{"local function f(n) if n == 0 then return 'end' end return f(n - 1) end return f(100000)", "end"},
	} {
		require.Equal(t, c[1], result(t, c[0]), c[0])
	}
}

// Each function that is made keeps the environment of its maker.
func TestAnEnvironmentIsPassedOn(t *testing.T) {
	l := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer l.Close()
	source := "if _G then end x = 1 local function get() return x end return get, function() return x end"
	fn, code := compiled(t, l, source)
	require.True(t, code.Named)
	other := l.NewTable()
	other.RawSetString("x", lua.LNumber(2))
	l.Push(fn)
	l.Call(0, 2)
	before, after := l.Get(1).(*lua.LFunction), l.Get(2)
	SetEnvironment(before, other)
	l.Push(before)
	l.Call(0, 1)
	require.Equal(t, lua.LNumber(2), l.Get(-1))
	l.Push(after)
	l.Call(0, 1)
	require.Equal(t, lua.LNumber(1), l.Get(-1))
}

func TestNamesOfOperandsAreNoted(t *testing.T) {
	l := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer l.Close()
	_, code := compiled(t, l, "local a, b = 1, {} return a + b.c.d")
	found := map[string]bool{}
	for pc := range code.Proto.Code {
		for operand := range 3 {
			if kind, name := NameOf(code.Proto, pc, operand); kind != "" {
				found[fmt.Sprint(kind, " ", name, " ", operand)] = true
			}
		}
	}
	require.Equal(t, map[string]bool{"local b 1": true, "field c 1": true, "local a 1": true, "field d 2": true}, found)
}

func TestEachConstantIsThereOnce(t *testing.T) {
	l := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer l.Close()
	_, code := compiled(t, l, "local t = {"+strings.Repeat("1, 'x', 1 + 1, 2, ", 3000)+"}")
	require.Len(t, code.Proto.Constants, 3)
	require.Len(t, code.Proto.DbgSourcePositions, len(code.Proto.Code))
}

func TestLimitsHaveLuasWords(t *testing.T) {
	l := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer l.Close()
	join := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	rep := strings.Repeat
	for name, c := range map[string]struct{ source, says string }{
		"locals":   {join(201, "local a%d "), "text:1: main function has more than 200 local variables"},
		"declared": {rep("do local a end ", 32768), "too many local variables"},
		"upvalues": {join(61, "local a%d ") + "\nreturn function() return " + join(61, "a%d,") + "1 end",
			"text:2: function at line 2 has more than 60 upvalues"},
		"registers": {"return f(" + rep("1,", 255) + "1)", "text:1: function or expression too complex"},
		"targets":   {rep("a,", 200) + "a = 1", "text:1: main function has more than 199 variables in assignment"},
		"constants": {"local t = {" + join(1<<18, "%d,") + "}", "constant table overflow"},
		"levels":    {rep("do ", 200) + rep("end ", 200), "text:1: chunk has too many syntax levels"},
		"jumps":     {"local a while a do " + rep("a = a + 1 ", 1<<17) + "end", "text:1: control structure too long"},
		"break":     {"break", "text:1: no loop to break"},
		"dots":      {"return function() return ... end", "text:1: cannot use '...' outside a vararg function near '...'"},
		"goto":      {"goto x", "text:1: '=' expected near 'x'"},
	} {
		tree, err := parse.Parse(strings.NewReader(c.source), "text")
		require.NoError(t, err, name)
		_, err = Compile(tree, text(l))
		require.EqualError(t, err, c.says, name)
	}
}

// trees draws random trees, also such that no text has.
type trees struct {
	r    *rand.Rand
	left int
}

func (d *trees) name() string { return [...]string{"a", "b", "c", "known", "_G", "arg"}[d.r.IntN(6)] }

func (d *trees) names() []string {
	list := make([]string, 1+d.r.IntN(3))
	for i := range list {
		list[i] = d.name()
	}
	return list
}

func (d *trees) exprs(least int) []ast.Expr {
	list := make([]ast.Expr, least+d.r.IntN(3))
	for i := range list {
		list[i] = d.expr()
	}
	return list
}

func (d *trees) function() *ast.FunctionExpr {
	return &ast.FunctionExpr{ParList: &ast.ParList{HasVargs: d.r.IntN(2) == 0, Names: d.names()}, Stmts: d.stmts()}
}

func (d *trees) expr() ast.Expr {
	if d.left--; d.left < 0 {
		return &ast.IdentExpr{Value: d.name()}
	}
	switch d.r.IntN(18) {
	case 0:
		return &ast.NilExpr{}
	case 1:
		return &ast.TrueExpr{}
	case 2:
		return &ast.FalseExpr{}
	case 3:
		return &ast.NumberExpr{Value: [...]string{"1", "0", "2.5", "1e300", "bad"}[d.r.IntN(5)]}
	case 4:
		return &ast.StringExpr{Value: d.name()}
	case 5:
		return &ast.Comma3Expr{AdjustRet: d.r.IntN(2) == 0}
	case 6:
		return &ast.AttrGetExpr{Object: d.expr(), Key: d.expr()}
	case 7:
		table := &ast.TableExpr{}
		for range d.r.IntN(60) {
			f := &ast.Field{Value: d.expr()}
			if d.r.IntN(3) == 0 {
				f.Key = d.expr()
			}
			table.Fields = append(table.Fields, f)
		}
		return table
	case 8:
		return &ast.FuncCallExpr{Func: d.expr(), Args: d.exprs(0), AdjustRet: d.r.IntN(2) == 0}
	case 9:
		return &ast.FuncCallExpr{Receiver: d.expr(), Method: d.name(), Args: d.exprs(0)}
	case 10:
		return &ast.LogicalOpExpr{Operator: [...]string{"and", "or"}[d.r.IntN(2)], Lhs: d.expr(), Rhs: d.expr()}
	case 11:
		op := [...]string{"==", "~=", "<", "<=", ">", ">="}[d.r.IntN(6)]
		return &ast.RelationalOpExpr{Operator: op, Lhs: d.expr(), Rhs: d.expr()}
	case 12:
		return &ast.StringConcatOpExpr{Lhs: d.expr(), Rhs: d.expr()}
	case 13:
		op := [...]string{"+", "-", "*", "/", "%", "^"}[d.r.IntN(6)]
		return &ast.ArithmeticOpExpr{Operator: op, Lhs: d.expr(), Rhs: d.expr()}
	case 14:
		return &ast.UnaryMinusOpExpr{Expr: d.expr()}
	case 15:
		return &ast.UnaryNotOpExpr{Expr: d.expr()}
	case 16:
		return &ast.UnaryLenOpExpr{Expr: d.expr()}
	}
	return d.function()
}

func (d *trees) stmts() []ast.Stmt {
	list := make([]ast.Stmt, d.r.IntN(4))
	for i := range list {
		list[i] = d.stmt()
	}
	return list
}

func (d *trees) stmt() ast.Stmt {
	switch d.r.IntN(13) {
	case 0:
		return &ast.AssignStmt{Lhs: d.exprs(1), Rhs: d.exprs(1)}
	case 1, 2:
		return &ast.LocalAssignStmt{Names: d.names(), Exprs: d.exprs(0)}
	case 3:
		return &ast.FuncCallStmt{Expr: d.expr()}
	case 4:
		return &ast.DoBlockStmt{Stmts: d.stmts()}
	case 5:
		return &ast.WhileStmt{Condition: d.expr(), Stmts: d.stmts()}
	case 6:
		return &ast.RepeatStmt{Condition: d.expr(), Stmts: d.stmts()}
	case 7:
		return &ast.IfStmt{Condition: d.expr(), Then: d.stmts(), Else: d.stmts()}
	case 8:
		return &ast.NumberForStmt{Name: d.name(), Init: d.expr(), Limit: d.expr(), Stmts: d.stmts()}
	case 9:
		return &ast.GenericForStmt{Names: d.names(), Exprs: d.exprs(1), Stmts: d.stmts()}
	case 10:
		return &ast.FuncDefStmt{Name: &ast.FuncName{Receiver: d.expr(), Method: d.name()}, Func: d.function()}
	case 11:
		return &ast.ReturnStmt{Exprs: d.exprs(0)}
	}
	return &ast.BreakStmt{}
}

// clock is a context that ends after some instructions.
type clock struct {
	context.Context
	left int
	done chan struct{}
}

func (c *clock) Done() <-chan struct{} {
	if c.left--; c.left == 0 {
		close(c.done)
	}
	return c.done
}

func (c *clock) Err() error { return context.Canceled }

// A random tree is refused, or its code runs until it ends or fails. Neither panics in Go.
func FuzzTrees(f *testing.F) {
	for seed := range uint64(2000) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		d := &trees{r: rand.New(rand.NewPCG(seed, 1)), left: 60}
		l := lua.NewState(lua.Options{SkipOpenLibs: true})
		defer l.Close()
		code, err := Compile(d.stmts(), text(l))
		if err != nil {
			require.IsType(t, &Error{}, err)
			return
		}
		l.SetContext(&clock{Context: context.Background(), left: 10000, done: make(chan struct{})})
		l.Push(functionOf(l, code))
		if err := l.PCall(0, 0, nil); err != nil {
			require.NotContains(t, err.Error(), "runtime error")
			require.NotContains(t, err.Error(), "nil pointer")
		}
	})
}

package compile

import (
	"fmt"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// Text says what a text may name, and how it is called in errors.
type Text struct {
	Chunk  string // in errors of the compiler
	Source string // in errors of running code

	// Known are the globals that never change. A function reads them from upvalues.
	Known map[string]lua.LValue
	// Member returns a field of a known table that never changes, or nil.
	Member func(table lua.LValue, field string) lua.LValue
	// Unused holds functions by name, such as "redis.call". A statement calls them in place of the
	// functions with these names.
	Unused map[string]lua.LValue
	// Words are globals whose values the caller sets before each run, by upvalue.
	Words []string
	// Operators are the functions for what the virtual machine does differently from Lua: see
	// the package comment.
	Operators map[string]lua.LValue
	// Env is the table of all other globals.
	Env lua.LValue
	// Library says that the text is run once and its functions later. Globals outside of functions
	// are fields of Env.
	Library bool
	// Named makes all globals fields of the environment. A text that names a function which can reach
	// environments is compiled so in any case.
	Named bool
}

// Bound is an upvalue of a compiled text: the value of a global, or a function for an operator.
type Bound struct {
	Name  string
	Value lua.LValue // nil for a word
}

// Code is a compiled text.
type Code struct {
	Proto   *lua.FunctionProto
	Bound   []Bound         // the upvalues of Proto
	Escapes map[string]bool // the words that are used as values
	Long    bool            // the text may run for long
	Named   bool            // the globals are fields of the environment
	Exact   bool            // the library keeps the shapes of tables

	brief map[*lua.FunctionProto]bool
}

// Environment is the name of the upvalue that is the environment.
const Environment = "environment"

// IsBrief reports whether a function of a library ends soon by itself.
func (c *Code) IsBrief(f *lua.LFunction) bool { return f.Proto != nil && c.brief[f.Proto] }

// SetEnvironment makes env the environment of f. Functions that f has made keep theirs.
func SetEnvironment(f *lua.LFunction, env *lua.LTable) {
	f.Env = env
	if f.Proto != nil && len(f.Proto.DbgUpvalues) > 0 {
		own := &lua.Upvalue{}
		own.SetValue(env)
		f.Upvalues[0] = own
	}
}

// Error is an error of the compiler. Line is 0 when Lua gives none.
type Error struct {
	Chunk string
	Line  int
	Text  string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Text
	}
	return fmt.Sprint(e.Chunk, ":", e.Line, ": ", e.Text)
}

// Compile compiles the tree of a text. The error is an *Error.
func Compile(tree []ast.Stmt, t *Text) (*Code, error) {
	m := mode{t.Named, t.Named}
	for {
		code, must, err := compile(tree, t, m)
		if err != nil || must == m {
			return code, err
		}
		m = must
	}
}

// mode is how a text is compiled.
type mode struct {
	named bool // globals are fields of the environment
	exact bool // the lengths of tables with holes are Lua's
}

// reaches is the panic that ends the compilation of a text that can reach environments.
type reaches struct{}

// compile also returns how the text must be compiled. The code counts only if that is m.
func compile(tree []ast.Stmt, t *Text, m mode) (code *Code, must mode, err error) {
	c := &compiler{
		text: t, byName: map[string]int{}, bound: map[string]int{}, notes: map[origin]string{}, line: 1,
		code: &Code{Named: m.named, Exact: m.exact, Escapes: map[string]bool{}},
		meta: m.named, long: m.named, mode: m,
	}
	defer func() {
		switch ended := recover().(type) {
		case nil:
		case reaches:
			must = mode{named: true, exact: true}
		case *Error:
			err = ended
		default:
			panic(ended)
		}
	}()
	c.open(0)
	if m.named {
		c.bind(Environment, t.Env)
	}
	c.stmts(tree)
	c.code.Proto = c.close(c.line)
	c.code.Proto.NumUpvalues = uint8(len(c.code.Bound))
	c.code.Long = c.long
	if c.meta {
		c.code.brief = nil
	}
	return c.code, mode{m.named, m.exact || c.holes.exact()}, nil
}

// compiler is the compilation of one text.
type compiler struct {
	text   *Text
	code   *Code
	f      *function
	vars   []variable        // the visible local variables
	byName map[string]int    // the visible variable of a name, as an index of vars
	bound  map[string]int    // index of code.Bound
	notes  map[origin]string // names in notes
	spine  []ast.Expr        // expressions whose left side is being compiled
	line   int               // of the last token that was compiled
	level  int               // blocks and expressions around
	unused ast.Expr          // the function that a statement calls

	mode  mode
	holes holes

	iterator *ast.FuncCallExpr // the call that a generic for begins with

	steps int  // that the function takes, at most
	long  bool // the function may take more
	meta  bool // the library may make tables that call functions
}

// Lua's limits (luaconf.h, llimits.h, lopcodes.h).
const (
	maxLevels    = 200
	maxLocals    = 200
	maxUpvalues  = 60
	maxRegisters = 250
	maxDeclared  = 32767 // variables of one function
	maxConstants = 1<<18 - 1
	maxJump      = 1<<17 - 1
	listSize     = 50 // values of a constructor that one instruction stores
	maxLists     = 511
)

const tooComplex = "function or expression too complex"

func (c *compiler) fail(text string) { panic(&Error{c.text.Chunk, c.line, text}) }

// failAnywhere reports an error that has no line.
func (c *compiler) failAnywhere(text string) { panic(&Error{Text: text}) }

// limit fails when n is more than most (lparser.c: errorlimit).
func (c *compiler) limit(f *function, n, most int, what string) {
	if n <= most {
		return
	}
	where := "main function"
	if f.outer != nil {
		where = fmt.Sprint("function at line ", f.proto.LineDefined)
	}
	c.fail(fmt.Sprint(where, " has more than ", most, " ", what))
}

// enter counts a level of blocks or expressions.
func (c *compiler) enter() {
	if c.level++; c.level > maxLevels {
		c.fail("chunk has too many syntax levels")
	}
}

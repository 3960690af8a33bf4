package lualib

import (
	"sync"

	lua "github.com/yuin/gopher-lua"

	"github.com/miniredisd/miniredisd/luaeval/limits"
)

// Lib is the library of one Lua state, which one goroutine uses.
type Lib struct {
	// Limits counts the work of functions. States that need a context have Limits as theirs.
	Limits *limits.Limits
	Calls  Calls
	Null   *lua.LUserData // cjson.null
	Exact  bool           // the shapes of tables are kept

	// Globals is the environment of all functions.
	Globals *lua.LTable

	l        *lua.LState                 // functions are made on it
	gopher   map[string]lua.LGFunction   // functions of gopher-lua that ours call
	real     map[*lua.LTable]*lua.LTable // behind the tables that View has made
	shown    map[*lua.LTable]*lua.LTable // what Show has made of a table
	readOnly *lua.LFunction
	next     *lua.LFunction
	element  *lua.LFunction // iterator of ipairs
	words    []vmError

	shapes      map[*lua.LTable]*shape            // of tables with a metatable
	metamethods map[*lua.LFunction]*lua.LFunction // what counted has made of a function
	integers    [256]lua.LValue
	threads     int
	short       []byte      // buffer of shortOutput
	math        *lua.LTable // gopher-lua's
	random      uint64      // state of math.random
}

// LargestHole bounds the memory of one assignment. `t[n] = 1` makes an array of n elements below
// LargestHole, and an entry of a map above it. gopher-lua keeps this bound in a package variable;
// all engines set the same value.
const LargestHole = 1 << 20

var boundHoles = sync.OnceFunc(func() { lua.MaxArrayIndex = LargestHole })

// New makes the library of the state l. It replaces the globals of l.
func New(l *lua.LState, bounds *limits.Limits, seedOfRandom uint32) *Lib {
	boundHoles()
	lib := &Lib{Limits: bounds, l: l, gopher: map[string]lua.LGFunction{}}
	lib.real, lib.shown = map[*lua.LTable]*lua.LTable{}, map[*lua.LTable]*lua.LTable{}
	lib.SeedRandom(seedOfRandom)
	lib.borrow(lua.OpenBase, "_G", "rawequal")
	lib.borrow(lua.OpenCoroutine, lua.CoroutineLibName, "create", "resume")
	lib.math = lib.borrow(lua.OpenMath, lua.MathLibName)
	// gopher-lua's libraries are registered in tables that scripts never see.
	lib.Globals = l.CreateTable(0, 8)
	l.G.Global, l.Env = lib.Globals, lib.Globals
	l.G.Registry = l.CreateTable(0, 0)
	lib.Null = l.NewUserData()
	lib.readOnly = l.NewFunction(func(l *lua.LState) int {
		Raise(l, ReadOnlyText)
		return 0
	})
	for i := range lib.integers {
		lib.integers[i] = lua.LNumber(i)
	}
	lib.next, lib.element = l.NewFunction(lib.nextPair), l.NewFunction(lib.nextElement)
	return lib
}

// Begin resets the counts of the script before. The next text is exact or not.
func (lib *Lib) Begin(exact bool) {
	lib.Calls, lib.threads, lib.Exact = Calls{}, 0, exact
	lib.shapes, lib.metamethods = nil, nil
}

// Tables returns the libraries that scripts see, by name. The cjson among them uses the given
// settings.
func (lib *Lib) Tables(json *JSONSettings) map[string]*lua.LTable {
	return map[string]*lua.LTable{
		"bit": lib.bitLib(), "cjson": lib.JSON(json), "cmsgpack": lib.msgpackLib(), "coroutine": lib.coroutineLib(),
		"math": lib.mathLib(lib.math), "string": lib.stringLib(), "struct": lib.structLib(), "table": lib.tableLib(),
	}
}

// borrow opens a library of gopher-lua and keeps some of its functions under `library.name`.
func (lib *Lib) borrow(open lua.LGFunction, library string, names ...string) *lua.LTable {
	lib.l.Push(lib.l.NewFunction(open))
	lib.l.Call(0, 1)
	t := lib.l.Get(-1).(*lua.LTable)
	lib.l.SetTop(0)
	for _, name := range names {
		lib.gopher[library+"."+name] = t.RawGetString(name).(*lua.LFunction).GFunction
	}
	return t
}

// Functions returns a table of functions.
func (lib *Lib) Functions(list map[string]lua.LGFunction) *lua.LTable {
	t := lib.l.CreateTable(0, len(list))
	for name, f := range list {
		t.RawSetString(name, lib.l.NewFunction(f))
	}
	return t
}

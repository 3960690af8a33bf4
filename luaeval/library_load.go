package luaeval

import (
	"bytes"
	"errors"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/miniredisd/miniredisd/luaeval/lualib"
	"github.com/miniredisd/miniredisd/resp"
)

const libraryChunk = "user_function"

// LoadLibrary compiles a library, runs its text once, and adds the library to ls. The text
// registers the functions. With replace, the library replaces one with the same name. The text of
// an error is the error reply; ls then stays as it was.
func (e *Engine) LoadLibrary(ls *Libraries, code []byte, replace bool) (*Library, error) {
	name, body, err := parseLibraryHeader(code)
	if err != nil {
		return nil, err
	}
	old := ls.byName[name]
	if old != nil && !replace {
		return nil, errors.New("ERR Library '" + name + "' already exists")
	}
	defer e.make()()
	e.openLibraryScope()
	e.libraryScope.let(e.libraryScope.loading)
	defer e.libraryScope.let(e.libraryScope.running)
	lib := &Library{Name: name, Code: string(code)}
	chunk, compiled, err := e.compileChunk(body, &e.libraryScope)
	if err != nil {
		return nil, errors.New("ERR Error compiling function: " + err.Error())
	}
	e.lib.Begin(compiled.Exact)
	if err := e.runLibrary(lib, chunk); err != nil {
		return nil, err
	}
	if err := lib.checkNames(); err != nil {
		return nil, err
	}
	if len(lib.Functions) == 0 {
		return nil, errors.New("ERR No functions registered")
	}
	release(compiled, chunk)
	for _, f := range lib.Functions {
		f.long, f.exact = !compiled.IsBrief(f.call), compiled.Exact
	}
	return lib, ls.add(lib, old)
}

// runLibrary runs the text of a library, within the bounds of a script.
func (e *Engine) runLibrary(lib *Library, chunk *lua.LFunction) error {
	r := &e.run
	*r = run{}
	e.limits.Begin()
	e.limits.Loading = true
	e.loading = lib
	e.l.SetContext(&e.limits)
	e.l.Push(chunk)
	err := e.attempt(0, 0, true)
	e.l.RemoveContext()
	e.l.SetTop(0)
	e.l.G.CurrentThread = e.l
	e.loading, e.limits.Loading = nil, false
	e.guards = nil // the functions keep the guards that they were made on
	switch {
	case e.limits.Over() != nil:
		return errors.New("ERR Error registering functions: ERR " + e.limits.Over().Error())
	case r.fail.text != "":
		return errors.New("ERR Error registering functions: " + r.fail.text)
	case err != nil:
		return errors.New("ERR Error registering functions: ERR " + err.Error())
	}
	return nil
}

// parseLibraryHeader reads the first line, `#!lua name=mylib`. It returns the code with that line
// emptied, so line numbers stay (functions.c: functionExtractLibMetaData).
func parseLibraryHeader(code []byte) (name, body string, err error) {
	if !bytes.HasPrefix(code, []byte("#!")) {
		return "", "", errors.New("ERR Missing library metadata")
	}
	end := bytes.IndexAny(code, "\n\x00")
	if end < 0 || code[end] == 0 {
		return "", "", errors.New("ERR Invalid library metadata")
	}
	words, ok := resp.Words(code[:end])
	if !ok {
		return "", "", errors.New("ERR Invalid library metadata")
	}
	engine, named := string(words[0][2:]), false
	for _, word := range words[1:] {
		if len(word) < 5 || !strings.EqualFold(string(word[:5]), "name=") {
			return "", "", errors.New("ERR Invalid metadata value given: " + string(word))
		}
		if named {
			return "", "", errors.New("ERR Invalid metadata value, name argument was given multiple times")
		}
		name, named = string(word[5:]), true
	}
	switch {
	case !named:
		return "", "", errors.New("ERR Library name was not given")
	case !isName(name):
		return "", "", errors.New("ERR " + errName)
	case !strings.EqualFold(engine, "lua"):
		return "", "", errors.New("ERR Engine '" + engine + "' not found")
	}
	return name, string(code[end:]), nil
}

// registerFunction is redis.register_function.
func (e *Engine) registerFunction(l *lua.LState) int {
	if e.loading == nil {
		return e.giveError(l, "ERR redis.register_function can only be called on FUNCTION LOAD command", true)
	}
	f := &Function{}
	problem := f.fromArguments(l)
	switch {
	case problem != "", e.o.Server.LateNames:
	case !isName(f.Name):
		problem = errName
	case e.loading.has(f.Name):
		problem = errTwice
	}
	if problem != "" {
		return e.giveError(l, "ERR "+problem, true)
	}
	e.loading.Functions = append(e.loading.Functions, f)
	return 0
}

// errTwice is the error for a second function of one name.
const errTwice = "Function already exists in the library"

// checkNames is for a server that checks names late. Others find nothing wrong any more.
func (lib *Library) checkNames() error {
	for i, f := range lib.Functions {
		switch before := (&Library{Functions: lib.Functions[:i]}); {
		case !isName(f.Name):
			return errors.New("ERR Function" + errLetters)
		case before.has(f.Name):
			return errors.New("ERR " + errTwice)
		}
	}
	return nil
}

func (lib *Library) has(name string) bool {
	for _, f := range lib.Functions {
		if f.Name == name {
			return true
		}
	}
	return false
}

// fromArguments reads the arguments of register_function: a name and a function, or one table of
// named arguments. It returns what is wrong with them, or "".
func (f *Function) fromArguments(l *lua.LState) string {
	switch l.GetTop() {
	case 1:
		named, ok := l.Get(1).(*lua.LTable)
		if !ok {
			return "calling redis.register_function with a single argument is only applicable to Lua table " +
				"(representing named arguments)."
		}
		return f.fromTable(named)
	case 2:
		name, isText := lualib.ToText(l.Get(1))
		call, isFunction := l.Get(2).(*lua.LFunction)
		switch {
		case !isText:
			return "first argument to redis.register_function must be a string"
		case !isFunction:
			return "second argument to redis.register_function must be a function"
		}
		f.Name, f.call = name, call
		return ""
	}
	return "wrong number of arguments to redis.register_function"
}

func (f *Function) fromTable(named *lua.LTable) string {
	hasName := false
	for key, value := named.Next(lua.LNil); key != lua.LNil; key, value = named.Next(key) {
		name, ok := lualib.ToText(key)
		if !ok {
			return "named argument key given to redis.register_function is not a string"
		}
		switch strings.ToLower(name) {
		case "function_name":
			if f.Name, hasName = lualib.ToText(value); !hasName {
				return "function_name argument given to redis.register_function must be a string"
			}
		case "description":
			if f.Description, f.Described = lualib.ToText(value); !f.Described {
				return "description argument given to redis.register_function must be a string"
			}
		case "callback":
			if f.call, ok = value.(*lua.LFunction); !ok {
				return "callback argument given to redis.register_function must be a function"
			}
		case "flags":
			list, ok := value.(*lua.LTable)
			if !ok {
				return "flags argument to redis.register_function must be a table representing function flags"
			}
			if !f.setFlags(list) {
				return "unknown flag given"
			}
		default:
			return "unknown argument given to redis.register_function"
		}
	}
	switch {
	case !hasName:
		return "redis.register_function must get a function name argument"
	case f.call == nil:
		return "redis.register_function must get a callback argument"
	}
	return ""
}

// setFlags reads a list of flag names up to the first nil. It reports whether all are known.
func (f *Function) setFlags(list *lua.LTable) bool {
	for i := 1; list.RawGetInt(i) != lua.LNil; i++ {
		name, _ := lualib.ToText(list.RawGetInt(i))
		flag := flagNamed(strings.ToLower(name))
		if flag == 0 {
			return false
		}
		f.Flags |= flag
	}
	return true
}

// Names returns the names of the flags in Redis's order.
func (f Flags) Names() (names []string) {
	for _, name := range []string{"no-writes", "allow-oom", "allow-stale", "no-cluster", "allow-cross-slot-keys"} {
		if f&flagNamed(name) != 0 {
			names = append(names, name)
		}
	}
	return names
}

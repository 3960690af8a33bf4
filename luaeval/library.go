package luaeval

import (
	"errors"
	"maps"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/miniredisd/miniredisd/luaeval/lualib"
)

// Library is what FUNCTION LOAD made of one text (functions.h: functionLibInfo).
type Library struct {
	Name, Code string
	Functions  []*Function // in the order of registration
}

// Function is one function of a library.
type Function struct {
	Name        string
	Description string
	Described   bool // a description was given, even an empty one
	Flags       Flags

	call *lua.LFunction
	long bool // it may run for long: it needs a context

	exact bool // the library keeps the shapes of tables
}

// Libraries are the loaded libraries and their functions (functions.h: functionsLibCtx). All
// functions share one set of names, which ignores case. Names of libraries do not ignore case.
type Libraries struct {
	byName    map[string]*Library
	functions map[string]*Function // by name in lower case
}

// NewLibraries returns an empty set of libraries.
func NewLibraries() *Libraries {
	return &Libraries{map[string]*Library{}, map[string]*Function{}}
}

// Find returns the function with this name, or nil.
func (ls *Libraries) Find(name []byte) *Function {
	if f := ls.functions[string(name)]; f != nil {
		return f
	}
	return ls.functions[strings.ToLower(string(name))]
}

// All returns the libraries, sorted by name.
func (ls *Libraries) All() []*Library {
	return slices.SortedFunc(maps.Values(ls.byName), func(a, b *Library) int { return strings.Compare(a.Name, b.Name) })
}

// Len returns the numbers of libraries and functions.
func (ls *Libraries) Len() (libraries, functions int) { return len(ls.byName), len(ls.functions) }

// Mem estimates the bytes of the libraries: twice their code, as text and compiled.
func (ls *Libraries) Mem() int {
	n := 0
	for _, lib := range ls.byName {
		n += 2*len(lib.Code) + 512*len(lib.Functions)
	}
	return n
}

// Delete removes a library and reports whether there was one.
func (ls *Libraries) Delete(name string) bool {
	lib := ls.byName[name]
	if lib == nil {
		return false
	}
	delete(ls.byName, name)
	for _, f := range lib.Functions {
		if ls.functions[strings.ToLower(f.Name)] == f { // of two names that differ in case, only the first is linked
			delete(ls.functions, strings.ToLower(f.Name))
		}
	}
	return true
}

// add adds lib. It replaces old unless old is nil. On an error nothing changes.
func (ls *Libraries) add(lib, old *Library) error {
	if old != nil {
		ls.Delete(old.Name)
	}
	for _, f := range lib.Functions {
		if ls.functions[strings.ToLower(f.Name)] != nil {
			if old != nil {
				ls.link(old)
			}
			return errors.New("ERR Function " + f.Name + " already exists")
		}
	}
	ls.link(lib)
	return nil
}

func (ls *Libraries) link(lib *Library) {
	ls.byName[lib.Name] = lib
	for _, f := range lib.Functions {
		if name := strings.ToLower(f.Name); ls.functions[name] == nil {
			ls.functions[name] = f
		}
	}
}

// Join adds all libraries of other, or none on an error. With replace, a library replaces one with
// the same name (functions.c: libraryJoin).
func (ls *Libraries) Join(other *Libraries, replace bool) error {
	joined := &Libraries{maps.Clone(ls.byName), maps.Clone(ls.functions)}
	for _, lib := range other.All() {
		if !joined.Delete(lib.Name) {
			continue
		}
		if !replace {
			return errors.New("ERR Library " + lib.Name + " already exists")
		}
	}
	for _, lib := range other.All() {
		if err := joined.add(lib, nil); err != nil {
			return err
		}
	}
	*ls = *joined
	return nil
}

// isName reports whether a library or a function may have this name.
func isName(name string) bool {
	for i := range len(name) {
		if !lualib.IsAlpha(name[i]) && !lualib.IsDigit(name[i]) {
			return false
		}
	}
	return name != ""
}

// errName is the error for names of libraries, and in Redis of functions.
const errName = "Library" + errLetters

const errLetters = " names can only contain letters, numbers, or underscores(_) " +
	"and must be at least one character long"

package luaeval

import (
	"unsafe"
	"weak"

	lua "github.com/yuin/gopher-lua"
)

// largeString is the length in bytes from which on copies of strings are avoided.
const largeString = 4 << 10

// largeStrings finds large strings that a script has read before. Lua has every string once; Go has
// one for each read. With largeStrings, a script that reads a value a hundred times holds it once.
type largeStrings struct {
	seen [64]struct {
		first weak.Pointer[byte] // weak: a string that the script drops is collected
		n     int
	}
	lent bool // an argument of a command was one of these strings
}

// of returns b as a string.
func (s *largeStrings) of(b []byte) lua.LValue {
	at := &s.seen[(len(b)^len(b)>>6^int(b[0])^int(b[len(b)/2])^int(b[len(b)-1])<<2)%len(s.seen)]
	if first := at.first.Value(); first != nil && at.n == len(b) {
		if text := unsafe.String(first, at.n); text == string(b) {
			return lua.LString(text)
		}
	}
	text := string(b)
	at.first, at.n = weak.Make(unsafe.StringData(text)), len(b)
	return lua.LString(text)
}

// lend returns the bytes of v as an argument. Commands do not change arguments.
func (s *largeStrings) lend(v lua.LString) []byte {
	s.lent = true
	return unsafe.Slice(unsafe.StringData(string(v)), len(v))
}

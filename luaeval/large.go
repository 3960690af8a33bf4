package luaeval

import (
	"unsafe"
	"weak"

	lua "github.com/yuin/gopher-lua"
)

// largeString is how long a string is at least that is not copied when it need not be.
const largeString = 4 << 10

// largeStrings finds the large strings that a script has read before: Lua has each string once, Go
// has it as often as it was made. A script that keeps a hundred times the same value of ten million
// bytes takes ten million bytes.
type largeStrings struct {
	seen [64]struct {
		first weak.Pointer[byte] // so that what the script does not keep goes
		n     int
	}
	lent bool // to a command, as its argument
}

// of is b as a string.
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

// lend is the text of v as an argument, which commands do not change.
func (s *largeStrings) lend(v lua.LString) []byte {
	s.lent = true
	return unsafe.Slice(unsafe.StringData(string(v)), len(v))
}

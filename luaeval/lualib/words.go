package lualib

import (
	"regexp"
	"strings"
)

// LongestError is the length in bytes up to which error texts are searched. A script may raise a
// text as long as its memory.
const LongestError = 16 << 10

// SayAsLua replaces gopher-lua's words for an error by those of Lua. The name of the variable at
// fault is added by luaeval.
func (lib *Lib) SayAsLua(text string) string {
	if len(text) > LongestError {
		return text
	}
	if before, kinds, found := strings.Cut(text, comparing); found {
		if a, b, _ := strings.Cut(kinds, " with "); a == b {
			return before + comparing + "two " + a + " values"
		}
	}
	if lib.words == nil {
		lib.words = vmErrors()
	}
	for _, m := range lib.words {
		if m.found.MatchString(text) {
			return m.found.ReplaceAllString(text, m.say)
		}
	}
	return text
}

// comparing begins the error of a comparison. The kinds of both values follow.
const comparing = "attempt to compare "

// A vmError is an error of gopher-lua's virtual machine, and what Lua says for it.
type vmError struct {
	found *regexp.Regexp
	say   string
}

func vmErrors() []vmError {
	list := []struct{ found, say string }{
		{`attempt to index a non-table object\((\w+)\) with key '(?s:.*)'$`, "attempt to index a $1 value"},
		{`attempt to call a non-function object$`, "attempt to call a nil value"},
		{`cannot perform concat operation between (?:string|number) and (\w+)$`, "attempt to concatenate a $1 value"},
		{`cannot perform concat operation between (\w+) and \w+$`, "attempt to concatenate a $1 value"},
		{`cannot perform \w+ operation between number and (\w+)$`, "attempt to perform arithmetic on a $1 value"},
		{`cannot perform \w+ operation between (\w+) and \w+$`, "attempt to perform arithmetic on a $1 value"},
		{`__unm undefined$`, "attempt to perform arithmetic on a nil value"},
		{`__len undefined$`, "attempt to get length of a nil value"},
		{`registry overflow$`, "stack overflow"},
		{`too many recursions in (\w+)$`, "loop in $1"},
		{`^ bad argument #(\d+) to \(anonymous\) \((.*) expected, got nil\)$`,
			"bad argument #$1 to '?' ($2 expected, got no value)"},
		{`^ bad argument #(\d+) to \(anonymous\) \((.*)\)$`, "bad argument #$1 to '?' ($2)"},
		{`bad argument #(\d+) to (?:[\w\x00]*\.)?([\w?]+) \((.*) expected, got nil\)$`,
			"bad argument #$1 to '$2' ($3 expected, got no value)"},
		{`bad argument #(\d+) to (?:[\w\x00]*\.)?([\w?]+) \((.*)\)$`, "bad argument #$1 to '$2' ($3)"},
	}
	words := make([]vmError, len(list))
	for i, w := range list {
		words[i] = vmError{regexp.MustCompile(w.found), w.say}
	}
	return words
}

// ForgetWords gives back the memory of the first call of SayAsLua.
func (lib *Lib) ForgetWords() { lib.words = nil }

// KnowsWords reports whether SayAsLua holds memory.
func (lib *Lib) KnowsWords() bool { return lib.words != nil }

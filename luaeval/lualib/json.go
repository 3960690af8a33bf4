package lualib

import (
	"fmt"
	"math"
	"slices"

	lua "github.com/yuin/gopher-lua"
)

// jsonLib is one instance of cjson (version 2.1.0), with settings of its own.
type jsonLib struct {
	lib *Lib
	s   *JSONSettings
}

// JSONSettings are what the functions of cjson that are named after them change. As on Redis what a
// script has set stays for the scripts after it, until SCRIPT FLUSH; functions share settings of
// their own, which not even FUNCTION FLUSH takes back.
type JSONSettings struct {
	sparseConvert, sparseRatio, sparseSafe int
	encodeDepth, decodeDepth               int
	precision                              int
	encodeInvalid, decodeInvalid           int
	keepBuffer                             int // only told: no buffer is kept, and nobody can see that
}

// What a setting that is no number can be.
const (
	off = iota
	on

	asError = off // a number that JSON does not have
	asNull  = 2
)

func DefaultJSON() JSONSettings {
	return JSONSettings{
		sparseRatio: 2, sparseSafe: 10, encodeDepth: 1000, decodeDepth: 1000,
		precision: 14, decodeInvalid: on, keepBuffer: on,
	}
}

func (lib *Lib) JSON(s *JSONSettings) *lua.LTable {
	j := &jsonLib{lib, s}
	t := lib.Functions(map[string]lua.LGFunction{
		"encode": j.encode, "decode": j.decode, "new": j.another,
		"encode_sparse_array":     j.sparseArray,
		"encode_max_depth":        j.lib.integerSetting("encode_max_depth", &s.encodeDepth, 1, math.MaxInt32),
		"decode_max_depth":        j.lib.integerSetting("decode_max_depth", &s.decodeDepth, 1, math.MaxInt32),
		"encode_number_precision": j.lib.integerSetting("encode_number_precision", &s.precision, 1, 14),
		"encode_keep_buffer":      j.lib.choiceSetting("encode_keep_buffer", &s.keepBuffer, "off", "on"),
		"encode_invalid_numbers":  j.lib.choiceSetting("encode_invalid_numbers", &s.encodeInvalid, "off", "on", "null"),
		"decode_invalid_numbers":  j.lib.choiceSetting("decode_invalid_numbers", &s.decodeInvalid, "off", "on"),
	})
	t.RawSetString("null", lib.Null)
	t.RawSetString("_NAME", lua.LString("cjson"))
	t.RawSetString("_VERSION", lua.LString("2.1.0"))
	return t
}

// another is a cjson that a script has for itself.
func (j *jsonLib) another(l *lua.LState) int {
	s := DefaultJSON()
	l.Push(j.lib.JSON(&s))
	return 1
}

func (j *jsonLib) sparseArray(l *lua.LState) int {
	const name = "encode_sparse_array"
	takeSettings(l, 3, name)
	j.lib.setChoice(l, 1, name, &j.s.sparseConvert, "off", "on")
	j.lib.setInteger(l, 2, name, &j.s.sparseRatio, 0, math.MaxInt32)
	j.lib.setInteger(l, 3, name, &j.s.sparseSafe, 0, math.MaxInt32)
	return 3
}

func (lib *Lib) integerSetting(name string, setting *int, low, high int) lua.LGFunction {
	return func(l *lua.LState) int {
		takeSettings(l, 1, name)
		lib.setInteger(l, 1, name, setting, low, high)
		return 1
	}
}

func (lib *Lib) choiceSetting(name string, setting *int, options ...string) lua.LGFunction {
	return func(l *lua.LState) int {
		takeSettings(l, 1, name)
		lib.setChoice(l, 1, name, setting, options...)
		return 1
	}
}

// takeSettings makes n arguments of those there are: nil leaves a setting as it is.
func takeSettings(l *lua.LState, n int, name string) {
	if l.GetTop() > n {
		ArgError(l, n+1, name, "found too many arguments")
	}
	l.SetTop(n)
}

// setInteger sets a number if argument n is one, and pushes what it is now. Too large or small, it
// is always argument 1 that is said to be wrong.
func (lib *Lib) setInteger(l *lua.LState, n int, name string, setting *int, low, high int) {
	if l.Get(n) != lua.LNil {
		v := int(int32(lib.CheckInt(l, n, name)))
		if v < low || v > high {
			ArgError(l, 1, name, fmt.Sprintf("expected integer between %d and %d", low, high))
		}
		*setting = v
	}
	l.Push(lua.LNumber(*setting))
}

// setChoice sets one of some words, the first two of which are booleans as well, and pushes which
// it is now.
func (lib *Lib) setChoice(l *lua.LState, n int, name string, setting *int, options ...string) {
	switch v := l.Get(n).(type) {
	case *lua.LNilType:
	case lua.LBool:
		*setting = off
		if v {
			*setting = on
		}
	default:
		word := lib.CheckString(l, n, name)
		i := slices.Index(options, word)
		if i < 0 {
			ArgError(l, n, name, "invalid option '"+word+"'")
		}
		*setting = i
	}
	if *setting > on {
		l.Push(lua.LString(options[*setting]))
	} else {
		l.Push(lua.LBool(*setting == on))
	}
}

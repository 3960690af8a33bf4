package lualib

import (
	"fmt"
	"math"
	"slices"

	lua "github.com/yuin/gopher-lua"
)

// jsonLib is one instance of cjson 2.1.0 with its settings.
type jsonLib struct {
	lib  *Lib
	s    *JSONSettings
	held []lua.LValue // memory for the next jsonReader
	keys []string
}

// JSONSettings are what functions such as cjson.encode_max_depth set. As in Redis, a setting of a
// script stays for later scripts, until SCRIPT FLUSH. Functions share settings of their own, which
// stay even after FUNCTION FLUSH.
type JSONSettings struct {
	sparseConvert, sparseRatio, sparseSafe int
	encodeDepth, decodeDepth               int
	precision                              int
	encodeInvalid, decodeInvalid           int
	keepBuffer                             int // is reported and has no effect: there is no buffer
}

// Values of a setting that is not a number.
const (
	off = iota
	on

	asError = off // a number that JSON cannot express
	asNull  = 2
)

// DefaultJSON returns the settings of a new cjson.
func DefaultJSON() JSONSettings {
	return JSONSettings{
		sparseRatio: 2, sparseSafe: 10, encodeDepth: 1000, decodeDepth: 1000,
		precision: 14, decodeInvalid: on, keepBuffer: on,
	}
}

// JSON returns a cjson that uses s.
func (lib *Lib) JSON(s *JSONSettings) *lua.LTable {
	j := &jsonLib{lib: lib, s: s}
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

// another is cjson.new: a cjson with settings of its own.
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

// takeSettings makes the number of arguments n. A missing one is nil, which leaves its setting as
// it is.
func takeSettings(l *lua.LState, n int, name string) {
	if l.GetTop() > n {
		ArgError(l, n+1, name, "found too many arguments")
	}
	l.SetTop(n)
}

// setInteger sets a number if argument n is one, and pushes the value that holds now. The error of
// a value out of range always names argument 1, as cjson's does.
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

// setChoice sets one of several words, and pushes the one that holds now. Booleans stand for the
// first two words.
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

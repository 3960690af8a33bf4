package luaeval

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/resp"
)

// A setting of one script holds for the next. These scripts run in this order on both sides.
func TestSettingsOfCJSONAreAsOnRedis(t *testing.T) {
	s := newSides(t)
	const encoded = `return {pcall(cjson.encode, {[1]=1,[20]=2}), pcall(cjson.encode, {[3]=1}), ` +
		`cjson.encode({1/3,123456,1e20,-0.5}), pcall(cjson.encode, {{{{1}}}})}`
	const invalid = `return {pcall(cjson.encode, {1/0,-1/0}), pcall(cjson.encode, {0/0,-(0/0)}), pcall(cjson.encode, ` +
		`{[1/0]=1})}`
	const read = `local t = {} for i, w in ipairs({"inf", "-inf", "nan", "-NaN", "+1", "0x10", "-0x1p2", "012", ` +
		`"-012", "0", "-0", "0.5", ".5", "-.5", "-", "-x", "in", "abc", "1e5", "infinity", "0 ", "01 "}) do
		local ok, v = pcall(cjson.decode, "[" .. w .. "]") t[i] = ok and tostring(v[1]) or v end return t`
	for _, set := range []string{
		`cjson.encode_sparse_array()`, `cjson.encode_sparse_array(true)`, `cjson.encode_sparse_array(nil, 0)`,
		`cjson.encode_sparse_array("off", 1, 0)`, `cjson.encode_sparse_array(false, 7, 15)`,
		`cjson.encode_sparse_array(nil, 1000000)`,
		`cjson.encode_sparse_array(1)`, `cjson.encode_sparse_array("ON")`, `cjson.encode_sparse_array({})`,
		`cjson.encode_sparse_array(true, -1)`, `cjson.encode_sparse_array(nil, "x")`,
		`cjson.encode_sparse_array(nil, 1, false)`, `cjson.encode_sparse_array(1, 2, 3, 4)`,
		`cjson.encode_sparse_array(nil, nil, 2^31)`,
		`cjson.encode_max_depth(3)`, `cjson.encode_max_depth("9.7")`, `cjson.encode_max_depth(2^32 + 2)`,
		`cjson.encode_max_depth(0)`, `cjson.encode_max_depth(1, 2)`, `cjson.encode_max_depth(true)`,
		`cjson.decode_max_depth(2)`, `cjson.decode_max_depth(-1)`, `cjson.decode_max_depth()`,
		`cjson.encode_number_precision(3)`, `cjson.encode_number_precision(1)`, `cjson.encode_number_precision(15)`,
		`cjson.encode_number_precision(14)`,
		`cjson.encode_invalid_numbers()`, `cjson.encode_invalid_numbers(true)`, `cjson.encode_invalid_numbers("null")`,
		`cjson.encode_invalid_numbers("nul")`, `cjson.encode_invalid_numbers("on")`, `cjson.encode_invalid_numbers(false)`,
		`cjson.decode_invalid_numbers()`, `cjson.decode_invalid_numbers(false)`, `cjson.decode_invalid_numbers("null")`,
		`cjson.encode_keep_buffer()`, `cjson.encode_keep_buffer("off")`, `cjson.encode_keep_buffer(true)`,
		`cjson.encode_keep_buffer(nil, 1)`,
	} {
		for _, script := range []string{
			`local t = {pcall(function() return ` + set + ` end)} for i, v in ipairs(t) do t[i] = tostring(v) end return t`,
			encoded, invalid, read, `return {pcall(cjson.decode, "[[1]]"), pcall(cjson.decode, '{"a":{"b":[[]]}}')}`,
		} {
			s.same(t, script, nil)
		}
	}
	s.eval[2].do("SCRIPT", "FLUSH")
	s.e.Flush()
	for _, script := range []string{
		encoded, invalid, read,
		`local j = cjson.new() j.encode_number_precision(1) j.mine = 1 return {j.encode(0.55), cjson.encode(0.55), ` +
			`tostring(j.null == cjson.null), j._NAME, j.mine}`,
	} {
		s.same(t, script, nil)
	}
}

// Nesting ends where Lua's stack is full, even when the settings allow more.
func TestNestingEndsWithoutALimitAsOnRedis(t *testing.T) {
	s := newSides(t)
	s.same(t, `cjson.encode_max_depth(2^31-1) cjson.decode_max_depth(2^31-1)`, nil)
	for _, script := range []string{
		`local t = {} t[1] = t return cjson.encode(t)`, `local t = {} t.t = t return cjson.encode(t)`,
		`local t = {} t[1] = {t = t} return cjson.encode(t)`,
		`local t = {} for i = 1, 7000 do t = {t} end return #cjson.encode(t)`,
		`return cjson.decode(("["):rep(8000))`, `return cjson.decode(('{"a":'):rep(8000))`,
		`return cjson.decode(('[{"a":'):rep(8000))`,
		`return type(cjson.decode(("["):rep(7998) .. ("]"):rep(7998)))`,
	} {
		s.same(t, script, nil)
	}
}

func TestFunctionsHaveSettingsOfTheirOwn(t *testing.T) {
	e, libraries := alone(Options{}), NewLibraries()
	_, err := e.LoadLibrary(libraries, []byte("#!lua name=l\nredis.register_function('set', function() return "+
		"cjson.encode_number_precision(5) end)\nredis.register_function('get', function() return cjson.encode(1/3) end)"),
		false)
	require.NoError(t, err)
	call := func(name string) string {
		w := resp.Writer{}
		e.RunFunction(libraries.Find([]byte(name)), nil, nil, &w)
		return string(w.Buf)
	}
	require.Equal(t, ":3\r\n", evalOn(e, 2, `return cjson.encode_number_precision(3)`, nil))
	require.Equal(t, "$16\r\n0.33333333333333\r\n", call("get"))
	require.Equal(t, ":5\r\n", call("set"))
	require.Equal(t, "$5\r\n0.333\r\n", evalOn(e, 2, `return cjson.encode(1/3)`, nil))
	e.Flush()
	require.Equal(t, "$7\r\n0.33333\r\n", call("get"))
	require.Equal(t, "$16\r\n0.33333333333333\r\n", evalOn(e, 2, `return cjson.encode(1/3)`, nil))
	e.Renew()
	require.Equal(t, "$16\r\n0.33333333333333\r\n", call("get"))
}

func TestLargeAndNestedDocumentsAreReadAsOnRedis(t *testing.T) {
	s := newSides(t)
	const document = `local t = {} for i = 1, 200 do t[i] = '"k' .. i .. '":{"a":[' .. i .. ',{"b":"' .. ("y"):rep(i) ..
		'","c\\u0041":[[],{}]}]}' end local text = "{" .. table.concat(t, ",") .. "}" `
	for _, script := range []string{
		document + `local d, out = cjson.decode(text), {} for i = 1, 200 do local v = d["k" .. i].a
			out[i] = {v[1], v[2].b, #v[2].cA, type(v[2].cA[2])} end return out`,
		document + `local failed = {pcall(cjson.decode, text:sub(1, -2))} return {failed, cjson.decode('{"a":["b"]}').a}`,
		`local a, b = cjson.decode('{"x":{"y":[1,{"z":"v"}]}}'), cjson.decode('["p",{"q":"r"}]') ` +
			`return {a.x.y[1], a.x.y[2].z, b[1], b[2].q}`,
		`return cjson.encode({("a/\"\\\n\1\127"):rep(300), "", "plain", "\r\t\b\f", "\200\255"})`,
	} {
		s.same(t, script, nil)
	}
}

package luaeval

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	lua "github.com/yuin/gopher-lua"

	"github.com/miniredisd/miniredisd/resp"
)

func TestAnEnvironmentEndsWithItsScript(t *testing.T) {
	e := alone(Options{})
	for _, end := range []string{`return {x, 1}`, `error("e")`, `local x = nil + 1`, `return coroutine.wrap(error)("e")`} {
		for _, set := range []string{`setfenv(1, e)`, `setfenv(0, e)`, `pcall(setfenv, 0, e)`,
			`pcall(function() setfenv(3, e) end)`, `coroutine.wrap(function() setfenv(0, e) end)()`,
			`pcall(function() setfenv(0, e) end) setfenv(1, e)`} {
			script := `if pcall(function() return x end) then return "again" end ` +
				`local e = setmetatable({x = 5}, {__index = _G}) ` + set + " " + end
			first := evalOn(e, 2, script, nil)
			require.NotContains(t, first, "again", script)
			require.Equal(t, first, evalOn(e, 2, script, nil), script)
			require.Equal(t, "*2\r\n:1\r\n:1\r\n",
				evalOn(e, 2, `return {getfenv(1) == _G, getfenv(0) == _G}`, nil), script)
			require.Contains(t, evalOn(e, 2, `return loadstring("return x")()`, nil), "nonexistent global variable 'x'", script)
		}
	}
}

func TestAnEnvironmentEndsWithAScriptThatIsKilled(t *testing.T) {
	var now int64
	e := alone(Options{
		Clock: func() int64 { now += int64(time.Millisecond); return now },
		Poll: func(ran time.Duration) error {
			if ran > time.Second {
				return errors.New("killed")
			}
			return nil
		},
	})
	script := `setfenv(0, {}) setfenv(1, setmetatable({}, {__index = _G})) while true do pcall(error) end`
	for range 2 {
		require.Contains(t, evalOn(e, 2, script, nil), "killed")
	}
	require.Equal(t, ":1\r\n", evalOn(e, 2, `return getfenv(0) == _G`, nil))
}

// Functions of one library share what they change, as they share local variables. No other library and
// no script sees it.
func TestAnEnvironmentOfALibraryStaysInTheLibrary(t *testing.T) {
	e, libraries := alone(Options{}), NewLibraries()
	for _, name := range []string{"a", "b"} {
		_, err := e.LoadLibrary(libraries, []byte(strings.ReplaceAll("#!lua name=NAME\n"+
			"redis.register_function('NAME_set', function() setfenv(1, {x = 7, setfenv = setfenv}) return x end)\n"+
			"redis.register_function('NAME_get', function() return {x, getfenv(1) == getfenv(0)} end)\n"+
			"redis.register_function('NAME_zero', function() setfenv(0, {x = 8}) return loadstring('return x')() end)",
			"NAME", name)), false)
		require.NoError(t, err)
	}
	call := func(name string) string {
		w := resp.Writer{}
		e.RunFunction(libraries.Find([]byte(name)), nil, nil, &w)
		return string(w.Buf)
	}
	const unknown = "nonexistent global variable 'x'"
	require.Equal(t, ":7\r\n", call("a_set"))
	require.Equal(t, ":7\r\n", call("a_set"))
	require.Contains(t, call("a_get"), unknown)
	require.Equal(t, ":7\r\n", call("b_set"))
	require.Equal(t, ":8\r\n", call("a_zero"))
	require.Contains(t, call("b_get"), unknown)
	require.Contains(t, evalOn(e, 2, `return {_G, x}`, nil), unknown)
}

// While the text of a library runs, it can name redis and little of it.
func TestALibraryNamesOnlyRedisWhileItIsLoaded(t *testing.T) {
	e := alone(Options{})
	const register = "#!lua name=l\nredis.register_function('f', redis.register_function) "
	for name := range e.known {
		if name != "redis" {
			for _, reach := range []string{"", "local function late() return _G end "} {
				require.Contains(t, loadOn(e, 2, register+reach+"local x = "+name, nil),
					"nonexistent global variable '"+name+"'", name)
			}
		}
	}
	var names []string
	members := e.lib.Shown(e.known["redis"].(*lua.LTable))
	for name, _ := members.Next(lua.LNil); name != lua.LNil; name, _ = members.Next(name) {
		reply := loadOn(e, 2, register+"local x = redis."+name.String(), nil)
		if !strings.Contains(reply, "nonexistent global variable '"+name.String()+"'") {
			names = append(names, name.String())
		}
	}
	require.ElementsMatch(t, []string{"log", "LOG_DEBUG", "LOG_VERBOSE", "LOG_NOTICE", "LOG_WARNING", "REDIS_VERSION",
		"REDIS_VERSION_NUM"}, names)
}

// A text whose globals are upvalues must not get at the table of globals: nothing would be right in it.
func TestATextThatReachesEnvironmentsFindsGlobalsByName(t *testing.T) {
	e := alone(Options{})
	defer e.make()()
	e.openLibraryScope()
	for _, name := range []string{"_G", "getfenv", "setfenv", "load", "loadstring"} {
		for _, form := range []string{
			"return NAME", "local x = {NAME}", "local x = {a = NAME}", "local x = {[NAME] = 1}", "for k in pairs(NAME) do end",
			"for k in NAME do end", "for i = NAME, 1 do end", "for i = 1, NAME do end", "for i = 1, 1, NAME do end",
			"NAME.x = 1", "function NAME.f() end", "function NAME:f() end", "NAME:f()", "NAME()", "f(NAME)", "local x = #NAME",
			"local x = -NAME", "local x = not NAME", "local x = NAME .. 1", "local x = 1 .. NAME", "local x = NAME + 1",
			"local x = 2 ^ NAME", "local x = NAME and 1", "local x = 1 or NAME", "local x = NAME == 1", "if NAME then end",
			"while NAME do end", "repeat until NAME", "local f = function() return NAME end", "local x = KEYS[NAME]",
			"KEYS[NAME] = 1", "local x = NAME.redis", "local x = NAME.redis.call", "x, y = 1, NAME", "local x = (NAME)",
			"local x = unpack(NAME)", "return pcall(NAME, 1)", "redis.call(NAME)", "redis.call('x', NAME.KEYS[1])",
		} {
			text := strings.ReplaceAll(form, "NAME", name)
			for _, s := range []*scope{&e.scriptScope, &e.libraryScope} {
				_, w, err := e.compileChunk("local f = 1 "+text, s)
				require.NoError(t, err, text)
				require.True(t, w.Named, text)
			}
			_, w, err := e.compileChunk("local "+name+" = 1 "+text, &e.scriptScope)
			require.NoError(t, err, text)
			require.False(t, w.Named, "a local variable: %s", text)
		}
	}
}

package differential

import (
	"crypto/sha1"
	"fmt"
	"strings"
)

func sha(script string) string { return fmt.Sprintf("%x", sha1.Sum([]byte(script))) }

// failing makes the text of a script or of a function. It usually fails.
func failing(g *generator) string {
	script := g.pick(strings.Split(failures, "\n")...)
	return strings.ReplaceAll(script, "\\n", "\n")
}

// failures has a script in each line.
const failures = `return redis.call('incr', KEYS[1])
return redis.call('lpush', KEYS[1], ARGV[1], 'x')
return redis.pcall('hset', KEYS[1], 'f1', ARGV[1])
local r = redis.pcall('get', KEYS[1])\nif r.err then return r end return {r}
error('mine')
error({err = 'mine'})
error({err = 'ERR mine', code = 1})
error({ok = 'fine'})
error()
error(nil)
error(ARGV)
error(42, 0)
error('level', 2)
return redis.error_reply('MY own')
return redis.error_reply('bare')
return redis.error_reply('-MY own')
return redis.error_reply('')
return redis.error_reply()
return redis.status_reply('fine')
return redis.status_reply(1)
return {err = 'two\13\10lines'}
return {ok = 'fine', err = 'both'}
return {err = 5}
return {double = 1.5}
redis.setresp(3) return {double = 1.5}
redis.setresp(3) return {map = {a = 1}}
redis.setresp(3) return redis.call('hlen', KEYS[1])
redis.setresp(4)
return nosuch
return nosuch.field
local t = nil\nreturn t.x
return KEYS[1] .. nil
return 1 + {}
return #5
return ARGV[1] < 1
local function f() return f.x.y end return f()
nosuch = 1
rawset(_G, 'x', 1)
redis.call = nil
string.len = 1
setmetatable(_G, {})
getmetatable('').__index = nil
return redis.call('nosuch')
return redis.call('get')
return redis.call('get', 'a', 'b')
return redis.call('subscribe', 'c')
return redis.call('config', 'nosuch')
return redis.call('config', 'get', 'maxmemory')
return redis.call('object', 'nosuch', KEYS[1])
return redis.call(1, 2)
return redis.call({})
return redis.call('get', true)
return redis.call('set', KEYS[1], 1.5)
return redis.call('set', KEYS[1], 10/3)
return redis.call('set', KEYS[1], ARGV[1], 'nosuch')
return {redis.pcall('watch', 'a'), redis.pcall('multi'), redis.pcall('exec')}
return redis.sha1hex()
return redis.sha1hex(ARGV[1] or '')
return redis.log(redis.LOG_DEBUG)
return redis.breakpoint()
return redis.set_repl(redis.REPL_ALL)
return redis.set_repl(17)
return redis.replicate_commands()
return redis.acl_check_cmd('set', 'k', 'v')
return redis.acl_check_cmd()
return redis.nosuch
return redis.nosuch()
return pcall(redis.call, 'incr', KEYS[1])
local ok, e = pcall(redis.call, 'incr', KEYS[1]) return {type(e), e.err, e.source, e.line, e.ignore_error_stats_update}
local ok, e = pcall(function() return redis.call('nosuch') end) return e
local ok, e = pcall(error, {err = 'inner'}) error(e)
local ok, e = pcall(error, 'inner') error(e)
local ok, e = pcall(nosuch) return tostring(e)
return cjson.decode(ARGV[1] or '{')
return cjson.encode({1, nil, 3})
return cjson.decode('[1')
return cmsgpack.unpack('')
return cmsgpack.unpack(ARGV[1])
return struct.pack('>I2', 'x')
return struct.unpack('>I4', 'ab')
return bit.band()
return bit.tohex(-1, 99)
return tonumber(ARGV[1])
return loadstring('return +')
return loadstring(('return ' .. (ARGV[1] or '')):sub(1, 30))()
return string.rep('x', -1)
return string.format('%d', 'x')
return string.format('%q')
return ('x'):bad()
return table.concat({1, {}, 3})
return unpack({}, 1, 1e7)
return select(0)
return math.random(0)
return print
return {1, 2, {3, {4, nil, 5}}, true, false, 1.9}
return redis.call('set', KEYS[1], ARGV[1], 'KEEPTTL')
for i = 1, 3 do redis.call('rpush', KEYS[1], i) end\nreturn redis.call('incr', KEYS[1])
this is no script
return 'unclosed
if true then
#!lua\nreturn redis.call('set', KEYS[1], 'x')
#!lua flags=no-writes\nreturn redis.call('set', KEYS[1], 'x')
#!lua flags=no-writes\nreturn redis.pcall('set', KEYS[1], 'x')
#!lua flags=allow-stale,no-cluster\nreturn redis.call('get', KEYS[1])
#!lua flags=nosuch\nreturn 1
#!lua name=x\nreturn 1
#!nosuch\nreturn 1
#!lua
#!lua flags=\nreturn redis.call('incr', KEYS[1])`

// library makes a library of functions for a Valkey. It may be wrong.
func library(g *generator) string {
	name, own := g.pick("la", "lb", "lc"), g.pick("redis", "redis", "server")
	body := failing(g)
	for strings.HasPrefix(body, "#!") || strings.Contains(body, "this is") || strings.Contains(body, "unclosed") ||
		strings.Contains(body, ".log(") { // Valkey 9.1.2 crashes if the text of a library logs
		body = failing(g)
	}
	f := "function(KEYS, ARGV)\n" + body + "\nend"
	second := g.pick("", own+".register_function('fc', function() return 'c' end)", body,
		own+".register_function('fc', function(k, a) return {k, a} end)",
		own+".register_function('fa', function() return 1 end)", own+".register_function('f-', function() return 1 end)",
		own+".register_function{function_name = 'fc', callback = function() return 1 end, flags = {'nosuch'}}",
		own+".register_function{function_name = 'fc', flags = {}}", own+".register_function()",
		own+".register_function('fc')", own+".register_function(1, 2, 3)", own+".register_function('fc', 2)",
		own+".call('get', 'x')", "local x = "+own+".nosuch return x()", "x = 1")
	flags := g.pick("", "", "flags = {'no-writes'}, ", "flags = {'allow-oom', 'no-cluster'}, ", "description = 'd', ")
	head := g.rare("", "#!lua", "#!lua name=", "#!nosuch name="+name, "#!lua name=bad-name", "#!lua name="+name+" x=1",
		"#!lua name="+name)
	return fmt.Sprintf("%s\n%s.register_function{function_name = '%s', %scallback = %s}\n%s", head, own,
		g.pick("fa", "fb"), flags, f, second)
}

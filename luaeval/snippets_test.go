package luaeval

import "testing"

// The reply to each script is compared with redis-server's, byte by byte.
func valueSnippets() []string {
	return []string{
		`return 1`, `return -1`, `return 3.99`, `return -3.99`, `return 1e300`, `return 0/0`, `return "x"`, `return ""`,
		`return nil`, ``,
		`return true`, `return false`, `return {}`, `return {1,2,{3,"x"}}`, `return {1,nil,3}`, `return {1,false,3}`,
		`return {1,true}`,
		`return {ok="fine"}`, `return {err="x y"}`, `return {err="-x y"}`, `return {ok="a\r\nb"}`,
		`return {1,{err="E x"},{ok="OK"}}`,
		`return {double=1.5}`, `return {double=3}`, `return {map={a=1}}`, `return {set={a=true}}`,
		`return {big_number="123"}`, `return {big_number="12\r\n3"}`,
		`return {verbatim_string={format="txt",string="abc"}}`, `return {double="x"}`, `return {a=1}`,
		`return function() end`,
		`redis.setresp(3) return true`, `redis.setresp(3) return {true,false}`, `redis.setresp(3) return nil`,
		`return 'a\0b'`,
		`return redis.status_reply("OK")`, `return redis.error_reply("my err")`, `return redis.error_reply("-my err")`,
		`return redis.error_reply("NON_REENTRANT")`, `return redis.error_reply("a\r\nb")`, `return redis.error_reply()`,
		`return redis.status_reply(1)`,
		`return redis.sha1hex("")`, `return redis.sha1hex(12)`, `return redis.replicate_commands()`,
		`return {redis.LOG_DEBUG,redis.LOG_VERBOSE,redis.LOG_NOTICE,redis.LOG_WARNING,redis.REPL_ALL,` +
			`redis.REPL_AOF,redis.REPL_SLAVE,redis.REPL_NONE}`,
		`return redis.REDIS_VERSION`, `return redis.REDIS_VERSION_NUM`, `return redis.set_repl(redis.REPL_ALL)`,
		`return redis.acl_check_cmd("get","x")`,
		`return _VERSION`, `return type(getmetatable(_G))`, `return #arg`, `return select("#", ...)`, `return KEYS[1]`,
		`return ARGV`,
		"#!lua\nreturn 1", "#!lua flags=no-writes\nreturn 1", "#!lua flags=foo\nreturn 1", "#!lua name=x\nreturn 1",
		"#!foo\nreturn 1", "#!lua",
		"#!lua flags=no-writes,allow-oom\nerror('x')",
		"#!lua flags=\nreturn 1", "#!lua flags=no-writes,\nreturn 1", "#!lua flags=,no-writes\nreturn 1",
		"#!lua 'flags=no-writes'\nreturn 1", "#!lua \"flags\nreturn 1", "#!\nreturn 1",
		`return redis.setresp(2.5)`, `return redis.setresp(1.9)`, `return redis.setresp("3")`,
	}
}

func numberSnippets() []string {
	return []string{
		`local n=0 for c="3",1,-1 do n=n+c end return n`, `local n=0 for c=1,"3" do n=n+c end return n`,
		`local n=0 for c=1,9,"2" do n=n+c end return n`,
		`for c="x",1 do end`, `for c=1,{} do end`, `for c=1,2,nil do end`, `local n=0 for i=3,1 do n=n+1 end return n`,
		`return tonumber("1e3")`, `return tostring(tonumber("1e+17"))`, `return tostring(tonumber("12345678901234567890"))`,
		`return tonumber("0x10")`,
		`return tonumber("10",2)`, `return tonumber("zz",36)`, `return tostring(tonumber("8",8))`,
		`return tostring(tonumber("1_000"))`, `return tonumber(" 12 ")`,
		`return tostring(tonumber(""))`, `return tostring(tonumber("010"))`, `return tostring(tonumber("0b1"))`,
		`return tostring(tonumber("1e"))`,
		`return tostring(tonumber("."))`, `return tostring(tonumber(".5"))`, `return tostring(tonumber("5."))`,
		`return tostring(tonumber("inf"))`, `return tostring(tonumber("-nan"))`,
		`return tostring(tonumber({}))`, `return tonumber()`, `return "010"+1`, `return "0x10"+1`, `return tostring("1e2"*2)`,
		`return -"2"`, `return "10"%"3"`, `return "2"^"3"`,
		`return 010`, `return 0x1F`, `return tostring(1e15)`, `return 1e15 ..""`, `return 1/3 ..""`, `return 2^53 ..""`,
		`return 1/0 ..""`, `return -1/0 ..""`, `return 0/0 ..""`,
		`return -0.0 ..""`, `local z=0 return tostring(-z)`, `return 1e14 ..""`, `return 123456789012345 ..""`,
		`return 12345678901234 ..""`, `return 0.1 ..""`, `return 1e-5 ..""`, `return 1e100 ..""`, `return 3.0 ..""`,
		`return 1 .. 2`, `local a,b=1.5,"x" return a..b..a`, `return {tostring(1700000000000.5), 1700000000000.5 .. ""}`,
		`return tostring(100000000000000)`, `return tostring(-100000000000000)`,
		`redis.call("set","k",1e15) return redis.call("get","k")`,
		`redis.call("set","k",1700000000000.5) return redis.call("get","k")`,
		`redis.call("set","k",-5) return redis.call("get","k")`,
		`redis.call("set","k",1e20) return redis.call("get","k")`,
		`return math.floor(3.7)`, `return tostring(math.huge)`, `return tostring(math.pi)`, `return math.max(1,"5",3)`,
		`math.randomseed(7) return math.random(1000)`, `return math.random(0)`, `return tostring(math.fmod(7,3))`,
		`return {math.modf(3.7)}`, `return tostring(5%-3)`, `return tostring(-5%3)`, `return tostring(5.5%2)`,
		`return {5%-3 .."", -5%3 .."", 5.5%-2 .."", 7%(1/0) .."", -7%(1/0) .."", (1/0)%3 .."", 5%0 .."", 1e300%7 .."", ` +
			`"7"%"4", 0.3%0.1 .."", 1e15%7}`,
		`return {}%1`, `return 1%nil`, `return nil^2`, `return "a"%2`,
		`return setmetatable({},{__mod=function(a,b) return 7 end})%2`,
		`return 2^setmetatable({},{__pow=function(a,b) return 8 end})`,
		`redis.call("set","k",1e14^3) return redis.call("get","k")`,
		`return {2^10, "2"^3, 2^-1 .."", 2^0.5 .."", (-8)^(1/3) .."", 0^0, (0/0)^2 .."", (1/0)^-1 .."", 10^15, 2^63 ` +
			`.."", math.pow(2,"3")}`,
		`return {math.fmod(1/0,2) .."", math.log(-1) .."", math.fmod(-7,3), -math.fmod(1/0,2) .."", math.sqrt(-1) .."", ` +
			`math.acos(2) ..""}`,
		`return {bit.tobit(2^53+1), bit.rshift(1e300,1), bit.band(-1.5,255), bit.bor(2^32+5,0), bit.lshift(2^31,0), ` +
			`bit.tobit(0/0), bit.tobit(2.5), bit.tobit(3.5), bit.tohex(-1)}`,
		`return {tonumber("12\0z"), tostring(tonumber("\0")), "5\0x"+1}`,
		`return {string.format("%s|","a\0b"), string.format("%5s|","a\0b"), #string.format("%s",("x\0"):rep(60)), ` +
			`string.format("%c|",0), string.format("%3c|",0), string.format("%.1s","\0")}`,
		`return {string.format("%x",1/0), string.format("%u",2^63), string.format("%X",-1), string.format("%o",1e300), ` +
			`string.format("%u",0/0)}`,
		`return 10 == "10"`, `return tostring(1e15==1000000000000000)`, `return 1<"2"`, `return "a"<"b"`,
		`return "a\0b"<"a\0c"`,
	}
}

func errorSnippets() []string {
	return []string{
		`x=1`, `return x`, `function f() end`, `string.rep=1`, `rawset(string,"rep",1)`, `rawset(_G,"x",1)`, `_G.x=1`,
		`return _G.x`, `return rawget(_G,"x")`, `KEYS={}`, `redis.call=1`, `math.huge=1`,
		`getmetatable("").__index=nil`, `setmetatable("x",{})`, `setmetatable(_G,{})`, `setmetatable(string,{})`,
		`table.insert(string,1)`, `print("x")`, `return io`, `require("x")`,
		`error("foo")`, `error({err="My Err"})`, `error({err="My Err", line=5, source="x"})`, `error("x",0)`, `error("x",2)`,
		`error()`, `error(nil)`, "\n\nerror('x')", `assert(false)`, `assert(false,"m")`, `assert(nil)`, `return assert(5)`,
		`local function f() error("in f") end f()`, "local function f()\n error('in f',2) end\nf()",
		`local ok,e=pcall(error,"x") return e`, `local ok,e=pcall(error) return tostring(e)`,
		`local ok,e=pcall(error,{err="zz"}) return e`,
		`return {pcall(function() error({err="a"}) end)}`, `local ok,e=pcall(function() error("a") end) return e`,
		`local ok,e=pcall(function() local x=nil+1 end) return e`,
		`return {xpcall(function() error("x") end, function(e) return "h:"..e end)}`,
		`return redis.call()`, `return redis.pcall()`, `return redis.call({})`, `return redis.call("get",true)`,
		`return redis.pcall("get",{})`, `local ok,e=pcall(redis.call) return e`,
		`return redis.sha1hex()`, `return redis.log()`, `return redis.log(9,"x")`, `return redis.log(2)`,
		`return redis.log("x","y")`, `return redis.setresp(4)`, `return redis.setresp()`,
		`return redis.set_repl(9)`,
		`return redis.acl_check_cmd()`, `return nil..1`, `return 1+nil`, `return {}<{}`, `return 1<"2"`, `return nil<1`,
		`return "a"+1`, `return unpack({},1,9000)`, `local function f() f() end f()`,
		`return string.rep()`, `return tostring()`, `return math.floor("x")`, `return string.char(256)`,
		`return setmetatable({},1)`, `return select(0)`,
		`local t={} t[nil]=1`, `return #KEYS`, `return tostring(nil)`,
		`local t=setmetatable({},{__index=function(t,k) error("idx "..k) end}) return t.foo`,
		`redis.call("set","x","y","z")`,
		`local t=redis.pcall("set","x","y","z") local n={} for k,v in pairs(t) do n[#n+1]=k.."="..tostring(v) end ` +
			`table.sort(n) return n`,
		`return redis.pcall("set","x","y","z")`,
		`redis.call("set","x","y") redis.call("incr","x")`,
		`local ok,e=pcall(redis.call,"set","x","y","z") return {type(e),e}`,
	}
}

func replySnippets() []string {
	return []string{
		`return redis.call("set","k","v")`, `return redis.call("get","nokey")`, `return redis.call("get","nokey")==false`,
		`return redis.call("set","k","v").ok`, `return redis.call("exists","k")`, `return redis.call("incr","n")`,
		`redis.call("rpush","l",1,2,3) return redis.call("lrange","l",0,-1)`,
		`redis.call("hset","h","f","v") return redis.call("hgetall","h")`,
		`redis.call("hset","h","f","v") redis.setresp(3) return redis.call("hgetall","h")`,
		`redis.call("hset","h","f","v") redis.setresp(3) return redis.call("hgetall","h").map.f`,
		`redis.call("sadd","s","a") redis.setresp(3) return redis.call("smembers","s")`,
		`redis.call("zadd","z",1.5,"a") redis.setresp(3) return redis.call("zscore","z","a")`,
		`redis.call("zadd","z",1.5,"a") redis.setresp(3) return redis.call("zrange","z",0,-1,"withscores")`,
		`redis.call("zadd","z",1.5,"a") return redis.call("zscore","z","a")`,
		`redis.setresp(3) return redis.call("get","nokey")`, `redis.setresp(3) return redis.call("get","nokey")==nil`,
		`redis.setresp(3) redis.call("sadd","s","a") return redis.call("smembers","s").set.a`,
		`return redis.call("mget","a","b")`, `return redis.call("type","nokey")`, `return redis.call("type","nokey").ok`,
		`return redis.call("echo","a\r\nb")`, `return redis.call("ping")`,
		`redis.call("set","k","922337203685477") return redis.call("get","k")+0`,
		`redis.call("set","k",10) return redis.call("get","k")-"3"`, `return redis.call("incrby","n",1000)`,
		`redis.call()`, `redis.pcall() return 1`, `redis.call({})`, `redis.pcall(nil) return 2`,
		`redis.call("incrby","x","y") return 3`, `redis.pcall("incrby","x","y") return 4`,
		"redis.pcall('incrby','x','y')\nredis.call('incrby','x','y')",
		`pcall(function() redis.call("incrby","x","y") end) return redis.call("ping")`,
		`return {pcall(function() redis.call("incrby","x","y") end)}`, `return {pcall(function() redis.call("ping") end)}`,
		`redis.call("lrange","nokey",0,-1) redis.call("type","k") return 5`,
		`local redis={call=function(x) error(x) end} redis.call("mine")`, `redis.call("ping").ok="x"`,
		`redis.setresp(3) redis.call("hgetall","nokey") redis.call("get","nokey") return 6`,
		`for i=1,200 do redis.call("rpush","l",("x"):rep(i*13%700)..i%7) end return redis.call("lrange","l",0,-1)`,
		`for i=1,300 do redis.call("rpush","l","",i%3==0 and "" or i) end return redis.call("lrange","l",0,-1)`,
		`redis.call("rpush","l",("x"):rep(1010),"a",("y"):rep(512),("z"):rep(513),"",("v"):rep(5000),"b") ` +
			`local l=redis.call("lrange","l",0,-1) redis.call("del","l") return {l, redis.call("lrange","l",0,-1)}`,
	}
}

func stringSnippets() []string {
	return []string{
		`return {string.find("hello","l+")}`, `return {string.find("hello","xyz")==nil}`,
		`return {string.find("a.b",".",1,true)}`, `return {string.find("hello","(l)(l)")}`,
		`return {string.find("hello","()ll()")}`, `return {("x"):find("")}`, `return {("x"):find("",5)}`,
		`return {string.match("key=val","(%w+)=(%w+)")}`, `return string.match("  x  ","^%s*(.-)%s*$")`,
		`return {string.match("2024-01-02","(%d+)-(%d+)-(%d+)")}`, `return string.match("[[x]]","%[%[(.-)%]%]")`,
		`return string.match("THE (quick) fox","%((%a+)%)")`,
		`return {string.gsub("hello world","o","0")}`, `return {string.gsub("hello","","-")}`,
		`return {string.gsub("abc","%w","%0%0")}`, `return {string.gsub("abc","(a)(b)","%2%1")}`,
		`return {string.gsub("$x $y","%$(%w+)",{x="1"})}`, `return {string.gsub("abc","b",function(c) return c:upper() end)}`,
		`return {string.gsub("abc abc","abc","x",1)}`, `return {string.gsub("abc","^a","x")}`,
		`return string.gsub("a","a","%9")`, `return string.gsub("a","a",true)`,
		`local t={} for k,v in string.gmatch("a=1, b=2","(%w+)=(%w+)") do t[#t+1]=k..v end return t`,
		`local t={} for w in ("one two"):gmatch("%a+") do t[#t+1]=w end return t`,
		`local n=0 for _ in ("abc"):gmatch("") do n=n+1 end return n`,
		`return string.find("THE (quick) fox","%b()")`, `return string.find("THE (quick) fox","%f[%a]%a+%f[%A]")`,
		`return {string.find("a","[a")}`, `return {string.find("a","%")}`, `return {string.find("a","(a")}`,
		`return {string.find("a","a)")}`, `return {string.find("aa","(a)%1")}`, `return {string.find("]","[]]")}`,
		`return {string.find("^","[%^x]")}`, `return {string.find("a-z","[a%-z]+")}`, `return {("x-y"):match("[%w-]+")}`,
		`return {string.byte("abc",1,-1)}`, `return string.byte("")`, `return string.char(72,105)`,
		`return {("abc"):upper(),("ABC"):lower(),("abc"):reverse(),("abc"):len()}`, `return ("ab"):rep(3)`,
		`return ("ab"):rep(0)`,
		`return {("hello"):sub(2,3),("hello"):sub(-3),("hello"):sub(2),("hello"):sub(10),` +
			`("hello"):sub(0),("hello"):sub(-100,2)}`,
		`return string.format("%d %5d %-5d| %05d %+d",1,2,3,4,5)`, `return string.format("%x %X %#x %o",255,255,255,8)`,
		`return string.format("%5.2f %e %g %g",3.14159,1e10,1e20,0.1)`,
		`return string.format("%s %10s %-10s| %.2s","a","b","c","defg")`, `return string.format("%q",'a"b\nc\0d\\')`,
		`return string.format("%c%c",72,105)`, `return string.format("%i",3.7)`, `return string.format("%u",42)`,
		`return string.format("%%")`, `return string.format("%d","10")`, `return string.format("%d","x")`,
		`return string.format("%y",1)`, `return string.format("%d")`, `return string.format("%s",nil)`,
		`return string.format("%s",{})~=nil`, `return string.format("%.14g",0.1)`, `return string.format("%.20g",0.1)`,
		`return string.format("%.0f",0.5)`, `return string.format("%5s|%5s","ab",12)`, `return string.format("%g",100000)`,
		`return string.format("%g",1e6)`, `return string.format("%.3g",1234.5)`, `return string.format("%f",1/0)`,
		`return string.format("%.3d",5)`, `return string.format("% d",5)`, `return string.format("%#g",1.5)`,
		`return string.format("%123d",5)`, `return string.format("%d",-0)`, `return string.format("%d",2^53)`,
		`return string.format("%x",-1)`, `return string.format("%a",1)`,
		`return table.concat({1,2,3},",")`, `return table.concat({},",")`, `return table.concat({1,2,3},",",2,3)`,
		`return table.concat({1,{},3})`, `return table.concat({"a","b"},1)`, `return table.concat({1.5,1e15},"|")`,
		`local t={} for i=1,200 do t[i]={i%7,i} end table.sort(t, function(a,b) return a[1]<b[1] end) local r={} for i,v ` +
			`in ipairs(t) do r[i]=v[2] end return r`,
		`local t={} for i=1,99 do t[i]=(i*37)%100 end local n=0 table.sort(t, function(a,b) n=n+1 return a<b end) return ` +
			`{n, unpack(t)}`,
		`local t={5,3,9,1,7} table.sort(t, function() return true end)`,
		`local t={5,3,9,1} table.sort(t, function(a,b) return a<=b end) return t`,
		`local t={} for i=1,50 do t[i]=i%3 end table.sort(t, function(a,b) return a<=b end) return t`,
		`local t={2,"1",3} table.sort(t)`, `local t={{},{}} table.sort(t)`,
		`local t={1,nil,3} t[2]=nil table.sort(t, nil) return #t`,
		`local t={2,1} table.sort(t, function(a,b) error("in order") end)`,
		`local t={} for i=1,10 do t[i]=i end return {pcall(table.sort, t, function() return true end)}`,
		`local t={3,1,2} table.sort(t) return t`, `local t={3,1,2} table.sort(t,function(a,b) return a>b end) return t`,
		`local t={"b","a"} table.sort(t) return t`, `local t={1,2} table.insert(t,3) table.insert(t,1,0) return t`,
		`local t={1,2,3} return {table.remove(t,1),table.remove(t),#t}`, `return {table.remove({})}`,
		`return table.maxn({1,2,[10]=3})`, `return table.getn({1,2})`,
		`local n=0 table.foreach({1,2},function(k,v) n=n+v end) return n`, `table.insert({},1,2,3)`, `table.insert({})`,
		`return {unpack({1,2,3},2)}`, `return {select(-1,1,2,3)}`, `return {select(2,"a","b","c")}`,
		`local t={} for i,v in ipairs({1,2,nil,4}) do t[i]=v end return t`,
		`local n=0 for k,v in pairs({a=1,b=2,3}) do n=n+v end return n`, `return next({})==nil`, `return rawequal("a","a")`,
		`return tostring(true)`, `return type(nil)`, `return type(redis.call)`,
		`local n=0 for k in pairs(math) do n=n+1 end return n`,
		`local co=coroutine.create(function(a) local b=coroutine.yield(a+1) return b*2 end) local ` +
			`_,x=coroutine.resume(co,1) local _,y=coroutine.resume(co,10) return {x,y,coroutine.status(co)}`,
		`local f=coroutine.wrap(function() for i=1,3 do coroutine.yield(i) end end) return {f(),f(),f()}`,
		`local t=setmetatable({},{__concat=function(a,b) return "cat" end}) return {t.."x","x"..t,1 ..t}`,
		`local t=setmetatable({},{__add=function(a,b) return 7 end}) return {t+1,"1"+t}`,
		`local t=setmetatable({},{__tostring=function() return "T" end}) return tostring(t)`,
		`local t=setmetatable({},{__call=function(_,a) return a end}) return t(5)`,
		`local t=setmetatable({},{__index=string}) return t.rep("x",3)`,
		`local a <const> = 1`, `return 'a' .. 'b' .. 'c' .. 1 .. 2`, `local function f(...) return select("#",...) end ` +
			`return f(1,nil,nil)`, `local s="" for i=1,100 do s=s..i end return #s`,
		`local function f() return 1,2 end return {f(),f()}`, `local function f() return "a","b" end return f().."x"..f()`,
		`return [[long
string]]`, `return "\65\066\x"`, `--comment
return 1`, `return --[[ c ]] 1`, `local t={[1]="a",x="y";"b"} return {t[1],t.x}`, `do local x=1 end return x`,
		`local x=1 do local x=2 end return x`, `repeat local done=true until done return 1`,
		`while true do break end return 2`, `local redis=5 return redis`, `local KEYS={9} return KEYS[1]`,
		`local function string() return 1 end return string()`, `return tostring(KEYS==KEYS)`, `KEYS[1]="x" return KEYS`,
		`table.insert(ARGV,"x") return ARGV`,
	}
}

func TestScriptsAnswerAsOnRedis(t *testing.T) {
	s := newSides(t)
	for name, list := range map[string][]string{
		"values": valueSnippets(), "numbers": numberSnippets(), "errors": errorSnippets(), "replies": replySnippets(),
		"strings": stringSnippets(),
	} {
		t.Run(name, func(t *testing.T) {
			for _, script := range list {
				s.same(t, script, nil)
			}
		})
	}
}

func TestKeysAndArguments(t *testing.T) {
	s := newSides(t)
	for _, script := range []string{
		`return KEYS`, `return ARGV`, `return {KEYS[1],ARGV[1],ARGV[2],#KEYS,#ARGV}`, `return ARGV[1]+1`,
		`return redis.call("set",KEYS[1],ARGV[1])`, `local n={} for i,k in ipairs(KEYS) do n[i]=k..i end return n`,
		`return {unpack(ARGV)}`, `return {_G.KEYS[1],_G["ARGV"][2]}`, `local function f() return KEYS[1] end return f()`,
		`local k=KEYS local a=ARGV return {k[1],a[2]}`, `return KEYS[#KEYS]`,
		`for i,v in pairs(ARGV) do if v=="b" then return i end end`, `return redis.call("mset",unpack(ARGV))`,
	} {
		s.same(t, script, []string{"k1", "k2"}, "10", "b")
		s.same(t, script, []string{"k1"}, "7", "b", "c", "\x00\xff")
		s.same(t, script, []string{"k1"}, "8", "b")
	}
}

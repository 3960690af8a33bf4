package luaeval

import "testing"

func TestLibrariesAnswerAsOnRedis(t *testing.T) {
	s := newSides(t)
	for _, script := range []string{
		`return {bit.tobit(0xffffffff),bit.tobit(2^40+5),bit.tobit(-1.5),bit.bnot(0),bit.bswap(0x12345678)}`,
		`return {bit.band(12,10,8),bit.bor(1,2,4),bit.bxor(5,1),bit.band("7",3)}`,
		`return {bit.lshift(1,31),bit.rshift(-1,28),bit.arshift(-256,4),bit.rol(0x12345678,12),bit.ror(0x12345678,12),bit.lshift(1,33)}`,
		`return {bit.tohex(255),bit.tohex(-1,4),bit.tohex(255,-2),bit.tohex(1,0),bit.tohex(1,99)}`,
		`return bit.band()`, `return bit.band("x")`, `return bit.tobit(2^53)`,
		`return struct.pack("Bc0I",5,"hello",7)`, `return {struct.unpack("Bc0I",struct.pack("Bc0I",5,"hello",7))}`,
		`return struct.pack(">I2h<l",1,-2,3)`, `return {struct.unpack(">I2h<l",struct.pack(">I2h<l",1,-2,3))}`, `return struct.pack("sx","abc")`,
		`return {struct.unpack("s","abc\0def")}`, `return {struct.unpack("s","abc")}`, `return {struct.unpack("i4","ab")}`, `return struct.size("bhilHdf!8d")`, `return struct.size("!bd")`, `return struct.size("s")`,
		`return struct.pack("!4bi",1,2)`, `return {struct.unpack("!4bi",struct.pack("!4bi",1,2))}`, `return struct.pack("d",1.5)`, `return struct.pack(">f",1.5)`, `local d=struct.pack("df",0.5,2.5) local a,b=struct.unpack("df",d) return {tostring(a),tostring(b)}`,
		`return struct.pack("c3","abcdef")`, `return struct.pack("c9","abc")`, `return struct.pack("z",1)`, `return struct.pack("i99",1)`, `return struct.pack("!3b",1)`, `return {struct.unpack("c0","abc")}`, `return {struct.unpack("b","a",0)}`, `return {struct.unpack("b","ab",2)}`,
		`return struct.pack("i16",-1)`, `return {struct.unpack("I8",struct.pack("I8",255))}`, `return struct.pack("T L",1,2)`, `return {struct.unpack("bB","\255\255")}`,
		`return cjson.encode({1,2,{3}})`, `return cjson.encode({a=1})`, `return cjson.encode({})`, `return cjson.encode("a/b\"\\\n\1\127é")`, `return cjson.encode(1.5)`, `return cjson.encode(1e20)`, `return cjson.encode(1/3)`, `return cjson.encode(nil)`, `return cjson.encode(cjson.null)`, `return cjson.encode(true)`, `return cjson.encode({1,nil,3})`,
		`return cjson.encode({[1]=1,[20]=1})`, `return cjson.encode({[1.5]=1})`, `return cjson.encode({[{}]=1})`, `return cjson.encode(function() end)`, `return cjson.encode(1/0)`, `return cjson.encode()`, `local t={} t.t=t return cjson.encode(t)`, `return cjson.encode({[3]=1})`, `return cjson.encode({[-1]=1})`,
		`return cjson.decode("[1,2,[3,\"x\"]]")`, `return cjson.decode('{"a":{"b":[1,2]}}').a.b`, `return cjson.decode("null")==cjson.null`, `return cjson.decode("1.5e1")`, `return cjson.decode('"a\\u00e9\\ud83d\\ude00\\n"')`, `return cjson.decode("true")`, `return cjson.decode("{}")`, `return cjson.decode("[]")`, `return {cjson.decode("[1,null,3]")[3]}`, `return cjson.decode("0x10")`, `return cjson.decode(" [1 , 2 ] ")`, `return cjson.decode(12)`,
		`return cjson.decode("[")`, `return cjson.decode("[1,]")`, `return cjson.decode("{1:2}")`, `return cjson.decode('{"a" 1}')`, `return cjson.decode('{"a":1')`, `return cjson.decode("[1 2]")`, `return cjson.decode("")`, `return cjson.decode("abc")`, `return cjson.decode('"abc')`, `return cjson.decode('"\\x"')`, `return cjson.decode('"\\ud800"')`, `return cjson.decode("1 2")`, `return cjson.decode(("["):rep(2000))`, `return cjson.decode()`, `return cjson.decode('{"a":1,}')`, `return cjson.decode("-")`,
		`return cmsgpack.pack(1,-1,127,128,255,256,65535,65536,2^32,-32,-33,-128,-129,-32768,-32769,-2^31,-2^31-1,2^53)`, `return cmsgpack.pack(1.5,0.1,1e300)`, `return cmsgpack.pack("a",("x"):rep(31),("x"):rep(32),("x"):rep(256),("x"):rep(65536))`, `return cmsgpack.pack(true,false,nil,{})`, `return cmsgpack.pack({1,2,{3}})`, `return cmsgpack.pack({a=1})`, `return cmsgpack.pack({1,nil,3})`, `local t={} for i=1,20 do t[i]=i end return cmsgpack.pack(t)`, `local t={} t[1]=t return cmsgpack.pack(t)`, `return cmsgpack.pack()`,
		`return {cmsgpack.unpack(cmsgpack.pack(1,-1,300,-300,70000,-70000,2^40,"x",true,{1,2}))}`, `return cmsgpack.unpack(cmsgpack.pack({a={b=5}})).a.b`, `return {cmsgpack.unpack("")}`, `return cmsgpack.unpack("\205")`, `return cmsgpack.unpack("\193")`, `return tostring(cmsgpack.unpack(cmsgpack.pack(0.1)))`, `return cmsgpack.unpack()`,
		`return cjson.encode({[true]=1})`, `return cjson.decode("[1]\0")`, `return cjson.decode("[1\0]")`, `return cjson.decode(".5")`, `return cjson.decode("[-.5]")`, `return tostring(cmsgpack.unpack("\207"..("\255"):rep(8)))`,
		`return cmsgpack.unpack_one("abc")`, `return {cmsgpack.unpack_one("abc",2)}`, `return {cmsgpack.unpack_one("abc",3)}`, `return {cmsgpack.unpack_one("abc",4)}`, `return {cmsgpack.unpack_one("abc",-1)}`, `return {cmsgpack.unpack_one("")}`, `return {cmsgpack.unpack_one("a\193",1)}`, `return {cmsgpack.unpack_one("a\205",1)}`, `return {cmsgpack.unpack_one("a",{})}`, `return {cmsgpack.unpack_one("a","x")}`, `return {cmsgpack.unpack_one("ab","1.5")}`, `return {cmsgpack.unpack_one("ab",2^32+1)}`, `return cmsgpack.unpack_one()`, `return {cmsgpack.unpack_one(12,1)}`, `return {cmsgpack.unpack_one("\192a")}`,
		`return {cmsgpack.unpack_limit("abc",2)}`, `return {cmsgpack.unpack_limit("abc",3)}`, `return {cmsgpack.unpack_limit("abc",5,"1")}`, `return {cmsgpack.unpack_limit("abc",0)}`, `return {cmsgpack.unpack_limit("abc",0,1)}`, `return {cmsgpack.unpack_limit("abc",-1)}`, `return {cmsgpack.unpack_limit("abc",1,-1)}`, `return {cmsgpack.unpack_limit("abc",1,9)}`, `return {cmsgpack.unpack_limit("abc")}`, `return {cmsgpack.unpack_limit("abc",2,0,5)}`, `return {cmsgpack.unpack_limit(nil,2)}`, `return {cmsgpack.unpack_limit("",2)}`, `return {cmsgpack.unpack_limit("a\193",1)}`, `return {cmsgpack.unpack_limit("a\193",2)}`,
		`local s, at, v, sum = cmsgpack.pack(1,{2,3},"x"), 0, nil, {} repeat at, v = cmsgpack.unpack_one(s, at) sum[#sum+1] = v sum[#sum+1] = at until at < 0 return sum`,
		`return cjson.encode({[1/0]=1})`, `return cjson._NAME`, `return tostring(cjson.decode("1e400"))`, `return cjson.decode(cjson.encode({a={1,2}})).a`,
	} {
		s.same(t, script, nil)
	}
}

package main

import (
	"slices"
	"strings"
	"time"
)

// same returns a command of line's words and n times one key.
func same(line, key string) func(*attacker) {
	return func(x *attacker) { x.do(slices.Concat(words(line, x.n), slices.Repeat([]string{key}, x.n))...) }
}

// dataRows are commands over large or chosen keys.
func dataRows() []attack {
	return []attack{
		{name: "data: glob", does: "KEYS with a glob of ten gaps on one key of n bytes.", short: 40, full: 70,
			prepare: func(x *attacker) { x.do("SET", strings.Repeat("a", x.n), "1") }, run: lines("KEYS a*a*a*a*a*a*b")},
		{name: "data: quadratic glob", does: "KEYS with a glob of n bytes that nearly matches everywhere, on one key.", short: 10_000, full: 60_000,
			prepare: func(x *attacker) { x.do("SET", strings.Repeat("a", x.n), "1") }, run: func(x *attacker) { x.do("KEYS", "*"+strings.Repeat("a", x.n/2)+"b") }},
		{name: "data: stars", does: "KEYS with a glob of n stars.", short: 1_000_000, full: 100_000_000, prepare: lines("SET aaa 1"),
			run: func(x *attacker) { x.do("KEYS", strings.Repeat("*", x.n)+"b") }},
		{name: "data: glob class", does: "KEYS with a class of n bytes that does not end.", short: 1_000_000, full: 100_000_000, prepare: lines("SET aaa 1"),
			run: func(x *attacker) { x.do("KEYS", "["+strings.Repeat("b", x.n)) }},
		{name: "data: keys", does: "KEYS * over n keys.", short: 100_000, full: 3_000_000, known: "large replies are one piece", held: true, prepare: lines("DEBUG POPULATE {n}"), run: lines("KEYS *")},
		{name: "data: scan", does: "SCAN with a COUNT of 2^62 over n keys.", short: 100_000, full: 3_000_000, prepare: lines("DEBUG POPULATE {n}"),
			run: lines("SCAN 0 COUNT 4611686018427387904 MATCH nothing")},
		{name: "data: scan of little", does: "SCAN with a COUNT of 2^62 over few keys, n times.", short: 1_000, full: 100_000, prepare: lines("DEBUG POPULATE 10"),
			run: times("SCAN 0 COUNT 4611686018427387904")},
		{name: "data: sscan", does: "SSCAN with a large COUNT over n members.", short: 100_000, full: 3_000_000, prepare: fill("SADD s", "m{i}"),
			run: lines("SSCAN s 0 COUNT 4611686018427387904")},
		{name: "data: sort", does: "SORT of n elements.", short: 50_000, full: 1_000_000, known: "large replies are one piece", prepare: fill("RPUSH l", "{i}"), run: lines("SORT l DESC")},
		{name: "data: sort alpha", does: "SORT ALPHA of n equal elements.", short: 50_000, full: 1_000_000, known: "large replies are one piece", prepare: fill("RPUSH l", "same"), run: lines("SORT l ALPHA")},
		{name: "data: sort by keys", does: "SORT BY and GET over n keys.", short: 50_000, full: 1_000_000, known: "large replies are one piece",
			prepare: func(x *attacker) { x.do("DEBUG", "POPULATE", itoa(x.n), "w"); x.fill(x.n, "RPUSH l", "{i}") },
			run:     lines("SORT l BY w:* ALPHA GET # GET w:* GET w:* STORE d")},
		{name: "data: sort get", does: "SORT with n times GET.", short: 2_000, full: 50_000,
			prepare: func(x *attacker) { x.fill(100, "RPUSH l", "{i}") }, run: once("SORT l", "GET w{i}*")},
		{name: "data: sinter", does: "SINTER of n times one set.", short: 1_000, full: 100_000,
			prepare: func(x *attacker) { x.fill(100, "SADD s", "m{i}") }, run: same("SINTER", "s")},
		{name: "data: sunion", does: "SUNION of n times one set.", short: 1_000, full: 100_000,
			prepare: func(x *attacker) { x.fill(100, "SADD s", "m{i}") }, run: same("SUNION", "s")},
		{name: "data: sdiff", does: "SDIFF of n sets.", short: 1_000, full: 100_000,
			prepare: func(x *attacker) { x.fill(100, "SADD s", "m{i}") }, run: once("SDIFF s", "t{i}")},
		{name: "data: zunionstore", does: "ZUNIONSTORE of n times one sorted set.", short: 500, full: 50_000,
			prepare: func(x *attacker) { x.fill(100, "ZADD z", "{i} m{i}") }, run: same("ZUNIONSTORE d {n}", "z")},
		{name: "data: zinter", does: "ZINTER of n times one sorted set.", short: 500, full: 50_000,
			prepare: func(x *attacker) { x.fill(100, "ZADD z", "{i} m{i}") }, run: same("ZINTER {n}", "z")},
		{name: "data: zdiff", does: "ZDIFFSTORE of n sorted sets.", short: 500, full: 50_000,
			prepare: func(x *attacker) { x.fill(100, "ZADD z", "{i} m{i}") }, run: once("ZDIFFSTORE d {n}", "z{i}")},
		{name: "data: sintercard", does: "SINTERCARD of n times one large set.", short: 20, full: 100,
			prepare: func(x *attacker) { x.fill(20_000, "SADD s", "m{i}") }, run: same("SINTERCARD {n}", "s")},
		{name: "data: pfmerge", does: "PFMERGE of n times one dense HyperLogLog.", short: 300, full: 20_000,
			prepare: func(x *attacker) { x.fill(20_000, "PFADD p", "m{i}") }, run: same("PFMERGE d", "p")},
		{name: "data: pfcount", does: "PFCOUNT of n times one dense HyperLogLog.", short: 300, full: 20_000,
			prepare: func(x *attacker) { x.fill(20_000, "PFADD p", "m{i}") }, run: same("PFCOUNT", "p")},
		{name: "data: georadius", does: "GEOSEARCH of the whole world with n places.", short: 20_000, full: 500_000, known: "large replies are one piece",
			prepare: fill("GEOADD g", "{i}e-5 {i}e-5 m{i}"), run: lines("GEOSEARCH g FROMLONLAT 0 0 BYRADIUS 20000 km ASC WITHCOORD WITHDIST")},
		{name: "data: geosearch of few", does: "GEOSEARCH COUNT 1 of the whole world with n places.", short: 20_000, full: 500_000,
			prepare: fill("GEOADD g", "{i}e-5 {i}e-5 m{i}"), run: lines("GEOSEARCHSTORE d g FROMLONLAT 0 0 BYBOX 40000 40000 km COUNT 1 ANY")},
		{name: "data: srandmember", does: "SRANDMEMBER of n members with repeats.", short: 200_000, full: 5_000_000,
			prepare: lines("SADD s a b c"), run: lines("SRANDMEMBER s -{n}")},
		{name: "data: random of too many", does: "Random members, 2^63 of them.", short: 1, full: 1, prepare: lines("SADD s a b c", "HSET h f v", "ZADD z 1 m"),
			run: lines("SRANDMEMBER s -9223372036854775808", "HRANDFIELD h -9223372036854775808 WITHVALUES", "ZRANDMEMBER z -9223372036854775808 WITHSCORES")},
		{name: "data: random of most", does: "SRANDMEMBER of all but one of n members.", short: 50_000, full: 2_000_000, prepare: fill("SADD s", "m{i}"),
			run: func(x *attacker) { x.do("SRANDMEMBER", "s", itoa(x.n-1)) }},
		{name: "data: spop", does: "SPOP of n members.", short: 100_000, full: 3_000_000, prepare: fill("SADD s", "m{i}"), run: lines("SPOP s 9223372036854775807")},
		{name: "data: random of holes", does: "SRANDMEMBER, n times, of a large set that has become small.", short: 2_000, full: 100_000,
			prepare: func(x *attacker) { x.fill(300_000, "SADD s", "m{i}"); x.do("SPOP", "s", "299999") }, run: times("SRANDMEMBER s")},
		{name: "data: walk of holes", does: "SMEMBERS, n times, of a large set that has become small.", short: 500, full: 10_000,
			prepare: func(x *attacker) { x.fill(300_000, "SADD s", "m{i}"); x.do("SPOP", "s", "299990") }, run: times("SMEMBERS s")},
		{name: "data: randomkey of holes", does: "RANDOMKEY, n times, of a large database that has become small.", short: 500, full: 10_000,
			prepare: func(x *attacker) {
				x.do("DEBUG", "POPULATE", "100000")
				x.pipe(99_990, func(i int) []string { return []string{"DEL", "key:" + itoa(i)} })
			}, run: times("RANDOMKEY")},
		{name: "data: del", does: "DEL of a set of n members.", short: 200_000, full: 5_000_000, prepare: fill("SADD s", "m{i}"), run: lines("DEL s")},
		{name: "data: overwrite", does: "SET over a sorted set of n members.", short: 100_000, full: 3_000_000, prepare: fill("ZADD z", "{i} m{i}"), run: lines("SET z 1")},
		{name: "data: flushall", does: "FLUSHALL of n keys of 600 bytes.", short: 100_000, full: 1_000_000, prepare: lines("DEBUG POPULATE {n} key 600"), run: lines("FLUSHALL")},
		{name: "data: expiry", does: "n keys expire at one time, a second and a half from now.", short: 100_000, full: 1_000_000, prepare: lines("DEBUG POPULATE {n}"),
			run: func(x *attacker) {
				at := itoa(int(time.Now().UnixMilli()) + 1_500)
				x.pipe(x.n, func(i int) []string { return []string{"PEXPIREAT", "key:" + itoa(i), at} })
				for left := x.do("DBSIZE"); left.kind == ':' && left.text != "0"; left = x.do("DBSIZE") {
					time.Sleep(pingEvery)
				}
			}},
		{name: "data: copy", does: "COPY of a list of n elements.", short: 200_000, full: 5_000_000, prepare: fill("RPUSH l", "element{i}"), run: lines("COPY l m")},
		{name: "data: smembers", does: "SMEMBERS of n members.", short: 200_000, full: 5_000_000, known: "large replies are one piece", prepare: fill("SADD s", "m{i}"), run: lines("SMEMBERS s")},
		{name: "data: hgetall", does: "HGETALL of n fields.", short: 100_000, full: 3_000_000, known: "large replies are one piece", prepare: fill("HSET h", "f{i} v{i}"), run: lines("HGETALL h")},
		{name: "data: zrange", does: "ZRANGE of n members with scores.", short: 100_000, full: 3_000_000, known: "large replies are one piece", prepare: fill("ZADD z", "{i}.5 m{i}"), run: lines("ZRANGE z 0 -1 WITHSCORES")},
		{name: "data: lpos", does: "LPOS of what is not in a list of n elements.", short: 300_000, full: 5_000_000, known: "the collector lets garbage lie as large as what lives", prepare: fill("RPUSH l", "e"), run: lines("LPOS l x", "LPOS l e COUNT 0 RANK -1")},
		{name: "data: lrem", does: "LREM of all n elements.", short: 200_000, full: 5_000_000, prepare: fill("RPUSH l", "e"), run: lines("LREM l 0 e")},
		{name: "data: lset", does: "LSET in the middle of a list of 200,000, n times.", short: 1_000, full: 50_000,
			prepare: func(x *attacker) { x.fill(200_000, "RPUSH l", "element{i}") }, run: times("LSET l 100000 x")},
		{name: "data: linsert", does: "LINSERT in the middle of a list of 100,000, n times.", short: 100, full: 2_000,
			prepare: func(x *attacker) { x.fill(100_000, "RPUSH l", "element{i}") }, run: times("LINSERT l BEFORE element50000 x")},
		{name: "data: long listpack", does: "n fields in a listpack whose limit was raised.", short: 5_000, full: 40_000,
			prepare: lines("CONFIG SET hash-max-listpack-entries 1000000 hash-max-listpack-value 1000000"), run: times("HSET h f{i} v")},
		{name: "data: long intset", does: "n integers in an intset whose limit was raised.", short: 20_000, full: 150_000,
			prepare: lines("CONFIG SET set-max-intset-entries 10000000"), run: func(x *attacker) {
				x.pipe(x.n, func(i int) []string { return []string{"SADD", "s", itoa(x.n - i)} })
			}},
		{name: "data: equal scores", does: "n members of one score.", short: 50_000, full: 2_000_000, run: fill("ZADD z", "1 m{i}")},
		{name: "data: zremrange", does: "ZREMRANGEBYSCORE of n members.", short: 100_000, full: 2_000_000, prepare: fill("ZADD z", "{i} m{i}"), run: lines("ZREMRANGEBYSCORE z -inf +inf")},
		{name: "data: zrangebyscore", does: "ZRANGEBYSCORE behind an offset of n.", short: 200_000, full: 3_000_000, prepare: fill("ZADD z", "{i} m{i}"),
			run: func(x *attacker) {
				x.do("ZRANGEBYSCORE", "z", "-inf", "+inf", "LIMIT", itoa(x.n-1), "10")
				x.do("ZREVRANGEBYSCORE", "z", "+inf", "-inf", "LIMIT", itoa(x.n-1), "10")
			}},
		{name: "data: mset", does: "MSET of n keys.", short: 100_000, full: 500_000, run: once("MSET", "k{i} v{i}")},
		{name: "data: del of many", does: "DEL of n names of keys that are not there.", short: 200_000, full: 1_000_000, run: once("DEL", "k{i}")},
		{name: "data: swapdb", does: "SWAPDB of databases of n keys.", short: 200_000, full: 3_000_000, prepare: lines("DEBUG POPULATE {n}"), run: lines("SWAPDB 0 1")},
		{name: "data: memory usage", does: "MEMORY USAGE SAMPLES 0 of n members.", short: 100_000, full: 3_000_000, prepare: fill("ZADD z", "{i} m{i}"), run: lines("MEMORY USAGE z SAMPLES 0")},
		{name: "data: dump", does: "DUMP of n members.", short: 100_000, full: 3_000_000, known: "large replies are one piece", prepare: fill("ZADD z", "{i} m{i}"), run: lines("DUMP z")},
	}
}

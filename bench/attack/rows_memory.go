package main

import (
	"strings"

	"github.com/miniredisd/miniredisd/resp"
)

// queued opens a transaction and fills it with n commands.
func queued(line string) func(*attacker) {
	return func(x *attacker) { x.do("MULTI"); times(line)(x) }
}

// memoryRows are what the server keeps for clients.
var memoryRows = []attack{
	{name: "memory: queued commands", does: "MULTI with n commands and no EXEC.", short: 100_000, full: 1_000_000,
		held: true, run: queued("SET key:{i} value:{i}")},
	{name: "memory: queued and run", does: "MULTI, n commands and EXEC.", short: 100_000, full: 1_000_000,
		run: func(x *attacker) { queued("SET key:{i} value:{i}")(x); x.do("EXEC") }},
	{name: "memory: queued values", does: "MULTI with n values of 100 kB and no EXEC.", short: 200, full: 5_000,
		held: true, run: func(x *attacker) {
			value := strings.Repeat("x", 100_000)
			x.do("MULTI")
			x.pipe(x.n, func(int) []string { return []string{"SET", "k", value} })
		}},
	{name: "memory: queued in many", does: "n connections with MULTI and 100 commands.", short: 100, full: 5_000,
		held: true,
		run:  crowd(0, bytesOf("MULTI\r\n"+strings.Repeat("SET key value\r\n", 100)))},
	{name: "memory: watch", does: "WATCH of n keys.", short: 5_000, full: 50_000, held: true,
		run: once("WATCH", "key:{i}")},
	{name: "memory: watch one by one", does: "WATCH of n keys, one after the other.", short: 5_000, full: 30_000,
		run: times("WATCH key:{i}")},
	{name: "memory: watch in many", does: "400 connections watch one key, which is set n times.",
		short: 100, full: 5_000, run: func(x *attacker) {
			x.crowd(400, bytesOf("WATCH k\r\n"))
			times("SET k v")(x)
		}},
	{name: "memory: flush under watch", does: "FLUSHALL, 100 times, while n keys are watched.",
		short: 3_000, full: 500_000, run: func(x *attacker) {
			x.dial().do(with("WATCH", "key:{i}", x.n)...)
			x.pipe(100, func(int) []string { return []string{"FLUSHALL"} })
		}},
	{name: "memory: blpop", does: "BLPOP of n keys.", short: 50_000, full: 500_000, held: true,
		run: func(x *attacker) {
			x.dial().send(resp.AppendRequest(nil, append(with("BLPOP", "key:{i}", x.n), "0")...))
		}},
	{name: "memory: blpop of one key", does: "BLPOP of n times one key.", short: 50_000, full: 500_000,
		run: func(x *attacker) {
			x.dial().send(resp.AppendRequest(nil, append(with("BLPOP", "key", x.n), "0")...))
			x.do("RPUSH", "key", "v")
		}},
	{name: "memory: blocked clients", does: "n clients wait for one key, which is then filled.",
		short: 400, full: 9_000, run: func(x *attacker) {
			all := x.crowd(x.n, bytesOf("BLPOP k 0\r\n"))
			x.do("PING")
			x.do(with("RPUSH k", "v{i}", x.n)...)
			for _, c := range all {
				c.read()
			}
		}},
	{name: "memory: blocked in vain", does: "400 clients wait for entries beyond those that n XADD make.",
		short: 200, full: 3_000, run: func(x *attacker) {
			x.crowd(400, bytesOf("XREAD BLOCK 0 STREAMS s 9-9\r\n"))
			times("XADD s 1-{i}1 f v")(x)
		}},
	{name: "memory: blmove ring", does: "n clients move elements from key to key.", short: 300, full: 3_000,
		run: func(x *attacker) {
			x.crowd(x.n, func(i int) []byte {
				return resp.AppendRequest(nil, "BLMOVE", "k"+itoa(i), "k"+itoa(i+1), "LEFT", "RIGHT", "0")
			})
			x.do("RPUSH", "k0", "v")
		}},
	{name: "memory: blocked and gone", does: "n clients wait for 100 keys each and leave.",
		short: 300, full: 3_000, run: func(x *attacker) {
			request := resp.AppendRequest(nil, append(with("BLPOP", "key:{i}", 100), "0")...)
			for range x.n {
				c := x.dial()
				c.send(request)
				_ = c.net.Close()
			}
		}},
	{name: "memory: names", does: "n clients with names of 60 kB.", short: 200, full: 3_000, held: true,
		run: crowd(0, func(int) []byte {
			return resp.AppendRequest(nil, "CLIENT", "SETNAME",
				strings.Repeat("x", 60_000))
		})},
	{name: "memory: library names", does: "n clients with library names of 60 kB.", short: 200, full: 3_000,
		held: true,
		run: crowd(0, func(int) []byte {
			return resp.AppendRequest(nil, "CLIENT", "SETINFO", "LIB-NAME", strings.Repeat("x", 60_000))
		})},
	{name: "memory: long name", does: "CLIENT SETNAME of n bytes, and CLIENT LIST.",
		short: 5_000_000, full: 100_000_000,
		run: func(x *attacker) { x.big(x.n, "CLIENT", "SETNAME"); x.do("CLIENT", "LIST") }},
	{name: "memory: error words", does: "Scripts answer n errors of different first words.",
		short: 20_000, full: 300_000, held: true, run: func(x *attacker) {
			x.pipe(x.n, func(i int) []string {
				return []string{"EVAL", "return redis.error_reply(ARGV[1])", "0", "WORD" + itoa(i) + " x"}
			})
			x.do("INFO", "errorstats")
		}},
	{name: "memory: slowlog", does: "128 slow commands with 100 arguments of 10 kB.", short: 128, full: 20_000,
		options: []string{"--slowlog-log-slower-than", "0"},
		run: func(x *attacker) {
			args := append([]string{"DEL"}, series(strings.Repeat("x", 10_000), 100)...)
			x.pipe(x.n, func(int) []string { return args })
		}},
	{name: "memory: long slowlog", does: "n commands into a slowlog without a limit.",
		short: 20_000, full: 500_000, held: true,
		options: []string{"--slowlog-log-slower-than", "0", "--slowlog-max-len", "100000000"},
		run:     times("DEL key:{i} a b c d e")},
	{name: "memory: libraries", does: "n libraries of functions.", short: 500, full: 10_000,
		known: "a compiled function is larger than in Lua, and compiled more slowly", held: true,
		run: func(x *attacker) {
			x.pipe(x.n, func(i int) []string {
				return []string{"FUNCTION", "LOAD", expand("#!lua name=a{n}\n"+
					"redis.register_function('f{n}', function() return 1 end)", i)}
			})
			x.do("FUNCTION", "LIST", "LIBRARYNAME", "*1*1*1*9", "WITHCODE")
			x.do("FUNCTION", "DUMP")
		}},
	{name: "memory: replaced library", does: "A library is replaced n times.", short: 1_000, full: 20_000,
		known: "a compiled function is larger than in Lua, and compiled more slowly", run: func(x *attacker) {
			x.pipe(x.n, func(i int) []string {
				return []string{"FUNCTION", "LOAD", "REPLACE", expand("#!lua name=a\n"+
					"redis.register_function('f', function() return {n} end)", i)}
			})
		}},
	{name: "memory: large library", does: "A library of n bytes.", short: 4_000_000, full: 100_000_000,
		held: true,
		run: func(x *attacker) {
			x.do("FUNCTION", "LOAD", "#!lua name=a\n"+
				"redis.register_function('f', function() return 1 end) --"+strings.Repeat("x", x.n))
			x.do("FUNCTION", "LIST", "WITHCODE")
		}},
	{name: "memory: keys", does: "n keys of few bytes.", short: 200_000, full: 3_000_000, held: true,
		run: times("SET key:{i} v")},
	{name: "memory: small lists", does: "n lists of one element.", short: 100_000, full: 1_000_000,
		known: "the collector lets garbage lie as large as what lives", held: true,
		run: times("RPUSH key:{i} v")},
	{name: "memory: small streams", does: "n streams of one entry.", short: 20_000, full: 300_000,
		run: times("XADD key:{i} * f v")},
	{name: "memory: small hyperloglogs", does: "n HyperLogLogs of one member.", short: 50_000, full: 1_000_000,
		run: times("PFADD key:{i} v")},
	{name: "memory: overwritten", does: "n SETs of 100 kB over one key.", short: 1_000, full: 20_000,
		run: func(x *attacker) {
			value := strings.Repeat("x", 100_000)
			x.pipe(x.n, func(int) []string { return []string{"SET", "k", value} })
		}},
	{name: "memory: eviction", does: "n keys of 1 kB under maxmemory 50mb and allkeys-lru.",
		short: 100_000, full: 1_000_000,
		options: []string{"--maxmemory", "50mb", "--maxmemory-policy", "allkeys-lru"}, run: func(x *attacker) {
			value := strings.Repeat("x", 1_000)
			x.pipe(x.n, func(i int) []string { return []string{"SET", "key:" + itoa(i), value} })
		}},
}

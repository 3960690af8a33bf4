package main

import "strings"

// stringRows are commands on long strings, bitmaps and large values.
var stringRows = []attack{
	{name: "string: lcs", does: "LCS of two strings of n bytes.", short: 2_000, full: 10_000,
		known:   "the collector lets garbage lie as large as what lives",
		prepare: func(x *attacker) { x.big(x.n, "SET", "a"); x.big(x.n, "SET", "b") },
		run:     lines("LCS a b", "LCS a b IDX WITHMATCHLEN")},
	{name: "string: lcs of long", does: "LCS of two strings of n bytes, whose table is beyond every memory.",
		short: 1_000_000, full: 1_000_000,
		prepare: func(x *attacker) { x.big(x.n, "SET", "a"); x.big(x.n, "SET", "b") }, run: lines("LCS a b LEN")},
	{name: "string: bitcount", does: "BITCOUNT and BITPOS over n bytes.", short: 20_000_000, full: 500_000_000,
		prepare: lines("SETRANGE k {n} x"), run: lines("BITCOUNT k", "BITPOS k 1", "BITCOUNT k 1 -2 BIT")},
	{name: "string: bitop", does: "BITOP of 32 times n bytes.", short: 500_000, full: 20_000_000,
		prepare: func(x *attacker) { x.big(x.n, "SET", "k") },
		run:     func(x *attacker) { x.do(with("BITOP XOR d", "k", 32)...); x.do("BITOP", "NOT", "e", "k") }},
	{name: "string: bitop of holes", does: "BITOP of n keys that are not there and a long one.",
		short: 100, full: 2_000,
		prepare: lines("SETBIT k 8000000 1"), run: once("BITOP OR d k", "none{i}")},
	{name: "string: bitfield", does: "BITFIELD of n operations.", short: 50_000, full: 250_000,
		run: once("BITFIELD k", "INCRBY u32 #{i} 7")},
	{name: "string: setbit", does: "SETBIT of the last bit.", short: 1, full: 1,
		run: lines("SETBIT k 4294967295 1")},
	{name: "string: setrange", does: "SETRANGE to 512 MB, and APPEND behind it.", full: 536_870_900,
		run: lines("SETRANGE k {n} x", "APPEND k y")},
	{name: "string: append", does: "APPEND of a byte to n bytes, 100 times.",
		short: 10_000_000, full: 100_000_000,
		prepare: lines("SETRANGE k {n} x"),
		run:     func(x *attacker) { x.pipe(100, func(int) []string { return []string{"APPEND", "k", "y"} }) }},
	{name: "string: setrange within", does: "SETRANGE and SETBIT within n bytes, 100 times.",
		short: 10_000_000, full: 100_000_000, prepare: lines("SETRANGE k {n} x"),
		run: func(x *attacker) {
			x.pipe(100, func(i int) []string { return []string{"SETRANGE", "k", itoa(i), "y"} })
			x.pipe(100, func(i int) []string { return []string{"SETBIT", "k", itoa(i), "1"} })
		}},
	{name: "string: set and get", does: "SET and GET of n bytes.", short: 20_000_000, full: 500_000_000,
		held: true,
		run:  func(x *attacker) { x.big(x.n, "SET", "k"); x.do("GET", "k") }},
	{name: "string: getrange", does: "GETRANGE of n bytes, 10 times.", short: 10_000_000, full: 100_000_000,
		prepare: lines("SETRANGE k {n} x"),
		run: func(x *attacker) {
			x.pipe(10, func(int) []string { return []string{"GETRANGE", "k", "0", "-1"} })
		}},
	{name: "string: mget", does: "MGET of n values of 1 MB.", short: 50, full: 1_000,
		prepare: func(x *attacker) { x.do(words("DEBUG POPULATE {n} k 1000000", x.n)...) },
		run:     once("MGET", "k:{i}")},
	{name: "string: one key often", does: "MGET of n times one value of 1 MB.", short: 50, full: 1_000,
		prepare: func(x *attacker) { x.big(1_000_000, "SET", "k") }, run: same("MGET", "k")},
	{name: "string: rpush", does: "RPUSH of an element of n bytes.", short: 20_000_000, full: 500_000_000,
		known: "large values are copied",
		run:   func(x *attacker) { x.big(x.n, "RPUSH", "l") }},
	{name: "string: member", does: "A member of n bytes in a set, a hash and a sorted set.",
		short: 5_000_000, full: 100_000_000, known: "large values are copied",
		run: func(x *attacker) {
			x.big(x.n, "SADD", "s")
			x.big(x.n, "HSET", "h", "f")
			x.big(x.n, "ZADD", "z", "1")
		}},
	{name: "string: long key", does: "A key of n bytes, set and asked for.", short: 5_000_000, full: 100_000_000,
		known: "large values are copied",
		run: func(x *attacker) {
			key := strings.Repeat("k", x.n)
			x.do("SET", key, "v")
			x.pipe(10, func(int) []string { return []string{"GET", key} })
		}},
	{name: "string: incrbyfloat", does: "INCRBYFLOAT of numbers of 300 digits, n times.",
		short: 5_000, full: 200_000,
		run: func(x *attacker) {
			x.pipe(x.n, func(i int) []string { return []string{"INCRBYFLOAT", "k", []string{"1e300", "-1e300"}[i%2]} })
		}},
	{name: "string: getdel", does: "GETEX and GETSET of 1 MB, n times.", short: 100, full: 3_000,
		prepare: func(x *attacker) { x.big(1_000_000, "SET", "k") },
		run:     times("GETEX k PERSIST")},
}

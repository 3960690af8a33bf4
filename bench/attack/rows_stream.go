package main

// entries adds n entries to a stream.
func entries(x *attacker) {
	x.pipe(x.n, func(i int) []string { return []string{"XADD", "s", "1-" + itoa(i+1), "f", "v"} })
}

// pending adds n entries, which the consumer c is given and does not acknowledge.
func pending(x *attacker) {
	entries(x)
	x.do("XGROUP", "CREATE", "s", "g", "0")
	x.do(words("XREADGROUP GROUP g c COUNT {n} STREAMS s >", x.n)...)
}

// all is the largest COUNT.
const all = "9223372036854775807"

// streamRows are commands on streams and their groups.
var streamRows = []attack{
	{name: "stream: xread", does: "XREAD of n entries.", short: 50_000, full: 2_000_000,
		known: "large replies are one piece", prepare: entries,
		run: lines("XREAD COUNT " + all + " STREAMS s 0")},
	{name: "stream: xrange", does: "XREVRANGE of n entries.", short: 50_000, full: 2_000_000,
		known: "large replies are one piece", prepare: entries, run: lines("XREVRANGE s + - COUNT " + all)},
	{name: "stream: xread of many", does: "XREAD of n streams that are not there.", short: 20_000, full: 500_000,
		run: func(x *attacker) { x.do(append(with("XREAD STREAMS", "s{i}", x.n), series("0", x.n)...)...) }},
	{name: "stream: xpending", does: "XPENDING of n entries.", short: 50_000, full: 1_000_000, prepare: pending,
		run: lines("XPENDING s g", "XPENDING s g IDLE 0 - + "+all)},
	{name: "stream: xautoclaim", does: "XAUTOCLAIM of as many entries as can be.", short: 50_000, full: 1_000_000,
		prepare: pending,
		run:     lines("XAUTOCLAIM s g d 0 0 COUNT 100000000", "XAUTOCLAIM s g d 0 0 COUNT {n}")},
	{name: "stream: xautoclaim of deleted", does: "XAUTOCLAIM of n entries that are deleted.",
		short: 50_000, full: 1_000_000,
		prepare: func(x *attacker) { pending(x); x.do("XTRIM", "s", "MAXLEN", "0") },
		run:     lines("XAUTOCLAIM s g d 0 0 COUNT {n}")},
	{name: "stream: xclaim", does: "XCLAIM of n entries that are not there.", short: 50_000, full: 500_000,
		prepare: lines("XGROUP CREATE s g 0 MKSTREAM"), run: once("XCLAIM s g c 0", "{i}-1")},
	{name: "stream: xclaim force", does: "XCLAIM FORCE of n entries.", short: 50_000, full: 500_000,
		prepare: func(x *attacker) { entries(x); x.do("XGROUP", "CREATE", "s", "g", "0") },
		run:     func(x *attacker) { x.do(append(with("XCLAIM s g c 0", "1-{i}", x.n), "FORCE", "JUSTID")...) }},
	{name: "stream: xack", does: "XACK of n entries.", short: 50_000, full: 500_000, prepare: pending,
		run: once("XACK s g", "1-{i}")},
	{name: "stream: xdel", does: "XDEL of n entries.", short: 50_000, full: 500_000, prepare: entries,
		run: once("XDEL s", "1-{i}")},
	{name: "stream: xtrim", does: "XTRIM of n entries.", short: 50_000, full: 2_000_000, prepare: entries,
		run: lines("XTRIM s MAXLEN = 1")},
	{name: "stream: deleted front", does: "XREAD of one entry behind n deleted ones, 300 times.",
		short: 30_000, full: 300_000,
		prepare: func(x *attacker) {
			entries(x)
			x.do("XADD", "s", "2-1", "f", "v")
			x.do(with("XDEL s", "1-{i}", x.n)...)
		},
		run: func(x *attacker) {
			x.pipe(300, func(int) []string { return words("XREAD COUNT 1 STREAMS s 0", 0) })
		}},
	{name: "stream: groups", does: "n groups of a stream, and XINFO of them.", short: 10_000, full: 300_000,
		known: "the collector lets garbage lie as large as what lives", prepare: lines("XADD s 1-1 f v"),
		run: func(x *attacker) {
			times("XGROUP CREATE s g{i} 0")(x)
			x.do("XINFO", "STREAM", "s", "FULL")
			x.do("XINFO", "GROUPS", "s")
		}},
	{name: "stream: consumers", does: "n consumers of a group, and XINFO of them.", short: 10_000, full: 300_000,
		prepare: lines("XGROUP CREATE s g 0 MKSTREAM"),
		run: func(x *attacker) {
			times("XGROUP CREATECONSUMER s g c{i}")(x)
			x.do("XINFO", "CONSUMERS", "s", "g")
		}},
	{name: "stream: lag", does: "XINFO GROUPS with a deleted entry among n, 300 times.",
		short: 30_000, full: 300_000,
		prepare: func(x *attacker) {
			entries(x)
			x.do("XDEL", "s", "1-"+itoa(x.n/2))
			x.do("XGROUP", "CREATE", "s", "g", "1-5")
		}, run: func(x *attacker) { x.pipe(300, func(int) []string { return words("XINFO GROUPS s", 0) }) }},
	{name: "stream: fields", does: "XADD of n fields.", short: 100_000, full: 500_000,
		run: once("XADD s *", "f{i} v{i}")},
	{name: "stream: one node", does: "n entries in a node whose limit was raised.", short: 20_000, full: 300_000,
		prepare: lines("CONFIG SET stream-node-max-entries 0 stream-node-max-bytes 0"),
		run:     func(x *attacker) { entries(x); x.do("XDEL", "s", "1-7"); x.do("XLEN", "s") }},
}

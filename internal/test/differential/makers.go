package differential

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// keysOf returns a few keys for each type. With few keys, commands often find data.
var keysOf = []struct {
	maker string
	names []string
}{
	{"str", []string{"s1", "s2", "s3"}}, {"hash", []string{"h1", "h2"}}, {"list", []string{"l1", "l2"}},
	{"set", []string{"t1", "t2", "t3"}},
	{"zset", []string{"z1", "z2"}}, {"lex", []string{"x1", "x2"}}, {"stream", []string{"m1", "m2"}},
	{"hll", []string{"y1", "y2", "y3"}},
	{"geo", []string{"p1", "p2"}},
}

func allKeys() []string {
	var all []string
	for _, k := range keysOf {
		all = append(all, k.names...)
	}
	return all
}

func isKey(s string) bool { return slices.Contains(allKeys(), s) }

// oneOf makes an argument that is one of words.
func oneOf(words string) maker {
	list := strings.Fields(words)
	return func(g *generator) string { return g.pick(list...) }
}

func makers() map[string]maker {
	m := map[string]maker{
		"key": anyKey, "value": value, "member": member, "field": member, "int": integer, "float": float,
		"weight": weight, "bound": oneOf("0 1 2 6 20 128"), "fill": oneOf("-5 -2 -1 0 1 4 128"),
		"scored":   func(g *generator) string { return g.pick("z1", "z2", "x1", "t1", "z3") },
		"sortable": func(g *generator) string { return g.pick("l1", "l2", "t1", "z1") },
		"index":    func(g *generator) string { return strconv.Itoa(g.IntN(15) - 6) },
		"first":    first,
		"small":    func(g *generator) string { return strconv.Itoa(g.IntN(8) - g.IntN(2)) },
		"offset":   func(g *generator) string { return strconv.Itoa(g.IntN(70) - g.IntN(2)) },
		"bit":      oneOf("0 1 0 1 0 1 0 1 2"),
		"width":    oneOf("u1 u8 u16 u31 u63 i1 i5 i8 i32 i64 u64 x8"),
		"boffset":  oneOf("0 1 7 8 13 64 #0 #1 #2 -1 #x"),
		// Whole hundreds of seconds, because the clocks of the servers differ a little.
		"ttl":  func(g *generator) string { return g.rare("0", "-1", "x", strconv.Itoa(100*(1+g.IntN(50)))) },
		"pttl": func(g *generator) string { return g.rare("0", "-1", "x", strconv.Itoa(100000*(1+g.IntN(50)))) },
		"at": func(g *generator) string {
			return g.rare("0", "1", "9223372036854775807", strconv.Itoa(4000000000+1000*g.IntN(5)))
		},
		"pat": func(g *generator) string {
			return g.rare("0", "1", "-1", strconv.Itoa(4000000000000+1000000*g.IntN(5)))
		},
		"pattern": oneOf("* s* [hl]? ?1 *1* [^s]* \\* a* f[0-9]"),
		"type":    oneOf("string hash list set zset stream nothing"),
		"score":   score,
		"smin":    oneOf("-inf 0 1 (1 2 (2.5 -3 (-inf x"),
		"smax":    oneOf("+inf 5 10 (3 2 1 (2.5 inf"),
		"lmin":    oneOf("- [a [b (a (f1 [5 a"),
		"lmax":    oneOf("+ [c (f3 [zz [b (9 +"),
		"id":      streamID,
		"xmin":    func(g *generator) string { return g.pick("-", streamID(g), "("+streamID(g), "0") },
		"xmax": func(g *generator) string {
			return g.pick("+", streamID(g), "("+streamID(g), "9", "18446744073709551615-18446744073709551615")
		},
		"group":    func(g *generator) string { return g.rare("nogroup", "", g.pick("g1", "g2")) },
		"consumer": oneOf("alice bob carol"),
		// A time in the past, to distinguish claimed entries from entries that were just delivered.
		"idle": oneOf("0 0 1000000 5000000 -5"),
		"element": func(g *generator) string {
			return g.rare("", value(g), strings.Repeat("e", g.IntN(40)), strconv.Itoa(g.IntN(5000)))
		},
		// Positions and bytes with which SETRANGE damages a HyperLogLog. The damage never ends in the first
		// byte of a run of zeros, because Redis then reads beyond the end.
		"broken":  oneOf("3 4 15 16 17"),
		"byte":    func(g *generator) string { return string([]byte{byte(g.IntN(64) + 64*(2*g.IntN(2)))}) },
		"later":   func(g *generator) string { return fmt.Sprintf("%d-0", 40+g.IntN(20)) },
		"place":   func(g *generator) string { return fmt.Sprint("place", g.IntN(100)) },
		"lon":     func(g *generator) string { return degrees(g, 180, 0, 13, 179.9) },
		"lat":     func(g *generator) string { return degrees(g, geoMaxLat, 0, -38, 84) },
		"unit":    oneOf("m km mi ft KM m km mi ft lightyears"),
		"metres":  metres,
		"passon":  passOn,
		"failing": failing,
		"library": library,
		"sha": func(g *generator) string {
			return g.pick("0000000000000000000000000000000000000000", "short", sha(failing(g)), sha(failing(g)), sha(passOn(g)))
		},
		"function": func(g *generator) string { return g.rare("nosuch", "", g.pick("fa", "fb", "fc")) },
		"partial":  func(g *generator) string { return strconv.Itoa(g.IntN(40)) + "-*" },
	}
	for _, k := range keysOf {
		m[k.maker] = func(g *generator) string {
			if k.maker != "lex" && k.maker != "geo" && g.IntN(25) == 0 {
				return anyKey(g)
			}
			return g.pick(k.names...)
		}
	}
	return m
}

// passOn makes a script that calls a command and returns its reply.
func passOn(g *generator) string {
	if !g.older && g.IntN(10) == 0 {
		return "local t = {} for i, v in ipairs(ARGV) do t[i] = tonumber(v) or v end return redis.pcall(unpack(t))"
	}
	return g.pick(
		"return redis.call(unpack(ARGV))",
		"return redis.pcall(unpack(ARGV))",
		"local r = redis.call(unpack(ARGV)) return {type(r), r}",
		"local ok, r = pcall(redis.call, unpack(ARGV)) return {tostring(ok), r}",
		"redis.setresp(3) local r = redis.pcall(unpack(ARGV)) return {type(r), r}",
		"local r = redis.pcall(unpack(ARGV)) return type(r) == 'table' and {#r, r.err, r.ok} or tostring(r)",
		"return cjson.encode({redis.call(unpack(ARGV))})",
		"return cmsgpack.pack(redis.call(unpack(ARGV)))",
		// 7.0 writes a number of more digits in another way.
		"local t = {} for i, v in ipairs(ARGV) do t[i] = #v < 16 and v:match('^[1-9]%d*$') and tonumber(v) or v end "+
			"return redis.pcall(unpack(t))",
		"for i = 1, 2 do redis.pcall(unpack(ARGV)) end return {KEYS, ARGV, redis.pcall(unpack(ARGV))}",
	)
}

// rare usually returns the last of words.
func (g *generator) rare(words ...string) string {
	if g.IntN(6) > 0 {
		return words[len(words)-1]
	}
	return g.pick(words...)
}

// anyKey returns a key, but none of lexical ranges, places and HyperLogLogs. The members of lexical ranges
// must keep one score. Other scores would put places at equal distances, and the order of these is not
// defined. Bytes behind a HyperLogLog may make Redis read beyond its end.
func anyKey(g *generator) string {
	for {
		if k := g.pick(allKeys()...); k[0] != 'x' && k[0] != 'p' && k[0] != 'y' {
			return k
		}
	}
}

// first is an offset of LIMIT in a range. Where Valkey begins with a negative one depends on the encoding.
func first(g *generator) string {
	if g.valkey {
		return strconv.Itoa(g.IntN(9))
	}
	return strconv.Itoa(g.IntN(15) - 6)
}

func value(g *generator) string {
	switch g.IntN(10) {
	case 0:
		return g.pick("", "\x00\xff\r\n", "1.5", strings.Repeat("v", 45), strings.Repeat("w", 21),
			"9223372036854775807", "-0", "01", " 1")
	case 1, 2, 3, 4:
		return strconv.Itoa(g.IntN(20) - 3)
	}
	if g.numeric {
		return strconv.Itoa(g.IntN(100000) - 50000)
	}
	return g.pick("a", "b", "c", "f1", "abc", "xyzzy")
}

func member(g *generator) string {
	if g.numeric {
		return g.pick("1", "2", "3", "4", "5", "6", "70", "-8", "40000", "-2147483649")
	}
	if g.IntN(20) == 0 {
		return g.pick("", strings.Repeat("m", 21), "\x80")
	}
	return g.pick("a", "b", "c", "d", "f1", "f2", "f3", "f4", "1", "2", "300")
}

func integer(g *generator) string {
	return g.rare("9223372036854775807", "-9223372036854775808", "x", "1.5", "", "+1", strconv.Itoa(g.IntN(30)-10))
}

// float avoids fractions without a short exact form, because 7.0 and 7.2 write them differently.
func float(g *generator) string {
	return g.rare("inf", "-inf", "x", "nan", "1e3", "-0", fmt.Sprint(float64(g.IntN(40)-10)/4))
}

func score(g *generator) string {
	made := anyScore(g)
	if g.valkey && made == "0x10" { // it refuses such a score
		return "16"
	}
	return made
}

func anyScore(g *generator) string {
	if !g.older && g.IntN(3) == 0 {
		return wideScore(g)
	}
	return g.rare("inf", "-inf", "x", "nan", "1e3", "-0", "0x10", fmt.Sprint(float64(g.IntN(24)-4)/2))
}

// weight has the values of a score, where 7.0 and 7.2 agree on them.
func weight(g *generator) string {
	if !g.older && g.IntN(3) == 0 {
		return wideScore(g)
	}
	return float(g)
}

// wideScore makes numbers whose digits depend on how they are found. None is so small that strtod sets errno:
// SORT in Redis would take that for an error of its own.
func wideScore(g *generator) string {
	switch g.IntN(4) {
	case 0:
		return strconv.FormatUint(g.Uint64()>>g.IntN(64), 10)
	case 1:
		return fmt.Sprintf("%.17g", (g.Float64()-0.5)*math.Pow10(g.IntN(40)-15))
	}
	return g.pick("4503599627370495", "4503599627370496", "-9007199254740993", "5e15", "1e15", "1e17", "1.7e18",
		"4611686018427387904", "4611686018427388928", "-4611686018427388928", "9.2e18", "9.3e18", "1e21", "-1e23",
		"9223372036854775808", "72057594037927937", "1e-300", "1.7976931348623157e308",
		"0.30000000000000004", "0.99123", "1e-7", "-1e-7", "0.1", "-0", "1e8")
}

const geoMaxLat = 85.05112878

// degrees returns a coordinate near one of bases and within limit. Two places never have the same
// distance from a third one.
func degrees(g *generator, limit float64, bases ...float64) string {
	d := bases[g.IntN(len(bases))] + (g.Float64()-0.5)*math.Pow10(g.IntN(3))
	if math.Abs(d) > limit {
		d = math.Copysign(2*limit-math.Abs(d), d)
	}
	if g.IntN(50) == 0 {
		return g.pick("x", "181", "inf")
	}
	return fmt.Sprintf("%.9f", d)
}

func metres(g *generator) string {
	return g.rare("0", "-1", "x", fmt.Sprintf("%.3f", math.Exp(g.Float64()*17)),
		fmt.Sprintf("%.3f", 10+g.Float64()*5000))
}

func streamID(g *generator) string {
	return g.rare("0", "0-0", "x", "5-x",
		fmt.Sprintf("%d-%d", g.IntN(40), g.IntN(3)))
}

package main

import (
	"slices"
	"strings"
)

// breadthRows are all rows of `bench breadth`. Each row brings its own data: it measures the same
// when it runs alone.
func breadthRows() []breadthRow {
	return slices.Concat(
		group("strings", stringRows()), group("keys", keyRows()), group("hashes", hashRows()),
		group("lists", listRows()),
		group("sets", setRows()), group("sorted sets", zsetRows()), group("streams", streamRows()),
		group("bits and estimates", bitRows()), group("scripts", scriptRows()),
		group("real scripts", realScriptRows()), group("scripts that compute", computingRows()),
		group("server", serverRows()),
		group("pipeline 16", pipelineRows(16, 400_000)), group("pipeline 1", pipelineRows(1, 100_000)),
		group("16 KB, pipeline 16", largeRows()),
		group("2 to 32 KB", sizeRows()), group("4 million keys", manyKeyRows()),
	)
}

func group(name string, rows []breadthRow) []breadthRow {
	for i := range rows {
		rows[i].group = name
	}
	return rows
}

// request is a row whose request is written as words.
func request(name string, n, pipeline int, words string, fill ...data) breadthRow {
	return breadthRow{workload: workload{name: name, args: strings.Fields(words)}, n: n, pipeline: pipeline, data: fill}
}

func stringRows() []breadthRow {
	text := func(n int) string { return strings.Repeat("x", n) }
	big := func(n int) data { return once("SET", "big", text(n)) }
	ten := strings.Join(repeated(10, func(i int) string { return "k:" + padded(i) }, "MGET"), " ")
	return []breadthRow{
		request("SET NX PX", 200_000, 16, "SET k:__rand_int__ v NX PX 100000"),
		request("SET 10 KB", 40_000, 1, "SET v:__rand_int__ "+text(10_000)),
		request("GET 10 KB", 60_000, 1, "GET big", big(10_000)),
		request("GET 100 KB", 10_000, 1, "GET big", big(100_000)),
		request("GET 1 MB", 1_000, 1, "GET big", big(1_000_000)),
		request("APPEND", 200_000, 16, "APPEND a:__rand_int__ x"),
		request("GETRANGE", 200_000, 16, "GETRANGE big 10 20", big(1_000)),
		request("SETRANGE", 200_000, 16, "SETRANGE big 10 yyy", big(1_000)),
		request("MGET of 10", 60_000, 16, ten, stringKeys("k:", 10, "v")),
		request("INCRBYFLOAT", 200_000, 16, "INCRBYFLOAT f 0.5"),
	}
}

func keyRows() []breadthRow {
	const keys = 100_000
	return []breadthRow{
		request("EXISTS", 200_000, 16, "EXISTS k:__rand_int__", stringKeys("k:", keys, "v")),
		request("DEL", 200_000, 16, "DEL k:__rand_int__", stringKeys("k:", keys, "v", "PX", "100000")),
		request("EXPIRE", 200_000, 16, "EXPIRE a:__rand_int__ 100", stringKeys("a:", keys, "x")),
		request("PTTL", 200_000, 16, "PTTL a:__rand_int__", stringKeys("a:", keys, "x", "EX", "100")),
		request("OBJECT ENCODING", 200_000, 16, "OBJECT ENCODING l10", listOf("l10", 10)),
		request("DUMP", 20_000, 1, "DUMP h100", hashOf("h100", 100)),
		request("SORT", 1_000, 1, "SORT i1000", intsetOf("i1000", 1_000)),
		request("SORT ALPHA", 500, 1, "SORT s1000 ALPHA", setOf("s1000", 1_000)),
		request("SCAN COUNT 100", 20_000, 1, "SCAN 0 COUNT 100", stringKeys("k:", keys, "v")),
		request("KEYS", 20, 1, "KEYS nomatch*", stringKeys("k:", keys, "v")),
	}
}

func hashRows() []breadthRow {
	return []breadthRow{
		request("HGET", 200_000, 16, "HGET h1000 field-500", hashOf("h1000", 1_000)),
		request("HGETALL of 100", 20_000, 1, "HGETALL h100", hashOf("h100", 100)),
		request("HGETALL of 1000", 5_000, 1, "HGETALL h1000", hashOf("h1000", 1_000)),
		request("HINCRBY", 200_000, 16, "HINCRBY hc f:__rand_int__ 1"),
		request("HSET in 100,000", 200_000, 16, "HSET h100000 field-__rand_int__ v", hashOf("h100000", 100_000)),
	}
}

func listRows() []breadthRow {
	// LREM takes the elements x from behind the first 500 others.
	const removals = 5_000
	remove := []data{
		listOf("l", 500), filled("RPUSH", "l", removals, func(int) []string { return []string{"x"} }), listOf("l", 500),
	}
	return []breadthRow{
		request("LRANGE of 100", 20_000, 1, "LRANGE l1000 0 99", listOf("l1000", 1_000)),
		request("LRANGE of 1000", 4_000, 1, "LRANGE l1000 0 -1", listOf("l1000", 1_000)),
		request("LINDEX in 100,000", 20_000, 16, "LINDEX l100000 50000", listOf("l100000", 100_000)),
		request("LINSERT", 5_000, 1, "LINSERT l1000 BEFORE element-500 x", listOf("l1000", 1_000)),
		request("LREM", removals, 1, "LREM l 1 x", remove...),
		request("LPOS", 20_000, 16, "LPOS l1000 element-900", listOf("l1000", 1_000)),
	}
}

func setRows() []breadthRow {
	small, large := setOf("s1000", 1_000), setOf("s100000", 100_000)
	smallInts, largeInts := intsetOf("i1000", 1_000), intsetOf("i100000", 100_000)
	return []breadthRow{
		request("SISMEMBER", 200_000, 16, "SISMEMBER s100000 member-__rand_int__",
			filled("SADD", "s100000", 100_000, func(i int) []string { return []string{"member-" + padded(i)} })),
		request("SMEMBERS of 1000", 5_000, 1, "SMEMBERS s1000", small),
		request("SINTER", 3_000, 1, "SINTER s1000 s100000", small, large),
		request("SINTER of integers", 5_000, 1, "SINTER i1000 i100000", smallInts, largeInts),
		request("SUNION", 3_000, 1, "SUNION s100 s1000", setOf("s100", 100), small),
		request("SRANDMEMBER", 100_000, 16, "SRANDMEMBER s100000", large),
	}
}

func zsetRows() []breadthRow {
	small, large := zsetOf("z1000", 1_000), zsetOf("z100000", 100_000)
	return []breadthRow{
		request("ZADD in 100,000", 200_000, 16, "ZADD z100000 __rand_int__ m:__rand_int__", large),
		request("ZSCORE", 200_000, 16, "ZSCORE z100000 member-500", large),
		request("ZRANK", 100_000, 16, "ZRANK z100000 member-50000", large),
		request("ZRANGE of 100", 20_000, 1, "ZRANGE z1000 0 99", small),
		request("ZRANGE WITHSCORES of 200", 10_000, 1, "ZRANGE z1000 0 199 WITHSCORES", small),
		request("ZRANGEBYSCORE", 20_000, 1, "ZRANGEBYSCORE z100000 1000 1200", large),
		request("ZINCRBY", 200_000, 16, "ZINCRBY z1000 1 member-5", small),
		request("ZUNION", 1_000, 1, "ZUNION 2 z100 z1000", zsetOf("z100", 100), small),
	}
}

func streamRows() []breadthRow {
	return []breadthRow{
		request("XADD", 100_000, 16, "XADD xs MAXLEN ~ 10000 * f v"),
		request("XRANGE of 100", 10_000, 1, "XRANGE x - + COUNT 100", streamOf("x", 10_000)),
		request("XLEN", 200_000, 16, "XLEN x", streamOf("x", 10_000)),
	}
}

func bitRows() []breadthRow {
	bits := func(key, last string) data { return once("SETRANGE", key, "100000", last) }
	counted := hyperLogLogOf("hll", "e", 1_000)
	return []breadthRow{
		request("PFADD", 200_000, 16, "PFADD hll __rand_int__", counted),
		request("PFCOUNT of two", 3_000, 1, "PFCOUNT hll hll2", counted, hyperLogLogOf("hll2", "g", 1_000)),
		request("GEOSEARCH", 3_000, 1, "GEOSEARCH geo FROMLONLAT 10 10 BYRADIUS 2000 km ASC", placesOf("geo", 5_000)),
		request("BITCOUNT of 100 KB", 20_000, 1, "BITCOUNT bits", bits("bits", "x")),
		request("BITOP of 100 KB", 10_000, 1, "BITOP AND d bits bits2", bits("bits", "x"), bits("bits2", "y")),
		request("SETBIT", 200_000, 16, "SETBIT bits 7000 1", bits("bits", "x")),
		request("BITFIELD", 100_000, 16, "BITFIELD bits INCRBY u8 100 1", bits("bits", "x")),
	}
}

// script is a row that sends EVAL.
func script(name string, n int, lua string, keysAndArgs ...string) breadthRow {
	return breadthRow{
		workload: workload{name: name, args: append([]string{"EVAL", lua}, keysAndArgs...)},
		n:        n, pipeline: 1,
	}
}

func scriptRows() []breadthRow {
	const document = `{"a":[1,2,3],"b":{"c":"d","e":1.5}}`
	const fields = "local h=redis.call('HGETALL',KEYS[1]) local n=0 for i=1,#h,2 do n=n+#h[i] end return n"
	hgetall := script("EVAL HGETALL", 3_000, fields, "1", "h1000")
	hgetall.data = []data{hashOf("h1000", 1_000)}
	return []breadthRow{
		script("EVAL 10 INCR", 30_000, "for i=1,10 do redis.call('INCR',KEYS[1]) end return 1", "1", "c"),
		script("EVAL string.format", 20_000,
			"local t={} for i=1,20 do t[#t+1]=string.format('%d:%s',i,ARGV[1]) end return table.concat(t,',')", "0",
			"abc"),
		script("EVAL cjson", 20_000, "return cjson.encode(cjson.decode(ARGV[1]))", "0", document),
		hgetall,
	}
}

func computingRows() []breadthRow {
	const fib = "local function f(n) if n<2 then return n end return f(n-1)+f(n-2) end return f(20)"
	const sum = "local t={} for i=1,1000 do t[i]=i*2 end local s=0 for _,v in ipairs(t) do s=s+v end return s"
	return []breadthRow{
		script("EVAL loop of 1000", 2_000, "local s=0 for i=1,1000 do s=s+i end return s", "0"),
		script("EVAL fib(20)", 60, fib, "0"),
		script("EVAL table of 1000", 2_000, sum, "0"),
	}
}

func serverRows() []breadthRow {
	return []breadthRow{
		request("PING", 200_000, 16, "PING"),
		request("PUBLISH to nobody", 200_000, 16, "PUBLISH c m"),
		request("INFO", 5_000, 1, "INFO"),
		request("CLIENT LIST", 2_000, 1, "CLIENT LIST"),
		request("COMMAND", 100, 1, "COMMAND"),
	}
}

// pipelineRows are commands of `bench compare` with its number of connections.
func pipelineRows(pipeline, n int) (rows []breadthRow) {
	for _, w := range loadWorkloads() {
		if slices.Contains([]string{"set", "get", "incr", "hset", "lpush", "rpop", "sadd", "zadd"}, w.name) {
			w.name = strings.ToUpper(w.name)
			if pipeline > 1 {
				w.name += " P16"
			} else {
				w.name += " P1"
			}
			rows = append(rows, breadthRow{workload: w, n: n, pipeline: pipeline, clients: 50})
		}
	}
	return rows
}

func largeRows() []breadthRow {
	const keys = 1_000
	set := request("SET 16 KB P16", 60_000, 16, "SET v:__rand_int__ "+strings.Repeat("x", 16<<10))
	get := request("GET 16 KB P16", 60_000, 16, "GET v:__rand_int__",
		stringKeys("v:", keys, strings.Repeat("x", 16<<10)))
	set.keys, get.keys = keys, keys
	return []breadthRow{set, get}
}

package main

import "strings"

// adminRows are commands about users, clients, configuration and commands.
var adminRows = []attack{
	{name: "admin: acl rules", does: "ACL SETUSER with n commands.", short: 5_000, full: 100_000,
		run: once("ACL SETUSER u", "+get|sub{i}")},
	{name: "admin: acl keys", does: "ACL SETUSER with n patterns of keys.", short: 5_000, full: 50_000,
		held: true, run: once("ACL SETUSER u on nopass +@all", "~key{i}*")},
	{name: "admin: acl channels", does: "ACL SETUSER with n patterns of channels.", short: 5_000, full: 50_000,
		run: once("ACL SETUSER u on nopass +@all resetchannels", "&c{i}*")},
	{name: "admin: acl passwords", does: "ACL SETUSER with n passwords.", short: 2_000, full: 20_000,
		run: once("ACL SETUSER u", ">p{i}")},
	{name: "admin: acl categories", does: "ACL SETUSER with n categories and their opposites.",
		short: 3_000, full: 100_000, run: once("ACL SETUSER u", "+@all -@read +@read")},
	{name: "admin: acl selectors", does: "ACL SETUSER with n selectors.", short: 500, full: 20_000,
		run: func(x *attacker) {
			args := words("ACL SETUSER u", 0)
			for i := range x.n {
				args = append(args, "(~k"+itoa(i)+" +get)")
			}
			x.do(args...)
			x.do("ACL", "LIST")
			x.pipe(100, func(int) []string { return words("ACL DRYRUN u GET none", 0) })
		}},
	{name: "admin: acl subcommands", does: "ACL SETUSER with n first arguments.", short: 3_000, full: 30_000,
		run: once("ACL SETUSER u", "+select|{i}")},
	{name: "admin: acl users", does: "n users, and ACL LIST.", short: 2_000, full: 50_000, held: true,
		run: func(x *attacker) {
			times("ACL SETUSER u{i} on >p +@all -@read ~k")(x)
			x.do("ACL", "LIST")
			x.do("ACL", "USERS")
		}},
	{name: "admin: acl checks", does: "MSET of 10,000 keys by a user with n patterns.", short: 300, full: 10_000,
		run: func(x *attacker) {
			x.do(with("ACL SETUSER u on nopass +@all", "~*k*none{i}", x.n)...)
			x.do("ACL", "SETUSER", "u", "~k*")
			x.do("AUTH", "u", "x")
			x.do(with("MSET", "k{i} v", 10_000)...)
		}},
	{name: "admin: acl log", does: "n entries for the ACL log with names of 10 kB.", short: 1_000, full: 20_000,
		run: func(x *attacker) {
			x.do(words("ACL SETUSER u on nopass +@all ~x", 0)...)
			x.do("AUTH", "u", "x")
			name := strings.Repeat("k", 10_000)
			x.pipe(x.n, func(i int) []string { return []string{"GET", name + itoa(i)} })
		}},
	{name: "admin: auth", does: "n wrong passwords of 10 kB.", short: 1_000, full: 20_000,
		prepare: lines("ACL SETUSER u on >p"), run: func(x *attacker) {
			wrong := strings.Repeat("k", 10_000)
			for i := range x.n {
				x.do("AUTH", "u"+itoa(i), wrong)
			}
		}},
	{name: "admin: config get", does: "CONFIG GET of n globs.", short: 2_000, full: 50_000,
		run: once("CONFIG GET", "*a*{i}*b*")},
	{name: "admin: config get of names", does: "CONFIG GET of n names.", short: 20_000, full: 500_000,
		run: once("CONFIG GET", "maxmemory")},
	{name: "admin: config get glob", does: "CONFIG GET with a glob of n stars.", short: 500, full: 500_000,
		run: func(x *attacker) { x.do("CONFIG", "GET", strings.Repeat("*a", x.n)) }},
	{name: "admin: config set", does: "CONFIG SET with n unknown names.", short: 20_000, full: 300_000,
		run: once("CONFIG SET", "name{i} v")},
	{name: "admin: config value", does: "CONFIG SET of a value of n bytes.", short: 1_000_000, full: 50_000_000,
		run: func(x *attacker) {
			x.big(x.n, "CONFIG", "SET", "save")
			x.big(x.n, "CONFIG", "SET", "proc-title-template")
		}},
	{name: "admin: config save", does: "CONFIG SET save of n points.", short: 20_000, full: 300_000,
		run: func(x *attacker) {
			x.do("CONFIG", "SET", "save", joined("60 {i}", " ", x.n))
			x.do("CONFIG", "GET", "save")
		}},
	{name: "admin: command docs", does: "COMMAND DOCS of n names.", short: 1_000, full: 30_000,
		run: once("COMMAND DOCS", "sort")},
	{name: "admin: command info", does: "COMMAND INFO of n names.", short: 5_000, full: 200_000,
		run: once("COMMAND INFO", "xgroup")},
	{name: "admin: command list", does: "COMMAND LIST with a glob of n stars.", short: 500, full: 500_000,
		run: func(x *attacker) { x.do("COMMAND", "LIST", "FILTERBY", "PATTERN", strings.Repeat("*a", x.n)) }},
	{name: "admin: command getkeys", does: "COMMAND GETKEYS of n keys.", short: 200_000, full: 500_000,
		run: once("COMMAND GETKEYS MSET", "k{i} v")},
	{name: "admin: info", does: "INFO of n sections.", short: 20_000, full: 500_000,
		run: once("INFO", "nosuch{i}")},
	{name: "admin: latency histogram", does: "LATENCY HISTOGRAM of n commands.", short: 5_000, full: 200_000,
		run: once("LATENCY HISTOGRAM", "config|get")},
	{name: "admin: script exists", does: "SCRIPT EXISTS of n names.", short: 100_000, full: 1_000_000,
		run: once("SCRIPT EXISTS", "{i}")},
	{name: "admin: function glob", does: "FUNCTION LIST with a glob of n stars.", short: 500, full: 500_000,
		prepare: func(x *attacker) {
			x.do("FUNCTION", "LOAD", "#!lua name="+strings.Repeat("a", 200)+"\n"+
				"redis.register_function('f', function() return 1 end)")
		}, run: func(x *attacker) { x.do("FUNCTION", "LIST", "LIBRARYNAME", strings.Repeat("*a", x.n)) }},
	{name: "admin: function restore", does: "FUNCTION RESTORE of n bytes that are none.",
		short: 1_000_000, full: 50_000_000, run: func(x *attacker) { x.big(x.n, "FUNCTION", "RESTORE") }},
	{name: "admin: client list", does: "CLIENT LIST, 100 times, with n clients.", short: 500, full: 9_000,
		known: "large replies are one piece",
		run: func(x *attacker) {
			x.crowd(x.n, bytesOf("PING\r\n"))
			x.pipe(100, func(int) []string { return []string{"CLIENT", "LIST"} })
		}},
	{name: "admin: client list by id", does: "CLIENT LIST of n numbers, with 100 clients.",
		short: 20_000, full: 1_000_000, run: func(x *attacker) {
			x.crowd(100, bytesOf("PING\r\n"))
			x.do(with("CLIENT LIST ID", "1{i}", x.n)...)
		}},
	{name: "admin: client kill", does: "CLIENT KILL of n clients at once.", short: 500, full: 9_000,
		run: func(x *attacker) {
			x.crowd(x.n, bytesOf("SUBSCRIBE c\r\n"))
			x.do(words("CLIENT KILL TYPE pubsub SKIPME yes", 0)...)
		}},
	{name: "admin: client kill by address", does: "CLIENT KILL of no address, 1,000 times, with n clients.",
		short: 300, full: 9_000, run: func(x *attacker) {
			x.crowd(x.n, bytesOf("PING\r\n"))
			x.pipe(1_000, func(int) []string { return words("CLIENT KILL ADDR 1.2.3.4:5 SKIPME no", 0) })
		}},
	{name: "admin: client kill filters", does: "CLIENT KILL with n filters.", short: 20_000, full: 500_000,
		run: once("CLIENT KILL", "ID 99{i}")},
	{name: "admin: client pause", does: "n clients wait for the end of a pause.", short: 500, full: 9_000,
		run: func(x *attacker) {
			x.do(words("CLIENT PAUSE 300 WRITE", 0)...)
			for _, c := range x.crowd(x.n, bytesOf("SET k v\r\n")) {
				c.read()
			}
		}},
	{name: "admin: lolwut", does: "LOLWUT with large sizes.", short: 5, full: 500,
		run: times("LOLWUT VERSION 5 100000 100000 100000")},
	{name: "admin: debug object", does: "DEBUG OBJECT of a list of n elements, 100 times.",
		short: 100_000, full: 1_000_000, known: "a payload is made to tell its length",
		prepare: fill("RPUSH l", "element{i}"),
		run:     func(x *attacker) { x.pipe(100, func(int) []string { return words("DEBUG OBJECT l", 0) }) }},
	{name: "admin: memory stats", does: "MEMORY STATS and INFO, 300 times, with n databases in use.",
		short: 16, full: 16, run: func(x *attacker) {
			for db := range x.n {
				x.do("SELECT", itoa(db))
				x.do("SET", "k", "v")
			}
			x.pipe(300, func(i int) []string { return [][]string{{"MEMORY", "STATS"}, {"INFO", "everything"}}[i%2] })
		}},
}

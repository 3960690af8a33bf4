package glasshttp

import (
	"slices"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// situations are what the sentences of the page have to be true of: commands of each family, alone and inside of
// something, and every way in which a client, a script or the lab leaves the plain path.
func situations() []situation {
	return slices.Concat(plainSituations(), nestedSituations(), strangeSituations(), fileSituations(),
		replicaSituations(), syncSituations(), oddSituations())
}

// each makes a play of commands of client 1, one after another.
func each(commands ...string) func(*player) {
	return func(p *player) {
		for _, c := range commands {
			p.do(1, c)
		}
	}
}

func threads(more ...string) []string {
	return append([]string{"--io-threads", "3", "--io-threads-do-reads", "yes"}, more...)
}

func plainSituations() []situation {
	return []situation{
		{name: "string", clients: 1, play: each("SET k v", "GET k", "INCR n", "APPEND k w", "GET none")},
		{name: "set if absent, twice", clients: 1, play: each("SET lock t NX PX 30000", "SET lock u NX PX 30000")},
		{name: "list", clients: 1, play: each("RPUSH l a b", "LPOP l", "LRANGE l 0 -1", "LRANGE none 0 -1")},
		{name: "hash", clients: 1, play: each("HSET h f 1", "HGETALL h", "HGET h none")},
		{name: "set", clients: 1, play: each("SADD s a b", "SISMEMBER s a")},
		{name: "sorted set", clients: 1, play: each("ZADD z 1 a", "ZRANGE z 0 -1 WITHSCORES")},
		{name: "stream", clients: 1, play: each("XADD x 1-1 f v", "XRANGE x - +")},
		{name: "bitmap, hyperloglog, geo", clients: 1, play: each("SETBIT b 7 1", "PFADD p a", "GEOADD g 13 52 berlin")},
		{name: "keys and expiry", clients: 1, play: each("SET k v", "PEXPIRE k 100", "PTTL k", "DEL k", "EXISTS k")},
		{name: "server", clients: 1, play: each("DBSIZE", "CONFIG GET maxmemory", "CLIENT GETNAME")},
		{name: "wrong type", clients: 1, play: each("SET k v", "LPUSH k a")},
		{name: "unknown command", clients: 1, play: each("SETT k v")},
		{name: "wrong number of arguments", clients: 1, play: each("GET")},
		{name: "no permission", clients: 1, before: each("ACL SETUSER default -get"), play: each("GET k")},
		{name: "no password", clients: 1, before: each("CONFIG SET requirepass p"), play: func(p *player) {
			p.do(1, "GET k")
		}},
		{name: "out of memory", clients: 1, before: each("CONFIG SET maxmemory 1"), play: each("SET k v", "GET k")},
		{name: "pipeline of three", clients: 1, play: func(p *player) {
			p.raw(1, "SET k 1\r\nINCR k\r\nGET k\r\n")
			p.read(1, 3)
		}},
		{name: "partial command", clients: 1, play: func(p *player) {
			p.arrive(1, "*3\r\n$3\r\nSET\r\n$6\r\nlo")
			p.lab("CLOCK")
			p.raw(1, "ck:a\r\n$1\r\nv\r\n")
			p.read(1, 1)
		}},
		{name: "one and a half commands", clients: 1, play: func(p *player) {
			p.raw(1, "*1\r\n$4\r\nPING\r\n*2\r\n$3\r\nGE")
			p.read(1, 1)
			p.lab("CLOCK")
			p.raw(1, "T\r\n$1\r\nk\r\n")
			p.read(1, 1)
		}},
		{name: "inline partial", clients: 1, play: func(p *player) {
			p.arrive(1, "PI")
			p.lab("CLOCK")
			p.raw(1, "NG\r\n")
			p.read(1, 1)
		}},
		{name: "empty lines", clients: 1, play: func(p *player) {
			p.arrive(1, "\r\n\r\n")
			p.lab("CLOCK")
			p.do(1, "PING")
		}},
		{name: "protocol error", clients: 1, play: func(p *player) {
			p.raw(1, "*1\r\n$x\r\n")
			p.gone(1)
		}},
		{name: "quit", clients: 1, play: func(p *player) { p.do(1, "QUIT"); p.gone(1) }},
		{name: "a new client", clients: 1, play: func(p *player) {
			redistest.Dial(p.t, p.masters.Addrs()[0]).Do("PING")
		}},
		{name: "two clients in one pass", clients: 3, play: func(p *player) {
			p.together(3, func() { p.send(1, "SET lock a NX"); p.send(2, "SET lock b NX") })
			p.read(1, 1)
			p.read(2, 1)
		}},
		{name: "two clients in one pass", clients: 3, args: []string{"--multiplexer", "poll"}, play: func(p *player) {
			p.together(3, func() { p.send(1, "SET lock a NX"); p.send(2, "SET lock b NX") })
			p.read(1, 1)
			p.read(2, 1)
		}},
		{name: "two clients in one pass", clients: 3, args: []string{"--multiplexer", "select"}, play: func(p *player) {
			p.together(3, func() { p.send(1, "SET lock a NX"); p.send(2, "SET lock b NX") })
			p.read(1, 1)
			p.read(2, 1)
		}},
		{name: "one command", clients: 1, args: []string{"--multiplexer", "poll"}, play: each("PING")},
		{name: "one command", clients: 1, args: []string{"--exec", "queue"}, play: each("SET k v", "EVAL \"return 1\" 0")},
		{name: "a new client", clients: 1, args: []string{"--multiplexer", "select"}, play: func(p *player) {
			redistest.Dial(p.t, p.masters.Addrs()[0]).Do("PING")
		}},
		{name: "eight clients", clients: 9, args: threads(), play: playEight},
		{name: "eight clients", clients: 9, args: threads("--exec", "queue"), play: playEight},
		{name: "eight clients, threads only write", clients: 9, args: []string{"--io-threads", "3"}, play: playEight},
		{name: "gather finds more", clients: 4, args: threads(), before: each("PING", "PING"), play: playGather},
		{name: "gather finds nothing new", clients: 3, args: threads(), before: each("PING", "PING"), play: playTwo},
		{name: "another master", clients: 1, args: []string{"--masters", "3"}, play: func(p *player) {
			p.do(1, "LAB MASTER 2 CLOCK")
			p.do(1, "LAB ALL CLOCK FREEZE")
		}},
		{name: "large reply", clients: 1, before: each("SETRANGE big 100000 x"), play: func(p *player) {
			p.do(1, "STRLEN big")
			p.do(1, "GETRANGE big 0 19999")
		}},
	}
}

func nestedSituations() []situation {
	const call = `EVAL "redis.call('set', KEYS[1], 'v') return redis.call('get', KEYS[1])" 1 k`
	return []situation{
		{name: "transaction", clients: 1, play: each("MULTI", "INCR a", "GET a", "EXEC")},
		{name: "transaction in one packet, with a script", clients: 1, play: func(p *player) {
			p.raw(1, "MULTI\r\nINCR a\r\nEXEC\r\nEVAL \"return redis.call('incr', 'a')\" 1 a\r\n")
			p.read(1, 4)
		}},
		{name: "transaction with an error inside", clients: 1,
			before: each("SET k v"),
			play:   each("MULTI", "INCR k", "SET k w", "EXEC")},
		{name: "transaction with an unknown command", clients: 1, play: each("MULTI", "SETT a", "SET a 1", "EXEC")},
		{name: "discarded transaction", clients: 1, play: each("MULTI", "SET a 1", "DISCARD")},
		{name: "EXEC without MULTI", clients: 1, play: each("EXEC")},
		{name: "watched key changes", clients: 2, play: func(p *player) {
			p.do(1, "WATCH k")
			p.do(1, "MULTI")
			p.do(1, "SET k 1")
			p.do(2, "SET k 2")
			p.do(1, "EXEC")
		}},
		{name: "script", clients: 1, play: each(call)},
		{name: "script, thrice, threads", clients: 1, args: threads(), play: each(call)},
		{name: "script whose call fails", clients: 1,
			before: each("SET k v"),
			play:   each(`EVAL "return redis.call('incr', KEYS[1])" 1 k`)},
		{name: "script that catches an error", clients: 1,
			before: each("SET k v"),
			play:   each(`EVAL "return redis.pcall('incr', KEYS[1])['err']" 1 k`)},
		{name: "unknown script", clients: 1, play: each("EVALSHA ffffffffffffffffffffffffffffffffffffffff 0")},
		{name: "script inside a transaction", clients: 1, play: each("MULTI", call, "EXEC")},
		{name: "function", clients: 1,
			before: each("FUNCTION LOAD \"#!lua name=m\n" +
				"redis.register_function('f', function(k) return redis.call('incr', k[1]) end)\""),
			play: each("FCALL f 1 n")},
		{name: "publish", clients: 2, before: func(p *player) { p.do(2, "SUBSCRIBE ch") }, play: func(p *player) {
			p.do(1, "PUBLISH ch hello")
			p.read(2, 1)
		}},
		{name: "publish, threads", clients: 2, args: threads(),
			before: func(p *player) { p.do(2, "SUBSCRIBE ch") },
			play: func(p *player) {
				p.do(1, "PUBLISH ch hello")
				p.read(2, 1)
			}},
		{name: "publish to a pattern and to nobody", clients: 2,
			before: func(p *player) { p.do(2, "PSUBSCRIBE c*") },
			play: func(p *player) {
				p.do(1, "PUBLISH ch hello")
				p.read(2, 1)
				p.do(1, "PUBLISH other hello")
			}},
		{name: "publish inside a transaction", clients: 2,
			before: func(p *player) { p.do(2, "SUBSCRIBE ch") },
			play: func(p *player) {
				p.do(1, "MULTI")
				p.do(1, "PUBLISH ch hello")
				p.do(1, "EXEC")
				p.read(2, 1)
			}},
		{name: "publish inside a script", clients: 2,
			before: func(p *player) { p.do(2, "SUBSCRIBE ch") },
			play: func(p *player) {
				p.do(1, `EVAL "return redis.call('publish', 'ch', 'hello')" 0`)
				p.read(2, 1)
			}},
		{name: "publish to oneself", clients: 1,
			before: func(p *player) { p.do(1, "HELLO 3"); p.do(1, "SUBSCRIBE ch") },
			play: func(p *player) {
				p.do(1, "PUBLISH ch hello")
				p.read(1, 1)
			}},
		{name: "subscribe, and a command that is not allowed then", clients: 1,
			play: each("SUBSCRIBE ch", "GET k", "UNSUBSCRIBE ch")},
		{name: "sharded publish", clients: 2, before: func(p *player) { p.do(2, "SSUBSCRIBE ch") }, play: func(p *player) {
			p.do(1, "SPUBLISH ch hello")
			p.read(2, 1)
		}},
		{name: "tracking", clients: 2,
			before: func(p *player) { p.do(2, "HELLO 3"); p.do(2, "CLIENT TRACKING ON"); p.do(2, "GET k") },
			play: func(p *player) {
				p.do(1, "SET k v")
				p.read(2, 1)
			}},
		{name: "keyspace event", clients: 2, before: func(p *player) {
			p.do(1, "CONFIG SET notify-keyspace-events KEA")
			p.do(2, "SUBSCRIBE __keyevent@0__:del")
			p.do(1, "SET k v")
		}, play: func(p *player) {
			p.do(1, "DEL k")
			p.read(2, 1)
		}},
		{name: "monitor", clients: 2, before: func(p *player) { p.do(2, "MONITOR") }, play: func(p *player) {
			p.do(1, "PING")
			p.read(2, 1)
		}},
	}
}

func strangeSituations() []situation {
	lost := func(rule string) func(*player) {
		return func(p *player) { p.lab("FAULT ADD " + rule) }
	}
	return []situation{
		{name: "blocked list, served", clients: 2, play: func(p *player) {
			p.arrive(1, request("BLPOP q 0"))
			p.lab("CLOCK")
			p.do(2, "LPUSH q job")
			p.read(1, 1)
		}},
		{name: "blocked list, nothing to wait for", clients: 1, play: each("LPUSH q job", "BLPOP q 0")},
		{name: "blocked list, time over", clients: 1, play: func(p *player) {
			p.arrive(1, request("BLPOP q 1"))
			p.lab("CLOCK")
			p.lab("CLOCK ADVANCE 1001")
			p.read(1, 1)
		}},
		{name: "blocked list, unblocked", clients: 2, play: func(p *player) {
			p.arrive(1, request("BLPOP q 0"))
			p.lab("CLOCK")
			p.do(2, "CLIENT UNBLOCK 1 ERROR")
			p.read(1, 1)
		}},
		{name: "blocked list, served by a transaction", clients: 2, play: func(p *player) {
			p.arrive(1, request("BLPOP q 0"))
			p.lab("CLOCK")
			p.do(2, "MULTI")
			p.do(2, "LPUSH q job")
			p.do(2, "EXEC")
			p.read(1, 1)
		}},
		{name: "blocked stream, served", clients: 2, play: func(p *player) {
			p.arrive(1, request("XREAD BLOCK 0 STREAMS x $"))
			p.lab("CLOCK")
			p.do(2, "XADD x 1-1 f v")
			p.read(1, 1)
		}},
		{name: "blocked, and the client leaves", clients: 1, play: func(p *player) {
			p.arrive(1, request("BLPOP q 0"))
			p.lab("CLOCK")
			p.conns[0].Close()
			p.untilGone(1)
		}},
		{name: "blocking command inside a transaction", clients: 1, play: each("MULTI", "BLPOP q 0", "EXEC")},
		{name: "expired key is met", clients: 1, before: each("SET k v PX 50"), play: func(p *player) {
			p.lab("CLOCK ADVANCE 51")
			p.do(1, "GET k")
		}},
		{name: "busy script", clients: 2, args: []string{"--busy-reply-threshold", "20"}, play: playBusy},
		{name: "busy script", clients: 2, args: []string{"--busy-reply-threshold", "20", "--exec", "queue"},
			play: playBusy},
		{name: "busy script", clients: 2, args: threads("--busy-reply-threshold", "20"), play: playBusy},
		{name: "busy script, a transaction is queued", clients: 2, args: []string{"--busy-reply-threshold", "20"},
			play: func(p *player) {
				p.busy("MULTI")
				p.do(2, "AUTH default x")
				p.do(2, "DISCARD")
				p.do(2, "SCRIPT KILL")
				p.read(1, 1)
			}},
		{name: "CLIENT PAUSE", clients: 2, play: func(p *player) {
			p.do(2, "CLIENT PAUSE 100000 WRITE")
			p.arrive(1, request("SET k v"))
			p.lab("CLOCK")
			p.do(2, "CLIENT UNPAUSE")
			p.read(1, 1)
		}},
		{name: "CLIENT REPLY OFF", clients: 1, play: func(p *player) {
			p.raw(1, "CLIENT REPLY OFF\r\nSET k v\r\nCLIENT REPLY ON\r\n")
			p.read(1, 1)
		}},
		{name: "killed by another", clients: 2, play: func(p *player) { p.do(2, "CLIENT KILL ID 1"); p.gone(1) }},
		{name: "half-closed", clients: 1, play: func(p *player) {
			p.raw(1, "PING\r\n")
			p.read(1, 1)
			p.halfClose(1)
			p.gone(1)
		}},
		{name: "half-closed with a command", clients: 2, play: func(p *player) {
			p.together(2, func() { p.raw(1, "PING\r\n"); p.halfClose(1) })
			p.gone(1)
		}},
		{name: "reset", clients: 1, play: func(p *player) { p.reset(1); p.untilGone(1) }},
		{name: "lost reply", clients: 1, before: lost("lost CMD set NTH 1 ACTION DROP-REPLY"), play: func(p *player) {
			p.send(1, "SET lock t NX")
			p.gone(1)
		}},
		{name: "lost request", clients: 1, before: lost("lost CMD set ACTION DROP-BEFORE"), play: func(p *player) {
			p.send(1, "SET lock t NX")
			p.gone(1)
		}},
		{name: "reset after", clients: 1, before: lost("r CMD set ACTION RESET-AFTER"), play: func(p *player) {
			_ = p.conns[0].Send([]byte("SET lock t NX\r\n")) // the reset may come before the arrival is seen
			p.gone(1)
		}},
		{name: "silent", clients: 2, before: lost("s CMD set ACTION SILENT"), play: func(p *player) {
			p.arrive(1, request("SET lock t NX"))
			p.do(2, "GET lock")
		}},
		{name: "error instead", clients: 1, before: lost("e CMD set ACTION ERROR LOADING"), play: each("SET k v")},
		{name: "error after", clients: 1, before: lost("e CMD set ACTION ERROR-AFTER LOADING"), play: each("SET k v")},
		{name: "late reply", clients: 1, before: lost("d CMD set ACTION DELAY-REPLY 10"), play: func(p *player) {
			p.arrive(1, request("SET k v"))
			p.lab("CLOCK")
			p.lab("CLOCK ADVANCE 11")
			p.read(1, 1)
		}},
		{name: "late execution", clients: 1, before: lost("d CMD set ACTION DELAY-EXEC 10"), play: func(p *player) {
			p.arrive(1, request("SET k v"))
			p.lab("CLOCK")
			p.lab("CLOCK ADVANCE 11")
			p.read(1, 1)
		}},
		{name: "cut reply", clients: 1, before: lost("c CMD get ACTION CUT 2"), play: func(p *player) {
			p.send(1, "GET k")
			p.gone(1)
		}},
		{name: "held", clients: 2, before: lost("h CMD del ACTION HOLD"), play: func(p *player) {
			p.arrive(1, request("DEL lock"))
			p.lab("HOLD WAIT h 60000")
			p.do(2, "SET lock b")
			p.lab("HOLD RELEASE h")
			p.read(1, 1)
		}},
		{name: "message thrown away", clients: 2, before: func(p *player) {
			p.do(2, "SUBSCRIBE ch")
			p.lab("FAULT ADD m CMD message ACTION SKIP-PUSH")
		}, play: each("PUBLISH ch hello")},
		{name: "message late", clients: 2, before: func(p *player) {
			p.do(2, "SUBSCRIBE ch")
			p.lab("FAULT ADD m CMD message ACTION DELAY-PUSH 10")
		}, play: func(p *player) {
			p.do(1, "PUBLISH ch hello")
			p.lab("CLOCK ADVANCE 11")
			p.read(2, 1)
		}},
		{name: "reply of a blocked command is lost", clients: 2,
			before: lost("lost CMD blpop ACTION DROP-REPLY"),
			play: func(p *player) {
				p.arrive(1, request("BLPOP q 0"))
				p.lab("CLOCK")
				p.do(2, "LPUSH q job")
				p.gone(1)
			}},
	}
}

func playBusy(p *player) {
	p.busy("GET k")
	p.do(2, "SCRIPT KILL")
	p.read(1, 1)
}

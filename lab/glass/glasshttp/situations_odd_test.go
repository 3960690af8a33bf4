package glasshttp

import (
	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/lab/glass"
)

// oddSituations are where one strange thing meets another.
func oddSituations() []situation {
	return append(oddPlaces(), oddEnds()...)
}

func oddPlaces() []situation {
	const push = `EVAL "return redis.call('lpush', KEYS[1], 'job')" 1 q`
	blocked := func(command string) func(*player) {
		return func(p *player) {
			p.arrive(1, request(command))
			p.lab("CLOCK")
		}
	}
	on := func(policy string) []string {
		return []string{"--lab-disk", "yes", "--appendonly", "yes", "--appendfsync", policy}
	}
	return []situation{
		{name: "blocked list, served by a script inside a transaction", clients: 2, before: blocked("BLPOP q 0"),
			play: func(p *player) {
				p.do(2, "MULTI")
				p.do(2, push)
				p.do(2, "EXEC")
				p.read(1, 1)
			}},
		{name: "blocked pop that serves another blocked pop", clients: 3, before: func(p *player) {
			blocked("BLMOVE q r LEFT LEFT 0")(p)
			p.arrive(2, request("BLPOP r 0"))
			p.lab("CLOCK")
		}, play: func(p *player) {
			p.do(3, "LPUSH q job")
			p.read(2, 1)
		}},
		{name: "blocked with a command behind it", clients: 2, play: func(p *player) {
			p.arrive(1, request("BLPOP q 0")+request("SET k v"))
			p.lab("CLOCK")
			p.do(2, push)
			p.read(1, 2)
		}},
		{name: "blocked with a file", clients: 2, args: on("always"), before: blocked("XREAD BLOCK 0 STREAMS x $"),
			play: func(p *player) {
				p.do(2, "XADD x 1-1 f v")
				p.read(1, 1)
			}},
		{name: "blocked, and the key gets another type", clients: 2, before: func(p *player) {
			p.do(2, "XADD x 1-1 f v")
			p.do(2, "XGROUP CREATE x g $")
			blocked("XREADGROUP GROUP g c BLOCK 0 STREAMS x >")(p)
		}, play: func(p *player) {
			p.do(2, "DEL x")
			p.read(1, 1)
		}},
		{name: "WAITAOF", clients: 1, args: on("everysec"), play: func(p *player) {
			p.do(1, "SET k v")
			p.arrive(1, request("WAITAOF 1 0 0"))
			p.lab("CLOCK")
			p.lab("CLOCK ADVANCE 1001")
			p.read(1, 1)
		}},
		{name: "subscribe inside a transaction", clients: 1, play: func(p *player) {
			p.do(1, "MULTI")
			p.do(1, "SUBSCRIBE ch")
			p.do(1, "GET k")
			p.do(1, "EXEC")
		}},
		{name: "two channels in one command, RESP3", clients: 1, before: each("HELLO 3"), play: func(p *player) {
			p.send(1, "SUBSCRIBE a b")
			p.read(1, 2)
			p.do(1, "GET k")
			p.do(1, "RESET")
		}},
		{name: "key events of a script", clients: 2, before: func(p *player) {
			p.do(2, "CONFIG SET notify-keyspace-events KEA")
			p.do(2, "PSUBSCRIBE __key*__:*")
		}, play: func(p *player) {
			p.do(1, `EVAL "redis.call('set', KEYS[1], 'v') redis.call('del', KEYS[1])" 1 k`)
			p.read(2, 4)
		}},
		{name: "tracking of one's own key, and FLUSHALL", clients: 2, before: func(p *player) {
			p.do(1, "HELLO 3")
			p.do(1, "CLIENT TRACKING ON")
			p.do(1, "GET k")
		}, play: func(p *player) {
			p.do(1, "SET k v")
			p.read(1, 1)
			p.do(1, "GET k")
			p.do(2, "FLUSHALL")
			p.read(1, 1)
		}},
		{name: "eviction", clients: 1, before: func(p *player) {
			p.do(1, "CONFIG SET maxmemory-policy allkeys-lru")
			p.do(1, "SET a v")
		}, play: func(p *player) {
			p.do(1, "CONFIG SET maxmemory 1")
			p.do(1, `EVAL "return redis.call('set', KEYS[1], 'v')" 1 e`)
			p.do(1, "GET e")
		}},
		{name: "out of memory inside a script", clients: 1, before: each("CONFIG SET maxmemory 1"), play: each(
			`EVAL "return redis.call('set', KEYS[1], 'v')" 1 k`, "MULTI", "SET k v", "EXEC")},
		{name: "key expires inside a transaction", clients: 1, before: each("SET k v PX 50"),
			play: func(p *player) {
				p.do(1, "MULTI")
				p.do(1, "GET k")
				p.lab("CLOCK ADVANCE 51")
				p.do(1, "EXEC")
			}},
		{name: "keys loaded again", clients: 2, args: []string{"--lab-disk", "yes", "--enable-debug-command", "yes"},
			before: each("SET k v"),
			play: func(p *player) {
				before := p.count(trace.ReadDone)
				p.do(1, "DEBUG RELOAD")
				// After the wait of its client the server looks at once whether it has sent more.
				redistest.Until(p.t, func() bool { return p.count(trace.ReadDone) == before+2 })
				p.do(1, "GET k")
			}},
	}
}

func oddEnds() []situation {
	return []situation{
		{name: "reply of EXEC is lost", clients: 1,
			before: func(p *player) { p.lab("FAULT ADD lost CMD exec ACTION DROP-REPLY") },
			play: func(p *player) {
				p.do(1, "MULTI")
				p.do(1, "INCR a")
				p.send(1, "EXEC")
				p.gone(1)
			}},
		{name: "reply of a command inside EXEC", clients: 1,
			before: func(p *player) { p.lab("FAULT ADD lost CMD incr ACTION DROP-REPLY") },
			play: func(p *player) {
				p.do(1, "MULTI")
				p.do(1, "INCR a")
				p.send(1, "EXEC")
				p.gone(1)
			}},
		{name: "held inside a transaction", clients: 2,
			before: func(p *player) { p.lab("FAULT ADD h CMD exec ACTION HOLD") },
			play: func(p *player) {
				p.do(1, "MULTI")
				p.do(1, "INCR a")
				p.arrive(1, request("EXEC"))
				p.lab("HOLD WAIT h 60000")
				p.do(2, "SET a text")
				p.lab("HOLD RELEASE h")
				p.read(1, 1)
			}},
		{name: "held, and the client leaves", clients: 1,
			before: func(p *player) { p.lab("FAULT ADD h CMD del ACTION HOLD") },
			play: func(p *player) {
				p.arrive(1, request("DEL lock"))
				p.lab("HOLD WAIT h 60000")
				p.conns[0].Close()
				p.untilGone(1)
			}},
		{name: "kills itself", clients: 1, play: func(p *player) { p.do(1, "CLIENT KILL ID 1 SKIPME no"); p.gone(1) }},
		{name: "killed while blocked", clients: 2, before: func(p *player) {
			p.arrive(1, request("BLPOP q 0"))
			p.lab("CLOCK")
		}, play: func(p *player) { p.do(2, "CLIENT KILL ID 1"); p.gone(1) }},
		{name: "killed in the pass that has read it", clients: 4, args: threads(), play: func(p *player) {
			p.together(4, func() {
				p.send(1, "CLIENT KILL ID 2")
				p.send(2, "INCR a")
				p.send(3, "INCR a")
			})
			p.gone(2)
			p.read(3, 1)
		}},
		{name: "killed inside a transaction of its own", clients: 2, play: func(p *player) {
			p.do(1, "MULTI")
			p.do(1, "CLIENT KILL ID 2")
			p.do(1, "EXEC")
			p.gone(2)
		}},
		{name: "CLIENT PAUSE of everything", clients: 2, play: func(p *player) {
			p.do(2, "CLIENT PAUSE 100000 ALL")
			p.arrive(1, request("GET k")+request("GET k"))
			p.lab("CLOCK")
			p.lab("CLOCK ADVANCE 100001")
			p.read(1, 2)
		}},
		{name: "CLIENT REPLY SKIP", clients: 1, play: func(p *player) {
			p.raw(1, "CLIENT REPLY SKIP\r\nSET k v\r\nGET k\r\n")
			p.read(1, 1)
		}},
		{name: "CLIENT NO-EVICT and NO-TOUCH", clients: 1, play: each("CLIENT NO-EVICT ON", "CLIENT NO-TOUCH ON", "GET k")},
		{name: "monitor sees a script", clients: 2, before: func(p *player) { p.do(2, "MONITOR") },
			play: func(p *player) {
				p.do(1, `EVAL "return redis.call('incr', KEYS[1])" 1 n`)
				p.read(2, 2)
			}},
		{name: "busy function", clients: 2, args: []string{"--busy-reply-threshold", "20"},
			before: func(p *player) {
				p.do(1, "FUNCTION LOAD \"#!lua name=m\nredis.register_function('f', function() while true do end end)\"")
			},
			play: func(p *player) {
				p.at(glassBreak("fcall"), func() { p.send(1, `FCALL f 0`) }, func() { p.send(2, "GET k") })
				p.read(2, 1)
				p.do(2, "FUNCTION KILL")
				p.read(1, 1)
			}},
	}
}

func glassBreak(cmd string) glass.Breakpoint {
	return glass.Breakpoint{Name: "script", At: trace.Executes, Cmd: cmd}
}

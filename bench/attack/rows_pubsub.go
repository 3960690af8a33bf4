package main

import "strings"

// subscribe names n channels in one command and reads the n replies.
func subscribe(command, each string) func(*attacker) {
	return func(x *attacker) {
		c := x.first()
		go c.pour(1, func(int) []string { return with(command, each, x.n) })
		for range x.n {
			if c.read().kind == 0 {
				return
			}
		}
	}
}

// storm publishes to a client that sends the line first and then reads nothing more.
func storm(first string) func(*attacker) {
	return func(x *attacker) {
		c := x.dial()
		for line := range strings.SplitSeq(first, ";") {
			c.do(strings.Fields(line)...)
		}
		value := strings.Repeat("x", 10_000)
		x.pipe(x.n, func(int) []string { return []string{"PUBLISH", "c", value} })
	}
}

// pubsubRows are channels, MONITOR and the tracking of keys.
var pubsubRows = []attack{
	{name: "pubsub: subscribe", does: "SUBSCRIBE of n channels.", short: 50_000, full: 500_000, held: true,
		run: subscribe("SUBSCRIBE", "channel:{i}")},
	{name: "pubsub: psubscribe", does: "PSUBSCRIBE of n patterns.", short: 20_000, full: 200_000, held: true,
		run: subscribe("PSUBSCRIBE", "pattern:{i}")},
	{name: "pubsub: ssubscribe", does: "SSUBSCRIBE of n channels.", short: 20_000, full: 200_000, held: true,
		run: subscribe("SSUBSCRIBE", "channel:{i}")},
	{name: "pubsub: publish to patterns", does: "100 PUBLISH while a client has n patterns.",
		short: 1_000, full: 10_000, run: func(x *attacker) {
			x.dial().do(with("PSUBSCRIBE", "*a*{i}*b", x.n)...)
			value := strings.Repeat("x", 100)
			x.pipe(100, func(int) []string { return []string{"PUBLISH", strings.Repeat("a", 60), value} })
		}},
	{name: "pubsub: unsubscribe", does: "A client with n channels leaves.", short: 50_000, full: 500_000,
		run: func(x *attacker) {
			c := x.dial()
			c.do(with("SUBSCRIBE", "channel:{i}", x.n)...)
			_ = c.net.Close()
		}},
	{name: "pubsub: unread messages", does: "n messages of 10 kB to a subscriber that does not read.",
		known: "large replies are one piece",
		short: 5_000, full: 50_000, run: storm("SUBSCRIBE c")},
	{name: "pubsub: unread patterns", does: "n messages of 10 kB to 20 patterns of a client that does not read.",
		known: "large replies are one piece",
		short: 1_000, full: 10_000,
		run: storm("PSUBSCRIBE " + strings.Join(series("*{i}c c* c? [a-z] *", 4), " "))},
	{name: "pubsub: unread monitor", does: "n commands while a MONITOR does not read.",
		known: "large replies are one piece",
		short: 3_000, full: 20_000, run: storm("MONITOR")},
	{name: "pubsub: monitors", does: "1,000 commands while n clients MONITOR.", short: 50, full: 1_000,
		run: func(x *attacker) {
			x.crowd(x.n, bytesOf("MONITOR\r\n"))
			x.pipe(1_000, func(int) []string { return []string{"SET", "k", "v"} })
		}},
	{name: "pubsub: subscribers", does: "100 PUBLISH to n subscribers.", short: 500, full: 9_000,
		run: func(x *attacker) {
			x.crowd(x.n, bytesOf("SUBSCRIBE c\r\n"))
			x.pipe(100, func(int) []string { return []string{"PUBLISH", "c", "v"} })
		}},
	{name: "pubsub: keyspace events", does: "n commands with all keyspace events and 1,000 patterns.",
		short: 200, full: 10_000,
		options: []string{"--notify-keyspace-events", "KEA"}, run: func(x *attacker) {
			x.dial().do(with("PSUBSCRIBE", "__key*__:nothing{i}*", 1_000)...)
			times("SET k{i} v")(x)
		}},
	{name: "pubsub: channels", does: "PUBSUB CHANNELS with a glob over n channels.", short: 20_000, full: 300_000,
		run: func(x *attacker) {
			x.dial().do(with("SUBSCRIBE", "aaaaaaaaaaaaaaaaaaaaaaaa{i}", x.n)...)
			x.do("PUBSUB", "CHANNELS", "a*a*a*b")
			x.do(with("PUBSUB NUMSUB", "c{i}", x.n)...)
		}},
	{name: "pubsub: tracking prefixes", does: "CLIENT TRACKING BCAST of n prefixes.", short: 1_000, full: 10_000,
		run: func(x *attacker) {
			x.do("HELLO", "3")
			x.do(with("CLIENT TRACKING ON BCAST", "PREFIX p{i}:", x.n)...)
		}},
	{name: "pubsub: writes under prefixes", does: "n writes while clients track 5,000 prefixes.",
		short: 2_000, full: 100_000, run: func(x *attacker) {
			c := x.dial()
			c.do("HELLO", "3")
			c.do(with("CLIENT TRACKING ON BCAST", "PREFIX p{i}:", 2_000)...)
			times("SET k{i} v")(x)
		}},
	{name: "pubsub: tracked keys", does: "A client reads n keys under CLIENT TRACKING.",
		short: 50_000, full: 1_000_000, held: true, prepare: lines("DEBUG POPULATE {n}"), run: func(x *attacker) {
			x.do("HELLO", "3")
			x.do("CLIENT", "TRACKING", "ON")
			times("GET key:{i}")(x)
		}},
	{name: "pubsub: tracked by many", does: "n clients track one key, which is then written.",
		short: 500, full: 9_000, prepare: lines("SET k v"), run: func(x *attacker) {
			x.crowd(x.n, bytesOf("HELLO 3\r\nCLIENT TRACKING ON\r\nGET k\r\n"))
			x.pipe(100, func(int) []string { return []string{"SET", "k", "v"} })
		}},
	{name: "pubsub: tracking and flush", does: "FLUSHALL while a client tracks n keys.",
		short: 50_000, full: 1_000_000, prepare: lines("DEBUG POPULATE {n}"), run: func(x *attacker) {
			x.do("HELLO", "3")
			x.do("CLIENT", "TRACKING", "ON")
			x.do(with("MGET", "key:{i}", x.n)...)
			x.dial().do("FLUSHALL")
		}},
}

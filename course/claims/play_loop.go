package claims

import (
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/resp"
)

// The stories about the loop: sockets, passes, threads.

// playTogether: three clients send while the loop stands before epoll_wait.
func playTogether(s *story) {
	clients := []*client{s.client("A"), s.client("B"), s.client("C")}
	s.together(func() {
		for i, c := range clients {
			c.send("SET", "key:"+c.name, string(rune('1'+i)))
		}
	})
	for _, c := range clients {
		c.reply()
	}
}

// playReady: the same, and then A sends more than one read(2) takes, by one write(2).
func playReady(s *story) {
	playTogether(s)
	a := s.clients[0]
	const values = 24
	var all []byte
	for range values {
		all = resp.AppendRequest(all, "SET", "long", strings.Repeat("x", 2000))
	}
	s.together(func() { a.write(all) })
	a.replies(values)
}

// playThreads: six clients send at once, to a server with I/O threads.
func playThreads(s *story) {
	var clients []*client
	for _, name := range []string{"A", "B", "C", "D", "E", "F"} {
		clients = append(clients, s.client(name))
	}
	s.together(func() {
		for _, c := range clients {
			c.send("INCR", "count")
		}
	})
	for _, c := range clients {
		c.reply()
	}
}

// rounds and crowd are the load of playLoad.
const (
	crowd  = 50
	rounds = 20
)

// playLoad: fifty clients send, round by round. No snapshots slow the server down, so times mean something.
func playLoad(s *story) {
	var clients []*client
	for range crowd {
		clients = append(clients, s.client("load"))
	}
	s.bare = true
	for range rounds {
		s.together(func() {
			for _, c := range clients {
				c.send("INCR", "count")
			}
		})
		for _, c := range clients {
			c.reply()
		}
	}
}

// idle is how many clients of playIdle send nothing. Both ends of their connections are in this process,
// and select knows 1,024 descriptors.
const idle = 300

// playIdle: many clients are connected, and one of them sends.
func playIdle(s *story) {
	a := s.client("A")
	last := a
	for range idle {
		last = s.dial(1)
	}
	last.do("PING") // all others are accepted before it
	s.together(func() { a.send("GET", "key") })
	a.reply()
}

// playArrivals: beside idle clients, sixteen arrive, and send a command each. Before that A alone sends, and the CPU of
// the process for a request is measured.
func playArrivals(s *story) {
	a := s.client("A")
	last := a
	for range idle {
		last = s.dial(1)
	}
	last.do("PING") // all others are accepted before it
	s.record.CPU = s.cpuOf(200, func() { a.do("GET", "key") })
	var arrived []*client
	s.together(func() {
		for range 16 {
			c := s.dial(1)
			c.send("GET", "key")
			arrived = append(arrived, c)
		}
	})
	for _, c := range arrived {
		c.reply()
	}
}

// hours is how many keys of playWheel live for an hour.
const hours = 300

// playWheel: among many keys three live 5 s, 13 s and 5 s. The clock moves second by second.
func playWheel(s *story) {
	a := s.client("A")
	s.freeze()
	for i := range hours {
		a.send("SET", "hour:"+strconv.Itoa(i), "1", "EX", "3600")
	}
	a.replies(hours)
	s.begin()
	a.do("SET", "first", "1", "EX", "5")
	a.do("SET", "second", "1", "EX", "13")
	a.do("SET", "third", "1", "EX", "5")
	for range 5 {
		s.advance(1000)
	}
	s.advance(1) // a key lives for the whole last millisecond
	s.advance(7999)
	s.advance(1)
}

// playSixteen: sixteen clients send one command each, at once.
func playSixteen(s *story) {
	var clients []*client
	for i := range 16 {
		clients = append(clients, s.client("c"+strconv.Itoa(i)))
	}
	s.together(func() {
		for _, c := range clients {
			c.send("INCR", "count")
		}
	})
	for _, c := range clients {
		c.reply()
	}
}

// playOnePacket: the same commands from one client, in one packet.
func playOnePacket(s *story) {
	a := s.client("A")
	s.together(func() { a.write(pipeline(16)) })
	a.replies(16)
}

// The stall of playStall, in ms of the lab's clock.
const (
	stall  = 1000
	period = 10
	calm   = 100 // requests of each client before it
)

// playStall: A sends its next request when it has the reply, as most benchmarks do. B sends one every 10 ms,
// whatever happens, as users do. Then the server reads nothing for a second.
func playStall(s *story) {
	a, b := s.client("A"), s.client("B")
	s.freeze()
	s.begin()
	for i := range calm {
		due := ":" + strconv.Itoa(i*period)
		a.do("GET", "A"+due)
		b.do("GET", "B"+due)
		s.advance(period)
	}
	s.lab("BLACKHOLE", "ON")
	a.send("GET", "A:"+strconv.Itoa(calm*period))
	for i := range stall / period {
		b.send("GET", "B:"+strconv.Itoa((calm+i)*period))
		s.advance(period)
	}
	s.lab("BLACKHOLE", "OFF")
	a.reply()
	b.replies(stall / period)
}

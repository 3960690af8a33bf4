package claims

// The stories about the loop: sockets, passes, threads.

// playTogether: three clients send while the loop stands before epoll_wait.
func playTogether(s *stage) {
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

// playThreads: six clients send at once, to a server with I/O threads.
func playThreads(s *stage) {
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
func playLoad(s *stage) {
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
func playIdle(s *stage) {
	a := s.client("A")
	last := a
	for range idle {
		last = s.dial(0)
	}
	last.do("PING") // all others are accepted before it
	s.together(func() { a.send("GET", "key") })
	a.reply()
}

// playWheel: three keys live 5 s, 13 s and 5 s. The clock goes on second by second.
func playWheel(s *stage) {
	a := s.client("A")
	s.freeze()
	s.begin()
	a.do("SET", "first", "1", "EX", "5")
	a.do("SET", "second", "1", "EX", "13")
	a.do("SET", "third", "1", "EX", "5")
	s.advance(5000) // a key lives for the whole last millisecond
	s.advance(1)
	s.advance(7999)
	s.advance(1)
}

package claims

import (
	"strings"

	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/lab/glass"
	"github.com/miniredisd/miniredisd/resp"
)

// The stories about transactions, scripts and single commands.

// playMulti: B writes between MULTI and EXEC of A.
func playMulti(s *story) {
	a, b := s.client("A"), s.client("B")
	s.begin()
	a.do("MULTI")
	a.do("SET", "a", "1")
	b.send("SET", "a", "2")
	b.arrive()
	a.do("SET", "b", "1")
	a.do("EXEC")
	b.reply()
	b.do("GET", "a")
}

// playWatch: A and B take a lock by WATCH, GET, MULTI, SET and EXEC, step by step in turn.
func playWatch(s *story) {
	a, b := s.client("A"), s.client("B")
	s.begin()
	a.do("MULTI")
	a.do("GET", "lock:alone") // the transaction cannot look at the reply
	a.do("DISCARD")
	for _, c := range []*client{a, b} {
		c.do("WATCH", "lock:a")
		c.do("GET", "lock:a")
	}
	for _, c := range []*client{a, b} {
		c.do("MULTI")
		c.do("SET", "lock:a", "token-"+c.name)
	}
	a.do("EXEC")
	b.do("EXEC")
	b.do("GET", "lock:a")
}

// playCounter: A and B count by GET and SET in turn, and then by INCR.
func playCounter(s *story) {
	a, b := s.client("A"), s.client("B")
	a.do("SET", "read", "0")
	s.begin()
	a.do("GET", "read")
	b.do("GET", "read")
	a.do("SET", "read", "1")
	b.do("SET", "read", "1")
	a.do("INCR", "count")
	b.do("INCR", "count")
	b.do("MGET", "read", "count")
}

// playErrors: a transaction with an unknown command, and one whose second command fails.
func playErrors(s *story) {
	a := s.client("A")
	a.do("SET", "text", "hello")
	s.begin()
	a.do("MULTI")
	a.do("SET", "one", "1")
	a.do("NOSUCHCOMMAND")
	a.do("EXEC")
	a.do("MULTI")
	a.do("SET", "two", "2")
	a.do("INCR", "text")
	a.do("SET", "three", "3")
	a.do("EXEC")
	a.do("MGET", "one", "two", "three")
}

// writer writes, and then counts. No interpreter does that within busy-reply-threshold.
const writer = "redis.call('SET', KEYS[1], 'v') for i = 1, 20000000 do end"

// playScript: while a script of A runs, three others send. Then a script does not end. One fails after it has
// written, and one cannot be killed.
func playScript(s *story) {
	const steps = "for i = 1, 5 do redis.call('INCR', KEYS[1]) end return redis.call('GET', KEYS[1])"
	a, b, c, d := s.client("A"), s.client("B"), s.client("C"), s.client("D")
	s.begin()
	s.stopped(glass.Breakpoint{Name: "inside", At: trace.Executes, Cmd: "incr"}, func() {
		a.send("EVAL", steps, "1", "steps")
	}, func() {
		for _, other := range []*client{b, c, d} {
			other.send("GET", "steps")
		}
	})
	for _, each := range []*client{a, b, c, d} {
		each.reply()
	}
	a.send("EVAL", "while true do end", "0")
	for busy := false; !busy && s.err == nil; { // the first ones may come before the script
		busy = strings.HasPrefix(b.do("GET", "steps").Str, "BUSY")
	}
	b.do("SCRIPT", "KILL")
	a.reply()
	a.do("EVAL", "redis.call('SET', KEYS[1], 'written') error('no more')", "1", "halfway")
	b.do("GET", "halfway")
	s.stopped(glass.Breakpoint{Name: "writes", At: trace.Executes, Cmd: "eval"}, func() {
		a.send("EVAL", writer, "1", "k")
	}, func() { b.send("SCRIPT", "KILL") })
	b.reply()
	a.reply()
}

// playPipeline: 16 commands in one packet. Then 16 in two packets, and B sends between them.
func playPipeline(s *story) {
	a, b := s.client("A"), s.client("B")
	s.begin()
	a.write(pipeline(16))
	a.replies(16)
	a.write(pipeline(8))
	a.replies(8)
	b.do("SET", "between", "1")
	a.write(pipeline(8))
	a.replies(8)
}

// pipeline returns n times INCR.
func pipeline(n int) (b []byte) {
	for range n {
		b = resp.AppendRequest(b, "INCR", "count")
	}
	return b
}

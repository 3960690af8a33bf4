package grade

import (
	"slices"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/resp"
)

// What lab 12 judges is what happens in one pass. So the grader makes passes in which many clients are
// readable: they send while the server sleeps in a command.

const (
	passClients = 64
	// passSleep is how long the server sleeps, and passWait how long the grader waits until it is asleep.
	passSleep, passWait = "0.05", 10 * time.Millisecond
)

// load is what one client sends in a pass, and the replies that it expects.
type load struct {
	requests []byte
	replies  string
}

// equalLoads have much to read and parse for every client, and little to execute: keys of 4 KB that do not
// exist.
func equalLoads() []load {
	const times, size = 8, 4096
	each := load{many(times, "GET", strings.Repeat("k", size)), strings.Repeat("$-1\r\n", times)}
	return slices.Repeat([]load{each}, passClients)
}

// unequalLoads have thousands of requests for some clients, and one for the others. So some threads are done
// far earlier than others.
func (s *story) unequalLoads() []load {
	const heavy, times = 6, 3000
	all := slices.Repeat([]load{{many(1, "PING"), "+PONG\r\n"}}, passClients)
	for _, i := range s.rand.Perm(passClients)[:heavy] {
		all[i] = load{many(times, "PING"), strings.Repeat("+PONG\r\n", times)}
	}
	return all
}

// rounds are clients that send together, again and again.
type rounds struct {
	v       *service
	sleeper *peer
	crowd   []*peer
}

func (v *service) rounds() *rounds {
	return &rounds{v: v, sleeper: v.dial(), crowd: v.crowd(passClients)}
}

// pass plays one pass. It reports whether a reply was late: the server was at rest, and the reply came only
// after the client had sent more. The clients are of no use then.
func (r *rounds) pass(loads []load) (late bool) {
	r.sleeper.write(resp.AppendRequest(nil, "DEBUG", "SLEEP", passSleep))
	time.Sleep(passWait)
	for i, c := range r.crowd {
		c.write(loads[i].requests)
	}
	asleep := say{"DEBUG SLEEP " + passSleep, "DEBUG SLEEP " + passSleep}
	if r.sleeper.collect("+OK\r\n", asleep) {
		return true
	}
	for i, c := range r.crowd {
		if c.collect(loads[i].replies, say{"A pass with 64 readable clients", "一轮里有 64 个可读的客户端"}) {
			return true
		}
	}
	return false
}

// flood lets the clients send hundreds of times without a pause. So passes of every size meet, and the end of one
// thread's work meets main at every point of its own. It reports whether a reply was late.
func (r *rounds) flood() (late bool) {
	const turns, times = 300, 16
	each := load{many(times, "PING"), strings.Repeat("+PONG\r\n", times)}
	for range turns {
		for _, c := range r.crowd {
			c.write(each.requests)
		}
		for _, c := range r.crowd {
			if c.collect(each.replies, say{"Pipelines of 64 clients", "64 个客户端的流水线"}) {
				return true
			}
		}
	}
	return false
}

// collect reads replies as expect does. If a part is missing and the server is at rest, it sends PING: a
// server that had forgotten the requests finds them then.
func (c *peer) collect(want string, what say) (late bool) {
	for len(want) > 0 {
		if !c.arrives() {
			c.write(resp.AppendRequest(nil, "PING"))
			c.expect(want, what)
			return true
		}
		n := min(len(want), max(1, c.conn.In.Buffered())) // at the end of the connection nothing is buffered
		c.expect(want[:n], what)
		want = want[n:]
	}
	return false
}

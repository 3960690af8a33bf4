package grade

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/resp"
)

// Lab 4: the student writes the loop of an event-driven server. It executes PING, ECHO, SET, GET and
// DEBUG SLEEP, which the skeleton has.

// manyClients fit under the usual limit of 1,024 files for a process.
const manyClients = 1000

func reactorTests() []test {
	return []test{
		{name: say{"One client, one command at a time", "一个客户端，一次一条命令"}, points: 10, play: reactorOne},
		{name: say{"Partial reads: a request is cut at every byte", "半包：在每个字节处切开请求"}, points: 15, play: reactorCut},
		{name: say{"Pipelines: 1,000 commands in one write", "流水线：一次写入 1,000 条命令"}, points: 10, play: reactorPipeline},
		{name: say{"EAGAIN: a client that does not read holds up nobody", "EAGAIN：不读数据的客户端不拖累别人"},
			points: 15, play: reactorFull},
		{name: say{"Half-close: every reply, and then the end", "半关闭：先回复完，再断开"}, points: 10, play: reactorHalf},
		{name: say{"1,000 clients at once", "1,000 个客户端同时连接"}, points: 15, play: reactorMany},
		{name: say{"One thread executes, and it waits for sockets itself", "单线程执行，并且自己等待套接字"},
			points: 10, play: reactorThread},
		{name: say{"No busy loop: an idle server sleeps", "不空转：空闲的服务器在睡眠"}, points: 10, play: reactorIdle},
		{name: say{"Clients that vanish do no harm", "客户端突然消失也没关系"}, points: 5, play: reactorVanish},
	}
}

func reactorOne(s *story) {
	c := s.serve().dial()
	c.ping(say{"PING", "PING"})
	c.do(bulk("hello"), say{"ECHO hello", "ECHO hello"}, "ECHO", "hello")
	c.do("+OK\r\n", say{"SET k v", "SET k v"}, "SET", "k", "v")
	c.do(bulk("v"), say{"GET k after SET k v", "SET k v 之后 GET k"}, "GET", "k")
	c.do("$-1\r\n", say{"GET of a key that does not exist", "GET 一个不存在的键"}, "GET", "none")
}

// reactorCut sends a part of a request, and the rest only after the server has answered another client. So
// the server has met the part alone.
func reactorCut(s *story) {
	v := s.serve()
	a, b := v.dial(), v.dial()
	value := "x\r\n$3\r\ny"
	whole := resp.AppendRequest(nil, "SET", "key", value)
	for at := 1; at < len(whole); at++ {
		a.write(whole[:at])
		b.ping(say{"PING of another client, while a request is incomplete", "别人的请求还不完整时，另一个客户端的 PING"})
		a.write(whole[at:])
		what := fmt.Sprintf("%q | %q", whole[:at], cut(string(whole[at:])))
		a.expect("+OK\r\n", say{"SET that came in two parts, " + what, "分两次到达的 SET，" + what})
	}
	a.do(bulk(value), say{"GET of a value that has line ends in it", "GET 一个含有换行的值"}, "GET", "key")
	for i := range whole {
		a.write(whole[i : i+1])
		b.ping(say{"PING of another client, while a request comes byte by byte", "请求逐字节到达时，另一个客户端的 PING"})
	}
	a.expect("+OK\r\n", say{"SET that came byte by byte", "逐字节到达的 SET"})
}

// reactorPipeline sends many commands at once. The last one is cut off, and follows.
func reactorPipeline(s *story) {
	v := s.serve()
	a, b := v.dial(), v.dial()
	var requests []byte
	var replies strings.Builder
	for i := range 1000 {
		word := strconv.Itoa(s.rand.IntN(1_000_000))
		requests = resp.AppendRequest(requests, "ECHO", strconv.Itoa(i)+"-"+word)
		replies.WriteString(bulk(strconv.Itoa(i) + "-" + word))
	}
	a.write(requests[:len(requests)-3])
	b.ping(say{"PING of another client beside a pipeline", "流水线旁边，另一个客户端的 PING"})
	a.write(requests[len(requests)-3:])
	a.expect(replies.String(), say{"1,000 ECHO in one write", "一次写入 1,000 条 ECHO"})
}

// reactorFull makes a server write more than a socket holds, to a client that does not read.
func reactorFull(s *story) {
	const size, times = 1 << 20, 32
	v := s.serve()
	a, b := v.dial(), v.dial()
	value := strings.Repeat(strconv.Itoa(s.rand.IntN(10)), size)
	s.check(a.tcp.SetReadBuffer(64 << 10))
	a.do("+OK\r\n", say{"SET of a value of 1 MB", "SET 一个 1 MB 的值"}, "SET", "big", value)
	a.write(many(times, "GET", "big"))
	a.fills()
	for range 20 {
		b.ping(say{"PING, while another client does not read its 32 MB of replies", "另一个客户端不读它的 32 MB 回复时的 PING"})
	}
	for range times {
		a.expect(bulk(value), say{"32 GET of a value of 1 MB, read late", "32 次 GET 一个 1 MB 的值，稍后才读"})
	}
	a.ping(say{"PING after the long replies", "长回复之后的 PING"})
}

// reactorHalf ends the input of connections: after requests, with replies that are still waiting, and in
// the middle of a request.
func reactorHalf(s *story) {
	v := s.serve()
	after := say{"Three requests, and then shutdown(SHUT_WR)", "三条请求之后 shutdown(SHUT_WR)"}
	a := v.dial()
	a.write(many(3, "ECHO", "last"))
	s.check(a.tcp.CloseWrite())
	a.expect(strings.Repeat(bulk("last"), 3), after)
	a.end(after)

	long := say{"8 MB of replies are waiting at shutdown(SHUT_WR)", "还有 8 MB 回复没发完时 shutdown(SHUT_WR)"}
	b := v.dial()
	s.check(b.tcp.SetReadBuffer(64 << 10))
	value := strings.Repeat("v", 1<<20)
	b.do("+OK\r\n", long, "SET", "big", value)
	b.write(many(8, "GET", "big"))
	s.check(b.tcp.CloseWrite())
	v.dial().ping(say{"PING, while replies wait for a half-closed client", "半关闭的客户端还有回复未发时的 PING"})
	b.expect(strings.Repeat(bulk(value), 8), long)
	b.end(long)

	half := say{"shutdown(SHUT_WR) in the middle of a request", "请求只发了一半就 shutdown(SHUT_WR)"}
	c := v.dial()
	whole := resp.AppendRequest(nil, "SET", "half", "value")
	c.write(whole[:len(whole)-4])
	s.check(c.tcp.CloseWrite())
	c.end(half)
	v.dial().do("$-1\r\n", say{"GET of a key whose SET never came whole", "SET 没有收完，GET 这个键"}, "GET", "half")
}

func reactorMany(s *story) {
	v := s.serve()
	clients := v.crowd(manyClients)
	for i, c := range clients {
		c.write(resp.AppendRequest(nil, "SET", "k"+strconv.Itoa(i), "v"+strconv.Itoa(i)))
	}
	for _, c := range clients {
		c.expect("+OK\r\n", say{"SET of one of 1,000 clients", "1,000 个客户端之一的 SET"})
	}
	for i, c := range clients {
		other := strconv.Itoa((i + 1) % len(clients))
		c.do(bulk("v"+other), say{"GET of what another one of 1,000 clients has set", "GET 另一个客户端写的值"}, "GET", "k"+other)
	}
}

// crowd connects clients.
func (v *service) crowd(n int) (all []*peer) {
	for range n {
		all = append(all, v.dial())
	}
	return all
}

// reactorThread looks at what one thread does to the order of replies, and at the threads themselves.
func reactorThread(s *story) {
	v := s.serve()
	a, b := v.dial(), v.dial()
	waits := 0
	for range 3 {
		if v.waitsFor(a, b) {
			waits++
		}
	}
	s.want(waits >= 2, say{
		"A client sent DEBUG SLEEP 0.2. Another client sent PING a moment later, and got its reply first. " +
			"With one thread, nobody is served while a command runs.",
		"一个客户端发了 DEBUG SLEEP 0.2，稍后另一个客户端发 PING，却先得到回复。单线程时，一条命令执行期间别人都要等。"})
	v.seen()
	before, ok := look(v.processes())
	for _, c := range v.crowd(200) {
		c.ping(say{"PING of one of 200 clients", "200 个客户端之一的 PING"})
	}
	after, _ := look(v.processes())
	if !ok {
		return // the system does not show threads: the order of replies has to do
	}
	s.want(after.count-before.count < 100, say{
		"With 200 clients your server has %d threads more. A reactor needs one thread for all clients.",
		"有 200 个客户端时，线程多了 %d 个。reactor 只需要一个线程服务所有客户端。"}, after.count-before.count)
	s.want(!v.usesNetpoll(200), say{
		"The sockets are registered with the poller of your language's runtime (edge triggered, for reading and writing). " +
			"Goroutines or tasks wait for them, and no loop of yours. Use nonblocking descriptors and your own epoll_wait.",
		"套接字注册在语言运行时自己的轮询器上（边缘触发、读写都注册）。等待的是 goroutine，不是你的事件循环。请用非阻塞描述符和自己的 epoll_wait。"})
}

// waitsFor reports whether b is served only after a command of a that takes 0.2 s.
func (v *service) waitsFor(a, b *peer) bool {
	slow := say{"DEBUG SLEEP 0.2", "DEBUG SLEEP 0.2"}
	a.write(resp.AppendRequest(nil, "DEBUG", "SLEEP", "0.2"))
	time.Sleep(50 * time.Millisecond) // the server is in the command by then, mostly: there are three attempts
	b.ping(say{"PING during DEBUG SLEEP", "DEBUG SLEEP 期间的 PING"})
	waited := a.readable(30 * time.Millisecond)
	a.expect("+OK\r\n", slow)
	return waited
}

// reactorIdle looks at the threads of a server whose clients want nothing. One of them does not read its
// replies: a loop that asks for EPOLLOUT without need does not sleep then.
func reactorIdle(s *story) {
	v := s.serve()
	for _, c := range v.crowd(50) {
		c.ping(say{"PING of one of 50 clients", "50 个客户端之一的 PING"})
	}
	half := v.dial()
	s.check(half.tcp.SetReadBuffer(64 << 10))
	half.do("+OK\r\n", say{"SET of a value of 1 MB", "SET 一个 1 MB 的值"}, "SET", "big", strings.Repeat("v", 1<<20))
	half.write(many(16, "GET", "big"))
	s.check(half.tcp.CloseWrite())
	v.dial().ping(say{"PING, while another client does not read", "另一个客户端不读数据时的 PING"})
	s.sleeps(v)
}

// sleeps wants a server to sleep that nobody needs. It has four chances, because a runtime may have work of
// its own at first.
func (s *story) sleeps(v *service) {
	v.seen()
	why := say{}
	for range 4 {
		if why = v.busy(); why.en == "" {
			return
		}
	}
	s.fail(why)
}

// busy looks at the threads for a while, and says what they do instead of sleeping.
func (v *service) busy() (why say) {
	const samples = 15
	pids := v.processes()
	before, ok := look(pids)
	if !ok {
		return say{} // the system does not show threads
	}
	running := 0
	for range samples {
		time.Sleep(6 * time.Millisecond)
		if t, _ := look(pids); t.running > 0 {
			running++
		}
	}
	after, _ := look(pids)
	switch {
	case running > samples/2:
		return say{"No client wants anything, and your server still runs without a pause. " +
			"Does epoll_wait get a timeout of 0, or EPOLLOUT without need? Is a half-closed socket still asked for input?",
			"没有客户端需要服务，程序却不停地运行。epoll_wait 的超时是 0？不需要时也注册了 EPOLLOUT？已半关闭的套接字还在等输入？"}
	case after.switches-before.switches > 60: // in a tenth of a second
		return say{"No client wants anything, and your server still wakes up all the time. " +
			"Sleep in epoll_wait without a timeout.",
			"没有客户端需要服务，程序却不断醒来。应在 epoll_wait 里睡眠，不设超时。"}
	}
	return say{}
}

// reactorVanish resets connections in the middle of requests and replies.
func reactorVanish(s *story) {
	v := s.serve()
	whole := resp.AppendRequest(nil, "ECHO", strings.Repeat("x", 1000))
	for i := range 50 {
		c := v.dial()
		c.write(whole[:1+s.rand.IntN(len(whole)-1)])
		if i%2 == 0 {
			s.check(c.tcp.SetLinger(0)) // a reset, instead of an end
		}
		s.check(c.conn.Close())
	}
	big := v.dial()
	big.do("+OK\r\n", say{"SET of a value of 1 MB", "SET 一个 1 MB 的值"}, "SET", "big", strings.Repeat("v", 1<<20))
	big.write(many(16, "GET", "big"))
	s.check(big.tcp.SetLinger(0))
	s.check(big.conn.Close())
	for range 3 {
		v.dial().ping(say{"PING after 51 clients have vanished", "51 个客户端消失之后的 PING"})
	}
}

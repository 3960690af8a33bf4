package grade

import (
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/resp"
)

// Lab 2: a blocking server serves one client after another, so a slow client holds up everybody.

func slowTests() []test {
	return []test{
		{name: say{"One client", "一个客户端"}, points: 10, play: slowOne},
		{name: say{"A client that says nothing holds up nobody", "一言不发的客户端不拖累别人"}, points: 25, play: slowSilent},
		{name: say{"A client in the middle of a request holds up nobody", "请求只发了一半的客户端不拖累别人"},
			points: 25, play: slowHalf},
		{name: say{"A client that does not read holds up nobody", "不读回复的客户端不拖累别人"}, points: 20, play: slowReader},
		{name: say{"100 clients that wait, and one that works", "100 个等待的客户端和一个忙碌的"}, points: 10, play: slowCrowd},
		{name: say{"A client that leaves takes nothing with it", "客户端离开时不带走任何东西"}, points: 10, play: slowLeave},
	}
}

func slowOne(s *story) {
	c := s.serve().dial()
	c.ping(say{"PING", "PING"})
	key, value := s.word(), s.word()
	c.do("+OK\r\n", say{"SET", "SET"}, "SET", key, value)
	c.do(bulk(value), say{"GET after SET", "SET 之后 GET"}, "GET", key)
}

func slowSilent(s *story) {
	v := s.serve()
	slow, fast := v.dial(), v.dial()
	fast.ping(say{"PING, while another client is connected and says nothing", "另一个客户端连着却一言不发时的 PING"})
	slow.ping(say{"PING of the silent client, later", "沉默的客户端后来发出的 PING"})
}

func slowHalf(s *story) {
	v := s.serve()
	slow, fast := v.dial(), v.dial()
	whole := resp.AppendRequest(nil, "SET", "slow", "value")
	for _, at := range []int{1, 9, len(whole) - 1} {
		slow.write(whole[:at])
		fast.ping(say{"PING, while another client has sent half a request", "另一个客户端只发了半个请求时的 PING"})
		fast.do("$-1\r\n", say{"GET of a key whose SET is not complete", "SET 还没发完，GET 这个键"}, "GET", "slow")
		slow.write(whole[at:])
		slow.expect("+OK\r\n", say{"SET that came in two parts", "分两次到达的 SET"})
		fast.do(bulk("value"), say{"GET of what the slow client has set", "GET 慢客户端写的值"}, "GET", "slow")
		v.dial().do("+OK\r\n", say{"SET by a third client", "第三个客户端的 SET"}, "SET", "other", "x")
		whole = resp.AppendRequest(nil, "SET", "slow", "value")
		slow.do(":1\r\n", say{"DEL of the key", "DEL 这个键"}, "DEL", "slow")
	}
}

func slowReader(s *story) {
	const times = 32
	v := s.serve()
	slow, fast := v.dial(), v.dial()
	value := strings.Repeat("v", 1<<20)
	s.check(slow.tcp.SetReadBuffer(64 << 10))
	slow.do("+OK\r\n", say{"SET of a value of 1 MB", "SET 一个 1 MB 的值"}, "SET", "big", value)
	slow.write(many(times, "GET", "big"))
	slow.fills()
	for range 20 {
		fast.do("+OK\r\n", say{"SET, while another client does not read", "另一个客户端不读数据时的 SET"}, "SET", "k", "v")
	}
	for range times {
		slow.expect(bulk(value), say{"32 GET of a value of 1 MB, read late", "32 次 GET 一个 1 MB 的值，稍后才读"})
	}
}

func slowCrowd(s *story) {
	v := s.serve()
	crowd := v.crowd(100)
	busy := v.dial()
	for i := range 100 {
		busy.do("+OK\r\n", say{"SET, with 100 silent clients", "有 100 个沉默客户端时的 SET"}, "SET", strconv.Itoa(i), "v")
	}
	for _, c := range crowd {
		c.ping(say{"PING of a client that was silent", "曾经沉默的客户端的 PING"})
	}
}

func slowLeave(s *story) {
	v := s.serve()
	for i := range 20 {
		c := v.dial()
		c.do("+OK\r\n", say{"SET before leaving", "离开前的 SET"}, "SET", "k"+strconv.Itoa(i), "v")
		c.write(resp.AppendRequest(nil, "SET", "half", "value")[:12])
		if i%2 == 0 {
			s.check(c.tcp.SetLinger(0)) // a reset, instead of an end
		}
		s.check(c.conn.Close())
	}
	c := v.dial()
	c.do(bulk("v"), say{"GET of what a client set before it left", "GET 已离开的客户端写的值"}, "GET", "k19")
	c.do("$-1\r\n", say{"GET of a key whose SET never came whole", "SET 没有收完，GET 这个键"}, "GET", "half")
}

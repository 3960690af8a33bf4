package grade

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/resp"
)

// Lab 3: threads that share a map. Between a read and a write of one thread, another thread writes.

func raceTests() []test {
	return []test{
		{name: say{"One client", "一个客户端"}, points: 10, play: raceOne},
		{name: say{"No INCR is lost", "一次 INCR 都不丢"}, points: 30, play: raceIncrements},
		{name: say{"SETNX has one winner", "SETNX 只有一个赢家"}, points: 20, play: raceWinner},
		{name: say{"MSET changes two keys at once", "MSET 同时改变两个键"}, points: 20, play: racePair},
		{name: say{"No lock is held while a client is slow", "等待慢客户端时不持有锁"}, points: 10, play: raceSlow},
		{name: say{"No crash, and no report of a race detector", "不崩溃，竞态检测器也没有报告"}, points: 10, play: raceReport},
	}
}

func raceOne(s *story) {
	c := s.serve().dial()
	c.ping(say{"PING", "PING"})
	c.do(":1\r\n", say{"the first INCR", "第一次 INCR"}, "INCR", "n")
	c.do(":2\r\n", say{"the second INCR", "第二次 INCR"}, "INCR", "n")
	c.do(bulk("2"), say{"GET after two INCR", "两次 INCR 之后 GET"}, "GET", "n")
	c.do(":1\r\n", say{"SETNX of a new key", "SETNX 一个新键"}, "SETNX", "lock", "a")
	c.do(":0\r\n", say{"SETNX of a key that exists", "SETNX 一个已有的键"}, "SETNX", "lock", "b")
	c.do(bulk("a"), say{"GET of the key that SETNX left alone", "GET 被 SETNX 保留的键"}, "GET", "lock")
	c.do("+OK\r\n", say{"MSET x 1 y 1", "MSET x 1 y 1"}, "MSET", "x", "1", "y", "1")
	c.do("*2\r\n$1\r\n1\r\n$1\r\n1\r\n", say{"MGET x y", "MGET x y"}, "MGET", "x", "y")
}

// raceIncrements lets clients count together. Each number must be given once.
func raceIncrements(s *story) {
	const clients, times = 16, 25
	v, counter := s.serve(), s.word()
	crowd := v.crowd(clients)
	for _, c := range crowd {
		c.ping(say{"PING", "PING"})
	}
	for _, c := range crowd {
		c.write(many(times, "INCR", counter))
	}
	given := map[string]bool{}
	for _, c := range crowd {
		for range times {
			n := c.line(say{"INCR of one of 16 clients at once", "16 个客户端同时 INCR"})
			s.want(!given[n], say{
				"16 clients sent INCR at the same time, and two of them got the same number: an update was lost. " +
					"A thread read the old number while another thread was between its read and its write.",
				"16 个客户端同时发 INCR，有两个得到了同一个数：丢失了一次更新。一个线程还在读和写之间，另一个线程读到了旧值。"})
			given[n] = true
		}
	}
	total := strconv.Itoa(clients * times)
	v.dial().do(bulk(total), say{"GET of the counter after 400 INCR", "400 次 INCR 之后 GET"}, "GET", counter)
}

// raceWinner lets clients try to take a lock at the same time, again and again.
func raceWinner(s *story) {
	crowd, lock := s.serve().crowd(32), s.word()
	for _, c := range crowd {
		c.ping(say{"PING", "PING"})
	}
	for round := range 10 {
		for _, c := range crowd {
			c.write(resp.AppendRequest(nil, "SETNX", lock+strconv.Itoa(round), "mine"))
		}
		winners := 0
		for _, c := range crowd {
			if c.line(say{"SETNX of one of 32 clients at once", "32 个客户端同时 SETNX"}) == ":1" {
				winners++
			}
		}
		s.want(winners == 1, say{
			"32 clients sent SETNX on one key at the same time, and not exactly one got 1. So two clients hold one lock. " +
				"The look-up and the write must be one step.",
			"32 个客户端同时对一个键 SETNX，得到 1 的却不是恰好一个：两个客户端持有了同一把锁。查找和写入必须是一步。"})
	}
}

// racePair changes two keys together, and reads both meanwhile.
func racePair(s *story) {
	const times = 50
	v := s.serve()
	writers, readers := v.crowd(4), v.crowd(4)
	v.dial().do("+OK\r\n", say{"MSET x 0 y 0", "MSET x 0 y 0"}, "MSET", "x", "0", "y", "0")
	for i, c := range writers {
		var b []byte
		for n := range times {
			value := strconv.Itoa(i*times + n)
			b = resp.AppendRequest(b, "MSET", "x", value, "y", value)
		}
		c.write(b)
	}
	for _, c := range readers {
		c.write(many(times, "MGET", "x", "y"))
	}
	reply := say{"MGET beside MSET", "MSET 旁边的 MGET"}
	for _, c := range readers {
		for range times {
			c.expect("*2\r\n", reply)
			x, y := c.bulk(reply), c.bulk(reply)
			s.want(bytes.Equal(x, y), say{
				"MSET always writes the same value to x and y, and MGET saw two different values. " +
					"Lock once for the whole command, and not once for each key.",
				"MSET 总是给 x 和 y 写同样的值，MGET 却看到了两个不同的值。应为整条命令加一次锁，而不是每个键加一次。"})
		}
	}
	for _, c := range writers {
		c.expect(strings.Repeat("+OK\r\n", times), say{"MSET", "MSET"})
	}
}

func raceSlow(s *story) {
	v := s.serve()
	slow, fast := v.dial(), v.dial()
	s.check(slow.tcp.SetReadBuffer(64 << 10))
	slow.do("+OK\r\n", say{"MSET of a value of 1 MB", "MSET 一个 1 MB 的值"}, "MSET", "big", strings.Repeat("v", 1<<20))
	slow.write(many(32, "GET", "big"))
	slow.fills()
	for i := range 20 {
		fast.do(":"+strconv.Itoa(i+1)+"\r\n", say{
			"INCR, while another client does not read its replies. Is the lock held during a write to a socket?",
			"另一个客户端不读回复时的 INCR。写套接字时是否还持有锁？"}, "INCR", "n")
	}
}

// raceReport puts everything together and reads what the program has written.
func raceReport(s *story) {
	v := s.serve()
	crowd := v.crowd(16)
	for _, c := range crowd {
		var b []byte
		for range 10 {
			b = resp.AppendRequest(b, "INCR", "n")
			b = resp.AppendRequest(b, "MSET", "x", "1", "y", "1")
			b = resp.AppendRequest(b, "GET", "x")
		}
		c.write(b)
	}
	for _, c := range crowd {
		for range 10 {
			c.line(say{"INCR beside MSET and GET", "MSET、GET 旁边的 INCR"})
			c.expect("+OK\r\n", say{"MSET beside INCR and GET", "INCR、GET 旁边的 MSET"})
			c.expect(bulk("1"), say{"GET beside MSET and INCR", "MSET、INCR 旁边的 GET"})
		}
	}
	s.want(!v.errors.has("DATA RACE"), say{
		"The race detector reports a data race: see what your program writes to standard error.",
		"竞态检测器报告了数据竞争：请看程序的标准错误输出。"})
}

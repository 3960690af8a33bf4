package grade

import (
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Lab 12: threads read and parse, and one thread executes. Between the two stands a barrier.

func threadTests() []test {
	return []test{
		{name: say{"One I/O thread", "一个 I/O 线程"}, points: 10, play: threadsOne},
		{name: say{"64 clients send pipelines, and each gets its replies in order", "64 个客户端发流水线，各自按顺序得到回复"},
			points: 20, play: threadsPipelines},
		{name: say{"Requests are cut, at many clients at once", "许多客户端的请求同时被切开"}, points: 15, play: threadsCut},
		{name: say{"No INCR is lost", "一次 INCR 都不丢"}, points: 20, play: threadsIncrements},
		{name: say{"The threads are there", "线程确实存在"}, points: 10, play: threadsCount},
		{name: say{"One thread executes", "单线程执行"}, points: 10, play: threadsOrder},
		{name: say{"No busy loop: idle threads sleep", "不空转：空闲的线程在睡眠"}, points: 5, play: threadsIdle},
		{name: say{"The explanation of the figures", "对数据的解释"}, points: 10, play: threadsExplain},
	}
}

// serveWith starts the program with so many I/O threads.
func (s *stage) serveWith(threads int) *service {
	return s.serve("IO_THREADS=" + strconv.Itoa(threads))
}

func threadsOne(s *stage) {
	c := s.serveWith(1).dial()
	c.ping(say{"PING", "PING"})
	c.do("+OK\r\n", say{"SET k v", "SET k v"}, "SET", "k", "v")
	c.do(bulk("v"), say{"GET k", "GET k"}, "GET", "k")
	c.do(":1\r\n", say{"the first INCR", "第一次 INCR"}, "INCR", "n")
	c.do(":2\r\n", say{"the second INCR", "第二次 INCR"}, "INCR", "n")
}

// threadsPipelines lets all clients send at once, so one pass has work for all threads.
func threadsPipelines(s *stage) {
	const clients, times = 64, 40
	crowd := s.serveWith(4).crowd(clients)
	for round := range 3 {
		for i, c := range crowd {
			var b []byte
			for n := range times {
				b = append(b, request("ECHO", fmt.Sprint(round, "-", i, "-", n))...)
			}
			c.write(b)
		}
		for i, c := range crowd {
			for n := range times {
				c.expect(bulk(fmt.Sprint(round, "-", i, "-", n)), say{
					"A pipeline of one of 64 clients, with 4 I/O threads. Does main wait until every thread has parsed its share?",
					"4 个 I/O 线程，64 个客户端之一的流水线。主线程是否等所有线程都解析完？"})
			}
		}
	}
}

func threadsCut(s *stage) {
	crowd := s.serveWith(4).crowd(16)
	whole := request("ECHO", "hello")
	for at := 1; at < len(whole); at++ {
		for _, c := range crowd {
			c.write(append(request("PING"), whole[:at]...))
		}
		for _, c := range crowd {
			c.expect("+PONG\r\n", say{"PING before a part of a request", "半个请求之前的 PING"})
		}
		for _, c := range crowd {
			c.write(whole[at:])
		}
		for _, c := range crowd {
			c.expect(bulk("hello"), say{"ECHO that came in two parts, with 4 I/O threads", "4 个 I/O 线程，分两次到达的 ECHO"})
		}
	}
}

func threadsIncrements(s *stage) {
	const clients, times = 64, 25
	v := s.serveWith(4)
	crowd := v.crowd(clients)
	for _, c := range crowd {
		c.write(many(times, "INCR", "counter"))
	}
	given := map[string]bool{}
	for _, c := range crowd {
		for range times {
			n := c.line(say{"INCR of one of 64 clients, with 4 I/O threads", "4 个 I/O 线程，64 个客户端之一的 INCR"})
			s.want(!given[n], say{
				"Two clients got the same number for INCR: two threads executed at the same time. " +
					"The threads only read and parse. Main executes, when all of them have come to the barrier.",
				"两个客户端的 INCR 得到了同一个数：两个线程同时在执行命令。线程只负责读和解析；全部到达屏障后，由主线程执行。"})
			given[n] = true
		}
	}
}

// threadsCount compares the number of threads with one I/O thread and with four.
func threadsCount(s *stage) {
	count := func(n int) (int, bool) {
		v := s.serveWith(n)
		crowd := v.crowd(32)
		for _, c := range crowd {
			c.write(request("PING"))
		}
		for _, c := range crowd {
			c.expect("+PONG\r\n", say{"PING of one of 32 clients", "32 个客户端之一的 PING"})
		}
		t, ok := look(v.processes())
		return t.count, ok
	}
	one, ok := count(1)
	four, _ := count(4)
	if !ok {
		return // the system does not show threads
	}
	s.want(four >= one+2, say{
		"With IO_THREADS=4 your server has as many threads as with IO_THREADS=1. Each I/O thread is a thread of the system.",
		"IO_THREADS=4 时的线程数和 IO_THREADS=1 时一样。每个 I/O 线程都应是系统线程。"})
}

func threadsOrder(s *stage) {
	v := s.serveWith(4)
	a, b := v.dial(), v.dial()
	waits := 0
	for range 3 {
		if v.waitsFor(a, b) {
			waits++
		}
	}
	s.want(waits >= 2, say{
		"A client sent DEBUG SLEEP 0.2, and another client got the reply to its PING first. I/O threads do not execute.",
		"一个客户端发了 DEBUG SLEEP 0.2，另一个客户端的 PING 却先得到回复。I/O 线程不执行命令。"})
}

func threadsIdle(s *stage) {
	v := s.serveWith(4)
	for _, c := range v.crowd(16) {
		c.ping(say{"PING of one of 16 clients", "16 个客户端之一的 PING"})
	}
	s.sleeps(v)
}

// threadsExplain measures the program on this machine, for its author, and looks at what the author says
// about it. No points depend on how fast the program is.
func threadsExplain(s *stage) {
	for _, n := range []int{1, 2, 4} {
		rate := s.serveWith(n).rate()
		figure := say{"   measured here, on %d cores: IO_THREADS=%d %9.0f requests a second",
			"   本机实测，%d 核：IO_THREADS=%d 每秒 %9.0f 个请求"}
		fmt.Fprintln(s.run.Out, figure.in(s.run.Lang, runtime.NumCPU(), n, rate))
	}
	c := s.serveWith(1).dial()
	reply := say{"EXPLAIN", "EXPLAIN"}
	c.write(request("EXPLAIN"))
	text := string(c.bulk(reply))
	first, rest, _ := strings.Cut(text, "\n")
	cores := fmt.Sprint("cores ", runtime.NumCPU())
	s.want(strings.TrimSpace(first) == cores, say{
		"The first line of the reply to EXPLAIN is %q. It should be \"cores N\", with the number of cores of this machine.",
		"EXPLAIN 回复的第一行是 %q，应为 \"cores N\"，N 是本机的核数。"}, cut(first))
	s.want(utf8.RuneCountInString(strings.TrimSpace(rest)) >= 80, say{
		"Your explanation is too short. Which part of a request gets faster with more threads here, which does not, and why?",
		"解释太短。在这台机器上，线程多了，请求的哪一部分变快，哪一部分不变，为什么？"})
}

// rate returns how many requests a second the server executes. 50 clients send 16 at a time.
func (v *service) rate() float64 {
	const clients, times = 50, 16
	crowd := v.crowd(clients)
	pipeline, n := many(times, "PING"), 0
	began := time.Now()
	for time.Since(began) < 200*time.Millisecond {
		for _, c := range crowd {
			c.write(pipeline)
		}
		for _, c := range crowd {
			c.limit()
			if _, err := io.CopyN(io.Discard, c.in, times*int64(len("+PONG\r\n"))); err != nil {
				c.missing(err, true, say{"16 PING", "16 个 PING"})
			}
		}
		n += clients * times
	}
	return float64(n) / time.Since(began).Seconds()
}

package grade

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/miniredisd/miniredisd/resp"
)

// Lab 12: threads read and parse, and one thread executes. Between the two stands a barrier.

func threadTests() []test {
	return []test{
		{name: say{"One I/O thread", "一个 I/O 线程"}, points: 10, play: threadsOne},
		{name: say{"The I/O threads read and parse", "I/O 线程在读和解析"}, points: 20, play: threadsWork},
		{name: say{"Main waits at the barrier", "主线程在屏障处等待"}, points: 15, play: threadsBarrier},
		{name: say{"64 clients send pipelines, and each gets its replies in order", "64 个客户端发流水线，各自按顺序得到回复"},
			points: 10, play: threadsPipelines},
		{name: say{"Requests are cut, at many clients at once", "许多客户端的请求同时被切开"}, points: 10, play: threadsCut},
		{name: say{"No INCR is lost", "一次 INCR 都不丢"}, points: 15, play: threadsIncrements},
		{name: say{"One thread executes", "单线程执行"}, points: 10, play: threadsOrder},
		{name: say{"No busy loop: idle threads sleep", "不空转：空闲的线程在睡眠"}, points: 5, play: threadsIdle},
		{name: say{"The explanation of the figures", "对数据的解释"}, points: 5, play: threadsExplain},
	}
}

// needsThreads ends a test that shows nothing, because an earlier one has found that no threads work or that
// main does not wait for them.
func (s *story) needsThreads() {
	s.want(s.run.threads.en == "", s.run.threads)
}

// serveWith starts the program with that many I/O threads.
func (s *story) serveWith(threads int) *service {
	return s.serve("IO_THREADS=" + strconv.Itoa(threads))
}

func threadsOne(s *story) {
	c := s.serveWith(1).dial()
	c.ping(say{"PING", "PING"})
	c.do("+OK\r\n", say{"SET k v", "SET k v"}, "SET", "k", "v")
	c.do(bulk("v"), say{"GET k", "GET k"}, "GET", "k")
	c.do(":1\r\n", say{"the first INCR", "第一次 INCR"}, "INCR", "n")
	c.do(":2\r\n", say{"the second INCR", "第二次 INCR"}, "INCR", "n")
}

// threadsBarrier compares passes with one I/O thread and with four. In half of them some threads have far more
// to do than others.
func threadsBarrier(s *story) {
	s.needsThreads()
	passes := func(threads int) {
		r := s.serveWith(threads).rounds()
		late := false
		for n := 0; n < 6 && !late; n++ {
			late = r.pass(equalLoads()) || r.pass(s.unequalLoads())
		}
		s.want(!late && !r.flood(), say{
			"Some replies came only after their clients had sent one more request: " +
				"main had executed before these were parsed.",
			"有些回复要等客户端再发一个请求才来：主线程执行时，这些请求还没有解析完。"})
	}
	passes(1)
	f, err := s.perform(func(*story) { passes(4) })
	s.check(err)
	if f != nil {
		s.missesBarrier(f)
	}
}

// missesBarrier ends the test of a server that serves everybody with one I/O thread, and fails with four.
func (s *story) missesBarrier(f *failure) {
	s.run.threads = say{"Not judged: main does not wait at the barrier. See the test that says so.",
		"不评判：主线程没有在屏障处等待，见指出这一点的测试。"}
	panic(&failure{args: []any{f.text(s.run.Lang)}, why: say{
		"There is no barrier, or main does not wait there for every thread. " +
			"With IO_THREADS=1 all replies come. With IO_THREADS=4 and the same requests: %s",
		"没有屏障，或者主线程没有在那里等到所有线程。IO_THREADS=1 时回复都会来。IO_THREADS=4 时，同样的请求：%s"}})
}

// threadsPipelines lets all clients send at once, so one pass has work for all threads.
func threadsPipelines(s *story) {
	s.needsThreads()
	const clients, times = 64, 40
	crowd, word := s.serveWith(4).crowd(clients), s.word()
	for round := range 3 {
		for i, c := range crowd {
			var b []byte
			for n := range times {
				b = resp.AppendRequest(b, "ECHO", fmt.Sprint(word, round, "-", i, "-", n))
			}
			c.write(b)
		}
		for i, c := range crowd {
			for n := range times {
				c.expect(bulk(fmt.Sprint(word, round, "-", i, "-", n)), say{
					"A pipeline of one of 64 clients, with 4 I/O threads. Does main wait until every thread has parsed its share?",
					"4 个 I/O 线程，64 个客户端之一的流水线。主线程是否等所有线程都解析完？"})
			}
		}
	}
}

func threadsCut(s *story) {
	s.needsThreads()
	crowd := s.serveWith(4).crowd(16)
	whole := resp.AppendRequest(nil, "ECHO", "hello")
	for at := 1; at < len(whole); at++ {
		for _, c := range crowd {
			c.write(append(resp.AppendRequest(nil, "PING"), whole[:at]...))
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

func threadsIncrements(s *story) {
	s.needsThreads()
	const clients, times = 64, 25
	v := s.serveWith(4)
	crowd, counter := v.crowd(clients), s.word()
	for _, c := range crowd {
		c.write(many(times, "INCR", counter))
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

func threadsOrder(s *story) {
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

func threadsIdle(s *story) {
	v := s.serveWith(4)
	for _, c := range v.crowd(16) {
		c.ping(say{"PING of one of 16 clients", "16 个客户端之一的 PING"})
	}
	s.sleeps(v)
}

// threadsExplain measures the program on this machine, for its author, and looks at what the author says
// about it. No points depend on how fast the program is.
func threadsExplain(s *story) {
	if s.run.threads.en == "" { // figures of threads that do not work explain nothing
		s.figures()
	}
	c := s.serveWith(1).dial()
	reply := say{"EXPLAIN", "EXPLAIN"}
	c.write(resp.AppendRequest(nil, "EXPLAIN"))
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

package grade

import (
	"strconv"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/lab"
)

// Lab 10: take waits for the lock. A waiter that polls costs a request each time. A waiter that sleeps must
// be woken, and a wake-up can get lost.

func wakeupTests() []test {
	return []test{
		{name: say{"Take and release", "加锁与释放"}, points: 10, play: wakeupPlain},
		{name: say{"A release gives the lock to a waiter", "释放之后，等待者拿到锁"}, points: 20, play: wakeupRelease},
		{name: say{"A waiter does not poll", "等待者不轮询"}, points: 30, play: wakeupQuiet},
		{name: say{"The lock is released while the waiter prepares to wait", "等待者准备等待时锁被释放"},
			points: 25, play: wakeupGap},
		{name: say{"The holder dies and wakes nobody", "持有者崩溃，没有人叫醒等待者"}, points: 15, play: wakeupLost},
	}
}

// wakeLimit is how long a free lock may stay without its waiter. It is far less than the lease.
const wakeLimit = 4 * time.Second

// quietTime is how long the grader watches a waiter. mostRequests is far more than a quiet one sends in it.
const quietTime = 500 * time.Millisecond

func wakeupPlain(s *story) {
	p := s.open()
	for _, owner := range []string{"a", "b", "a"} {
		p.takes(owner, say{"The lock is free", "锁空闲时"})
		s.want(s.token() != "", say{"`take` answered `held`, and there is no lock.", "`take` 回答了 `held`，服务器上却没有锁。"})
		p.releases(owner, say{"The owner holds the lock", "持有锁时"})
		s.want(s.token() == "", say{"`release` answered `released`, and the lock is still there.",
			"`release` 回答了 `released`，锁却还在。"})
	}
}

func wakeupRelease(s *story) {
	a, b := s.open(), s.open()
	a.takes("a", say{"The lock is free", "锁空闲时"})
	b.send("take b")
	s.awaitRequest("b", s.run.AnswerLimit)
	a.releases("a", say{"a holds the lock, and b waits", "a 持有锁，b 在等待"})
	b.gets(say{"a has released the lock", "a 释放之后"})
}

// gets waits for the answer to take b, which has been sent.
func (p *program) gets(when say) {
	for end := time.Now().Add(min(wakeLimit, p.s.run.AnswerLimit)); !p.answered(); {
		p.s.want(time.Now().Before(end), say{
			"%s, and b, who waits for it, does not get it. Did the wake-up come before b listened? " +
				"Try once more after you have begun to listen, and never wait for longer than the lease.",
			"%s，等待中的 b 却没有拿到锁。叫醒的消息是不是在 b 开始监听之前就发出了？" +
				"开始监听之后再试一次，而且等待不要超过租约。"}, when.in(p.s.run.Lang))
	}
	word, _ := p.answer("take b")
	p.s.want(word == "held", say{"%s: `take b` answered `refused`. In this lab take waits for the lock.",
		"%s：`take b` 回答了 `refused`。在这个实验里，take 要一直等到拿到锁。"}, when.in(p.s.run.Lang))
}

func wakeupQuiet(s *story) {
	a, b := s.open(), s.open()
	a.takes("a", say{"The lock is free", "锁空闲时"})
	before := len(s.requests())
	sent := func() int { return len(s.requests()) - before } // over any connection: a has nothing to do
	b.send("take b")
	for end := time.Now().Add(s.run.AnswerLimit); !s.rests("b"); time.Sleep(moment) {
		s.want(time.Now().Before(end) && sent() <= mostRequests, say{
			"b waits for the lock, and no connection with the name b is blocked or subscribed: b polls, with %s after %s. " +
				"Let the server wake you: BLPOP, or SUBSCRIBE.",
			"b 在等锁，但没有名为 b 的连接处于阻塞或订阅状态：b 在轮询，一条 %s 接着一条 %s。让服务器叫醒你：BLPOP 或 SUBSCRIBE。"},
			s.last(), s.last())
	}
	seen := sent()
	time.Sleep(quietTime) // the program polls in real time, if it does
	s.want(sent() <= seen+mostRequests, say{
		"b is blocked or subscribed, and goes on asking all the same: %s after %s.",
		"b 已经阻塞或订阅，却仍在不停地询问：一条 %s 接着一条 %s。"}, s.last(), s.last())
	a.releases("a", say{"a holds the lock, and b waits", "a 持有锁，b 在等待"})
	b.gets(say{"a has released the lock", "a 释放之后"})
}

// rests reports whether a client with this name waits for the server: it is blocked or subscribed.
func (s *story) rests(name string) bool {
	for _, line := range strings.Split(s.ask("CLIENT", "LIST").Str, "\n") {
		if strings.Contains(line, " name="+name+" ") &&
			(strings.Contains(line, " flags=b ") || !strings.Contains(line, " sub=0 psub=0 ssub=0 ")) {
			return true
		}
	}
	return false
}

// requests returns the commands in the log that clients sent themselves, not their scripts.
func (s *story) requests() (found []lab.Entry) {
	for _, e := range s.commands("") {
		if e.By == "" {
			found = append(found, e)
		}
	}
	return found
}

// last is the name of the newest command.
func (s *story) last() string {
	all := s.requests()
	if len(all) == 0 {
		return "PING"
	}
	return strings.ToUpper(all[len(all)-1].Cmd[0])
}

// wakeupGap releases the lock before each request of a waiter in turn.
func wakeupGap(s *story) {
	for request := 1; request <= mostRequests; request++ {
		a, b := s.open(), s.open()
		a.takes("a", say{"The lock is free", "锁空闲时"})
		done := s.strike("gap", "b", request, "HOLD", true)
		b.send("take b")
		held := s.heldBefore(b, "take b", "gap", func() bool { return s.rests("b") || b.answered() })
		if !held {
			done(2)
		}
		a.releases("a", say{"a holds the lock, and b waits", "a 持有锁，b 在等待"})
		s.lab("FAULT DEL gap") // b's request continues
		b.gets(say{"The lock was released just before request " + strconv.Itoa(request) + " of the waiter",
			"锁恰好在等待者的第 " + strconv.Itoa(request) + " 个请求之前被释放"})
		a.end()
		b.end()
		s.do(1, "FLUSHALL")
		if !held {
			return // the waiter slept before that request
		}
	}
}

func wakeupLost(s *story) {
	a, b := s.openFor(shortLease), s.openFor(shortLease)
	a.takes("a", say{"The lock is free", "锁空闲时"})
	b.send("take b")
	s.awaitRequest("b", s.run.AnswerLimit)
	for end := time.Now().Add(wakeLimit); !s.rests("b") && time.Now().Before(end); time.Sleep(moment) {
		// The holder dies while b waits, and not before. A program that polls never rests.
	}
	a.end()
	s.advance(shortLease + time.Millisecond)
	b.gets(say{"The holder died without a word, and its lease is over", "持有者无声崩溃，租约已经到期"})
}

package grade

import (
	"strconv"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/lab/doctor"
)

// Lab 7: a lock whose release deletes only its own key. GET and then DEL are two commands, and between
// them the lease can end.

func deleteTests() []test {
	return []test{
		{name: say{"Take and release", "加锁与释放"}, points: 10, play: deletePlain},
		{name: say{"A second owner is refused", "第二个人加锁被拒绝"}, points: 10, play: deleteRefused},
		{name: say{"The lock comes with its lease, in one command", "锁和租约在同一条命令里"}, points: 10, play: deleteLease},
		{name: say{"Every grant has a token of its own", "每次加锁的令牌都不同"}, points: 10, play: deleteToken},
		{name: say{"A late release leaves the lock of the next owner alone", "迟到的释放不会删掉别人的锁"},
			points: 20, play: deleteLate},
		{name: say{"The lease ends in the middle of the release", "释放到一半时租约到期"}, points: 40, play: deleteGap},
	}
}

func deletePlain(s *story) {
	p := s.open()
	free := say{"The lock is free", "锁空闲时"}
	for range 2 {
		p.takes("a", free)
		s.want(len(s.keys()) > 0, say{
			"`take a` answered `held`, and the server has no key.", "`take a` 回答了 `held`，服务器上却没有键。"})
		p.releases("a", say{"a holds the lock", "a 持有锁时"})
		s.want(len(s.keys()) == 0, say{"`release a` answered `released`, and the key %q is still there.",
			"`release a` 回答了 `released`，键 %q 却还在。"}, strings.Join(s.keys(), " "))
	}
	p.takes("b", free)
	p.order("close")
}

func deleteRefused(s *story) {
	p := s.open()
	p.takes("a", say{"The lock is free", "锁空闲时"})
	p.isRefused("b", say{"a holds the lock", "a 持有锁时"})
	p.releases("a", say{"a holds the lock", "a 持有锁时"})
	p.takes("b", say{"a has released the lock", "a 释放之后"})
}

func deleteLease(s *story) {
	p := s.open()
	p.takes("a", say{"The lock is free", "锁空闲时"})
	ttl := s.do(1, "PTTL", s.lock).Int
	s.want(ttl == lease.Milliseconds(), say{
		"The key %s has a time to live of %d ms, and should have %d. " +
			"(-1 means that it stays for ever, -2 that there is no such key.)",
		"键 %s 的剩余时间是 %d 毫秒，应为 %d。（-1：永不过期，-2：没有这个键。）"}, s.lock, ttl, lease.Milliseconds())
	s.noFinding(doctor.SetnxExpire, say{
		"The lock and its lease are two commands. A client that dies between them leaves a lock for ever: " +
			"use SET key token NX PX ms.",
		"锁和租约是两条命令。客户端在中间崩溃，锁就永远留下：请用 SET key token NX PX ms。"})
	s.advance(lease + time.Millisecond)
	p.takes("b", say{"The lease of a is over", "a 的租约到期之后"})
}

func deleteToken(s *story) {
	p := s.open()
	seen := map[string]bool{}
	for _, owner := range []string{"a", "b", "a", "b"} {
		p.takes(owner, say{"The lock is free", "锁空闲时"})
		token := s.token()
		s.want(token != "" && !seen[token], say{
			"Two grants wrote the same token %q. " +
				"Without a token of its own, no owner can tell its lock from the lock of another.",
			"两次加锁写了同样的令牌 %q。没有自己的令牌，就分不清锁是谁的。"}, cut(token))
		seen[token] = true
		p.releases(owner, say{"The owner holds the lock", "持有锁时"})
	}
}

func deleteLate(s *story) {
	p := s.open()
	p.takes("a", say{"The lock is free", "锁空闲时"})
	s.advance(lease + time.Millisecond)
	p.takes("b", say{"The lease of a is over", "a 的租约到期之后"})
	token := s.token()
	word, _ := p.order("release a")
	s.bStillHolds(token, say{"a released after its lease was over", "a 在租约到期之后才释放"})
	s.want(word == "failed", say{
		"`release a` answered `released`, but the lock of a ended with its lease. " +
			"Tell the caller: its work was not protected.",
		"`release a` 回答了 `released`，可是 a 的锁早已随租约结束。应让调用者知道：它的工作没有受到保护。"})
	p.releases("b", say{"b holds the lock", "b 持有锁时"})
}

// bStillHolds wants the lock to be b's, and the history to have one holder at each time.
func (s *story) bStillHolds(token string, when say) {
	lang := s.run.Lang
	s.want(s.token() == token, say{
		"%s. It deleted the lock of b: a third client can take the lock now, while b works. " +
			"Compare the token and delete in one step on the server: a script.",
		"%s，删掉了 b 的锁：b 还在工作，第三个客户端就能加锁了。比较令牌和删除必须在服务器上一步完成：用脚本。"}, when.in(lang))
	s.noFinding(doctor.TwoHolders, say{
		"Two clients held the lock at the same time, after this: " + when.en + ".", "两个客户端同时持有了锁：" + when.zh + "。"})
}

// deleteGap ends the lease before each request of a release. Another process takes the lock then.
func deleteGap(s *story) {
	a, b := s.open(), s.open()
	for request := 1; ; request++ {
		a.takes("a", say{"The lock is free", "锁空闲时"})
		done := s.strike("gap", "a", request, "HOLD", true)
		a.send("release a")
		if !s.heldBefore(a, "release a", "gap", a.answered) {
			a.answer("release a")
			done(0)
			return // the release has fewer requests
		}
		s.advance(lease + time.Millisecond)
		b.takes("b", say{"The lease of a is over", "a 的租约到期之后"})
		token := s.token()
		s.lab("HOLD RELEASE gap")
		a.answer("release a")
		s.lab("FAULT DEL gap")
		nth := strconv.Itoa(request)
		s.bStillHolds(token, say{"The lease of a ended just before request " + nth + " of its release, and b took the lock",
			"a 的租约恰好在释放的第 " + nth + " 个请求之前到期，b 加了锁。a 继续释放"})
		b.releases("b", say{"b holds the lock", "b 持有锁时"})
		s.want(request < mostRequests, say{"A release takes more than %d requests.", "一次释放用了超过 %d 个请求。"}, mostRequests)
	}
}

// mostRequests is far more than a release needs.
const mostRequests = 8

package grade

import (
	"strconv"

	"github.com/miniredisd/miniredisd/course/stage"
)

// Lab 8: the server has executed the request, and the reply is lost. A client that sends the request again
// meets its own lock.

func resendTests() []test {
	return []test{
		{name: say{"Take and release", "加锁与释放"}, points: 10, play: deletePlain},
		{name: say{"A second owner is refused", "第二个人加锁被拒绝"}, points: 10, play: deleteRefused},
		{name: say{"A reply of take is lost", "加锁的回复丢失"}, points: 30, play: resendTake},
		{name: say{"A reply of take is lost, and the lock belongs to another", "加锁的回复丢失，而锁在别人手里"},
			points: 20, play: resendRefused},
		{name: say{"A request of release is lost", "释放的请求丢失"}, points: 15, play: resendRelease},
		{name: say{"A reply of release is lost", "释放的回复丢失"}, points: 15, play: resendReleased},
	}
}

// losing sends an order to a new program, once for each request that the order makes. The fault hits that
// request. before comes first, and then judges the answer.
func (s *story) losing(
	action, order string, held bool, before func(p *program), then func(p *program, request int, word string),
) {
	for request := 1; ; request++ {
		p := s.open()
		before(p)
		done := s.strike("lost", "a", request, action, held)
		word, _ := p.order(order)
		fired := stage.Field(s.lab("FAULT LIST").Elems[0], "fired").Int // the rule is there: guests cannot remove it
		s.lab("FAULT DEL lost")
		if fired == 0 {
			done(0)
		}
		then(p, request, word)
		p.end()
		if fired == 0 {
			return // the order has fewer requests
		}
		s.want(request < mostRequests, say{"It takes more than %d requests.", "用了超过 %d 个请求。"}, mostRequests)
	}
}

// resendTake wants the answer to be what the server has.
func resendTake(s *story) {
	other := s.open()
	s.losing("DROP-REPLY", "take a", false, func(*program) {}, func(p *program, request int, word string) {
		token := s.token()
		s.want(word == "held" || token == "", say{
			"The reply to request %d of `take a` was lost. The answer was `refused`, and the key %s is there: " +
				"it is the lock of a itself, and it keeps everybody out for a lease. Ask the server whose token it has.",
			"`take a` 的第 %d 个请求的回复丢失了。回答是 `refused`，而键 %s 存在：那正是 a 自己的锁，整个租约期间谁也拿不到。" +
				"请问一问服务器，里面是谁的令牌。"}, request, s.lock)
		s.want(word == "refused" || token != "", say{
			"The reply to request %d of `take a` was lost. The answer was `held`, and there is no lock.",
			"`take a` 的第 %d 个请求的回复丢失了。回答是 `held`，而锁并不存在。"}, request)
		if word == "held" {
			other.isRefused("b", say{"a holds the lock", "a 持有锁时"})
			p.releases("a", say{"a holds the lock", "a 持有锁时"})
		}
		other.takes("b", say{"a does not hold the lock", "a 不持有锁时"})
		other.releases("b", say{"b holds the lock", "b 持有锁时"})
	})
}

func resendRefused(s *story) {
	other := s.open()
	other.takes("b", say{"The lock is free", "锁空闲时"})
	token := s.token()
	s.losing("DROP-REPLY", "take a", true, func(*program) {}, func(_ *program, request int, word string) {
		s.want(word == "refused" && s.token() == token, say{
			"b held the lock, and the reply to request %d of `take a` was lost. The answer was `%s`: " +
				"a lost reply says nothing. It can be a refusal.",
			"b 持有锁，`take a` 的第 %d 个请求的回复丢失了。回答是 `%s`：丢失的回复什么也没有说明，它也可能是拒绝。"}, request, word)
	})
	other.releases("b", say{"b holds the lock", "b 持有锁时"})
}

func resendRelease(s *story) {
	other := s.open()
	holds := func(p *program) { p.takes("a", say{"The lock is free", "锁空闲时"}) }
	s.losing("DROP-BEFORE", "release a", true, holds, func(_ *program, request int, _ string) {
		s.want(s.token() == "", say{
			"Request %d of `release a` never reached the server. The lock is still there, " +
				"and nobody gets it until the lease ends. " +
				"Send the request again: a release that compares the token may be sent twice.",
			"`release a` 的第 %d 个请求没有到达服务器。锁还在，租约到期之前谁也拿不到。请再发一遍：比较令牌的释放可以重复发送。"}, request)
		other.takes("b", say{"a has released the lock", "a 释放之后"})
		other.releases("b", say{"b holds the lock", "b 持有锁时"})
	})
}

// resendReleased wants a release that was executed to be known as one. The lease has not ended, so a key that is
// gone after a lost reply can only be the client's own work. Then another owner takes the lock before the second
// attempt, which has to leave it alone.
func resendReleased(s *story) {
	other := s.open()
	holds := func(p *program) { p.takes("a", say{"The lock is free", "锁空闲时"}) }
	s.losing("DROP-REPLY", "release a", true, holds, func(_ *program, request int, word string) {
		s.want(s.token() == "", say{
			"The reply to request %d of `release a` was lost, and the key %s is still there. Go on until an answer comes.",
			"`release a` 的第 %d 个请求的回复丢失了，键 %s 却还在。请一直做到有回复为止。"}, request, s.lock)
		s.want(word == "released", say{
			"The reply to request %d of `release a` was lost. The server has deleted the key, and the lease has not ended. " +
				"The answer was `failed`. Your own first attempt has released the lock: " +
				"a second attempt that finds nothing says so.",
			"`release a` 的第 %d 个请求的回复丢失了。服务器已经删除了键，租约也没有到期，回答却是 `failed`。" +
				"是你自己的第一次尝试释放了锁：第二次尝试什么也没找到，正说明这一点。"}, request)
		other.takes("b", say{"a has released the lock", "a 释放之后"})
		other.releases("b", say{"b holds the lock", "b 持有锁时"})
	})
	s.releasedMeanwhile(other)
}

// releasedMeanwhile lets b take the lock between the lost reply and what a sends next.
func (s *story) releasedMeanwhile(other *program) {
	p := s.open()
	for request := 1; request <= mostRequests; request++ {
		p.takes("a", say{"The lock is free", "锁空闲时"})
		nth := strconv.Itoa(request)
		s.lab("FAULT ADD lost CLIENT a NTH " + nth + " ACTION DROP-REPLY")
		done := s.strike("next", "a", request+1, "HOLD", true)
		p.send("release a")
		held := s.heldBefore(p, "release a", "next", p.answered)
		token := ""
		if held && s.token() == "" {
			other.takes("b", say{"a has released the lock", "a 释放之后"})
			token = s.token()
		}
		s.lab("FAULT DEL next")
		p.answer("release a")
		if !held {
			done(0)
		}
		s.lab("FAULT DEL lost")
		if token != "" {
			s.bStillHolds(token, say{"The reply to request " + nth + " of `release a` was lost, b took the lock, and a went on",
				"`release a` 的第 " + nth + " 个请求的回复丢失了，b 加了锁，a 继续释放"})
			other.releases("b", say{"b holds the lock", "b 持有锁时"})
		}
		if !held {
			return // the release has fewer requests
		}
	}
}

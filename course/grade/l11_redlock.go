package grade

import (
	"strconv"
	"strings"
	"time"
)

// Lab 11: one lock on five masters. A majority decides. A fencing token helps where Redlock cannot.

func redlockTests() []test {
	return []test{
		{name: say{"Take and release on a majority", "在多数节点上加锁与释放"}, points: 10, play: redlockPlain},
		{name: say{"A second owner is refused and leaves nothing", "第二个人被拒绝，并且不留痕迹"}, points: 15, play: redlockRefused},
		{name: say{"Two masters are down", "两个节点宕机"}, points: 20, play: redlockMinority},
		{name: say{"Three masters are down", "三个节点宕机"}, points: 20, play: redlockMajority},
		{name: say{"The fencing token grows, even after a master forgot", "隔离令牌递增，即使有节点丢了数据"},
			points: 20, play: redlockFence},
		{name: say{"Clocks jump, and there are two holders", "时钟跳变，出现两个持有者"}, points: 15, play: redlockJump},
	}
}

// values returns the lock on each master, and "" where there is none.
func (s *story) values() (all []string) {
	for n := range s.servers.Addrs {
		all = append(all, s.do(n+1, "GET", s.lock).Str)
	}
	return all
}

// held returns how many masters have a lock.
func (s *story) held() (n int) {
	for _, v := range s.values() {
		if v != "" {
			n++
		}
	}
	return n
}

func (s *story) majority() int { return len(s.servers.Addrs)/2 + 1 }

// free wants no master to have a lock.
func (s *story) free(after say) {
	n := s.held()
	s.want(n == 0, say{
		"%s: %d masters still have the key %s. Release it on every master, also where you did not get an answer.",
		"%s：%d 个节点上还有键 %s。要在每个节点上释放，包括没有回答的节点。"}, after.in(s.run.Lang), n, s.lock)
}

func redlockPlain(s *story) {
	p := s.open()
	for _, owner := range []string{"a", "b"} {
		p.takes(owner, say{"The lock is free", "锁空闲时"})
		n := s.held()
		s.want(n >= s.majority(), say{
			"`take %s` answered `held`, and %d of %d masters have the lock. A majority is %d.",
			"`take %s` 回答了 `held`，可 %d/%d 个节点上有锁，多数是 %d 个。"}, owner, n, len(s.servers.Addrs), s.majority())
		p.releases(owner, say{"The owner holds the lock", "持有锁时"})
		s.free(say{"After the release", "释放之后"})
	}
}

func redlockRefused(s *story) {
	p := s.open()
	p.takes("a", say{"The lock is free", "锁空闲时"})
	before := s.values()
	p.isRefused("b", say{"a holds the lock", "a 持有锁时"})
	for n, v := range s.values() {
		s.want(v == before[n], say{"b was refused, and changed the lock of a on master %d.",
			"b 被拒绝，却改动了节点 %d 上 a 的锁。"}, n+1)
	}
	// a has a majority, and b could get the rest.
	for n := 1; n < s.majority(); n++ {
		s.do(n, "DEL", s.lock)
	}
	p.isRefused("b", say{"a holds the lock on a majority", "a 在多数节点上持有锁时"})
	s.want(s.held() == len(s.servers.Addrs)-s.majority()+1, say{
		"b got a minority and was refused. It has left its lock there, and that blocks others for a lease. " +
			"Release everything that you got.",
		"b 只拿到少数节点，被拒绝了，却把锁留在那里，整个租约期间挡住别人。拿到的都要释放。"})
	p.releases("a", say{"a holds the lock", "a 持有锁时"})
}

// down crashes masters for longer than the test lasts. They forget everything. A clock that stands would
// keep a master down for ever, so the lab refuses that: the clocks of these masters run.
func (s *story) down(masters ...int) {
	for _, n := range masters {
		s.labOf(n, "CLOCK", "RUN")
		s.labOf(n, "CRASH", "DOWN", strconv.FormatInt(time.Hour.Milliseconds(), 10), "LOSE", "ALL")
	}
}

func redlockMinority(s *story) {
	s.down(2, 4)
	p := s.open()
	p.takes("a", say{"Two of five masters are down", "五个节点里有两个宕机"})
	p.isRefused("b", say{"a holds the lock on three of five masters", "a 在五个节点中的三个上持有锁"})
	p.releases("a", say{"a holds the lock", "a 持有锁时"})
	p.takes("b", say{"a has released the lock", "a 释放之后"})
}

func redlockMajority(s *story) {
	s.down(1, 3, 5)
	p := s.open()
	p.isRefused("a", say{"Three of five masters are down", "五个节点里有三个宕机"})
	s.free(say{"`take a` answered `refused`, because two masters are no majority", "两个节点不是多数，`take a` 回答了 `refused` 之后"})
}

// fencing returns the fencing token of the lock: the digits before the colon of its value.
func (s *story) fencing(owner string) int {
	for _, v := range s.values() {
		head, _, found := strings.Cut(v, ":")
		n, err := strconv.Atoi(head)
		if v == "" {
			continue
		}
		s.want(found && err == nil, say{
			"The lock of %s has the value %q. It should begin with the fencing token and a colon, such as 7:f3a9.",
			"%s 的锁的值是 %q。它应以隔离令牌和冒号开头，例如 7:f3a9。"}, owner, cut(masked(v)))
		return n
	}
	s.fail(say{"%s holds no lock on any master.", "%s 在任何节点上都没有锁。"}, owner)
	return 0
}

// masked replaces the letters and digits of a random token, so that two grades are equal.
func masked(token string) string {
	return strings.Map(func(r rune) rune {
		if r == ':' || r == '-' {
			return r
		}
		return 'x'
	}, token[:min(len(token), 8)])
}

func redlockFence(s *story) {
	p := s.open()
	last := 0
	for turn := range 5 {
		owner := []string{"a", "b"}[turn%2]
		p.takes(owner, say{"The lock is free", "锁空闲时"})
		n := s.fencing(owner)
		s.want(n > last, say{
			"Grant number %d has the fencing token %d, and the one before had %d. A store refuses old tokens, so each must be " +
				"larger. Master %d had crashed and forgotten its counter: ask a majority, and go on from the largest answer.",
			"第 %d 次加锁的隔离令牌是 %d，前一次是 %d。存储要拒绝旧令牌，所以必须递增。节点 %d 崩溃并忘记了计数：请问多数节点，取最大值继续。"},
			turn+1, n, last, turn)
		last = n
		p.releases(owner, say{"The owner holds the lock", "持有锁时"})
		s.labOf(turn+1, "CRASH", "LOSE", "ALL") // it is back at once
	}
}

func redlockJump(s *story) {
	a, b := s.open(), s.open()
	a.takes("a", say{"The lock is free", "锁空闲时"})
	first := s.fencing("a")
	for n := 1; n <= s.majority(); n++ {
		s.labOf(n, "CLOCK", "ADVANCE", strconv.FormatInt((lease+time.Millisecond).Milliseconds(), 10))
	}
	if word, _ := b.order("take b"); word == "refused" {
		return // a client that is more careful than Redlock
	}
	second := s.fencing("b")
	s.want(second > first, say{
		"The clocks of three masters jumped. Now a and b both believe that they hold the lock, " +
			"and no client can prevent that. The fencing token of b is %d, and a has %d: " +
			"a store cannot tell who is the newer one.",
		"三个节点的时钟跳变了。a 和 b 都以为自己持有锁，客户端无法避免。b 的隔离令牌是 %d，a 的是 %d：存储分不清谁更新。"},
		second, first)
}

package grade

import "time"

// Lab 9: a lock that its owner may take again, and a watchdog that renews it. The watchdog waits in real
// time. So the story moves the clock of the server only as far as a renewal has come.

// shortLease makes a watchdog renew soon: at a third of it.
const shortLease = 900 * time.Millisecond

func watchdogTests() []test {
	return []test{
		{name: say{"Take and release", "加锁与释放"}, points: 10, play: deletePlain},
		{name: say{"A second owner is refused", "第二个人加锁被拒绝"}, points: 10, play: deleteRefused},
		{name: say{"The owner takes the lock again", "持有者再次加锁（可重入）"}, points: 30, play: watchdogCounts},
		{name: say{"A watchdog renews the lease", "看门狗续约"}, points: 20, play: watchdogRenews},
		{name: say{"The lock ends with its client", "锁随客户端一起结束"}, points: 10, play: watchdogDies},
		{name: say{"A watchdog leaves the lock of another alone", "看门狗不动别人的锁"}, points: 20, play: watchdogLoses},
	}
}

func watchdogCounts(s *story) {
	p := s.open()
	p.takes("a", say{"The lock is free", "锁空闲时"})
	p.takes("a", say{"a holds the lock, and takes it again", "a 持有锁，再次加锁"})
	p.isRefused("b", say{"a holds the lock twice", "a 持有两次"})
	p.releases("a", say{"a holds the lock twice", "a 持有两次"})
	s.want(s.token() != "", say{
		"a took the lock twice and released it once, and the lock is gone. " +
			"The inner function has released the lock of the outer one. Count: HINCRBY, and delete at zero.",
		"a 加锁两次，只释放一次，锁就没了：内层函数释放了外层函数的锁。请计数：HINCRBY，到零才删除。"})
	p.isRefused("b", say{"a took twice and released once", "a 加锁两次、释放一次之后"})
	p.releases("a", say{"a holds the lock once", "a 还持有一次"})
	s.want(s.token() == "", say{"a took the lock twice and released it twice, and the lock is still there.",
		"a 加锁两次、释放两次，锁却还在。"})
	word, _ := p.order("release a")
	s.want(word == "failed", say{"a does not hold the lock, and `release a` answered `released`.",
		"a 并不持有锁，`release a` 却回答了 `released`。"})
	p.takes("b", say{"The lock is free", "锁空闲时"})
}

func watchdogRenews(s *story) {
	p := s.openFor(shortLease)
	p.takes("a", say{"The lock is free", "锁空闲时"})
	for range 4 {
		s.advance(shortLease * 2 / 3)
		s.renewed(say{
			"Two thirds of the lease are over, and nobody has renewed it. A watchdog renews at a third of the lease, " +
				"as long as the owner holds the lock.",
			"租约已经过了三分之二，却没有人续约。持有锁期间，看门狗应在租约的三分之一时续约。"})
	}
	p.isRefused("b", say{"a holds the lock for longer than its lease", "a 持有锁的时间超过了租约"})
	p.releases("a", say{"a holds the lock", "a 持有锁时"})
	s.want(s.token() == "", say{"After the release the lock is still there.", "释放之后，锁还在。"})
}

// renewed waits until the lock has most of its lease again.
func (s *story) renewed(why say) {
	for end := time.Now().Add(s.run.AnswerLimit); time.Now().Before(end); time.Sleep(moment) {
		if s.do(1, "PTTL", s.lock).Int > (shortLease * 2 / 3).Milliseconds() {
			return
		}
	}
	s.fail(why)
}

func watchdogDies(s *story) {
	p := s.openFor(shortLease)
	p.takes("a", say{"The lock is free", "锁空闲时"})
	p.end()
	s.advance(shortLease + time.Millisecond)
	s.openFor(shortLease).takes("b", say{"The client of a died, and the lease is over", "a 的客户端崩溃，租约到期之后"})
}

// watchdogLoses lets a lose the lock to b, whose own watchdog is dead. Nobody may renew it then.
func watchdogLoses(s *story) {
	a, b := s.openFor(shortLease), s.openFor(shortLease)
	a.takes("a", say{"The lock is free", "锁空闲时"})
	s.advance(shortLease + time.Millisecond) // as a long pause of a would
	b.takes("b", say{"The lease of a is over", "a 的租约到期之后"})
	b.end()
	s.advance(shortLease * 2 / 3)
	s.awaitRequest("a", shortLease)
	s.advance(shortLease * 2 / 3)
	s.want(s.token() == "", say{
		"The lease of a ended, and b took the lock and died. The watchdog of a has renewed the lock of b. " +
			"Renew only a lock that is still yours: look and renew in one script.",
		"a 的租约到期，b 加了锁又崩溃了。a 的看门狗却给 b 的锁续了约。只能给自己的锁续约：在一个脚本里先检查再续约。"})
	word, _ := a.order("release a")
	s.want(word == "failed", say{"a lost the lock, and `release a` answered `released`.",
		"a 已经失去了锁，`release a` 却回答了 `released`。"})
}

// awaitRequest waits for the next request of a client, for at most that long: a client that knows that its
// lock is lost sends none.
func (s *story) awaitRequest(name string, most time.Duration) {
	seen := len(s.commands(name))
	for end := time.Now().Add(most); time.Now().Before(end) && len(s.commands(name)) == seen; {
		time.Sleep(moment)
	}
}

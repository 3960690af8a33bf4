package grade

import (
	"strconv"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/course/stage"
)

// Lab 6: a lock that survives nobody. SETNX and then EXPIRE are two commands, and the client can die
// between them.

func crashTests() []test {
	return []test{
		{name: say{"Take and release", "加锁与释放"}, points: 15, play: deletePlain},
		{name: say{"A second owner is refused", "第二个人加锁被拒绝"}, points: 15, play: deleteRefused},
		{name: say{"A held lock has a lease", "持有的锁带有租约"}, points: 20, play: crashLease},
		{name: say{"The client dies in the middle of take", "客户端在加锁途中崩溃"}, points: 50, play: crashGap},
	}
}

func crashLease(s *story) {
	p := s.open()
	p.takes("a", say{"The lock is free", "锁空闲时"})
	ttl := s.do(1, "PTTL", s.lock).Int
	s.want(ttl > 0 && ttl <= lease.Milliseconds(), say{
		"The key %s has a time to live of %d ms, and should have %d. " +
			"(-1 means that it stays for ever, -2 that there is no such key.)",
		"键 %s 的剩余时间是 %d 毫秒，应为 %d。（-1：永不过期，-2：没有这个键。）"}, s.lock, ttl, lease.Milliseconds())
	p.end()
	s.advance(lease + time.Millisecond)
	s.open().takes("b", say{"The client of a died while it held the lock, and the lease is over",
		"a 持有锁时崩溃，租约到期之后"})
}

// crashGap lets a program die before each request of its take. After a lease, somebody else must get the lock.
func crashGap(s *story) {
	for request := 1; ; request++ {
		a := s.open()
		done := s.strike("death", "a", request, "HOLD", false)
		a.send("take a")
		if !s.heldBefore(a, "take a", "death", a.answered) {
			a.answer("take a")
			done(0)
			return // the take has fewer requests
		}
		id := stage.Field(s.lab("HOLD WAIT death 1"), "client").Int
		a.end()
		s.cutOff(id)
		s.lab("FAULT DEL death")
		s.advance(lease + time.Millisecond)
		ttl := s.do(1, "PTTL", s.lock).Int
		s.want(ttl != -1, say{
			"The client died just before request %d of its take. Its lock %s stays for ever, " +
				"because the lease was to come later: nobody gets the lock again. Take the lock and its lease in one command.",
			"客户端恰好在加锁的第 %d 个请求之前崩溃。租约还没设置，锁 %s 就永远留下了，谁也拿不到。请在同一条命令里加锁并设置租约。"}, request, s.lock)
		b := s.open()
		b.takes("b", say{"The client of a died, and a lease has passed", "a 崩溃，又过了一个租约之后"})
		b.releases("b", say{"b holds the lock", "b 持有锁时"})
		s.want(len(s.keys()) == 0, say{"After a release the key %q is still there.", "释放之后，键 %q 还在。"},
			strings.Join(s.keys(), " "))
		s.want(request < mostRequests, say{"A take takes more than %d requests.", "一次加锁用了超过 %d 个请求。"}, mostRequests)
	}
}

// cutOff ends a connection whose request is held. So the request is never executed, as if it had not arrived.
func (s *story) cutOff(client int64) { s.ask("CLIENT", "KILL", "ID", strconv.FormatInt(client, 10)) }

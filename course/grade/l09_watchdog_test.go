package grade

import (
	"strconv"
	"testing"
	"time"
)

// counted is a lock in a hash: the field names its owner, and the value counts. A watchdog renews it.
type counted struct {
	*owner
	id      string
	enter   string        // the script of take
	leave   string        // the script of release
	renew   string        // the script of the watchdog; empty means that there is none
	stopped chan struct{} // nil while nobody renews
}

const (
	enterHash = "if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then " +
		"redis.call('HINCRBY', KEYS[1], ARGV[1], 1) redis.call('PEXPIRE', KEYS[1], ARGV[2]) return 1 end return 0"
	leaveHash = "if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return -1 end " +
		"local left = redis.call('HINCRBY', KEYS[1], ARGV[1], -1) " +
		"if left == 0 then redis.call('DEL', KEYS[1]) end return left"
	renewOwn = "if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end " +
		"return redis.call('PEXPIRE', KEYS[1], ARGV[2])"
	renewAny    = "return redis.call('PEXPIRE', KEYS[1], ARGV[2])"
	leaveAtOnce = "if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return -1 end redis.call('DEL', KEYS[1]) return 0"
	enterOnce   = "if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end " +
		"redis.call('HSET', KEYS[1], ARGV[1], 1) redis.call('PEXPIRE', KEYS[1], ARGV[2]) return 1"
)

func (c *counted) take() (bool, error) {
	v, err := c.one("EVAL", c.enter, "1", c.key, c.id, c.lease)
	if v.Int == 1 && c.renew != "" && c.stopped == nil {
		c.stopped = make(chan struct{})
		go c.watch(c.stopped)
	}
	return v.Int == 1, err
}

func (c *counted) release() (bool, error) {
	v, err := c.one("EVAL", c.leave, "1", c.key, c.id)
	if err == nil && v.Int <= 0 && c.stopped != nil {
		close(c.stopped)
		c.stopped = nil
	}
	return err == nil && v.Int >= 0, err
}

// watch renews at a third of the lease, over a connection of its own, until the lock is released or lost.
func (c *counted) watch(stopped chan struct{}) {
	ms, _ := strconv.Atoi(c.lease)
	l := &link{addr: c.masters[0].addr, name: c.name}
	defer l.close()
	for {
		select {
		case <-stopped:
			return
		case <-time.After(time.Duration(ms/3) * time.Millisecond):
		}
		if v, err := l.do("EVAL", c.renew, "1", c.key, c.id, c.lease); err != nil || v.Int == 0 {
			return
		}
	}
}

func lab09Students() map[string]func() {
	with := func(enter, leave, renew string) func() {
		return play("a lock in Go", func(o *owner) lock {
			return &counted{owner: o, id: token(), enter: enter, leave: leave, renew: renew}
		})
	}
	return map[string]func(){
		"L09/right":       with(enterHash, leaveHash, renewOwn),
		"L09/once":        with(enterOnce, leaveHash, renewOwn),
		"L09/all-at-once": with(enterHash, leaveAtOnce, renewOwn),
		"L09/no-watchdog": with(enterHash, leaveHash, ""),
		"L09/any-lock":    with(enterHash, leaveHash, renewAny),
	}
}

func TestALockThatIsCountedAndRenewed(t *testing.T) {
	t.Parallel()
	full(t, "L09", "right")
	loses(t, "L09", "once", map[int]string{3: "a holds the lock, and takes it again: `take a` answered `refused`"})
	loses(t, "L09", "all-at-once", map[int]string{3: "The inner function has released the lock of the outer one"})
	loses(t, "L09", "no-watchdog", map[int]string{4: "nobody has renewed it"})
	loses(t, "L09", "any-lock", map[int]string{6: "The watchdog of a has renewed the lock of b"})
}

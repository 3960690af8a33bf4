package trials

import (
	"strconv"
	"time"
)

// renewsByNothing has a watchdog that renews the lease for what is left of it. After an error it takes 0 for what is
// left, and the renewal deletes the lock.
func renewsByNothing(c *owner, token string) {
	if !c.take(token) {
		return
	}
	watchdog := &client{name: c.name + "-dog"}
	left, _ := watchdog.do("PTTL", "lock:o")
	_, _ = watchdog.do("PEXPIRE", "lock:o", strconv.FormatInt(left.Int, 10))
	c.work()
	_, _ = c.do("EVAL", compareAndDelete, "1", "lock:o", token)
}

// strayRelease wants to be sure after an error: it deletes the lock over another connection, and does not compare.
func strayRelease(c *owner, token string) {
	try := func() (bool, error) {
		v, err := c.do("SET", "lock:o", token, "NX", "PX", "30000")
		return v.Str == "OK", err
	}
	mine := c.taken(func() bool {
		got, err := try()
		if err != nil {
			_, _ = (&client{name: c.name + "-2"}).do("DEL", "lock:o")
			got, _ = try()
		}
		return got
	})
	if mine {
		c.work()
		_, _ = c.do("EVAL", compareAndDelete, "1", "lock:o", token)
	}
}

// enter is the script of a re-entrant lock: a hash with the owner and how often it has entered.
const enter = `if redis.call("exists",KEYS[1])==0 or redis.call("hexists",KEYS[1],ARGV[1])==1 then ` +
	`redis.call("hincrby",KEYS[1],ARGV[1],1) redis.call("pexpire",KEYS[1],ARGV[2]) return 1 end return 0`

// countsTwice has a re-entrant lock, and asks again after an error. If the first request was executed, the lock counts
// two entries. The owner leaves once.
func countsTwice(c *owner, token string) {
	if !c.taken(func() bool { v, _ := c.do("EVAL", enter, "1", "lock:o", token, "30000"); return v.Int == 1 }) {
		return
	}
	c.work()
	const leave = `if redis.call("hexists",KEYS[1],ARGV[1])==0 then return nil end ` +
		`if redis.call("hincrby",KEYS[1],ARGV[1],-1)>0 then return 0 end return redis.call("del",KEYS[1])`
	_, _ = c.do("EVAL", leave, "1", "lock:o", token)
}

// byClocks has a semaphore of one place, and an owner removes by its own clock whose lease is over. The clock of the
// second owner is an hour fast.
func byClocks(c *owner, token string) {
	now := time.Now()
	if !c.first {
		now = now.Add(time.Hour)
	}
	at := func(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }
	got := c.taken(func() bool {
		_, _ = c.do("ZREMRANGEBYSCORE", "sem:o", "-inf", at(now))
		_, _ = c.do("ZADD", "sem:o", "NX", at(now.Add(30*time.Second)), token)
		v, err := c.do("ZRANK", "sem:o", token)
		return err == nil && v.Int == 0
	})
	if got {
		c.work()
	}
	_, _ = c.do("ZREM", "sem:o", token)
}

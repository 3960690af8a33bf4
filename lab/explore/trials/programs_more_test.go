package trials

import (
	"math/rand/v2"
	"os"
	"strings"
	"time"
)

// inTurn has two owners in one thread. Each request follows from the reply before it, and no time decides anything.
// So all runs of explore find the same.
func inTurn() {
	for _, name := range []string{"a", "b"} {
		c := &client{name: name, wait: time.Minute}
		token := "token-of-" + name + "-0123456789"
		if v, _ := c.do("SETNX", "lock:o", token); v.Int != 1 {
			continue
		}
		_, _ = c.do("PEXPIRE", "lock:o", "30000")
		if v, _ := c.do("GET", "lock:o"); v.Str == token {
			_, _ = c.do("DEL", "lock:o")
		}
	}
}

// doze sleeps for a random time.
func doze() { time.Sleep(rand.N(15 * time.Millisecond)) }

// sleeps is right, and each of its runs is different.
func sleeps(c *owner, token string) {
	doze()
	lookAgain(c, token, func() {
		c.work()
		doze()
	})
	doze()
}

// careless deletes in every second run the lock of another.
func careless(c *owner, token string) {
	doze()
	if rand.N(2) == 0 {
		_, _ = c.do("DEL", "lock:o")
	}
	lookAgain(c, token, func() {
		c.work()
		doze()
	})
}

// rarely asks for the lock each 300 ms.
func rarely(c *owner, token string) {
	for range 16 {
		v, _ := c.do("SET", "lock:o", token, "NX", "PX", "30000")
		reached(c.came)
		if v.Str == "OK" {
			break
		}
		time.Sleep(300 * time.Millisecond)
	}
	c.work()
	if v, _ := c.do("GET", "lock:o"); v.Str == token {
		_, _ = c.do("DEL", "lock:o")
	}
}

// majority has two owners of a lock on several masters. An owner without a majority gives back what it got, if it
// is right.
func majority(right bool) {
	owners(func(o *owner, token string) {
		var all []*client
		for _, url := range strings.Split(os.Getenv("REDIS_URLS"), ",") {
			all = append(all, &client{name: o.name, addr: strings.TrimPrefix(url, "redis://"), wait: 5 * time.Second})
		}
		votes := 0
		for _, c := range all {
			v, err := c.do("SET", "lock:o", token, "NX", "PX", "30000")
			if err != nil {
				v, _ = c.do("GET", "lock:o")
			}
			if v.Str == "OK" || v.Str == token {
				votes++
			}
		}
		if votes > len(all)/2 {
			o.work()
		} else if !right {
			return
		}
		for _, c := range all {
			c.giveUp(token)
		}
	})
}

// slowly is right, and works until the other owner works, too, if that ever happens.
func slowly(c *owner, token string) {
	lookAgain(c, token, func() {
		reached(c.works)
		if c.first {
			await(c.rival.works)
		} else {
			await(c.rival.over)
		}
	})
}

// alone needs a file for itself. It leaves it there, so of two runs one fails, however long the other one waits for a
// processor.
func alone() {
	f, err := os.OpenFile(os.Getenv("ALONE"), os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		os.Exit(1)
	}
	_ = f.Close()
	inTurn()
}

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
func sleeps(c *client, token string, working func()) {
	doze()
	lookAgain(c, token, func() {
		working()
		doze()
	})
	doze()
}

// careless deletes in every second run the lock of another.
func careless(c *client, token string, working func()) {
	doze()
	if rand.N(2) == 0 {
		_, _ = c.do("DEL", "lock:o")
	}
	lookAgain(c, token, func() {
		working()
		doze()
	})
}

// majority has two owners of a lock on several masters. An owner without a majority gives back what it got, if it
// is right.
func majority(right bool) {
	owners(func(a *client, token string, working func()) {
		var all []*client
		for _, url := range strings.Split(os.Getenv("REDIS_URLS"), ",") {
			all = append(all, &client{name: a.name, addr: strings.TrimPrefix(url, "redis://"), wait: 5 * time.Second})
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
			working()
			time.Sleep(10 * work)
		} else if !right {
			return
		}
		for _, c := range all {
			c.giveUp(token)
		}
	})
}

// slowly is right, and works for much longer than the other owner takes to come back.
func slowly(c *client, token string, working func()) {
	lookAgain(c, token, func() {
		working()
		time.Sleep(30 * work)
	})
}

package trials

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/miniredisd/miniredisd/internal/respclient"
	"github.com/miniredisd/miniredisd/resp"
)

// programVariable names the program that this test binary plays. So the tests need no other program.
const programVariable = "EXPLORE_PROGRAM"

func TestMain(m *testing.M) {
	if name := os.Getenv(programVariable); name != "" {
		play, found := programs()[name]
		if !found {
			fmt.Println("no such program:", name)
			os.Exit(2)
		}
		play()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// programs are what the tests explore. Each is a function that runs as main.
func programs() map[string]func() {
	return map[string]func(){
		"setnx":      func() { owners(setnxThenExpire) },
		"get-del":    func() { owners(getThenDel) },
		"careful":    func() { owners(careful) },
		"look-again": func() { owners(lookAgain) },
		"no-compare": func() { owners(noCompare) },
		"nameless":   func() { nameless() },
		"listener":   func() { owners(listener) },
		"watchdog":   func() { owners(watchdog) },
		"counter":    func() { owners(counter) },
		"two-losses": func() { owners(twoLosses) },
		"race":       race,
		"in-turn":    inTurn,
		"sleeps":     func() { owners(sleeps) },
		"careless":   func() { owners(careless) },
		"majority":   func() { majority(true) },
		"minority":   func() { majority(false) },
		"check": func() {
			if v, _ := (&client{}).do("EXISTS", "unsafe"); v.Int == 1 {
				fmt.Println("somebody worked without the lock")
				os.Exit(1)
			}
		},
		"no-lock":  func() { _, _ = (&client{}).do("SET", "k", "v") },
		"slow":     func() { owners(slowly) },
		"no-redis": func() {},
		"fails":    func() { fmt.Println("assertion failed"); os.Exit(3) },
		"never":    func() { _, _ = (&client{}).do("SETNX", "lock:o", "x"); time.Sleep(time.Hour) },
		"prints":   func() { prints() },
		"forks":    forks,
		"shutdown": func() { _, _ = (&client{}).do("SHUTDOWN", "NOSAVE") },
	}
}

// client is a connection that is made again when it ends.
type client struct {
	name string
	addr string        // the first server's without it
	wait time.Duration // for a reply; a little without it
	conn *respclient.Conn
}

func (c *client) do(words ...string) (v resp.Value, err error) {
	if c.conn == nil {
		addr := cmp.Or(c.addr, strings.TrimPrefix(os.Getenv("REDIS_URL"), "redis://"))
		if c.conn, err = respclient.Dial(addr); err != nil {
			return v, err
		}
		c.conn.Limit = cmp.Or(c.wait, 400*time.Millisecond)
		if c.name != "" {
			_, _ = c.conn.Do("CLIENT", "SETNAME", c.name)
		}
	}
	v, err = c.conn.Do(words...)
	if err != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
	if v.Kind == '-' {
		err = errors.New(v.Str)
	}
	return v, err
}

// taken waits for the lock, for some time. try reports whether it has it.
func taken(try func() bool) bool {
	for range 16 {
		if try() {
			return true
		}
		time.Sleep(20 * time.Millisecond)
	}
	return false
}

// owners plays two owners of one lock. The second one comes when the first one works.
func owners(play func(c *client, token string, working func())) {
	first := make(chan bool)
	begin := sync.OnceFunc(func() { close(first) })
	var all sync.WaitGroup
	all.Go(func() {
		defer begin()
		play(&client{name: "a"}, "token-of-a-0123456789", begin)
	})
	<-first
	all.Go(func() { play(&client{name: "b"}, "token-of-b-0123456789", func() {}) })
	all.Wait()
}

const work = 10 * time.Millisecond

func setnxThenExpire(c *client, _ string, working func()) {
	if !taken(func() bool { v, _ := c.do("SETNX", "lock:o", c.name); return v.Int == 1 }) {
		return
	}
	_, _ = c.do("PEXPIRE", "lock:o", "30000")
	working()
	time.Sleep(work)
	_, _ = c.do("DEL", "lock:o")
}

func (c *client) take(token string) bool {
	return taken(func() bool {
		v, _ := c.do("SET", "lock:o", token, "NX", "PX", "30000")
		return v.Str == "OK"
	})
}

func getThenDel(c *client, token string, working func()) {
	if !c.take(token) {
		return
	}
	working()
	time.Sleep(work)
	if v, _ := c.do("GET", "lock:o"); v.Str == token {
		_, _ = c.do("DEL", "lock:o")
	}
}

const compareAndDelete = `if redis.call("get",KEYS[1])==ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end`

// giveUp releases the lock if it is that of the client. It tries again after an error.
func (c *client) giveUp(token string) {
	for range 5 {
		if _, err := c.do("EVAL", compareAndDelete, "1", "lock:o", token); err == nil {
			return
		}
	}
}

// careful releases also a lock that it does not know to have.
func careful(c *client, token string, working func()) {
	defer c.giveUp(token)
	if c.take(token) {
		working()
		time.Sleep(work)
	}
}

// lookAgain asks after an error whether the lock is its own, and releases only once.
func lookAgain(c *client, token string, working func()) {
	mine := taken(func() bool {
		v, err := c.do("SET", "lock:o", token, "NX", "PX", "30000")
		if err != nil {
			v, _ = c.do("GET", "lock:o")
			return v.Str == token
		}
		return v.Str == "OK"
	})
	if mine {
		working()
		time.Sleep(work)
		_, _ = c.do("EVAL", compareAndDelete, "1", "lock:o", token)
	}
}

func noCompare(c *client, token string, working func()) {
	if c.take(token) {
		working()
		time.Sleep(work)
		_, _ = c.do("DEL", "lock:o")
	}
}

// nameless has clients without names.
func nameless() {
	owners(func(c *client, token string, working func()) {
		c.name = ""
		noCompare(c, token, working)
	})
}

// listener waits for the message of the release, and for nothing else.
func listener(c *client, token string, working func()) {
	ears := &client{name: c.name + "-ears"}
	for {
		if v, _ := c.do("SET", "lock:o", token, "NX", "PX", "30000"); v.Str == "OK" {
			break
		}
		if _, err := ears.do("SUBSCRIBE", "free:o"); err != nil {
			return
		}
		if v, _ := c.do("SET", "lock:o", token, "NX", "PX", "30000"); v.Str == "OK" {
			break
		}
		ears.conn.Limit = 0
		_ = ears.conn.Net.SetReadDeadline(time.Time{})
		if _, err := ears.conn.Read(); err != nil {
			return
		}
		ears.conn.Close()
		ears.conn = nil
	}
	working()
	time.Sleep(work)
	const release = `if redis.call("get",KEYS[1])==ARGV[1] then redis.call("del",KEYS[1]) ` +
		`redis.call("publish",KEYS[2],"free") end`
	for range 5 {
		if _, err := c.do("EVAL", release, "2", "lock:o", "free:o", token); err == nil {
			return
		}
	}
}

// watchdog renews its lease over another connection, in real time.
func watchdog(c *client, token string, working func()) {
	if !taken(func() bool { v, _ := c.do("SET", "lock:o", token, "NX", "PX", "300"); return v.Str == "OK" }) {
		return
	}
	const renew = `if redis.call("get",KEYS[1])==ARGV[1] then return redis.call("pexpire",KEYS[1],ARGV[2]) end return 0`
	stop, over := make(chan bool), make(chan bool)
	go func() {
		defer close(over)
		d := &client{}
		for {
			select {
			case <-stop:
				return
			case <-time.After(30 * time.Millisecond):
				_, _ = d.do("EVAL", renew, "1", "lock:o", token, "300")
			}
		}
	}()
	working()
	time.Sleep(100 * time.Millisecond)
	close(stop)
	<-over
	c.giveUp(token)
}

// counter works without the lock when an error comes.
func counter(c *client, token string, working func()) {
	got := taken(func() bool {
		v, err := c.do("SET", "lock:o", token, "NX", "PX", "30000")
		return v.Str == "OK" || err != nil
	})
	if !got {
		return
	}
	working()
	if v, _ := c.do("GET", "lock:o"); v.Str != token {
		_, _ = c.do("SET", "unsafe", "1")
	}
	c.giveUp(token)
}

// twoLosses deletes the lock without a look if it has seen two errors.
func twoLosses(c *client, token string, working func()) {
	if !c.take(token) && !c.take(token) {
		return
	}
	working()
	time.Sleep(15 * work)
	_, first := c.do("PEXPIRE", "lock:o", "30000")
	_, second := c.do("EVAL", compareAndDelete, "1", "lock:o", token)
	if first != nil && second != nil {
		time.Sleep(10 * work)
		_, _ = c.do("DEL", "lock:o")
	}
}

// race has two owners, and the second one deletes the lock of the first.
func race() {
	a, b, c := &client{name: "a"}, &client{name: "b"}, &client{name: "c"}
	a.take("token-of-a-0123456789")
	_, _ = b.do("SET", "lock:o", "token-of-b-0123456789", "NX", "PX", "30000")
	_, _ = b.do("DEL", "lock:o")
	c.take("token-of-c-0123456789")
	a.giveUp("token-of-a-0123456789")
	c.giveUp("token-of-c-0123456789")
}

func prints() {
	line := strings.Repeat("x", 1<<16)
	for {
		fmt.Print(line)
	}
}

// forks leaves a process behind that has its own session and no environment.
func forks() {
	stray := exec.Command("/bin/sleep", "600")
	stray.SysProcAttr, stray.Env = &syscall.SysProcAttr{Setsid: true}, []string{"STRAY=" + os.Getenv("STRAY")}
	if err := stray.Start(); err != nil {
		panic(err)
	}
	owners(careful)
}

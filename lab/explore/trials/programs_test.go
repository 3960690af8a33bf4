package trials

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/miniredisd/miniredisd/internal/test/amount"
)

// playing is the word before the name of the program that this test binary plays. So the tests need no other program.
const playing = "play"

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == playing {
		name := os.Args[2]
		play, found := programs()[name]
		if !found {
			fmt.Println("no such program:", name)
			os.Exit(2)
		}
		play()
		os.Exit(0)
	}
	amount.SideBySide(8) // the tests mostly wait
	os.Exit(m.Run())
}

// programs are what the tests explore. Each is a function that runs as main.
func programs() map[string]func() {
	return map[string]func(){
		"setnx":      func() { owners(setnxThenExpire) },
		"get-del":    func() { owners(getThenDel) },
		"rarely":     func() { owners(rarely) },
		"careful":    func() { owners(careful) },
		"look-again": func() { owners(func(c *owner, token string) { lookAgain(c, token, c.work) }) },
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
		"waits":    func() { time.Sleep(time.Hour) },
		"prints":   func() { prints() },
		"forks":    forks,
		"alone":    alone,

		"cluster":        func() { inCluster(true) },
		"cluster-deaf":   func() { inCluster(false) },
		"sentinel":       func() { behindSentinel(3) },
		"sentinel-first": func() { behindSentinel(1) },
		"spins": func() {
			for {
				runtime.Gosched()
			}
		},

		"renews-by-nothing": func() { owners(renewsByNothing) },
		"stray-release":     func() { owners(strayRelease) },
		"counts-twice":      func() { owners(countsTwice) },
		"by-clocks":         func() { owners(byClocks) },

		"shutdown": func() { _, _ = (&client{}).do("SHUTDOWN", "NOSAVE") },
	}
}

// owner is a client that wants the lock, beside another one. What an owner does waits for the other one, and not for
// a time. So it is the same on a busy machine.
type owner struct {
	*client
	first bool
	rival *owner

	came, works, over chan struct{} // closed when it has asked for the lock, when it has it, when it ends
}

// newOwner returns an owner with the name of its client.
func newOwner(name string) *owner {
	return &owner{client: &client{name: name}, came: make(chan struct{}), works: make(chan struct{}),
		over: make(chan struct{})}
}

// reached closes the channel of an event.
func reached(event chan struct{}) {
	select {
	case <-event:
	default:
		close(event)
	}
}

// await waits for an event of the other owner. It ends without it when a failure prevents the event.
func await(event chan struct{}) {
	select {
	case <-event:
	case <-time.After(time.Second):
	}
}

// taken waits for the lock, for some time, and for longer while the first owner is at work. try reports whether it
// has the lock.
func (o *owner) taken(try func() bool) bool {
	for n := 0; n < 16 || !o.first && o.rival.goesOn(); n++ {
		got := try()
		reached(o.came)
		if got {
			return true
		}
		time.Sleep(20 * time.Millisecond)
	}
	return false
}

func (o *owner) goesOn() bool {
	select {
	case <-o.over:
		return false
	default:
		return true
	}
}

// work lasts until the second owner has come, and that of the second until the first has ended.
func (o *owner) work() {
	reached(o.works)
	if o.first {
		await(o.rival.came)
	} else {
		await(o.rival.over)
	}
}

// owners plays two owners of one lock. The second one comes when the first one works, or has ended.
func owners(play func(o *owner, token string)) {
	a, b := newOwner("a"), newOwner("b")
	a.first, a.rival, b.rival = true, b, a
	run := func(o *owner, token string) {
		play(o, token)
		for _, event := range []chan struct{}{o.came, o.works, o.over} {
			reached(event)
		}
	}
	var all sync.WaitGroup
	all.Go(func() { run(a, "token-of-a-0123456789") })
	<-a.works
	all.Go(func() { run(b, "token-of-b-0123456789") })
	all.Wait()
}

func setnxThenExpire(c *owner, _ string) {
	if !c.taken(func() bool { v, _ := c.do("SETNX", "lock:o", c.name); return v.Int == 1 }) {
		return
	}
	_, _ = c.do("PEXPIRE", "lock:o", "30000")
	c.work()
	_, _ = c.do("DEL", "lock:o")
}

func (o *owner) take(token string) bool {
	return o.taken(func() bool {
		v, _ := o.do("SET", "lock:o", token, "NX", "PX", "30000")
		return v.Str == "OK"
	})
}

func getThenDel(c *owner, token string) {
	if !c.take(token) {
		return
	}
	c.work()
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
func careful(c *owner, token string) {
	defer c.giveUp(token)
	if c.take(token) {
		c.work()
	}
}

// lookAgain asks after an error whether the lock is its own, and releases only once.
func lookAgain(c *owner, token string, work func()) {
	mine := c.taken(func() bool {
		v, err := c.do("SET", "lock:o", token, "NX", "PX", "30000")
		if err != nil {
			v, _ = c.do("GET", "lock:o")
			return v.Str == token
		}
		return v.Str == "OK"
	})
	if mine {
		work()
		_, _ = c.do("EVAL", compareAndDelete, "1", "lock:o", token)
	}
}

func noCompare(c *owner, token string) {
	if c.take(token) {
		c.work()
		_, _ = c.do("DEL", "lock:o")
	}
}

// nameless has clients without names.
func nameless() {
	owners(func(c *owner, token string) {
		c.name = ""
		noCompare(c, token)
	})
}

// listener waits for the message of the release, and for nothing else.
func listener(c *owner, token string) {
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
		reached(c.came)
		ears.conn.Limit = 0
		_ = ears.conn.Net.SetReadDeadline(time.Time{})
		if _, err := ears.conn.Read(); err != nil {
			return
		}
		ears.conn.Close()
		ears.conn = nil
	}
	c.work()
	const release = `if redis.call("get",KEYS[1])==ARGV[1] then redis.call("del",KEYS[1]) ` +
		`redis.call("publish",KEYS[2],"free") end`
	for range 5 {
		if _, err := c.do("EVAL", release, "2", "lock:o", "free:o", token); err == nil {
			return
		}
	}
}

// watchdog renews its lease over another connection, in real time.
func watchdog(c *owner, token string) {
	if !c.taken(func() bool { v, _ := c.do("SET", "lock:o", token, "NX", "PX", "3000"); return v.Str == "OK" }) {
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
				_, _ = d.do("EVAL", renew, "1", "lock:o", token, "3000")
			}
		}
	}()
	c.work()
	time.Sleep(100 * time.Millisecond)
	close(stop)
	<-over
	c.giveUp(token)
}

// counter works without the lock when an error comes.
func counter(c *owner, token string) {
	got := c.taken(func() bool {
		v, err := c.do("SET", "lock:o", token, "NX", "PX", "30000")
		return v.Str == "OK" || err != nil
	})
	if !got {
		return
	}
	reached(c.works)
	if v, _ := c.do("GET", "lock:o"); v.Str != token {
		_, _ = c.do("SET", "unsafe", "1")
	}
	c.giveUp(token)
}

// twoLosses deletes the lock without a look if it has seen two errors.
func twoLosses(c *owner, token string) {
	if !c.take(token) && !c.take(token) {
		return
	}
	c.work()
	_, first := c.do("PEXPIRE", "lock:o", "30000")
	_, second := c.do("EVAL", compareAndDelete, "1", "lock:o", token)
	if first != nil && second != nil {
		await(c.rival.works)
		_, _ = c.do("DEL", "lock:o")
	}
}

// race has two owners, and the second one deletes the lock of the first.
func race() {
	a, b, c := &client{name: "a"}, &client{name: "b"}, &client{name: "c"}
	take := func(c *client) { _, _ = c.do("SET", "lock:o", "token-of-"+c.name+"-0123456789", "NX", "PX", "30000") }
	take(a)
	take(b)
	_, _ = b.do("DEL", "lock:o")
	take(c)
	a.giveUp("token-of-a-0123456789")
	c.giveUp("token-of-c-0123456789")
}

func prints() {
	line := strings.Repeat("x", 1<<16)
	for {
		fmt.Print(line)
		time.Sleep(time.Millisecond) // the tests beside this one need the processor, too
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

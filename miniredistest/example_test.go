package miniredistest_test

import (
	"bufio"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/miniredisd/miniredisd/miniredistest"
	"github.com/miniredisd/miniredisd/resp"
)

// client is a minimal client. A real test uses the client of its application.
type client struct {
	net.Conn
	in *bufio.Reader
}

func connect(addr string) *client {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		panic(err)
	}
	return &client{conn, bufio.NewReader(conn)}
}

func (c *client) do(line string) string {
	fmt.Fprintf(c, "%s\r\n", line)
	v, err := resp.ReadReply(c.in)
	if err != nil {
		return err.Error()
	}
	return v.String()
}

// A client takes a lock, and the reply is lost. It tries again with the same token and is refused,
// although the lock is its own. It must look at the token before it gives up.
func ExampleServer_Fault() {
	t := &testing.T{} // in a test: the t of the test
	srv := miniredistest.Run(t, miniredistest.FrozenAt(time.Unix(1_800_000_000, 0)))
	srv.Fault("lost").Cmd("SET").Key("lock:*").Nth(1).DropReply()

	first := connect(srv.Addr())
	fmt.Println("worker:", first.do("SET lock:order:42 token-1 NX PX 30000"))
	first.Close()
	second := connect(srv.Addr())
	fmt.Println("again:", second.do("SET lock:order:42 token-1 NX PX 30000"))
	fmt.Println("whose:", second.do("GET lock:order:42"))
	second.Close()

	srv.Clock().Advance(30*time.Second + time.Millisecond)
	srv.AssertNone("lock:*")
	for _, e := range srv.Log() {
		fmt.Println(e.Seq, e.Event, e.Key, e.Cmd, e.Outcome, e.Reply)
	}
	srv.Stop()
	// Output:
	// worker: EOF
	// again: (nil)
	// whose: "token-1"
	// 1 lost lock:order:42 [SET lock:order:42 token-1 NX PX 30000] reply lost OK
	// 2 command lock:order:42 [SET lock:order:42 token-1 NX PX 30000] executed (nil)
	// 3 command lock:order:42 [GET lock:order:42] executed token-1
	// 4 clock  [] executed 1800000000000 -> 1800000030001
	// 5 expired lock:order:42 [] executed
}

// Redlock over three masters. One master loses its keys while client a has the lock. It stays away
// for longer than the lease, so client b gets no majority, and the lock was safe. Without the
// minute in Crash, AssertOneHolder fails the test and draws a picture.
func ExampleMasters_AssertOneHolder() {
	t := &testing.T{} // in a test: the t of the test
	masters := miniredistest.RunMasters(t, 3, miniredistest.Frozen())
	votes := func(owner string, from ...*miniredistest.Server) (n int) {
		for _, srv := range from {
			c := connect(srv.Addr())
			if c.do("SET lock:order:42 token-of-"+owner+" NX PX 30000") != "(nil)" {
				n++
			}
			c.Close()
		}
		return n
	}
	fmt.Println("a has", votes("a", masters[0], masters[1]))
	masters[1].Crash(time.Minute, miniredistest.LoseKeys)
	fmt.Println("b has", votes("b", masters[0], masters[2]))
	masters.Clock().Advance(time.Minute)
	fmt.Println("c has", votes("c", masters...))

	masters.AssertOneHolder("lock:*")
	for _, srv := range masters {
		srv.Stop()
	}
	// Output:
	// a has 2
	// b has 1
	// c has 3
}

// Two workers take a lock, one after the other. No failure breaks it. If a worker sends GET and DEL instead of the
// script, Explore fails the test: "If b's first DEL waits until the lease of its client is over, no order of the
// operations on lock:order:42 is legal."
func ExampleExplore() {
	t := &testing.T{} // in a test: the t of the test
	miniredistest.Explore(t, func(t *miniredistest.Trial) {
		for _, name := range []string{"a", "b"} {
			t.Go(name, func(w *miniredistest.Worker) error {
				conn, err := w.Dial(w.Context(), "tcp", w.Addr())
				if err != nil {
					return err
				}
				defer conn.Close()
				_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
				c := &client{conn, bufio.NewReader(conn)}
				reply := "(nil)"
				for reply == "(nil)" {
					time.Sleep(700 * time.Millisecond)
					reply = c.do("SET lock:order:42 token-of-" + w.Name + " NX PX 5000")
				}
				if reply != "+OK" {
					return fmt.Errorf("no lock: %s", reply)
				}
				time.Sleep(time.Second) // the work
				c.do(`EVAL "if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('del', KEYS[1]) end" ` +
					"1 lock:order:42 token-of-" + w.Name)
				return nil
			})
		}
	})
	fmt.Println("broken:", t.Failed())
	// Output: broken: false
}

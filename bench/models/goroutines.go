//go:build linux

package main

import (
	"net"
	"runtime"
	"sync"
	"time"

	"github.com/tidwall/redcon"
	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/command"
)

// goroutines is redcon's server: a goroutine per connection, which the runtime parks in its own
// epoll while there is nothing to read. The executor is behind a mutex, taken once for all that
// a client has sent: the kindest way to such a lock.
type goroutines struct {
	listener net.Listener
	server   *redcon.Server

	mu     sync.Mutex // guards what follows
	engine *engine

	turns int64         // how often the lock was held
	spent time.Duration // CPU time of every sampleEvery-th turn
}

// visitor is one connection. Its buffer is its own, so that writing needs no lock.
type visitor struct {
	session *command.Session
	out     []byte
}

// sampleEvery is the share of turns whose CPU time is read. No thread executes, each turn is on
// another one, so that the kernel's account of threads does not help; and a reading at both ends
// of every turn, two system calls, would be a tenth of what it measures.
const sampleEvery = 16

func newGoroutines(addr string) (*goroutines, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	g := &goroutines{listener: l, engine: newEngine()}
	g.engine.busy = g.executing
	g.server = redcon.NewServer(addr, g.serve, g.accept, g.closed)
	return g, nil
}

func (g *goroutines) accept(c redcon.Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	c.SetContext(&visitor{session: g.engine.session()})
	return true
}

func (g *goroutines) closed(c redcon.Conn, _ error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.engine.ex.Leave(c.Context().(*visitor).session)
}

// serve is called with the first command that was read; the others are in the pipeline.
func (g *goroutines) serve(c redcon.Conn, first redcon.Command) {
	v := c.Context().(*visitor)
	rest := c.ReadPipeline()
	if g.turn(v, first, rest) {
		c.WriteRaw(v.out)
		_ = c.Close() // writes first
		return
	}
	c.WriteRaw(v.out)
}

// turn has the executor for itself.
func (g *goroutines) turn(v *visitor, first redcon.Command, rest []redcon.Command) (done bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.turns++
	if g.turns%sampleEvery == 0 {
		runtime.LockOSThread() // or a turn that the collector interrupts may go on with another thread's clock
		began := threadTime()
		defer func() {
			g.spent += threadTime() - began
			runtime.UnlockOSThread()
		}()
	}
	g.engine.ex.Tick()
	v.out = g.engine.execute(v.session, first.Args, v.out[:0])
	for _, cmd := range rest {
		if gone(v.session) {
			break
		}
		v.out = g.engine.execute(v.session, cmd.Args, v.out)
	}
	g.engine.ks.ExpireDue()
	return gone(v.session)
}

// executing is the CPU time of all turns, going by the sampled ones. INFO asks for it with the
// lock held.
func (g *goroutines) executing() int64 { return int64(g.spent) * sampleEvery }

// threadTime is the CPU time the calling thread has used.
func threadTime() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) // every Linux has this clock
	return time.Duration(t.Nano())
}

func (g *goroutines) run() error { return g.server.Serve(g.listener) }

// stop ends run. Another goroutine calls it.
func (g *goroutines) stop() { _ = g.listener.Close() }

func (g *goroutines) listens() string { return g.listener.Addr().String() }

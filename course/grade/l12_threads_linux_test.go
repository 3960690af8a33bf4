package grade

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
)

// poolFlaws are mistakes that a loop with threads can have.
type poolFlaws struct {
	noBarrier bool // main executes before the threads have parsed
	executes  bool // the threads execute
	spins     bool // idle threads look for work without a pause
	noThreads bool
	idle      bool // main reads for everybody
	closes    bool // clients are closed in large passes
	silent    bool // EXPLAIN says nothing
}

// pool is a reactor whose threads read and parse.
type pool struct {
	reactor
	poolFlaws
	work   []chan []*conn
	done   sync.WaitGroup
	mu     sync.Mutex // for threads that execute
	parsed map[*conn][][]string
}

func runPool(f poolFlaws) {
	n, err := strconv.Atoi(os.Getenv("IO_THREADS"))
	must(err)
	if f.noThreads {
		n = 1
	}
	p := &pool{reactor: reactor{conns: map[int]*conn{}, data: plain{}}, poolFlaws: f, parsed: map[*conn][][]string{}}
	for range n - 1 {
		share := make(chan []*conn, 1)
		p.work = append(p.work, share)
		go p.thread(share)
	}
	p.open()
	for fired := make([]syscall.EpollEvent, 128); ; {
		n, err := syscall.EpollWait(p.epoll, fired, -1)
		if err != syscall.EINTR {
			must(err)
			p.pass(fired[:max(n, 0)])
		}
	}
}

// thread is one I/O thread.
func (p *pool) thread(work chan []*conn) {
	runtime.LockOSThread()
	for {
		if p.spins {
			for len(work) == 0 {
				runtime.Gosched()
			}
		}
		for _, c := range <-work {
			p.serve(c)
		}
		p.done.Done()
	}
}

// serve reads and parses for one client.
func (p *pool) serve(c *conn) {
	if !p.read(c) {
		c.eof = true
	}
	var all [][]string
	for words, taken := parseRequest(c.in); words != nil; words, taken = parseRequest(c.in) {
		c.in = c.in[taken:]
		if p.executes {
			p.executeInThread(c, words)
			continue
		}
		all = append(all, words)
	}
	p.mu.Lock()
	p.parsed[c] = append(p.parsed[c], all...)
	p.mu.Unlock()
}

// executeInThread has a gap between the read and the write of INCR.
func (p *pool) executeInThread(c *conn, words []string) {
	access := &guardedBy{&p.mu, p.data}
	c.out = append(c.out, execute(access, words)...)
}

// guardedBy is memory with a lock around each access, and not around a command.
type guardedBy struct {
	mu *sync.Mutex
	plain
}

func (g *guardedBy) get(key string) (string, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.plain.get(key)
}

func (g *guardedBy) set(key, value string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.plain.set(key, value)
}

// pass serves all clients that are ready.
func (p *pool) pass(fired []syscall.EpollEvent) {
	shares := make([][]*conn, len(p.work)+1)
	var ready []*conn
	for _, e := range fired {
		if int(e.Fd) == p.listener {
			p.accept()
			continue
		}
		c := p.conns[int(e.Fd)]
		ready = append(ready, c)
		switch {
		case e.Events&^syscall.EPOLLOUT == 0:
		case p.idle:
			shares[0] = append(shares[0], c)
		default:
			shares[len(ready)%len(shares)] = append(shares[len(ready)%len(shares)], c)
		}
	}
	if p.closes && len(ready) > 8 && len(p.work) > 0 {
		for _, c := range ready {
			p.close(c)
		}
		return
	}
	p.done.Add(len(p.work))
	for i, work := range p.work {
		work <- shares[i+1]
	}
	for _, c := range shares[0] {
		p.serve(c)
	}
	if p.noBarrier {
		p.execute(ready) // the threads are always late here, so that every grade is the same
		p.done.Wait()
		return
	}
	p.done.Wait()
	p.execute(ready)
}

// execute executes what is parsed for these clients.
func (p *pool) execute(ready []*conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range ready {
		for _, words := range p.parsed[c] {
			c.out = append(c.out, p.do(words)...)
		}
		delete(p.parsed, c)
		p.finish(c)
	}
}

func (p *pool) do(words []string) string {
	switch {
	case words[0] != "EXPLAIN":
		return execute(p.data, words)
	case p.silent:
		return bulk("cores " + strconv.Itoa(runtime.NumCPU()))
	}
	return bulk(fmt.Sprintf("cores %d\n%s", runtime.NumCPU(), strings.Repeat("The executor is the limit. ", 4)))
}

func lab12Students() map[string]func() {
	with := func(f poolFlaws) func() { return func() { runPool(f) } }
	return map[string]func(){
		"L12/right":      with(poolFlaws{}),
		"L12/no-barrier": with(poolFlaws{noBarrier: true}),
		"L12/executes":   with(poolFlaws{executes: true}),
		"L12/spins":      with(poolFlaws{spins: true}),
		"L12/no-threads": with(poolFlaws{noThreads: true}),
		"L12/idle":       with(poolFlaws{idle: true}),
		"L12/closes":     with(poolFlaws{closes: true}),
		"L12/silent":     with(poolFlaws{silent: true}),
	}
}

func TestIOThreads(t *testing.T) {
	t.Parallel()
	full(t, "L12", "right", 3, 9)
	loses(t, "L12", "no-barrier", map[int]string{
		3: "There is no barrier",
		4: "Not judged: main does not wait at the barrier",
	})
	loses(t, "L12", "executes", map[int]string{6: "two threads executed at the same time"})
	loses(t, "L12", "spins", map[int]string{8: "still runs without a pause"})
	loses(t, "L12", "no-threads", map[int]string{2: "There are no others, or they slept"})
	loses(t, "L12", "idle", map[int]string{2: "one thread did all of the work"})
	loses(t, "L12", "silent", map[int]string{9: "Your explanation is too short"})
}

func TestThreadsThatNeverWorkGetLessThan40Points(t *testing.T) {
	amount.Large(t)
	t.Parallel()
	for _, program := range []string{"idle", "no-threads"} {
		r := gradeOf(t, "L12", program, nil)
		require.Less(t, r.Score, 40, program)
		require.Contains(t, r.Tests[3].Output, "Not judged: the I/O threads do no work. See test 2.", program)
	}
}

func TestAServerThatClosesItsClientsInAPassIsNotWaitedFor(t *testing.T) {
	amount.Large(t)
	t.Parallel()
	r := gradeOf(t, "L12", "closes", nil)
	require.Contains(t, r.Tests[2].Output, "With IO_THREADS=4 and the same requests: ")
	require.Contains(t, r.Tests[3].Output, "Not judged: main does not wait at the barrier")
}

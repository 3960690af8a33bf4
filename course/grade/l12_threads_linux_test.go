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
)

// poolFlaws are mistakes that a loop with threads can have.
type poolFlaws struct {
	noBarrier bool // main executes before the threads have parsed
	executes  bool // the threads execute
	spins     bool // idle threads look for work without a pause
	noThreads bool
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
		if e.Events&^syscall.EPOLLOUT != 0 {
			shares[len(ready)%len(shares)] = append(shares[len(ready)%len(shares)], c)
		}
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
		"L12/silent":     with(poolFlaws{silent: true}),
	}
}

func TestIOThreads(t *testing.T) {
	t.Parallel()
	full(t, "L12", "right")
	loses(t, "L12", "no-barrier", map[int]string{2: "Does main wait until every thread has parsed its share?"})
	loses(t, "L12", "executes", map[int]string{4: "two threads executed at the same time"})
	loses(t, "L12", "spins", map[int]string{7: "still runs without a pause"})
	loses(t, "L12", "no-threads", map[int]string{5: "as many threads as with IO_THREADS=1"})
	loses(t, "L12", "silent", map[int]string{8: "Your explanation is too short"})
}

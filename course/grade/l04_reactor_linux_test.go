package grade

import (
	"net"
	"os"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

// flaws are mistakes that a loop can have.
type flaws struct {
	drops      bool // a partial request is forgotten
	first      bool // only the first request of a read is executed
	blocks     bool // a write waits until the socket has room
	forgets    bool // what does not fit into the socket is forgotten
	hangsUp    bool // the end of input closes the connection at once
	alwaysOut  bool // EPOLLOUT is always asked for
	polls      bool // epoll_wait does not wait
	keepsInput bool // after the end of input, EPOLLIN stays
}

// reactor is the loop of the skeleton, filled in.
type reactor struct {
	flaws
	epoll, listener int
	conns           map[int]*conn
	data            plain
}

type conn struct {
	fd      int
	in, out []byte
	eof     bool
}

func runReactor(f flaws) {
	r := &reactor{flaws: f, conns: map[int]*conn{}, data: plain{}}
	r.open()
	timeout := -1
	if f.polls {
		timeout = 0
	}
	for fired := make([]syscall.EpollEvent, 128); ; {
		n, err := syscall.EpollWait(r.epoll, fired, timeout)
		if err == syscall.EINTR {
			continue
		}
		must(err)
		for _, e := range fired[:n] {
			r.handle(int(e.Fd), e.Events)
		}
	}
}

// open listens, and makes the epoll descriptor.
func (r *reactor) open() {
	port, err := strconv.Atoi(os.Getenv("PORT"))
	must(err)
	r.listener, err = syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK, 0)
	must(err)
	must(syscall.SetsockoptInt(r.listener, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1))
	must(syscall.Bind(r.listener, &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}))
	must(syscall.Listen(r.listener, 1024))
	r.epoll, err = syscall.EpollCreate1(0)
	must(err)
	r.ask(syscall.EPOLL_CTL_ADD, r.listener, syscall.EPOLLIN)
}

func (r *reactor) ask(op, fd int, events uint32) {
	must(syscall.EpollCtl(r.epoll, op, fd, &syscall.EpollEvent{Fd: int32(fd), Events: events}))
}

func (r *reactor) handle(fd int, events uint32) {
	if fd == r.listener {
		r.accept()
		return
	}
	c := r.conns[fd]
	if events&(syscall.EPOLLIN|syscall.EPOLLHUP|syscall.EPOLLERR) != 0 && !r.read(c) {
		r.close(c)
		return
	}
	for n := 0; !(r.first && n > 0); n++ {
		words, taken := parseRequest(c.in)
		if words == nil {
			break
		}
		c.in = c.in[taken:]
		c.out = append(c.out, execute(r.data, words)...)
	}
	if r.drops || r.first {
		c.in = nil
	}
	r.finish(c)
}

// finish writes what it can, and asks for what c waits for.
func (r *reactor) finish(c *conn) {
	if !r.write(c) || c.eof && (len(c.out) == 0 || r.hangsUp) {
		r.close(c)
		return
	}
	want := uint32(0)
	if !c.eof || r.keepsInput {
		want |= syscall.EPOLLIN
	}
	if len(c.out) > 0 || r.alwaysOut {
		want |= syscall.EPOLLOUT
	}
	r.ask(syscall.EPOLL_CTL_MOD, c.fd, want)
}

func (r *reactor) accept() {
	for {
		fd, _, err := syscall.Accept4(r.listener, syscall.SOCK_NONBLOCK)
		if err != nil {
			return
		}
		r.conns[fd] = &conn{fd: fd}
		r.ask(syscall.EPOLL_CTL_ADD, fd, syscall.EPOLLIN)
	}
}

// read reads what there is. It returns false if the connection is broken.
func (r *reactor) read(c *conn) bool {
	for buf := make([]byte, 64<<10); ; {
		n, err := syscall.Read(c.fd, buf)
		switch {
		case err == syscall.EAGAIN:
			return true
		case err != nil:
			return false
		case n == 0:
			c.eof = true
			return true
		}
		c.in = append(c.in, buf[:n]...)
	}
}

func (r *reactor) write(c *conn) bool {
	for len(c.out) > 0 {
		n, err := syscall.Write(c.fd, c.out)
		switch {
		case err == syscall.EAGAIN && r.blocks:
			time.Sleep(time.Millisecond)
			continue
		case err == syscall.EAGAIN && r.forgets:
			c.out = nil
			return true
		case err == syscall.EAGAIN:
			return true
		case err != nil:
			return false
		}
		c.out = c.out[n:]
	}
	return true
}

func (r *reactor) close(c *conn) {
	delete(r.conns, c.fd)
	_ = syscall.Close(c.fd)
}

// goroutines is a server with a goroutine for each connection. With together, a slow command holds up
// nobody.
func goroutines(together bool) {
	var mu sync.Mutex
	data := plain{}
	serve(func(nc net.Conn) {
		go talk(nc, parseRequest, func(words []string, write func(string)) {
			if words[0] == "DEBUG" && together {
				write(execute(data, words))
				return
			}
			mu.Lock()
			defer mu.Unlock()
			write(execute(data, words))
		})
	})
}

func lab04Students() map[string]func() {
	with := func(f flaws) func() { return func() { runReactor(f) } }
	return map[string]func(){
		"L04/right":        with(flaws{}),
		"L04/drops":        with(flaws{drops: true}),
		"L04/first":        with(flaws{first: true}),
		"L04/blocks":       with(flaws{blocks: true}),
		"L04/forgets":      with(flaws{forgets: true}),
		"L04/hangs-up":     with(flaws{hangsUp: true}),
		"L04/always-out":   with(flaws{alwaysOut: true}),
		"L04/polls":        with(flaws{polls: true}),
		"L04/keeps-input":  with(flaws{keepsInput: true}),
		"L04/goroutines":   func() { goroutines(false) },
		"L04/many-execute": func() { goroutines(true) },
	}
}

func TestTheReactor(t *testing.T) {
	t.Parallel()
	full(t, "L04", "right")
	loses(t, "L04", "drops", map[int]string{2: "SET that came in two parts", 3: "the rest is missing"})
	loses(t, "L04", "first", map[int]string{3: "the rest is missing"})
	loses(t, "L04", "blocks", map[int]string{
		4: "while another client does not read its 32 MB of replies: no reply came",
	})
	loses(t, "L04", "forgets", map[int]string{4: "32 GET of a value of 1 MB, read late: a part of the reply came"})
	loses(t, "L04", "hangs-up", map[int]string{5: "the connection ended instead of a reply"})
	loses(t, "L04", "always-out", map[int]string{8: "EPOLLOUT without need"})
	loses(t, "L04", "polls", map[int]string{8: "a timeout of 0"})
	loses(t, "L04", "keeps-input", map[int]string{8: "Is a half-closed socket still asked for input"})
	loses(t, "L04", "goroutines", map[int]string{7: "the poller of your language's runtime"})
	loses(t, "L04", "many-execute", map[int]string{7: "got its reply first"})
}

package glasshttp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"regexp"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/miniredisd/miniredisd/internal/ascii"
)

// clients are TCP connections that the page has opened. Their bytes are exactly those that the page
// sends: the server learns their names from Master.Name, and not by CLIENT SETNAME.
type clients struct {
	masters []Master

	mu      sync.Mutex
	open    map[string]*client // by name
	streams map[*stream]bool   // who wants to know what they receive
}

// client is one connection. Its goroutine reads.
type client struct {
	name   string
	master int
	addr   string // its own address, which the server sees
	conn   *net.TCPConn
	again  chan struct{} // has a value when receive shall try to read again

	// For pages that come later. clients.mu guards both.
	got     []byte // what it has received last
	stopped bool   // it does not read
}

const (
	maxClients = 16
	maxSend    = 64 << 10 // bytes of one order
	maxKept    = 64 << 10 // bytes of client.got
	// receiveBuffer is small, so that the output of a client that does not read fills the sockets
	// soon.
	receiveBuffer = 16 << 10
)

// order is what the page wants of a client.
type order struct {
	Do     string // open, send, reading, halfclose, reset, close
	Name   string
	Data   string // to send
	Master int    // to open a connection to; 0 is 1
	On     bool   // to read or not
}

// do obeys an order.
func (c *clients) do(_ context.Context, q order) (any, error) {
	if q.Do == "open" {
		return c.connect(q)
	}
	c.mu.Lock()
	k := c.open[q.Name]
	c.mu.Unlock()
	if k == nil {
		return nil, fmt.Errorf("there is no client %s", q.Name)
	}
	switch q.Do {
	case "send":
		return k.send(q.Data)
	case "reading":
		return "OK", c.read(k, q.On)
	case "halfclose":
		return "OK", k.conn.CloseWrite()
	case "reset":
		return "OK", errors.Join(k.conn.SetLinger(0), k.close())
	case "close":
		return "OK", k.close()
	}
	return nil, fmt.Errorf("a client can open, send, reading, halfclose, reset and close, not '%s'", q.Do)
}

// connect opens a connection. The socket gets its address before it connects, so the server knows
// its name from the start.
func (c *clients) connect(q order) (any, error) {
	if !regexp.MustCompile(`^[A-Za-z0-9_-]{1,16}$`).MatchString(q.Name) {
		return nil, errors.New("a name has 1 to 16 letters, digits, - and _")
	}
	q.Master = max(q.Master, 1)
	if q.Master > len(c.masters) {
		return nil, fmt.Errorf("master is a number from 1 to %d", len(c.masters))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch k := c.open[q.Name]; {
	case k != nil && k.master == q.Master:
		return k.where(), nil // a page that was loaded again
	case k != nil:
		return nil, fmt.Errorf("client %s is connected to master %d: close it first", k.name, k.master)
	case len(c.open) == maxClients:
		return nil, fmt.Errorf("a page has %d clients at most", maxClients)
	}
	k := &client{name: q.Name, master: q.Master, again: make(chan struct{}, 1)}
	to := c.masters[q.Master-1]
	d := net.Dialer{Timeout: connectLimit, Control: func(_, _ string, raw syscall.RawConn) (err error) {
		failed := raw.Control(func(fd uintptr) { k.addr, err = bind(int(fd)) })
		to.Name(k.addr, "page:"+k.name)
		return errors.Join(failed, err)
	}}
	conn, err := d.Dial("tcp", to.Addr)
	if err != nil {
		return nil, err
	}
	k.conn = conn.(*net.TCPConn)
	c.open[k.name] = k
	go c.receive(k)
	return k.where(), nil
}

func (k *client) where() any { return map[string]string{"name": k.name, "addr": k.addr} }

// connectLimit ends the attempt to connect to a server that does not listen any more.
const connectLimit = 2 * time.Second

// bind gives a socket a free port of this machine and returns its address.
func bind(fd int) (string, error) {
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_RCVBUF, receiveBuffer); err != nil {
		return "", err
	}
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return "", err
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("127.0.0.1:%d", name.(*syscall.SockaddrInet4).Port), nil
}

// send writes data by one write(2). It never waits: the loop may be stopped and the socket full.
func (k *client) send(data string) (any, error) {
	if len(data) > maxSend {
		return nil, fmt.Errorf("%d bytes can be sent at once", maxSend)
	}
	raw, err := k.conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	sent := 0
	failed := raw.Write(func(fd uintptr) bool {
		sent, err = syscall.Write(int(fd), []byte(data))
		return true
	})
	if errors.Is(err, syscall.EAGAIN) {
		sent, err = 0, errors.New("the socket is full")
	}
	return map[string]int{"sent": sent}, errors.Join(failed, err)
}

// read lets a client read, or stops it, and tells the pages. A deadline in the past ends its pending Read.
func (c *clients) read(k *client, on bool) error {
	deadline := time.Time{}
	if !on {
		deadline = time.Unix(1, 0)
	}
	if err := k.conn.SetReadDeadline(deadline); err != nil {
		return err
	}
	c.mu.Lock()
	k.stopped = !on
	c.mu.Unlock()
	c.tell(k, nil, "")
	k.wake()
	return nil
}

func (k *client) close() error {
	err := k.conn.Close()
	k.wake()
	return err
}

// wake lets receive try again. If it has no need to, it finds that out by trying.
func (k *client) wake() {
	select {
	case k.again <- struct{}{}:
	default:
	}
}

// receive reads until the connection ends.
func (c *clients) receive(k *client) {
	buf := make([]byte, receiveBuffer)
	for {
		n, err := k.conn.Read(buf)
		if n > 0 {
			c.tell(k, buf[:n], "")
		}
		switch {
		case err == nil:
		case errors.Is(err, os.ErrDeadlineExceeded):
			<-k.again
		default:
			_ = k.close() // the other side has ended it
			c.tell(k, nil, ending(err))
			return
		}
	}
}

// ending is the word for the end of a connection.
func ending(err error) string {
	switch {
	case errors.Is(err, net.ErrClosed):
		return "page"
	case errors.Is(err, syscall.ECONNRESET):
		return "reset"
	}
	return "server"
}

// news is what a stream has to say about a client.
type news struct {
	Name   string `json:"name"`
	Addr   string `json:"addr"`
	Got    string `json:"got"`              // as redis-cli escapes bytes
	Missed int    `json:"missed,omitempty"` // bytes before Got that were dropped
	Closed string `json:"closed"`           // "", or what has ended the connection: page, server, reset

	Stopped bool `json:"stopped,omitempty"` // it does not read

	got []byte
}

// tell gives news to every stream. A closed client is forgotten.
func (c *clients) tell(k *client, got []byte, closed string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if closed != "" {
		delete(c.open, k.name)
	}
	k.got = last(append(k.got, got...))
	for t := range c.streams {
		t.offer(k, got, closed)
	}
}

// last returns the last bytes of b, as many as are kept.
func last(b []byte) []byte { return b[max(0, len(b)-maxKept):] }

// offer adds to the news of a stream. clients.mu is held.
func (t *stream) offer(k *client, got []byte, closed string) {
	i := slices.IndexFunc(t.news, func(n news) bool { return n.Addr == k.addr })
	if i < 0 {
		i = len(t.news)
		t.news = append(t.news, news{Name: k.name, Addr: k.addr})
	}
	n := &t.news[i]
	n.Closed, n.Stopped = closed, k.stopped
	n.got = append(n.got, got...)
	n.Missed += len(n.got) - len(last(n.got))
	n.got = last(n.got)
	select {
	case t.told <- struct{}{}:
	default:
	}
}

// take returns the news of a stream as events.
func (c *clients) take(t *stream) (text []byte) {
	c.mu.Lock()
	all := t.news
	t.news = nil
	c.mu.Unlock()
	for _, n := range all {
		n.Got = escape(n.got)
		line, err := json.Marshal(n)
		if err != nil {
			continue // cannot be: all of it is text and numbers
		}
		text = fmt.Appendf(text, "event: cl\ndata: %s\n\n", line)
	}
	return text
}

// escape writes bytes as redis-cli does, without quotes around them.
func escape(b []byte) string {
	q := ascii.AppendQuoted(nil, b)
	return string(q[1 : len(q)-1])
}

// join adds a stream. It begins with what the open clients have received.
func (c *clients) join() (*stream, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.streams) == maxStreams {
		return nil, fmt.Errorf("%d pages are watching, and more are not allowed", maxStreams)
	}
	t := &stream{told: make(chan struct{}, 1)}
	c.streams[t] = true
	for _, name := range slices.Sorted(maps.Keys(c.open)) {
		t.offer(c.open[name], c.open[name].got, "")
	}
	return t, nil
}

func (c *clients) leave(t *stream) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.streams, t)
}

// closeAll ends every connection.
func (c *clients) closeAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.open {
		_ = k.close()
	}
}

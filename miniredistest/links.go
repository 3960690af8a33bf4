package miniredistest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"time"

	"github.com/miniredisd/miniredisd/resp"
)

// links are the connections of a trial.
//
// In a bubble each of them is a little slow, and each at its own pace, by the seed. So no two things happen at
// the same instant. What follows from one is over before the next begins, and a trial with the same seed is the
// same trial, on however many processors it runs.
type links struct {
	masters Masters
	seed    uint64
	slow    bool // whether the network takes time

	mu    sync.Mutex
	dials map[string]int // so far, of each name
	open  []net.Conn
}

// The network takes between leastPause and leastPause+morePause for a request, and for a reply.
const (
	leastPause = 20 * time.Microsecond
	morePause  = 100 * time.Microsecond
)

func newLinks(masters Masters, seed uint64, slow bool) *links {
	return &links{masters: masters, seed: seed, slow: slow, dials: map[string]int{}}
}

// dice returns the chance of one connection, or of one worker's start.
func (l *links) dice(name string) *rand.Rand {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dials[name]++
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\x00%d", name, l.dials[name])
	return rand.New(rand.NewPCG(l.seed, h.Sum64()))
}

// pause returns how long the network takes once.
func (l *links) pause(dice *rand.Rand) time.Duration {
	if !l.slow {
		return 0
	}
	return leastPause + time.Duration(dice.Int64N(int64(morePause)))
}

// dial connects to a server, and names the connection.
func (l *links) dial(ctx context.Context, addr, name string) (net.Conn, error) {
	to := l.masters[0]
	for _, s := range to.in.all() {
		if s.addr == addr {
			to = s
		}
	}
	dice := l.dice(name)
	c := &link{of: l, sending: dice, receiving: rand.New(rand.NewPCG(dice.Uint64(), dice.Uint64()))}
	time.Sleep(l.pause(dice))
	raw, err := to.Dial(ctx, "", "")
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	l.open = append(l.open, raw)
	l.mu.Unlock()
	c.Conn = raw
	if name == "" {
		return c, nil
	}
	c.named = true
	_, err = raw.Write(resp.AppendRequest(nil, "CLIENT", "SETNAME", name))
	return c, err
}

// close closes the connections that the test has left open.
func (l *links) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.open {
		_ = c.Close()
	}
}

// link is a connection of a trial.
type link struct {
	net.Conn
	of                 *links
	sending, receiving *rand.Rand
	named              bool  // the reply to CLIENT SETNAME has not come yet: the client must not see it
	failed             error // of the next Read

	mu       sync.Mutex // guards the rest
	readBy   time.Time  // as the client set it
	draining bool       // the connection has another deadline for a moment
}

func (c *link) Write(b []byte) (int, error) {
	time.Sleep(c.of.pause(c.sending))
	return c.Conn.Write(b)
}

// Read waits for bytes. After its pause it takes all that have come, because how many the first read(2) got is
// chance.
func (c *link) Read(b []byte) (int, error) {
	for {
		n, err := 0, c.failed
		if err == nil {
			n, err = c.Conn.Read(b)
		}
		c.failed = nil
		if err == nil && c.of.slow {
			time.Sleep(c.of.pause(c.receiving))
			n += c.drain(b[n:])
		}
		if !c.named || n == 0 || err != nil {
			return n, err
		}
		_, reply, ended := bytes.Cut(b[:n], []byte("\n"))
		if c.named = !ended; len(reply) > 0 {
			return copy(b, reply), nil
		}
	}
}

// drain reads what is there without waiting for more.
func (c *link) drain(b []byte) (n int) {
	c.mu.Lock()
	c.draining = true
	_ = c.Conn.SetReadDeadline(time.Now().Add(1))
	c.mu.Unlock()
	for n < len(b) {
		more, err := c.Conn.Read(b[n:])
		n += more
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			c.failed = err
		}
		if err != nil {
			break
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.draining = false
	_ = c.Conn.SetReadDeadline(c.readBy)
	return n
}

func (c *link) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.readBy = t
	if c.draining {
		return nil
	}
	return c.Conn.SetReadDeadline(t)
}

func (c *link) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

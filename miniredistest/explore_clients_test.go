package miniredistest_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/miniredisd/miniredisd/internal/respclient"
	"github.com/miniredisd/miniredisd/miniredistest"
	"github.com/miniredisd/miniredisd/resp"
)

// The lock clients of the tests of Explore talk to the server by a peer: a connection that is made again
// when it is lost.
type peer struct {
	w    *miniredistest.Worker
	addr string
	conn *respclient.Conn
	wait time.Duration // for a reply

	find   func(v resp.Value, err error) bool // looks for another node, and reports whether the request goes there; or nil
	asking bool                               // the next request follows ASK
}

// patience is how long a right client waits for a reply, in time of the bubble.
const patience = time.Second

func newPeer(w *miniredistest.Worker) *peer { return &peer{w: w, addr: w.Addr(), wait: patience} }

// refused is an error reply.
type refused string

func (r refused) Error() string { return string(r) }

// send sends a request, over a new connection if there is none.
func (p *peer) send(words ...string) error {
	if p.conn == nil {
		raw, err := p.w.Dial(p.w.Context(), "tcp", p.addr)
		if err != nil {
			return err
		}
		p.conn = respclient.New(raw, 1024)
	}
	if err := p.conn.Send(resp.AppendRequest(nil, words...)); err != nil {
		p.close()
		return err
	}
	return nil
}

// read waits for a reply or a message. 0 is for ever. After an error it gives up the connection.
func (p *peer) read(wait time.Duration) (resp.Value, error) {
	var by time.Time
	if wait > 0 {
		by = time.Now().Add(wait)
	}
	_ = p.conn.Net.SetReadDeadline(by)
	v, err := p.conn.Read()
	if err != nil {
		p.close()
		return v, err
	}
	if v.Kind == '-' {
		return v, refused(v.Str)
	}
	return v, nil
}

func (p *peer) do(words ...string) (resp.Value, error) {
	for {
		v, err := p.once(words...)
		if p.find == nil || !p.find(v, err) {
			return v, err
		}
	}
}

// once sends a request and waits for its reply.
func (p *peer) once(words ...string) (resp.Value, error) {
	if p.asking {
		p.asking = false
		if v, err := p.once("ASKING"); err != nil {
			return v, err
		}
	}
	if err := p.send(words...); err != nil {
		return resp.Value{}, err
	}
	return p.read(p.wait)
}

// move lets the next request go to another node.
func (p *peer) move(addr string) {
	if addr != p.addr {
		p.close()
		p.addr = addr
	}
}

func (p *peer) close() {
	if p.conn != nil {
		_ = p.conn.Close()
		p.conn = nil
	}
}

// room is what a lock protects. One worker may be in it.
type room struct {
	mu     sync.Mutex
	inside []string
}

// work takes a second. It stops before that if the worker has to leave.
func (r *room) work(w *miniredistest.Worker, leave <-chan struct{}) {
	r.mu.Lock()
	if len(r.inside) > 0 {
		w.Errorf("%s works while %s does", w.Name, strings.Join(r.inside, " and "))
	}
	r.inside = append(r.inside, w.Name)
	r.mu.Unlock()
	select {
	case <-leave:
	case <-time.After(time.Second):
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, name := range r.inside {
		if name == w.Name {
			r.inside = append(r.inside[:i], r.inside[i+1:]...)
			break
		}
	}
}

const (
	theLock = "lock:order"
	lease   = 5 * time.Second
	poll    = 700 * time.Millisecond
	giveUp  = 40 * time.Second // longer than what a fault takes away
)

var errTaken = errors.New("the lock is taken")

// ms writes a duration for the server.
func ms(d time.Duration) string { return fmt.Sprint(d.Milliseconds()) }

// lockClient is a lock client: it does its work once, with the lock.
type lockClient func(w *miniredistest.Worker, r *room) error

// race lets two workers work once with the same client. They begin at almost the same time.
func race(c lockClient) func(*miniredistest.Trial) { return queue(c, 0) }

// queue lets a worker begin some time before the other.
func queue(c lockClient, before time.Duration) func(*miniredistest.Trial) {
	return func(t *miniredistest.Trial) {
		r := &room{}
		t.Go("a", func(w *miniredistest.Worker) error { return c(w, r) })
		t.Go("b", func(w *miniredistest.Worker) error {
			time.Sleep(before)
			return c(w, r)
		})
	}
}

// retry calls try until it takes the lock. An error of the server or of the network may pass.
func retry(try func() (bool, error)) error {
	why := errTaken
	for begin := time.Now(); time.Since(begin) < giveUp; time.Sleep(poll) {
		switch got, err := try(); {
		case got:
			return nil
		case err != nil:
			why = err
		}
	}
	return why
}

const (
	compareAndDelete = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0`
	compareAndExpire = `if redis.call('get', KEYS[1]) == ARGV[1] then ` +
		`return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0`
)

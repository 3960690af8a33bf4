package main

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/miniredisd/miniredisd/internal/respclient"
	"github.com/miniredisd/miniredisd/resp"
)

// load writes while a master is lost. Each writer asks the sentinels for the master, and again when a request has
// failed. Each key is written once, so nothing hides a write that was lost.
//
// A write counts as acknowledged when its reply has come, and as confirmed when WAIT has said on the same connection
// that both replicas have it. One would be too few: a sentinel compares offsets that may be old, and may promote the
// other one.
type load struct {
	g       *group
	writers []*writer
	stop    chan struct{}
	done    sync.WaitGroup
}

const (
	writers      = 3
	waitEach     = 8 // writes between two WAITs
	writeLimit   = time.Second
	noiseKeys    = 1000
	noiseBatch   = 30
	noisePause   = 5 * time.Millisecond
	verifiedOnce = 500 // keys of a request
)

type writer struct {
	l    *load
	id   int
	conn *respclient.Conn
	from int // the first write of this connection

	mu        sync.Mutex
	acked     []bool // by number; false: no reply has come
	confirmed []bool
	confirms  int
	resumed   time.Time // when the first write after lost was acknowledged
	lost      time.Time // when the master was lost
}

func startLoad(g *group) *load {
	l := &load{g: g, stop: make(chan struct{})}
	for i := range writers {
		w := &writer{l: l, id: i}
		l.writers = append(l.writers, w)
		l.done.Go(w.run)
	}
	l.done.Go(l.noise)
	return l
}

func (l *load) end() {
	close(l.stop)
	l.done.Wait()
}

func (l *load) isOver() bool {
	select {
	case <-l.stop:
		return true
	default:
		return false
	}
}

func (w *writer) run() {
	for !w.l.isOver() {
		if err := w.step(); err != nil {
			w.hangUp()
			time.Sleep(glance)
		}
	}
	w.hangUp()
}

func (w *writer) hangUp() {
	if w.conn != nil {
		w.conn.Net.Close()
		w.conn = nil
	}
}

// connect finds the master.
func (l *load) connect() (*respclient.Conn, error) {
	addr, err := l.g.whereIsMaster()
	if err != nil {
		return nil, err
	}
	return dial(addr, writeLimit)
}

// step sends a write, and sometimes a WAIT.
func (w *writer) step() (err error) {
	if w.conn == nil {
		if w.conn, err = w.l.connect(); err != nil {
			return err
		}
		w.from = len(w.acked)
	}
	began := time.Now()
	w.mu.Lock()
	n := len(w.acked)
	w.acked, w.confirmed = append(w.acked, false), append(w.confirmed, false)
	w.mu.Unlock()
	if err := w.do("SET", w.key(n), "v"); err != nil {
		return err
	}
	w.mu.Lock()
	w.acked[n] = true
	if w.resumed.IsZero() && began.After(w.lost) {
		w.resumed = time.Now()
	}
	w.mu.Unlock()
	if n%waitEach > 0 {
		return nil
	}
	v, err := w.conn.Do("WAIT", strconv.Itoa(replicas), "100")
	if err == nil && v.Kind == ':' && v.Int >= replicas {
		w.mu.Lock()
		w.confirms++
		copy(w.confirmed[w.from:], w.acked[w.from:])
		w.mu.Unlock()
	}
	return err
}

func (w *writer) do(words ...string) error {
	v, err := w.conn.Do(words...)
	if err == nil && v.Kind == '-' {
		err = errors.New(v.Str)
	}
	return err
}

func (w *writer) key(n int) string { return fmt.Sprintf("load:%d:%d", w.id, n) }

// mark notes that the master is lost now.
func (l *load) mark() {
	for _, w := range l.writers {
		w.mu.Lock()
		w.lost, w.resumed = time.Now(), time.Time{}
		w.mu.Unlock()
	}
}

// awaitWrites returns when each writer has written again: how long after mark the last one has.
func (l *load) awaitWrites() (took time.Duration, err error) {
	err = until(failoverLimit, "each writer writes again", func() bool {
		for _, w := range l.writers {
			w.mu.Lock()
			took = max(took, w.resumed.Sub(w.lost))
			isZero := w.resumed.IsZero()
			w.mu.Unlock()
			if isZero {
				return false
			}
		}
		return true
	})
	return took, err
}

// noise are other changes, so that the stream has more than the writes.
func (l *load) noise() {
	for n := 0; !l.isOver(); time.Sleep(noisePause) {
		c, err := l.connect()
		for err == nil && !l.isOver() {
			var batch []byte
			for range noiseBatch {
				key := "noise:" + strconv.Itoa(n%noiseKeys)
				n++
				batch = resp.AppendRequest(batch, "HINCRBY", key, strconv.Itoa(n%7), "1")
				batch = resp.AppendRequest(batch, "EVAL", "return redis.call('PEXPIRE', KEYS[1], 100000)", "1", key)
			}
			err = c.Send(batch)
			for i := 0; i < 2*noiseBatch && err == nil; i++ {
				_, err = c.Read()
			}
			time.Sleep(noisePause)
		}
		if c != nil {
			c.Net.Close()
		}
	}
}

// balance counts writes.
type balance struct{ acknowledged, lost, confirmed, confirmedLost int }

// count asks the master which keys are there. The load is over, and the servers have the same data.
func (l *load) count() (b balance, err error) {
	c, err := dial(l.g.master.addr, askLimit)
	if err != nil {
		return b, err
	}
	defer c.Net.Close()
	for _, w := range l.writers {
		for from := 0; from < len(w.acked); from += verifiedOnce {
			until := min(from+verifiedOnce, len(w.acked))
			request := []string{"MGET"}
			for n := from; n < until; n++ {
				request = append(request, w.key(n))
			}
			v, err := c.Do(request...)
			if err != nil {
				return b, err
			}
			if len(v.Elems) != until-from {
				return b, fmt.Errorf("MGET: %s", v.Str)
			}
			for i, n := 0, from; n < until; i, n = i+1, n+1 {
				b.add(w.acked[n], w.confirmed[n], v.Elems[i].Str == "v")
			}
		}
	}
	return b, nil
}

func (b *balance) add(acked, confirmed, isThere bool) {
	if acked {
		b.acknowledged++
	}
	if confirmed {
		b.confirmed++
	}
	if acked && !isThere {
		b.lost++
	}
	if confirmed && !isThere {
		b.confirmedLost++
	}
}

// confirms is how often WAIT has confirmed writes.
func (l *load) confirms() (n int) {
	for _, w := range l.writers {
		w.mu.Lock()
		n += w.confirms
		w.mu.Unlock()
	}
	return n
}

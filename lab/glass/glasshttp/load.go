package glasshttp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/miniredisd/miniredisd/resp"
)

// load is the load that runs, of which there is one at most.
type load struct {
	mu     sync.Mutex
	cancel context.CancelFunc // nil while none runs
}

// loadOrder is what the page wants: a number of requests, shared out among clients, or the end of
// them.
type loadOrder struct {
	Clients, Requests, Pipeline int // 50, 10,000 and 1 if they are missing
	Master                      int
	Stop                        bool
}

// loadResult is what a load has done.
type loadResult struct {
	Seconds  float64 `json:"seconds"`
	Requests int     `json:"requests"` // that were answered
}

// runLoad sends SET over many connections and returns when all is answered, the page has left, or
// another order stops it.
func (s *Server) runLoad(ctx context.Context, q loadOrder) (any, error) {
	if q.Stop {
		s.load.stop()
		return "OK", nil
	}
	for _, p := range []struct {
		name  string
		value *int
		alone int
		limit int
	}{
		{"clients", &q.Clients, 50, 1000}, {"requests", &q.Requests, 10_000, 10_000_000},
		{"pipeline", &q.Pipeline, 1, 512}, {"master", &q.Master, 1, len(s.Masters)},
	} {
		if *p.value == 0 {
			*p.value = p.alone
		}
		if *p.value < 1 || *p.value > p.limit {
			return nil, fmt.Errorf("%s is a number from 1 to %d", p.name, p.limit)
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ended, cancel)()
	if !s.load.start(cancel) {
		return nil, errors.New("a load is running: stop it first")
	}
	defer s.load.finish()
	return q.drive(ctx, s.Masters[q.Master-1].Addr)
}

func (l *load) start(cancel context.CancelFunc) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cancel != nil {
		return false
	}
	l.cancel = cancel
	return true
}

func (l *load) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cancel != nil {
		l.cancel()
	}
}

func (l *load) finish() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cancel = nil
}

// drive runs one goroutine for each connection. A stopped load is no error.
func (q loadOrder) drive(ctx context.Context, addr string) (loadResult, error) {
	var all sync.WaitGroup
	answered, errs := make([]int, q.Clients), make([]error, q.Clients)
	began := time.Now()
	for i := range q.Clients {
		share := q.Requests / q.Clients
		if i < q.Requests%q.Clients {
			share++
		}
		all.Add(1)
		go func() {
			defer all.Done()
			answered[i], errs[i] = set(ctx, addr, i, share, q.Pipeline)
		}()
	}
	all.Wait()
	q.clean(addr)
	r := loadResult{Seconds: time.Since(began).Seconds()}
	for _, n := range answered {
		r.Requests += n
	}
	if ctx.Err() != nil {
		return r, nil
	}
	return r, errors.Join(errs...)
}

// clean deletes the keys of the load. A server that does not answer keeps them.
func (q loadOrder) clean(addr string) {
	conn, err := net.DialTimeout("tcp", addr, connectLimit)
	if err != nil {
		return
	}
	defer conn.Close()
	words := []string{"DEL"}
	for i := range q.Clients {
		words = append(words, loadKey(i))
	}
	_ = conn.SetDeadline(time.Now().Add(connectLimit)) // fails only if it is closed
	if _, err := conn.Write(resp.AppendRequest(nil, words...)); err == nil {
		_, _ = conn.Read(make([]byte, 64)) // so that the reply does not meet a closed socket
	}
}

func loadKey(client int) string { return fmt.Sprintf("load:%d", client) }

// set sends n requests, a number of them at once, and waits for their replies. It returns how many
// were answered.
func set(ctx context.Context, addr string, client, n, pipeline int) (answered int, err error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	const ok = "+OK\r\n"
	key := loadKey(client)
	one := resp.AppendRequest(nil, "SET", key, "x")
	batch := bytes.Repeat(one, pipeline)
	want, got := []byte(strings.Repeat(ok, pipeline)), make([]byte, pipeline*len(ok))
	for answered < n {
		k := min(pipeline, n-answered)
		if _, err := conn.Write(batch[:k*len(one)]); err != nil {
			return answered, err
		}
		if _, err := io.ReadFull(conn, got[:k*len(ok)]); err != nil {
			return answered, err
		}
		if !bytes.Equal(got[:k*len(ok)], want[:k*len(ok)]) {
			return answered, fmt.Errorf("the server answers %q", got[:k*len(ok)])
		}
		answered += k
	}
	return answered, nil
}

package replicas

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// relay is the network between a replica and its master. Its connections are cut when a test says so.
//
//	replica ──> relay ──> master
type relay struct {
	net.Listener
	mu      sync.Mutex
	target  string
	isShut  bool // who comes is sent away
	open    map[net.Conn]bool
	cuts    int
	full    int // how often the master has answered PSYNC so
	partial int
	bytes   int // from the master
}

func newRelay(t testing.TB, target string) *relay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r := &relay{Listener: l, target: target, open: map[net.Conn]bool{}}
	go r.accept()
	t.Cleanup(func() {
		l.Close()
		r.cut(false)
	})
	return r
}

func (r *relay) accept() {
	for {
		replica, err := r.Accept()
		if err != nil {
			return
		}
		go r.serve(replica)
	}
}

func (r *relay) serve(replica net.Conn) {
	defer replica.Close()
	r.mu.Lock()
	target, isShut := r.target, r.isShut
	r.mu.Unlock()
	if isShut {
		return
	}
	master, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	defer master.Close()
	r.mu.Lock()
	r.open[replica], r.open[master] = true, true
	r.mu.Unlock()
	go func() {
		_, _ = io.Copy(master, replica)
		master.Close()
		replica.Close()
	}()
	r.passOn(replica, master)
	r.mu.Lock()
	delete(r.open, replica)
	delete(r.open, master)
	r.mu.Unlock()
}

// passOn copies what the master says, and counts its answers to PSYNC.
func (r *relay) passOn(replica, master net.Conn) {
	var head []byte
	isAnswered := false
	piece := make([]byte, 1<<14)
	for {
		n, err := master.Read(piece)
		r.mu.Lock()
		r.bytes += n
		if !isAnswered {
			head = append(head, piece[:n]...)
			isFull, isPartial := bytes.Contains(head, []byte("+FULLRESYNC ")), bytes.Contains(head, []byte("+CONTINUE"))
			if isAnswered = isFull || isPartial; isFull {
				r.full++
			} else if isPartial {
				r.partial++
			}
		}
		r.mu.Unlock()
		if err != nil {
			return
		}
		if _, err := replica.Write(piece[:n]); err != nil {
			return
		}
	}
}

// cut ends all connections. Bytes on their way are lost, and with hard the other side gets a reset.
func (r *relay) cut(hard bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.open) > 0 {
		r.cuts++
	}
	for c := range r.open {
		if hard {
			_ = c.(*net.TCPConn).SetLinger(0)
		}
		c.Close()
	}
	clear(r.open)
}

// shut sends replicas away from now on, or no more.
func (r *relay) shut(isShut bool) {
	r.mu.Lock()
	r.isShut = isShut
	r.mu.Unlock()
}

// leadTo changes the master behind the relay.
func (r *relay) leadTo(target string) {
	r.mu.Lock()
	r.target = target
	r.mu.Unlock()
}

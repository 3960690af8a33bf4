// Package miniredis has the names of github.com/alicebob/miniredis/v2, for tests that are written for
// it. Change the import line, and the tests run on this server:
//
//	import "github.com/miniredisd/miniredisd/miniredistest/miniredis"
//
//	func TestTheLockIsFreeWhenTheLeaseIsOver(t *testing.T) {
//		m := miniredis.RunT(t)
//		lock := mylock.New(m.Addr())
//		lock.Acquire("order:42", 30*time.Second)
//		m.FastForward(30001 * time.Millisecond)
//		require.False(t, m.Exists("order:42"))
//		m.Server().AssertOneHolder("order:*") // new: all of miniredistest
//	}
//
// Methods return errors here, because miniredis's do. Package miniredistest fails the test instead, which
// is shorter: use it in new tests. Server returns the miniredistest server behind a Miniredis.
//
// What is different:
//
//   - There is one clock. It stands still, except in a bubble of testing/synctest. FastForward and
//     SetTime move all of it: TTLs, TIME, and timeouts of blocking commands. ClockTTL(true) lets it run,
//     as BRPOP with a timeout needs.
//   - Values are Redis's. A HyperLogLog is a string, and Redis 7.2 has no TTLs of hash fields.
//   - Commands are those of Redis. Server has rules for faults in place of a hook for commands.
//   - A Miniredis that is closed has no keys until Restart.
//
// The test of this package has a list of miniredis's names that do not exist here, with reasons.
//
// Any goroutine may call a method. A method without an error panics if its server is closed.
package miniredis

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miniredisd/miniredisd/miniredistest"
)

// Miniredis is a server in this process. Its methods on keys use the database of Select.
type Miniredis struct {
	*RedisDB

	srv       *miniredistest.Server // nil while it is closed
	t         testing.TB            // of RunT, or a program
	host      string
	port      int         // 0 before the first start
	runs      bool        // the clock, see ClockTTL
	tls       *tls.Config // nil without TLS
	seed      int         // 0 for the default
	message   string      // of SetError
	down      *miniredistest.Fault
	passwords map[string]string // by user
	saved     *saved            // what Close has kept
	asked     atomic.Int64      // commands that this package has executed
}

// NewMiniRedis makes a server that does not run yet: see Start.
func NewMiniRedis() *Miniredis {
	m := &Miniredis{t: &program{}, host: "127.0.0.1", passwords: map[string]string{}}
	m.RedisDB = &RedisDB{m, 0}
	return m
}

// Run starts a server on a free port. Close ends it.
func Run() (*Miniredis, error) {
	m := NewMiniRedis()
	return m, m.Start()
}

// Tester is the part of testing.TB that RunT needs.
type Tester interface {
	Fatalf(format string, args ...any)
	Cleanup(end func())
	Logf(format string, args ...any)
}

// RunT starts a server that ends with its test. A failed test prints the server's history.
func RunT(t Tester) *Miniredis {
	m := NewMiniRedis()
	if tb, ok := t.(testing.TB); ok {
		m.t = tb // the server ends with it
	} else {
		t.Cleanup(m.Close)
	}
	if err := m.Start(); err != nil {
		t.Fatalf("could not start miniredis: %s", err)
	}
	return m
}

// Start starts the server on a free port, or on the port that it had before Close.
func (m *Miniredis) Start() error {
	return m.StartAddr(m.lastAddr())
}

// Restart is Start or StartTLS after Close. All values are as before.
func (m *Miniredis) Restart() error { return m.StartAddrTLS(m.lastAddr(), m.tls) }

// StartAddr is Start at an address like "127.0.0.1:6379".
func (m *Miniredis) StartAddr(addr string) error { return m.StartAddrTLS(addr, nil) }

// RunTLS is Run with TLS.
func RunTLS(cfg *tls.Config) (*Miniredis, error) {
	m := NewMiniRedis()
	return m, m.StartTLS(cfg)
}

// StartTLS is Start with TLS.
func (m *Miniredis) StartTLS(cfg *tls.Config) error { return m.StartAddrTLS(m.lastAddr(), cfg) }

func (m *Miniredis) lastAddr() string { return net.JoinHostPort(m.host, strconv.Itoa(m.port)) }

// StartAddrTLS is StartAddr with TLS, unless cfg is nil.
func (m *Miniredis) StartAddrTLS(addr string, cfg *tls.Config) error {
	host, service, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("miniredis: %w", err)
	}
	number, err := net.LookupPort("tcp", service)
	if err != nil {
		return fmt.Errorf("miniredis: %w", err)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	options := []miniredistest.Option{miniredistest.Config("--bind", host)}
	port := strconv.Itoa(number)
	switch {
	case cfg == nil:
		options = append(options, miniredistest.Config("--port", port))
	case number == 0:
		options = append(options, miniredistest.TLS(cfg))
	default:
		options = append(options, miniredistest.TLS(cfg), miniredistest.Config("--tls-port", port))
	}
	m.tls = cfg
	return m.start(host, options)
}

func (m *Miniredis) start(host string, options []miniredistest.Option) (err error) {
	if m.srv != nil {
		return fmt.Errorf("miniredis: %s is in use by this server", m.Addr())
	}
	if p, ok := m.t.(*program); ok {
		defer p.recover(&err)
	}
	at := time.Now()
	if m.saved != nil {
		at = m.saved.now
	}
	if m.seed != 0 {
		options = append(options, miniredistest.Config("--seed", strconv.Itoa(m.seed)))
	}
	m.srv = miniredistest.Run(m.t, append(options, miniredistest.FrozenAt(at))...)
	m.host = host
	m.port, _ = strconv.Atoi(m.Port())
	m.saved.restore(m)
	if m.runs || m.srv.InBubble() {
		m.ClockTTL(true)
	}
	m.applyPasswords()
	m.SetError(m.message)
	m.asked.Store(m.fact("stats", "total_commands_processed") + 1) // with this INFO
	return nil
}

// Close ends the server and its connections. Restart starts it again.
func (m *Miniredis) Close() {
	if m.srv == nil {
		return
	}
	m.saved = m.save()
	m.srv.Stop()
	m.srv, m.down = nil, nil
	if p, ok := m.t.(*program); ok {
		p.end()
	}
}

// Server returns the server behind m, with its clock, rules, history and assertions.
func (m *Miniredis) Server() *miniredistest.Server { return m.srv }

// Addr returns the address as host:port.
func (m *Miniredis) Addr() string { return m.srv.Addr() }

// Host returns the host of Addr.
func (m *Miniredis) Host() string {
	host, _, _ := net.SplitHostPort(m.Addr())
	return host
}

// Port returns the port of Addr.
func (m *Miniredis) Port() string {
	_, port, _ := net.SplitHostPort(m.Addr())
	return port
}

// Dial connects to the server without TLS, also in a bubble of testing/synctest. It starts a server that does not run.
func (m *Miniredis) Dial() (net.Conn, error) {
	if m.srv == nil {
		if err := m.Start(); err != nil {
			return nil, err
		}
	}
	return m.srv.Dial(context.Background(), "", "")
}

// Package miniredistest runs miniredisd inside a Go test: a real server on a port of its own,
// whose clock the test moves, whose replies it loses, and whose clients it holds where it
// wants them.
//
//	func TestTheLockIsFreeWhenTheLeaseIsOver(t *testing.T) {
//		srv := miniredistest.Run(t, miniredistest.Frozen())
//		lock := mylock.New(srv.Addr())
//		lock.Acquire("order:42", 30*time.Second)
//		srv.Clock().Advance(30001 * time.Millisecond)
//		srv.AssertNone("order:42")
//	}
//
// Servers end with their test. Nothing is on disk, nothing is shared: a test binary can have
// hundreds of them, in parallel. What a test asks here does not go over the network but
// straight to the goroutine of the server, so that it works as well while the server is down,
// silent or paused.
//
// Was the lock one? AssertOneHolder judges all that has happened, over one server or over
// masters, and AssertNoFindings asks the doctor for mistakes that have not hurt yet.
//
// When a test fails, the history of each of its servers is printed: every command on a key,
// who sent it, at what time by the server's clock, what was answered and which rule had a
// hand in it. The same texts come from LAB LOG in any other language.
//
// # From miniredis
//
// For tests that use github.com/alicebob/miniredis, here is where its names went:
//
//	miniredis                         miniredistest
//	RunT(t), Run()                    Run(t); RunMasters(t, 5)
//	Close()                           the end of the test; Stop
//	Addr(), Host(), Port()            Addr, URL
//	Restart()                         Crash(0, KeepKeys): as a process that comes back
//	(nothing)                         Crash(d, LoseKeys), Listen, Blackhole, Partition
//	FastForward(d)                    Clock().Advance(d): also moves TIME and timeouts
//	SetTime(t)                        Clock().Set(t): also moves TTLs, they are one clock
//	(nothing)                         Clock().Freeze, Run, Rate
//	Seed(n)                           the option Seed(n)
//	SetError(msg)                     Fault("down").Error(msg): also for one command or key
//	Server().SetPreHook(h)            Fault(...).Cmd(...).Key(...).Nth(...): by rules
//	RequireAuth(pw)                   the option Config("--requirepass", pw)
//	RequireUserAuth(u, pw)            Do("ACL", "SETUSER", ...)
//	Get, Set, HSet, Push, ...         Do("GET", key), Do("HSET", ...), any command
//	CheckGet(t, k, v)                 AssertString(k, v)
//	Exists(k), Keys()                 Keys(pattern)
//	TTL(k), SetTTL                    TTL(k), Do("PEXPIRE", ...)
//	FlushAll()                        Restore(name) of a Snapshot(name), Do("FLUSHALL")
//	Dump()                            Dump()
//	CommandCount()                    AssertCalled(n, "SET", "lock:*"), Log()
//	(nothing)                         AssertOneHolder("lock:*"), AssertNoFindings()
//	TotalConnectionCount, Server()    Do("INFO", "stats")
//
// A server cannot run in a bubble of testing/synctest, and Run fails the test there: start the
// server outside. Clients inside reach it.
//
// A method that cannot do what it is asked fails the test by t.Fatal; the rules of testing
// about other goroutines hold.
package miniredistest

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/server"
)

// Server is a server that runs until its test ends.
type Server struct {
	t     testing.TB
	s     *server.Server
	in    *process
	name  string // before what is printed, "" when there is only one
	addr  string
	rules []*Rule
}

// Masters are independent servers, as for Redlock.
type Masters []*Server

// process is what servers that were started together have in common.
type process struct {
	masters server.Masters
	ended   chan error
	stop    sync.Once
	log     lines
}

// Option changes how servers are started.
type Option func(*options)

type options struct {
	args    []string
	frozen  bool
	at      time.Time
	watched []string
}

// Frozen starts with a clock that stands still.
func Frozen() Option { return func(o *options) { o.frozen = true } }

// FrozenAt starts with a clock that stands still at t.
func FrozenAt(t time.Time) Option { return func(o *options) { o.frozen, o.at = true, t } }

// Seed makes hashing and chance repeatable. Without it every server gets the seed 1, masters
// those from 1 on.
func Seed(n uint64) Option { return Config("--seed", strconv.FormatUint(n, 10)) }

// Config adds arguments of the command line, such as "--requirepass", "secret".
func Config(args ...string) Option {
	return func(o *options) { o.args = append(o.args, args...) }
}

// Watch has the history contain the commands on keys that match one of the globs, instead of
// those on all keys. With none there are only rules that have fired.
func Watch(globs ...string) Option { return func(o *options) { o.watched = globs } }

// Run starts a server on a free port of 127.0.0.1.
func Run(t testing.TB, opts ...Option) *Server {
	t.Helper()
	return run(t, 1, opts)[0]
}

// RunMasters starts n servers that know nothing of each other.
func RunMasters(t testing.TB, n int, opts ...Option) Masters {
	t.Helper()
	return run(t, n, opts)
}

func run(t testing.TB, n int, opts []Option) Masters {
	t.Helper()
	o := options{watched: []string{"*"}}
	for _, opt := range opts {
		opt(&o)
	}
	masters, in := start(t, n, o.args)
	var all Masters
	for i, m := range masters {
		s := &Server{t: t, s: m, in: in, addr: net.JoinHostPort("127.0.0.1", strconv.Itoa(m.Port()))}
		if n > 1 {
			s.name = fmt.Sprintf("master %d: ", i+1)
		}
		all = append(all, s)
	}
	t.Cleanup(all.end)
	for _, s := range all {
		for _, glob := range o.watched {
			s.lab("LOG", "WATCH", glob)
		}
		if o.frozen {
			s.Clock().Freeze()
		}
		if !o.at.IsZero() {
			s.Clock().Set(o.at)
		}
		s.ResetLog() // which begins with the test
	}
	return all
}

// start has the servers listen and run. The limit of clients is one that many servers can
// have side by side.
func start(t testing.TB, n int, more []string) (server.Masters, *process) {
	t.Helper()
	args := []string{
		"--port", "0", "--bind", "127.0.0.1", "--lab", "yes", "--seed", "1", "--maxclients", "1000",
		"--enable-debug-command", "yes", "--masters", strconv.Itoa(n),
	}
	cfg, err := config.Parse(append(args, more...), strings.NewReader(""))
	if err != nil {
		t.Fatalf("miniredistest: %v", err)
	}
	in := &process{ended: make(chan error, 1)}
	in.masters, err = server.NewMasters(cfg, func(master int) server.Log {
		return func(level byte, format string, args ...any) { in.log.add(n, master, level, format, args) }
	})
	if err != nil {
		t.Fatalf("miniredistest: %v", err)
	}
	go func() { in.ended <- in.masters.Run() }()
	return in.masters, in
}

// end is the end of the test.
func (m Masters) end() {
	for _, s := range m {
		s.t.Helper()
		s.checkRules()
		if s.t.Failed() {
			s.printHistory()
		}
	}
	m[0].in.end(m[0].t)
}

func (in *process) end(t testing.TB) {
	in.stop.Do(func() {
		in.masters.Stop()
		if err := <-in.ended; err != nil {
			t.Errorf("miniredistest: %v", err)
		}
		if text := in.log.String(); t.Failed() && text != "" {
			t.Logf("the server's log:\n%s", text)
		}
	})
}

// Addr is where to connect to, as host:port.
func (s *Server) Addr() string { return s.addr }

// URL is where to connect to, as redis://host:port.
func (s *Server) URL() string { return "redis://" + s.addr }

// Addrs are those of all masters.
func (m Masters) Addrs() []string {
	var addrs []string
	for _, s := range m {
		addrs = append(addrs, s.addr)
	}
	return addrs
}

// Stop ends the server before the test does: as SHUTDOWN, for good.
func (s *Server) Stop() {
	s.t.Helper()
	s.s.Stop()
	<-s.s.Ended()
}

// Do executes a command, as RESP3 and without a connection: no rule is about it, and it is
// not in the history. A command about connections, such as SUBSCRIBE, needs a client. An
// error reply fails the test; see Try.
func (s *Server) Do(args ...string) resp.Value {
	s.t.Helper()
	v, err := s.Try(args...)
	if err != nil {
		s.t.Fatalf("%s%s: %v", s.name, strings.Join(args, " "), err)
	}
	return v
}

// Try is Do for commands that may be answered with an error.
func (s *Server) Try(args ...string) (resp.Value, error) {
	return s.s.Do(context.Background(), args...)
}

// lab executes a verb of LAB.
func (s *Server) lab(args ...string) resp.Value {
	s.t.Helper()
	return s.Do(append([]string{"LAB"}, args...)...)
}

// lines are the newest lines of a log.
type lines struct {
	mu   sync.Mutex
	kept []string
}

const keptLines = 200

func (l *lines) add(masters, master int, level byte, format string, args []any) {
	if level == '.' || level == '-' {
		return
	}
	line := fmt.Sprintf("%c "+format, append([]any{level}, args...)...)
	if masters > 1 {
		line = fmt.Sprintf("master %d: %s", master, line)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kept = append(l.kept, line); len(l.kept) > keptLines {
		l.kept = l.kept[1:]
	}
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.kept, "\n")
}

// Package miniredistest runs miniredisd inside a Go test. It is a real server on a port of its own.
// The test moves its clock, loses its replies, and holds its clients at a request.
//
//	func TestTheLockIsFreeWhenTheLeaseIsOver(t *testing.T) {
//		srv := miniredistest.Run(t, miniredistest.Frozen())
//		lock := mylock.New(srv.Addr())
//		lock.Acquire("order:42", 30*time.Second)
//		srv.Clock().Advance(30001 * time.Millisecond)
//		srv.AssertNone("order:42")
//	}
//
// A server ends with its test. It writes nothing to disk and shares nothing, so a test binary can
// run hundreds of servers in parallel. The methods here do not use the network: they ask the
// server's goroutine directly. So they also work while the server is down, silent or paused.
//
// AssertOneHolder proves that no two clients held one lock, on one server or on several masters.
// AssertNoFindings asks the doctor for mistakes that have not hurt yet. Explore finds the failure that breaks a
// lock: it runs a test again and again, each time with one failure at one place.
//
// A failed test prints the history of each of its servers: every command on a key, its client, the
// time by the server's clock, the reply, and the rule that changed it. LAB LOG has the same history
// in any other language.
//
// Package proxied runs the same tests at redis-server, or at another server.
//
// # From miniredis
//
// Tests that are written for github.com/alicebob/miniredis run here with one change: they import
// miniredistest/miniredis, which has its names. New tests are shorter with this package:
//
//	miniredis                         miniredistest
//	RunT(t), Run()                    Run(t); RunMasters(t, 5)
//	Close()                           the end of the test; Stop
//	Addr(), Host(), Port()            Addr, URL
//	Restart()                         Crash(0, KeepKeys)
//	(nothing)                         Crash(d, LoseKeys), Listen, Blackhole, Partition
//	(nothing)                         Disk(), Crash(d, LoseUnsynced), Disk().Fail, Slow, Torn
//	(nothing)                         Replicas(2), Hold, Lag, Release, Failover
//	(nothing)                         Cluster(), MoveSlot, Stale; Sentinels(3), Believe, Pause
//	FastForward(d)                    Clock().Advance(d): also moves TIME and timeouts
//	SetTime(t)                        Clock().Set(t): also moves TTLs, because there is one clock
//	(nothing)                         Clock().Freeze, Run, Rate
//	Seed(n)                           the option Seed(n)
//	SetError(msg)                     Fault("down").Error(msg): also for one command or key
//	Server().SetPreHook(h)            Fault(...).Cmd(...).Key(...).Nth(...): by rules
//	RequireAuth(pw)                   the option Config("--requirepass", pw)
//	RequireUserAuth(u, pw)            Do("ACL", "SETUSER", ...)
//	Get, Set, HSet, Push, ...         Do("GET", key), Do("HSET", ...), any command
//	DB(n), Select(n)                  DB(n).Do(...), DB(n).Keys(...), DB(n).AssertString(...)
//	CheckGet(t, k, v)                 AssertString(k, v)
//	Exists(k), Keys()                 Keys(pattern)
//	TTL(k), SetTTL                    TTL(k), Do("PEXPIRE", ...)
//	FlushAll()                        Restore(name) of a Snapshot(name), Do("FLUSHALL")
//	Dump()                            Dump()
//	CommandCount()                    AssertCalled(n, "SET", "lock:*"), Log()
//	(nothing)                         Step().Break, Stopped, Next: stops in the middle of a pass
//	(nothing)                         AssertOneHolder("lock:*"), AssertNoFindings()
//	TotalConnectionCount, Server()    Do("INFO", "stats")
//
// # Goroutines
//
// A method that cannot do its work fails the test by t.Fatal. So call it from the goroutine of the
// test, as package testing demands.
//
// In a bubble of testing/synctest, the time of the bubble is the server's clock. time.Sleep lets a lease
// expire, and takes no real time. Clients connect by Dial there:
//
//	synctest.Test(t, func(t *testing.T) {
//		srv := miniredistest.Run(t)
//		lock := mylock.New(redis.NewClient(&redis.Options{Addr: srv.Addr(), Dialer: srv.Dial}))
//		lock.Acquire("order:42", 30*time.Second)
//		time.Sleep(31 * time.Second)
//		srv.AssertNone("order:42")
//	})
package miniredistest

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/dialect"
	"github.com/miniredisd/miniredisd/node"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/server"
)

// Server is a server that runs until its test ends.
type Server struct {
	t      testing.TB
	s      *server.Server
	in     *process
	place  int    // among the servers of in
	name   string // a prefix for messages, "" if there is only one server
	addr   string
	port   int
	secure bool   // addr is a port with TLS
	plain  string // addr, but without TLS
	db     int    // where Do and its like execute commands
}

// Masters are independent servers, for Redlock.
type Masters []*Server

// process is shared by the servers that were started together.
type process struct {
	nodeCount int
	servers   node.Nodes // masters, their replicas, and Sentinels
	nodes     Masters    // masters and their replicas
	sentinels Masters
	away      *Elsewhere // in the place of servers, nil for none
	ended     chan error
	names     []string // of the servers, as prefixes
	stop      sync.Once
	rules     []*Rule // that the test has begun
	log       lines
}

// Option changes how servers are started.
type Option func(*options)

type options struct {
	args    []string
	frozen  bool
	at      time.Time
	watched []string
	shaped  [][]string // words after LAB
	tls     *tls.Config
	seed    uint64

	elsewhere Starter // nil for servers of this process
	onlyHere  string  // the first word of Config, "" for none

	explore     exploring
	exploreOnly string // the last option that only Explore knows
}

// Frozen starts the server with a frozen clock.
func Frozen() Option { return func(o *options) { o.frozen = true } }

// FrozenAt starts the server with a clock that is frozen at t.
func FrozenAt(t time.Time) Option { return func(o *options) { o.frozen, o.at = true, t } }

// Seed makes hashing and chance repeatable. The default is 1. Masters count up from the seed.
func Seed(n uint64) Option {
	return func(o *options) {
		o.seed, o.args = n, append(o.args, "--seed", strconv.FormatUint(n, 10))
	}
}

// Dialect makes the server answer as a newer one: "redis-8.4", "valkey-9.1". An unknown name ends the test
// with a list of the names.
func Dialect(name string) Option { return Config("--dialect", name) }

// TLS makes Addr and URL the address of a port with TLS. The config needs certificates, and ClientCAs if
// it asks clients for theirs. Dial connects without TLS. There is no TLS in a bubble.
func TLS(config *tls.Config) Option { return func(o *options) { o.tls = config } }

// Config adds arguments to the command line, such as "--requirepass", "secret". The words of the
// environment variable MINIREDISD_ARGS come before them, for all servers of a run of tests.
func Config(args ...string) Option {
	return func(o *options) {
		o.args = append(o.args, args...)
		o.onlyHere = cmp.Or(o.onlyHere, strings.Join(args[:min(len(args), 1)], ""))
	}
}

// Watch limits the history to commands on keys that match one of the globs. The default is all
// keys. Without a glob the history has only rules that fired.
func Watch(globs ...string) Option { return func(o *options) { o.watched = globs } }

// Run starts a server on a free port of 127.0.0.1.
func Run(t testing.TB, opts ...Option) *Server {
	t.Helper()
	return runOptions(t, 1, opts)[0]
}

// RunMasters starts n independent servers on free ports of 127.0.0.1.
func RunMasters(t testing.TB, n int, opts ...Option) Masters {
	t.Helper()
	return runOptions(t, n, opts)
}

// runOptions starts servers that end with the test.
func runOptions(t testing.TB, n int, opts []Option) Masters {
	t.Helper()
	o := apply(opts)
	if o.exploreOnly != "" {
		t.Fatalf("miniredistest: %s is an option of Explore, not of a server", o.exploreOnly)
	}
	all := run(t, n, o)
	t.Cleanup(all[0].in.nodes.end)
	return all
}

func apply(opts []Option) options {
	o := options{watched: []string{"*"}, seed: 1}
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// run starts n masters, and the replicas that the options ask for. It returns the masters.
func run(t testing.TB, n int, o options) Masters {
	t.Helper()
	if o.elsewhere != nil {
		return runElsewhere(t, n, o)
	}
	in := start(t, n, o)
	var all Masters
	for i, m := range in.servers {
		s := &Server{t: t, s: m, in: in, place: i, name: in.names[i], port: m.Port()}
		if addrs := m.Addrs(); len(addrs) > 0 {
			s.addr, s.plain = addrs[0], addrs[0]
		}
		if addrs := m.TLSAddrs(); len(addrs) > 0 {
			s.addr, s.secure = addrs[0], true
		}
		all = append(all, s)
	}
	all, in.sentinels = all[:in.nodeCount], all[in.nodeCount:]
	in.nodes = all
	in.awaitReplicas()
	all.watch(o)
	return all[:n]
}

// watch begins the histories.
func (m Masters) watch(o options) {
	for _, s := range m {
		s.t.Helper()
		for _, glob := range o.watched {
			s.lab("LOG", "WATCH", glob)
		}
		for _, watch := range o.shaped {
			s.lab(watch...)
		}
	}
	m.begin(o)
}

// start starts the servers. They accept fewer clients than by default, so that many can run side by
// side.
func start(t testing.TB, n int, o options) *process {
	t.Helper()
	cfg := config.Default()
	cfg.Port, cfg.Bind, cfg.Masters, cfg.MaxClients = 0, []string{"127.0.0.1"}, n, 1000
	cfg.Lab, cfg.Seed, cfg.EnableDebugCommand, cfg.Bubble = true, 1, "yes", inBubble()
	if o.tls != nil {
		cfg.TLS, cfg.TLSPort = o.tls, -1
	}
	if err := cfg.SetDialect(os.Getenv(dialect.Variable)); err != nil {
		t.Fatalf("miniredistest: %v", err)
	}
	args := append(strings.Fields(os.Getenv("MINIREDISD_ARGS")), o.args...)
	cfg, err := config.ParseOver(cfg, args, strings.NewReader(""))
	if err != nil {
		t.Fatalf("miniredistest: %v", err)
	}
	if o.tls != nil {
		cfg.Port = max(cfg.Port, 0) // for Dial
	}
	in := &process{ended: make(chan error, 1), names: namesOf(cfg), nodeCount: cfg.Nodes()}
	in.servers, err = node.NewNodes(cfg, func(node int) server.Log {
		return func(level byte, format string, args ...any) { in.log.add(in.names[node-1], level, format, args) }
	})
	if err != nil {
		t.Fatalf("miniredistest: %v", err)
	}
	go func() { in.ended <- in.servers.Run() }()
	return in
}

// end runs when the test ends: it prints the histories of a failed test and stops the servers.
func (m Masters) end() {
	m[0].checkRules()
	for _, s := range m {
		s.t.Helper()
		if w := s.view(); w != nil {
			w.Open() // the history comes from the loop
		}
		if s.t.Failed() {
			s.printHistory()
		}
	}
	m[0].in.end(m[0].t)
}

func (in *process) end(t testing.TB) {
	in.stop.Do(func() {
		if err := in.halt(); err != nil {
			t.Errorf("miniredistest: %v", err)
		}
		if text := in.log.String(); t.Failed() && text != "" {
			t.Logf("the server's log:\n%s", text)
		}
	})
}

func (in *process) halt() error {
	if in.away != nil {
		return in.away.End()
	}
	in.servers.Stop()
	return <-in.ended
}

// Addr returns the address of the server as host:port. In a bubble of testing/synctest it names the server to clients,
// and nobody listens there: clients connect by Dial.
func (s *Server) Addr() string { return s.addr }

// Dial connects to the server, also in a bubble of testing/synctest. It has the type that options of
// clients ask for: it looks at none of its arguments but ctx.
//
//	redis.NewClient(&redis.Options{Addr: srv.Addr(), Dialer: srv.Dial})
func (s *Server) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	if s.InBubble() {
		return s.s.Dial()
	}
	var d net.Dialer
	return d.DialContext(ctx, "tcp", s.plain)
}

// InBubble reports whether the server was started in a bubble of testing/synctest.
func (s *Server) InBubble() bool { return s.s != nil && s.s.InBubble() }

// URL returns the address of the server as redis://host:port, or rediss://host:port with TLS.
func (s *Server) URL() string {
	if s.secure {
		return "rediss://" + s.addr
	}
	return "redis://" + s.addr
}

// DB returns the server with another database selected, for Do, Keys, AssertString and all other methods
// that execute commands. The server has 16 databases unless Config says otherwise.
func (s *Server) DB(n int) *Server {
	other := *s
	other.db = n
	return &other
}

// Addrs returns the addresses of all masters.
func (m Masters) Addrs() []string {
	var addrs []string
	for _, s := range m {
		addrs = append(addrs, s.addr)
	}
	return addrs
}

// Stop ends the server before the test ends, like SHUTDOWN. It cannot be started again.
func (s *Server) Stop() {
	s.t.Helper()
	if s.in.away != nil {
		s.t.Fatalf("%sStop: a server behind a proxy ends with its test. Crash can end it for a while", s.name)
	}
	s.s.Stop()
	<-s.s.Ended()
}

// Do executes a command in RESP3 without a connection. No rule matches it, and the history does not
// have it. A command that needs a connection, such as SUBSCRIBE, needs a real client. An error
// reply fails the test (see Try).
func (s *Server) Do(args ...string) resp.Value {
	s.t.Helper()
	v, err := s.Try(args...)
	if err != nil {
		s.t.Fatalf("%s%s: %v", s.name, strings.Join(args, " "), err)
	}
	return v
}

// Try is Do for a command that may get an error.
func (s *Server) Try(args ...string) (resp.Value, error) {
	if inBubble() != s.InBubble() {
		return resp.Value{}, errors.New(whyBubble)
	}
	if away := s.in.away; away != nil {
		return away.Do(context.Background(), s.place, s.db, args)
	}
	return s.s.DoIn(context.Background(), s.db, args...)
}

// lab executes a verb of LAB.
func (s *Server) lab(args ...string) resp.Value {
	s.t.Helper()
	return s.Do(append([]string{"LAB"}, args...)...)
}

// Package server connects the parts: it gives the event loop its handlers, and it is the only package
// that sees both halves of a client, the connection and the session.
//
// The goroutine that calls Run does everything. With io-threads, other threads do a part of the reading
// and writing. Its pass:
//
//	epoll_wait ──> acceptHandler  new connections                 accept.go (with TLS: tls.go)
//	           ├─> readHandler    readable clients                pass.go
//	           └─> replyHandler   full sockets with room again    write.go
//	beforeSleep:                                                  pass.go
//	   gather           wait a moment for more clients            gather.go
//	   read and parse   all readable sockets                      (I/O threads may do that)
//	   run timers       timeouts of blocked clients, pauses       hold.go
//	   execute          all complete commands, in order           (never in a thread)
//	   expire           keys that are due
//	   execute          clients whose wait is over                hold.go
//	   append           changes, to the append only file          persist_aof.go
//	   write            all waiting replies                       (I/O threads may do that)
//	   close            clients that have ended                   client.go
//
// From executeRequests to a command are three calls: Executor.Do, Executor.run, and the function in the
// command's row.
//
// A script that runs for too long makes a smaller pass in the middle of the execute phase, for the
// other clients (busy.go).
//
// With --exec queue another goroutine executes, and this one waits for it (exec_queue.go).
//
// Several servers can live in one process, as Masters. Each has its own goroutine. Other masters and the
// program around send internal requests, which come over no connection (internal_request.go).
//
// The files named persist_*.go keep the data in a file, those named repl_master*.go feed replicas, those named
// repl_follow*.go make this server a replica, those named lab_*.go make failures happen, for tests, and those named
// glass_*.go show and stop the pass, point by point. No other file needs them to be understood. The files named
// cmd_*.go are commands that see clients or the server itself.
//
// Redis has the same phases (server.c: beforeSleep). Without I/O threads, Redis reads and executes a
// query at once, in the read handler (networking.c: readQueryFromClient). Here these are always two
// steps, so that one code serves with and without threads.
package server

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/clock"
	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/dialect"
	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/ioworkers"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/store"
)

// Log writes one line of the server's log. level is the character that Redis prints: '.' for debug, '-'
// for verbose, '*' for notice, '#' for warning.
type Log func(level byte, format string, args ...any)

// Server is one master: a loop, a keyspace and its clients. Several can live in one process. They share
// nothing, except in a lab what their doctors know of locks.
type Server struct {
	cfg      *config.Config
	log      Log
	loop     *reactor.Loop
	ks       *store.Keyspace
	ex       *command.Executor
	commands *command.Commands // what ex executes
	pool     ioworkers.Pool

	// The parts. Each has a file of its own, and most have methods.
	pass                  // the pass under way: pass_state.go
	clients    clients    // clients and their limits
	pausing    pausing    // CLIENT PAUSE: hold.go
	monitors   monitors   // cmd_monitor.go
	listeners  listeners  // listen.go
	handshakes handshakes // connections that are no clients yet
	inbox      inbox      // requests that come over no connection: internal_request.go
	stats      Stats
	figures    figures   // for INFO, beside stats
	recorder   recorder  // of the trace: trace.go
	debugging  debugging // what DEBUG has set: cmd_debug.go
	migrate    migrateSockets
	persist    persistence // persist_*.go
	replicas   replicas    // repl_master*.go
	follow     following   // repl_follow*.go
	failover   failover    // repl_failover.go
	stopping   stopping    // repl_shutdown.go
	oomScore   oomScore

	// What a plain server does not have.
	hooks hooks       // what a lab, the glass or --exec queue replaces
	lab   *labState   // nil unless the directive lab is on
	glass *glassState // nil unless the directive watch is set
	queue *execQueue  // nil for --exec inline

	bubble *reactor.Bubble // of testing/synctest that the server lives in, or nil

	trace *trace.Thread // main's row, nil while nothing is recorded

	masters int     // how many this process has, replicas included
	number  int     // the number of this one, from 1
	group   int     // the number of its master at the start: its own, or that of the one it follows
	port    int     // at the start
	peers   Masters // all of them, with this one
	names   names   // of connections to come

	timers reactor.Timers // by Clock.Timeline: timeouts of clients, the end of a pause

	cronTimer *reactor.Timer
	dozing    bool  // cron runs only once a second
	attack    int64 // monotonic ns, when the last attack was logged

	// Idle, if set, is called by cron, at least once a second while no request comes. used is the
	// number of bytes in use.
	Idle func(used int)

	// Loaded, if set, is called by Run's goroutine when the data are loaded. From then on commands are executed.
	Loaded func()

	// Reconfigured, if set, is called for every directive that CONFIG SET has changed.
	Reconfigured func(cfg *config.Config, name string)
}

// Stats are the server's counters for INFO.
type Stats struct {
	Connections, Rejected int64 // accepted ever; refused because of maxclients
	NetIn, NetOut         int64 // bytes read and written
	Reads, Writes         int64 // sockets read and written
	ThreadedReads         int64 // of them, in passes that I/O threads took part in
	ThreadedWrites        int64
	Passes                int64 // turns of the loop
	Busy, Executing, Cron int64 // ns spent in passes, on commands in them, and in cron
	LongestPass           int64 // ns
	MostCommands          int64 // in one pass
	OutputLimitClosed     int64
	QueryLimitClosed      int64
	EvictedClients        int64
}

// commands are what every server of this process can execute, unless it has a dialect of its own.
var commands = newCommands(dialect.Named(dialect.Default))

func newCommands(d dialect.Dialect, more ...command.Row) *command.Commands {
	return command.CommandsOf(d, clientRows(), serverRows(), persistRows(), replicaRows(), waitRows(), followRows(),
		aclRows(), labRows(), more)
}

// New makes a server that listens. It answers nothing before Run.
func New(cfg *config.Config, log Log) (*Server, error) {
	if err := writeLabTLS(cfg); err != nil {
		return nil, err
	}
	s, err := newServer(cfg, log, 1, 1)
	if err != nil {
		return nil, err
	}
	s.peers = Masters{s}
	return s, nil
}

// newServer is New for one of several masters of this process. The caller sets peers.
func newServer(cfg *config.Config, log Log, number, masters int) (*Server, error) {
	if cfg.Seed == 0 {
		cfg.Seed = newSeed()
	}
	if err := checkLab(cfg); err != nil {
		return nil, err
	}
	cfg.Dialect = dialect.OfMaster(cfg.Dialect, cfg.MasterOf(number))
	clock := clock.New()
	loop, err := reactor.New(cfg.Multiplexer, clock.Mono)
	if err != nil {
		return nil, err
	}
	s := &Server{
		cfg: cfg, log: log, loop: loop, number: number, masters: masters, commands: commands,
		ks: newKeyspace(cfg), group: cfg.MasterOf(number),
	}
	switch {
	case cfg.LabMaint:
		s.commands = newCommands(dialect.Named(cfg.Dialect), maintRows()...)
	case cfg.Dialect != dialect.Default:
		s.commands = newCommands(dialect.Named(cfg.Dialect))
	}
	s.makeParts(clock)
	if cfg.Bubble {
		s.enterBubble()
	}
	if cfg.Exec == "queue" {
		s.installQueue()
	}
	if cfg.Lab {
		clock.Lab = clock.NewLab()
		s.lab = s.newLab(clock)
	}
	if err := s.newGlass(clock); err != nil {
		loop.Close()
		return nil, err
	}
	loop.AfterSleep(s.afterSleep)
	loop.BeforeSleep(s.beforeSleep)
	if s.queue == nil {
		loop.AtEnd(s.endLoading)
	}
	if err := s.newExecutor(clock); err != nil {
		loop.Close()
		return nil, err
	}
	s.figures.started = s.ks.Now
	if err := s.persist.start(); err != nil {
		loop.Close()
		return nil, err
	}
	s.clients.setOutputTrigger()
	s.clients.setMemoryLimits()
	s.replicas.configured()
	s.figures.peakMem = s.figures.usedMemory()
	if !s.clients.fit() {
		s.persist.end()
		loop.Close()
		return nil, errors.New("too few open files allowed")
	}
	if cfg.Trace != "" {
		s.recorder.start()
	}
	s.cronTimer = loop.After(cronPeriod, s.cron)
	err = s.listeners.open()
	if err == nil {
		err = s.lab.refuseOpen()
	}
	if err == nil && !s.persist.loadsInRun() {
		err = s.follow.start()
	}
	if err != nil {
		s.listeners.close()
		s.persist.end()
		loop.Close()
		return nil, err
	}
	if number == 1 { // the process has one score
		if err := s.oomScore.apply(cfg); err != nil {
			s.log('#', "%v", err) // redis-server starts all the same
		}
	}
	s.port = s.Port()
	s.lab.keepConfig()
	s.lab.warnOfOpen()
	return s, nil
}

// makeParts makes the parts of a new server. Those with methods know the server.
func (s *Server) makeParts(clock *clock.Clock) {
	s.clients = clients{s: s, byID: map[int64]*client{}}
	s.listeners.s, s.pausing.s, s.monitors.s, s.recorder.s, s.debugging.s = s, s, s, s, s
	s.persist = newPersistence(s)
	s.replicas = newReplicas(s)
	s.follow.s, s.failover.s, s.stopping = s, s, stopping{s: s, asked: new(atomic.Bool)}
	s.handshakes = handshakes{s: s, turns: map[*handshake]bool{}}
	s.inbox.s, s.inbox.waiting, s.inbox.ended = s, map[int64]*internalRequest{}, make(chan struct{})
	s.figures = figures{s: s, start: clock.Mono(), runID: newRunID(), process: newProcess()}
}

func newKeyspace(cfg *config.Config) *store.Keyspace {
	return store.NewKeyspace(store.Options{Databases: cfg.Databases, Seed: cfg.Seed})
}

// newExecutor makes the executor of this server over its keyspace. That is the state of a Redis that has
// just started.
func (s *Server) newExecutor(clock *clock.Clock) error {
	s.ex = command.New(s.cfg, s.ks, clock, host{s}, s.commands)
	for _, r := range s.cfg.Renames {
		if err := s.ex.Table.Rename(r.From, r.To); err != nil {
			return &config.LineError{Line: r.Line, Text: r.Text, Why: err.Error()}
		}
	}
	s.lab.install()
	s.glass.install()
	return s.loadUsers()
}

// newRunID returns a new name for this run. Tools notice a restart by it.
func newRunID() string {
	var b [20]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// Addrs returns the addresses that the server listens on without TLS, with the port that the system
// chose. CONFIG SET can change them, so call it before Run. In a bubble it returns one address, where nobody listens.
func (s *Server) Addrs() []string {
	if s.bubble != nil {
		return []string{s.peerAddr()}
	}
	return s.listeners.addrs(false)
}

// TLSAddrs is Addrs for the tls-port.
func (s *Server) TLSAddrs() []string { return s.listeners.addrs(true) }

func (ls *listeners) addrs(withTLS bool) (addrs []string) {
	for _, l := range ls.all {
		if l.tls == withTLS {
			addrs = append(addrs, l.addr)
		}
	}
	return addrs
}

// Run serves until Stop. The calling goroutine becomes the one that executes
// every command.
func (s *Server) Run() error {
	if !s.persist.loadsInRun() {
		s.loaded()
	}
	s.pool.Start(s.cfg.IOThreads, s.cfg.IOThreadsDoReads)
	s.pool.Record(s.recorder.rows)
	s.queue.start()
	err := s.loop.Run()
	s.glass.open()
	s.queue.stop()
	s.pool.Stop()
	s.recorder.save()
	s.listeners.close()
	s.handshakes.end()
	s.replicas.flush()
	s.follow.end()
	for _, c := range s.clients.byID {
		s.free(c)
	}
	s.lab.closeLingering()
	s.migrate.closeFirst(len(s.migrate))
	s.glass.end()
	s.inbox.close()
	s.persist.end()
	s.loop.Close()
	if err != nil {
		return fmt.Errorf("event loop: %w", err)
	}
	return s.persist.fatal
}

// loaded tells who has asked that the data are loaded.
func (s *Server) loaded() {
	if tell := s.Loaded; tell != nil {
		s.Loaded = nil
		tell()
	}
}

// endLoading ends the coroutines that load.
func (s *Server) endLoading() {
	s.persist.endLoading()
	s.follow.abortSync()
}

// Dedicated tells the server that its process does nothing else. Call it before Run. With io-threads, the
// runtime must have a processor for each.
func (s *Server) Dedicated() {
	s.loop.Dedicated()
	s.pool.Dedicated = true
}

// EagerThreads wakes I/O threads even for a single client, which costs more than it saves. It is for
// tests. Call it before Run.
func (s *Server) EagerThreads() { s.pool.Eager() }

// Stop ends Run after this pass. Any goroutine may call it.
func (s *Server) Stop() {
	s.glass.open()
	s.loop.Post(s.loop.Stop)
}

// Terminate is Stop for SIGTERM, or for SIGINT. It saves the data if the configuration says so. The end may have
// to wait: see stopping. SHUTDOWN ABORT takes the signal back meanwhile. Any goroutine may call it.
func (s *Server) Terminate(interrupt bool) {
	s.glass.open()
	s.stopping.asked.Store(true)
	s.loop.Post(func() { s.stopping.signal(interrupt) })
}

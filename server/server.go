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
//	   write            all waiting replies                       (I/O threads may do that)
//	   close            clients that have ended                   client.go
//
// From executeAll to a command are three calls: Executor.Do, Executor.run, and the function in the
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
// The files named lab_*.go make failures happen, for tests. Those named watch_*.go show and stop the
// pass, point by point. No other file needs them to be understood.
// The files named cmd_*.go are commands that see clients or the server itself.
//
// Redis has the same phases (server.c: beforeSleep). Without I/O threads, Redis reads and executes a
// query at once, in the read handler (networking.c: readQueryFromClient). Here these are always two
// steps, so that one code serves with and without threads.
package server

import (
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/glass"
	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/ioworkers"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/resp"
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
	bubble   *reactor.Bubble // of testing/synctest that the server lives in, or nil
	ks       *store.Keyspace
	ex       *command.Executor
	commands *command.Commands // what ex executes
	pool     ioworkers.Pool
	lab      *labState // nil unless the directive lab is on

	watching *watchState // nil unless the directive watch is set

	masters int     // how many this process has
	number  int     // the number of this one, from 1
	peers   Masters // all of them, with this one
	inbox   inbox   // where internal requests arrive
	names   names   // of connections to come

	listeners  []*listener
	tls        *tls.Config             // for new connections; nil before the first tls-port
	handshakes map[*handshake]struct{} // connections that are no clients yet
	clients    map[int64]*client       // by ID
	order      []*client               // the same clients: Session.Index is a place in it
	checked    int                     // the place in order that checkClients has reached
	lastID     int64

	// What a pass calls. A lab and a watch replace it (lab_seam.go, watch_seam.go: install).
	do        func(by *command.Session, args [][]byte, w *resp.Writer) // Executor.Do
	goOn      func(c *client)                                          // execute, after a wait
	runTimers func()                                                   // runDueTimers
	accept    func(l *listener)                                        // acceptHandler

	doInternal func(by *command.Session, args [][]byte, w *resp.Writer) // Executor.Do, for an internal request

	// What a pass calls and --exec queue replaces (exec_queue.go: installQueue).
	execution    func()     // executePhase
	executeReads func()     // executePendingReads
	queue        *execQueue // nil for --exec inline

	// The pass under way. Its lists say which clients it serves, as in Redis
	// (server.h: clients_pending_read, clients_pending_write, clients_to_close).
	now           int64     // monotonic ns, when it began
	before        int64     // commands executed until then
	executing     int64     // monotonic ns, when it began to execute
	asleep        int64     // monotonic ns, when the last one ended
	pendingReads  []*client // readable: to be read, then executed
	nextRead      int       // place in pendingReads of the next client to execute
	posted        []func()  // from other goroutines, to be called where commands are executed
	resumed       []*client // their wait is over: to be executed
	nextResumed   int       // place in resumed of the next client to execute
	deferred      []func()  // to be called once all commands are executed
	pendingWrites []*client // have output: to be written
	closing       []*client // to be freed when the pass is over and no list has them
	answers       []func()  // to be called at its end
	conns         []*ioworkers.Conn
	backoff       backoff // when gather tries again to wait for more clients

	running *client // being executed (server.h: current_client), nil for none

	timers reactor.Timers // by Clock.Timeline: timeouts of clients, the end of a pause

	held       int       // clients that wait
	postponed  []*client // those of them whose command CLIENT PAUSE holds back
	pauseTimer *reactor.Timer
	pauseEnd   int64 // ns, by Clock.Timeline

	monitors []*client
	line     []byte // buffer for the monitors' line
	report   []byte // buffer for INFO and CLIENT LIST

	buckets buckets // the clients by their memory, while maxmemory-clients is set

	softClients  int   // clients whose output is above the soft limit
	clientMem    int   // bytes that clients held when each was weighed
	clientLimit  int   // maxmemory-clients in bytes, 0 for none
	limitsMemory bool  // maxmemory or maxmemory-clients is set
	evicting     bool  // keys are to be evicted at the end of the pass
	cronPaused   bool  // DEBUG PAUSE-CRON 1
	terminating  bool  // a signal wants the server to end once cron is no longer paused
	attack       int64 // monotonic ns, when the last attack was logged
	noExpire     bool  // DEBUG SET-ACTIVE-EXPIRE 0

	migrate migrateSockets // to other servers, for MIGRATE

	image *command.Image // what DEBUG RELOAD saved last, nil for nothing

	recording *glass.Watch  // nil before the first trace and without a watch
	trace     *glass.Thread // main's row, nil while nothing is recorded

	// Idle, if set, is called by cron, at least once a second while no request comes. used is the
	// number of bytes in use.
	Idle func(used int)

	// Reconfigured, if set, is called for every directive that CONFIG SET has changed.
	Reconfigured func(cfg *config.Config, name string)

	oomScore oomScore

	stats     Stats
	rates     rates
	cronTimer *reactor.Timer
	dozing    bool  // cron runs only once a second
	start     int64 // monotonic ns
	started   int64 // unix ms
	runID     string
	peakMem   int // bytes
	process   process
	resident  resident
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

// commands are what every server of this process can execute.
var commands = command.NewCommands(clientRows(), serverRows(), aclRows(), labRows())

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
	clock := command.NewClock()
	loop, err := reactor.New(cfg.Multiplexer, clock.Mono)
	if err != nil {
		return nil, err
	}
	s := &Server{
		cfg: cfg, log: log, loop: loop, number: number, masters: masters, commands: commands,
		ks:      newKeyspace(cfg),
		clients: map[int64]*client{}, handshakes: map[*handshake]struct{}{},
		start:   clock.Mono(),
		runID:   newRunID(),
		process: newProcess(),
		inbox:   inbox{waiting: map[int64]*internalRequest{}, ended: make(chan struct{})},
	}
	s.enterBubble()
	s.execution, s.executeReads = s.executePhase, s.executePendingReads
	if cfg.Exec == "queue" {
		s.installQueue()
	}
	if cfg.Lab {
		clock.Lab = clock.NewLab()
		s.lab = s.newLab(clock)
	}
	if err := s.newWatch(clock); err != nil {
		loop.Close()
		return nil, err
	}
	loop.AfterSleep(s.afterSleep)
	loop.BeforeSleep(s.beforeSleep)
	if err := s.newExecutor(clock); err != nil {
		loop.Close()
		return nil, err
	}
	s.setOutputTrigger()
	s.setMemoryLimits()
	s.peakMem = s.usedMemory()
	s.started = s.ks.Now
	if !s.fitMaxClients() {
		loop.Close()
		return nil, errors.New("too few open files allowed")
	}
	if cfg.Trace != "" {
		s.startTrace()
	}
	s.cronTimer = loop.After(cronPeriod, s.cron)
	err = s.listen()
	if err == nil {
		err = s.lab.refuseOpen()
	}
	if err != nil {
		s.closeListeners()
		loop.Close()
		return nil, err
	}
	if number == 1 { // the process has one score
		if err := s.oomScore.apply(cfg); err != nil {
			s.log('#', "%v", err) // redis-server starts all the same
		}
	}
	if s.lab != nil {
		s.lab.config = cfg.Clone()
	}
	s.lab.warnOfOpen()
	return s, nil
}

func newKeyspace(cfg *config.Config) *store.Keyspace {
	return store.NewKeyspace(store.Options{Databases: cfg.Databases, Seed: cfg.Seed})
}

// newExecutor makes the executor of this server over its keyspace. That is the state of a Redis that has
// just started.
func (s *Server) newExecutor(clock *command.Clock) error {
	s.ex = command.New(s.cfg, s.ks, clock, host{s}, s.commands)
	for _, r := range s.cfg.Renames {
		if err := s.ex.Table.Rename(r.From, r.To); err != nil {
			return &config.LineError{Line: r.Line, Text: r.Text, Why: err.Error()}
		}
	}
	s.do, s.goOn, s.runTimers, s.accept = s.ex.Do, s.execute, s.runDueTimers, s.acceptHandler
	s.doInternal = s.ex.Do
	if s.lab != nil {
		s.lab.install()
	}
	s.watching.install()
	return s.loadUsers()
}

// newRunID returns a new name for this run. Tools notice a restart by it.
func newRunID() string {
	var b [20]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// Addrs returns the addresses that the server listens on without TLS, with the port that the system
// chose. CONFIG SET can change them, so call it before Run.
func (s *Server) Addrs() []string { return s.addrs(false) }

// TLSAddrs is Addrs for the tls-port.
func (s *Server) TLSAddrs() []string { return s.addrs(true) }

func (s *Server) addrs(withTLS bool) (addrs []string) {
	for _, l := range s.listeners {
		if l.tls == withTLS {
			addrs = append(addrs, l.addr)
		}
	}
	return addrs
}

// Run serves until Stop. The calling goroutine becomes the one that executes
// every command.
func (s *Server) Run() error {
	if err := s.refuseBubble(); err != nil {
		return err
	}
	s.pool.Start(s.cfg.IOThreads, s.cfg.IOThreadsDoReads)
	s.pool.Record(s.recording)
	s.queue.start()
	err := s.loop.Run()
	s.watching.open()
	s.queue.stop()
	s.pool.Stop()
	s.saveTrace()
	s.closeListeners()
	s.dropHandshakes()
	for _, c := range s.clients {
		s.free(c)
	}
	if s.lab != nil {
		s.lab.closeLingering()
	}
	s.migrate.closeFirst(len(s.migrate))
	s.watching.end()
	s.closeInbox()
	s.loop.Close()
	if err != nil {
		return fmt.Errorf("event loop: %w", err)
	}
	return nil
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
	s.watching.open()
	s.loop.Post(s.loop.Stop)
}

// Terminate is Stop for a signal. In Redis cron obeys signals: while DEBUG PAUSE-CRON pauses it, SHUTDOWN
// ABORT can take the signal back. Any goroutine may call it.
func (s *Server) Terminate() {
	s.watching.open()
	s.loop.Post(func() {
		if s.terminating = s.cronPaused; !s.terminating {
			s.loop.Stop()
		}
	})
}

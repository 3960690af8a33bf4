// Package server is the wiring: it gives the event loop its handlers and is the
// only place that sees both halves of a client, the connection and the session.
//
// One goroutine, the one that calls Run, does everything but, with io-threads, a
// part of the reading and writing. Its pass:
//
//	epoll_wait ──> acceptHandler  new clients                     accept.go
//	           ├─> readHandler    who has sent something          pass.go
//	           └─> replyHandler   who can take more output        write.go
//	beforeSleep:                                                  pass.go
//	   gather           more to read, if threads would read it    gather.go
//	   read and parse   every socket that is readable             (may fan out to threads)
//	   execute          every complete command, in order          (never does)
//	   expire           keys whose time has come
//	   execute          what those had sent whose wait is over    hold.go
//	   write            every reply that is waiting               (may fan out to threads)
//	   close            clients that are done for                 client.go
//
// From executeAll to a command are three calls: Executor.Do, Executor.run, and the
// function in the command's row.
//
// A script that runs on makes a smaller pass like this in the middle of the execute
// phase, for those who wait for it (busy.go).
//
// Several servers live in one process as Masters; each has such a goroutine. Who has no
// connection, another master or the program around, is a visitor (visit.go).
//
// In Redis the phases are the same (server.c: beforeSleep), but without I/O
// threads a query is read and executed in the read handler at once
// (networking.c: readQueryFromClient). Here it is always two steps, so that the
// threaded and the plain server are one and the same code.
package server

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/ioworkers"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

// Log writes one line of the server's log. Level is the character Redis prints
// for it: '.' debug, '-' verbose, '*' notice, '#' warning.
type Log func(level byte, format string, args ...any)

// Server is one master: a loop, a keyspace and its clients. Several can live in one
// process; they share nothing but, in a lab, what their doctors have seen of locks.
type Server struct {
	cfg  *config.Config
	log  Log
	loop *reactor.Loop
	ks   *store.Keyspace
	ex   *command.Executor
	pool ioworkers.Pool
	lab  *labState // nil unless the directive lab is on

	masters int     // of this process
	number  int     // of this one among them, from 1
	peers   Masters // all of them, this one too
	door    door    // where requests come in that have no connection

	listeners []*listener
	clients   map[int64]*client // by ID
	order     []*client         // the same in a row: Session.Index is a place in it
	checked   int               // where in order the looking after clients has come
	lastID    int64

	// What a pass calls and a lab replaces by functions of its own (lab_seam.go: install).
	do        func(by *command.Session, args [][]byte, w *resp.Writer) // Executor.Do
	goOn      func(c *client)                                          // execute, after a wait
	runTimers func()                                                   // runDueTimers
	accept    func(l *listener)                                        // acceptHandler

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
	lull          lull // between the clients: when gather is to wait for more of them again

	running *client // being executed (server.h: current_client), nil for none

	timers reactor.Timers // by Clock.Timeline: timeouts of clients, the end of a pause

	held       int       // clients that wait
	postponed  []*client // of them, those with a command that CLIENT PAUSE holds back
	pauseTimer *reactor.Timer
	pauseEnd   int64 // ns, by Clock.Timeline

	monitors []*client
	line     []byte // the monitors' line, made anew for every command

	buckets buckets // the clients by their memory, while there is maxmemory-clients

	softClients  int   // clients whose output is above the soft limit
	clientMem    int   // bytes that clients held when each was weighed
	clientLimit  int   // maxmemory-clients in bytes, 0 for none
	limitsMemory bool  // there is maxmemory or maxmemory-clients
	evicting     bool  // keys are to be evicted at the end of the pass
	cronPaused   bool  // DEBUG PAUSE-CRON 1
	terminating  bool  // a signal has asked the server to end when cron is no longer paused
	attack       int64 // monotonic ns, when the last attack was logged
	noExpire     bool  // DEBUG SET-ACTIVE-EXPIRE 0

	migrate migrateSockets // to the servers that MIGRATE has moved keys to

	image *command.Image // what DEBUG RELOAD has saved last, nil for nothing

	recording *trace.Trace  // nil before the first
	trace     *trace.Thread // main's row, nil while nothing is recorded

	// Reconfigured, when set, is called for every directive CONFIG SET has changed.
	Reconfigured func(cfg *config.Config, name string)

	oomScore oomScore

	stats     Stats
	rates     rates
	cronTimer *reactor.Timer
	dozing    bool  // cron comes once a second only
	start     int64 // monotonic ns
	started   int64 // unix ms
	runID     string
	peakMem   int // bytes
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

// New makes a server and has it listen, but answer nothing before Run.
func New(cfg *config.Config, log Log) (*Server, error) {
	s, err := newServer(cfg, log, 1, 1)
	if err != nil {
		return nil, err
	}
	s.peers = Masters{s}
	return s, nil
}

// newServer is New for one of so many masters of this process, and the caller has to tell
// it who the others are.
func newServer(cfg *config.Config, log Log, number, masters int) (*Server, error) {
	if err := refuseBubble(); err != nil {
		return nil, err
	}
	if cfg.Seed == 0 {
		cfg.Seed = newSeed()
	}
	clock := command.NewClock()
	loop, err := reactor.New(clock.Mono)
	if err != nil {
		return nil, err
	}
	s := &Server{
		cfg: cfg, log: log, loop: loop, number: number, masters: masters,
		ks:      newKeyspace(cfg),
		clients: map[int64]*client{},
		start:   clock.Mono(),
		runID:   newRunID(),
		door:    door{inside: map[int64]*visit{}, ended: make(chan struct{})},
	}
	if cfg.Lab {
		clock.Lab = clock.NewLab()
		s.lab = s.newLab(clock)
	}
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
	loop.AfterSleep(s.afterSleep)
	loop.BeforeSleep(s.beforeSleep)
	s.cronTimer = loop.After(cronPeriod, s.cron)
	err = s.listen()
	if err == nil {
		err = s.refuseOpenLab()
	}
	if err != nil {
		s.closeListeners()
		loop.Close()
		return nil, err
	}
	if number == 1 { // of the process, which has one score
		if err := s.oomScore.apply(cfg); err != nil {
			s.log('#', "%v", err) // redis-server starts all the same
		}
	}
	if s.lab != nil {
		s.lab.config = cfg.Clone()
	}
	s.warnOfOpenLab()
	return s, nil
}

func newKeyspace(cfg *config.Config) *store.Keyspace {
	return store.NewKeyspace(store.Options{Databases: cfg.Databases, Seed: cfg.Seed})
}

// newExecutor makes the executor of this server, over its keyspace: that is the state of a
// Redis that has just started.
func (s *Server) newExecutor(clock *command.Clock) error {
	s.ex = command.New(s.cfg, s.ks, clock, host{s}, s.clientRows(), s.serverRows(), s.aclRows(), s.lab.rows())
	for _, r := range s.cfg.Renames {
		if err := s.ex.Table.Rename(r.From, r.To); err != nil {
			return &config.LineError{Line: r.Line, Text: r.Text, Why: err.Error()}
		}
	}
	s.do, s.goOn, s.runTimers, s.accept = s.ex.Do, s.execute, s.runDueTimers, s.acceptHandler
	if s.lab != nil {
		s.lab.install()
	}
	return s.loadUsers()
}

// newRunID is a name for this run, by which tools notice a restart.
func newRunID() string {
	var b [20]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// Addrs are the addresses the server listens on, the port chosen by the system
// filled in. CONFIG SET can change them: ask before Run.
func (s *Server) Addrs() []string {
	var addrs []string
	for _, l := range s.listeners {
		addrs = append(addrs, l.addr)
	}
	return addrs
}

// Run serves until Stop. The calling goroutine becomes the one that executes
// every command.
func (s *Server) Run() error {
	if err := refuseBubble(); err != nil {
		return err
	}
	s.pool.Start(s.cfg.IOThreads, s.cfg.IOThreadsDoReads)
	s.pool.Record(s.recording)
	err := s.loop.Run()
	s.pool.Stop()
	s.saveTrace()
	s.closeListeners()
	for _, c := range s.clients {
		s.free(c)
	}
	if s.lab != nil {
		s.lab.closeLingering()
	}
	s.migrate.closeFirst(len(s.migrate))
	s.closeDoor()
	s.loop.Close()
	if err != nil {
		return fmt.Errorf("event loop: %w", err)
	}
	return nil
}

// Dedicated tells the server that its process does nothing else; it is called
// before Run, if at all. With io-threads the runtime must have a processor for each.
func (s *Server) Dedicated() {
	s.loop.Dedicated()
	s.pool.Dedicated = true
}

// EagerThreads has I/O threads, if there are any, woken for a single client, which
// does not pay. It is for tests and called before Run.
func (s *Server) EagerThreads() { s.pool.Eager() }

// Stop ends Run after the pass under way. Any goroutine may call it.
func (s *Server) Stop() { s.loop.Post(s.loop.Stop) }

// Terminate is Stop for a signal. In Redis it is cron that obeys signals: while DEBUG has it
// pause, SHUTDOWN ABORT can take the signal back. Any goroutine may call it.
func (s *Server) Terminate() {
	s.loop.Post(func() {
		if s.terminating = s.cronPaused; !s.terminating {
			s.loop.Stop()
		}
	})
}

// cronPeriod is hz 10. A server that nobody talks to and that has no limits to
// watch looks up once a second only: what wakes an idle process costs more than
// what it then does.
const (
	cronPeriod     = 100 * time.Millisecond
	cronPeriodIdle = time.Second
)

// cron does what is not bound to a request (server.c: serverCron).
func (s *Server) cron() time.Duration {
	if s.cronPaused {
		return cronPeriod
	}
	begin := s.ex.Clock.Mono()
	s.dozing = s.rates.busy == s.stats.Reads+s.stats.Writes && !s.limited()
	if !s.dozing {
		s.checkClients()
	}
	s.ex.Tracking.Limit()
	s.pool.Trim()
	s.migrate.closeUnused(s.ex.Clock.Timeline(s.now) - int64(migrateSocketTTL))
	s.sample()
	s.stats.Cron += s.ex.Clock.Mono() - begin
	if s.dozing {
		return cronPeriodIdle
	}
	return cronPeriod
}

// rouse has cron come at its usual pace again.
func (s *Server) rouse() {
	s.dozing = false
	s.loop.Cancel(s.cronTimer)
	s.cronTimer = s.loop.After(cronPeriod, s.cron)
}

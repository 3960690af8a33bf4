// Package server connects the parts: it gives the event loop its handlers, and it is the only package
// that sees both halves of a client, the connection and the session.
//
// The goroutine that calls Run does everything. With io-threads, other threads do a part of the reading
// and writing. Its pass:
//
//	epoll_wait ──> AcceptHandler  new connections                 accept.go (with TLS: tls.go)
//	           ├─> readHandler    readable clients                pass.go
//	           └─> replyHandler   full sockets with room again    write.go
//	BeforeSleep:                                                  pass.go
//	   gather           wait a moment for more clients            gather.go
//	   read and parse   all readable sockets                      (I/O threads may do that)
//	   run timers       timeouts of blocked clients, pauses       hold.go
//	   execute          all complete commands, in order           (never in a thread)
//	   expire           keys that are due
//	   execute          clients whose wait is over                hold.go
//	   beforeReplies    the append only file, replicas            parts.go
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
// Several servers can live in one process (package node). Each has its own goroutine. Other servers and the
// program around send internal requests, which come over no connection (internal_request.go).
//
// Everything else attaches itself to the pass, at one of two places: parts.go adds a step to it, hooks.go replaces one.
// It stands in the folders here, and nothing in this package names it:
//
//	admin     commands that look after a server: CLIENT, CONFIG, INFO, DEBUG
//	persist   the data in files
//	repl      replicas, and the link to a master
//	lab       failures, for tests
//	glass     the pass, shown and stopped point by point
//
// The pass can be read without them. Their names in capital letters are for them, and for package node: no program
// outside of this module can use what stands here without node.
//
// Redis has the same phases (server.c: beforeSleep). Without I/O threads, Redis reads and executes a
// query at once, in the read handler (networking.c: readQueryFromClient). Here these are always two
// steps, so that one code serves with and without threads.
package server

import (
	"errors"
	"fmt"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/clock"
	"github.com/miniredisd/miniredisd/internal/config"
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
	Cfg      *config.Config
	Log      Log
	Clock    *clock.Clock
	Loop     *reactor.Loop
	KS       *store.Keyspace
	Ex       *command.Executor
	commands *command.Commands // what ex executes
	Pool     ioworkers.Pool

	// The parts. Each has a file of its own, and most have methods.
	pass                  // the pass under way: pass_state.go
	Clients    clients    // clients and their limits
	Pausing    pausing    // CLIENT PAUSE: hold.go
	Listeners  listeners  // listen.go
	Handshakes handshakes // connections that are no clients yet
	Inbox      inbox      // requests that come over no connection: internal_request.go
	Stats      Stats
	Figures    figures   // for INFO, beside stats
	Recorder   recorder  // of the trace: trace.go
	Debugging  Debugging // what DEBUG has set: cron.go
	OOMScore   oomScore

	// What a plain server does not have.
	Parts parts      // what they do in a pass: parts.go
	Hooks hooks      // what they replace: hooks.go
	Queue *execQueue // nil for --exec inline

	Bubble *reactor.Bubble // of testing/synctest that the server lives in, or nil

	Trace *trace.Thread // main's row, nil while nothing is recorded

	NodeCount int   // how many servers this process has
	Number    int   // the number of this one, from 1
	Group     int   // the number of its master at the start: its own, or that of the one it follows
	PeerPort  int   // at the start
	names     names // of connections to come

	LoadsInRun bool  // somebody loads data once Run has begun, and then calls loaded
	Fatal      error // why Run ends: what was executed cannot be kept

	Timers reactor.Timers // by Clock.Timeline: timeouts of clients, the end of a pause

	cronTimer *reactor.Timer
	dozing    bool  // cron runs only once a second
	Attack    int64 // monotonic ns, when the last attack was logged

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
	ReplicaOut            int64 // of them, written to replicas
	Reads, Writes         int64 // sockets read and written
	ThreadedReads         int64 // of them, in passes that I/O threads took part in
	ThreadedWrites        int64
	Passes                int64 // turns of the loop
	Busy, Executing, Cron int64 // ns spent in passes, on commands in them, and in cron
	LongestPass           int64 // ns
	MostCommands          int64 // in one pass
	Forks                 int64 // saves and rewrites in the background, for which Redis forks
	FullSyncs             int64 // of replicas
	PartialSyncs          int64
	RefusedSyncs          int64 // partial ones that became full ones
	OutputLimitClosed     int64
	QueryLimitClosed      int64
	EvictedClients        int64
}

// New makes a plain server: its loop, its keyspace, and the parts that it always has.
func New(cfg *config.Config, log Log, number, nodes int, commands *command.Commands) (*Server, error) {
	clock := clock.New()
	loop, err := reactor.New(cfg.Multiplexer, clock.Mono)
	if err != nil {
		return nil, err
	}
	s := &Server{
		Cfg: cfg, Log: log, Clock: clock, Loop: loop, Number: number, NodeCount: nodes, commands: commands,
		KS: NewKeyspace(cfg), Group: cfg.MasterOf(number), LoadsInRun: cfg.SystemFiles && !cfg.LabDisk,
	}
	s.Clients = clients{s: s, ByID: map[int64]*Client{}}
	s.Listeners.s, s.Pausing.s, s.Recorder.s = s, s, s
	s.Handshakes = handshakes{s: s, turns: map[*handshake]bool{}}
	s.Inbox.s, s.Inbox.waiting, s.Inbox.ended = s, map[int64]*InternalRequest{}, make(chan struct{})
	s.Figures = figures{s: s, Start: clock.Mono(), RunID: NewRunID(), Process: newProcess()}
	s.Hooks = plainHooks(s)
	loop.AfterSleep(s.AfterSleep)
	loop.BeforeSleep(s.BeforeSleep)
	if cfg.Bubble {
		s.enterBubble()
	}
	if cfg.Exec == "queue" {
		s.installQueue()
	} else {
		loop.AtEnd(func() { each(s.Parts.last) })
	}
	return s, nil
}

// Open makes the server listen, once it has its executor.
func (s *Server) Open() error {
	s.Clients.SetOutputTrigger()
	s.Clients.SetMemoryLimits()
	s.Figures.PeakMem = s.Figures.UsedMemory()
	if !s.Clients.Fit() {
		return errors.New("too few open files allowed")
	}
	if s.Cfg.Trace != "" {
		s.Recorder.start()
	}
	s.cronTimer = s.Loop.After(cronPeriod, s.cron)
	if err := s.Listeners.Open(); err != nil {
		return err
	}
	s.PeerPort = s.Port()
	return nil
}

// Terminate is Stop for SIGTERM, or for SIGINT. It saves the data if the configuration says so, and the end may have
// to wait for that. SHUTDOWN ABORT takes the signal back meanwhile. Any goroutine may call it.
func (s *Server) Terminate(interrupt bool) {
	each(s.Parts.hurry)
	for _, fn := range s.Parts.terminate {
		fn(interrupt)
	}
}

// Addrs returns the addresses that the server listens on without TLS, with the port that the system
// chose. CONFIG SET can change them, so call it before Run. In a bubble it returns one address, where nobody listens.
func (s *Server) Addrs() []string {
	if s.Bubble != nil {
		return []string{s.PeerAddr()}
	}
	return s.Listeners.addrs(false)
}

// TLSAddrs is Addrs for the tls-port.
func (s *Server) TLSAddrs() []string { return s.Listeners.addrs(true) }

func (ls *listeners) addrs(withTLS bool) (addrs []string) {
	for _, l := range ls.All {
		if l.TLS == withTLS {
			addrs = append(addrs, l.Addr)
		}
	}
	return addrs
}

// Run serves until Stop. The calling goroutine becomes the one that executes
// every command.
func (s *Server) Run() error {
	if !s.LoadsInRun {
		s.NotifyLoaded()
	}
	s.Pool.Start(s.Cfg.IOThreads, s.Cfg.IOThreadsDoReads)
	s.Pool.Record(s.Recorder.Rows)
	s.Queue.start()
	err := s.Loop.Run()
	each(s.Parts.hurry)
	s.Queue.stop()
	s.Pool.Stop()
	s.Recorder.save()
	s.Listeners.Close()
	s.Handshakes.end()
	each(s.Parts.stop)
	for _, c := range s.Clients.ByID {
		s.free(c)
	}
	each(s.Parts.end)
	s.Inbox.close()
	s.Loop.Close()
	if err != nil {
		return fmt.Errorf("event loop: %w", err)
	}
	return s.Fatal
}

// NotifyLoaded tells who has asked that the data are loaded.
func (s *Server) NotifyLoaded() {
	if tell := s.Loaded; tell != nil {
		s.Loaded = nil
		tell()
	}
}

// Dedicated tells the server that its process does nothing else. Call it before Run. With io-threads, the
// runtime must have a processor for each.
func (s *Server) Dedicated() {
	s.Loop.Dedicated()
	s.Pool.Dedicated = true
}

// EagerThreads wakes I/O threads even for a single client, which costs more than it saves. It is for
// tests. Call it before Run.
func (s *Server) EagerThreads() { s.Pool.Eager() }

// Stop ends Run after this pass. Any goroutine may call it.
func (s *Server) Stop() {
	each(s.Parts.hurry)
	s.Loop.Post(s.Loop.Stop)
}

package server

import (
	"errors"
	"sync/atomic"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/clock"
	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/dialect"
	"github.com/miniredisd/miniredisd/reactor"
)

// commands are what every server of this process can execute, unless it has a dialect of its own.
var commands = newCommands(dialect.Named(dialect.Default))

func newCommands(d dialect.Dialect, more ...command.Row) *command.Commands {
	return command.CommandsOf(d, clientRows(), serverRows(), persistRows(), replicaRows(), waitRows(), followRows(),
		aclRows(), labRows(), stepRows(), more)
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
	s.peers = Nodes{s}
	return s, nil
}

// newServer is New for one of several nodes of this process. The caller sets peers.
func newServer(cfg *config.Config, log Log, number, nodes int) (*Server, error) {
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
		cfg: cfg, log: log, loop: loop, number: number, nodeCount: nodes, commands: commands,
		ks: newKeyspace(cfg), group: cfg.MasterOf(number), loadsInRun: cfg.SystemFiles && !cfg.LabDisk,
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
		s.lab = newLab(s, clock)
	}
	if err := newGlass(s, clock); err != nil {
		loop.Close()
		return nil, err
	}
	s.attachFeatures()
	loop.AfterSleep(s.afterSleep)
	loop.BeforeSleep(s.beforeSleep)
	if s.queue == nil {
		loop.AtEnd(func() { each(s.parts.last) })
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
	if err == nil && s.lab != nil {
		err = s.lab.refuseOpen()
	}
	if err == nil && !s.loadsInRun {
		err = s.parts.start()
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
	if s.lab != nil {
		s.lab.keepConfig()
		s.lab.warnOfOpen()
	}
	return s, nil
}

// attachFeatures gives the features their places in the pass. Their order counts: a change must be on the disk before
// replicas hear of it.
func (s *Server) attachFeatures() {
	s.parts.attach(s.admin.part())
	s.parts.attach(s.persist.part())
	s.parts.attach(s.stopping.part())
	attachReplication(s)
	if s.lab != nil {
		s.parts.attach(s.lab.part())
	}
	if s.glass != nil {
		s.parts.attach(s.glass.part())
	}
	s.hooks.rest = s.persist.restInScript
	s.hooks.feedMonitors, s.hooks.transfer = s.admin.monitors.feed, s.admin.transfer
}

// makeParts makes the parts of a new server. Those with methods know the server.
func (s *Server) makeParts(clock *clock.Clock) {
	s.hooks = plainHooks(s)
	s.clients = clients{s: s, byID: map[int64]*client{}}
	s.listeners.s, s.pausing.s, s.recorder.s = s, s, s
	s.admin.s, s.admin.monitors.s = s, s
	s.persist = newPersistence(s)
	s.replicas = newReplicas(s)
	s.link = plainLink()
	s.follow.s, s.failover.s, s.stopping = s, s, stopping{s: s, asked: new(atomic.Bool)}
	s.handshakes = handshakes{s: s, turns: map[*handshake]bool{}}
	s.inbox.s, s.inbox.waiting, s.inbox.ended = s, map[int64]*internalRequest{}, make(chan struct{})
	s.figures = figures{s: s, start: clock.Mono(), runID: newRunID(), process: newProcess()}
}

// Terminate is Stop for SIGTERM, or for SIGINT. It saves the data if the configuration says so. The end may have
// to wait: see stopping. SHUTDOWN ABORT takes the signal back meanwhile. Any goroutine may call it.
func (s *Server) Terminate(interrupt bool) {
	each(s.parts.hurry)
	s.stopping.asked.Store(true)
	s.loop.Post(func() { s.stopping.signal(interrupt) })
}

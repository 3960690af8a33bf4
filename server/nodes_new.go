package server

import (
	"errors"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/dialect"
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
	n, err := newNode(cfg, log, 1, 1)
	if err != nil {
		return nil, err
	}
	return n.Server, nil
}

// node is a server with all that stands beside its pass. Each part attaches itself by parts.go and hooks.go.
type node struct {
	*Server
	admin   *admin       // cmd_*.go
	persist *persistence // persist_*.go
	repl    *replState   // repl_*.go
	lab     *labState    // lab_*.go; nil unless the directive lab is on
	glass   *glassState  // glass_*.go; nil unless the directive watch is set
}

// newNode is New for one of several nodes of this process. The caller lets them know each other.
func newNode(cfg *config.Config, log Log, number, nodes int) (*node, error) {
	if cfg.Seed == 0 {
		cfg.Seed = newSeed()
	}
	if err := checkLab(cfg); err != nil {
		return nil, err
	}
	if cfg.Watch != "" && !cfg.Lab {
		return nil, errors.New("watch needs --lab yes")
	}
	cfg.Dialect = dialect.OfMaster(cfg.Dialect, cfg.MasterOf(number))
	s, err := newServer(cfg, log, number, nodes, commandsOf(cfg))
	if err != nil {
		return nil, err
	}
	n := assemble(s)
	if err := n.start(); err != nil {
		n.discard()
		return nil, err
	}
	return n, nil
}

// commandsOf returns what a server can execute.
func commandsOf(cfg *config.Config) *command.Commands {
	switch {
	case cfg.LabMaint:
		return newCommands(dialect.Named(cfg.Dialect), maintRows()...)
	case cfg.Dialect != dialect.Default:
		return newCommands(dialect.Named(cfg.Dialect))
	}
	return commands
}

// assemble gives the parts their places in the pass. Their order counts: a change must be on the disk before replicas
// hear of it.
func assemble(s *Server) *node {
	n := &node{Server: s, admin: newAdmin(s), persist: newPersistence(s)}
	n.repl = newRepl(s, n.persist)
	if s.cfg.Lab {
		n.lab = newLab(n.repl, n.admin, s.clock)
	}
	if s.cfg.Watch != "" {
		n.glass = newGlass(n.lab, s.clock)
	}
	s.parts.attach(n.admin.part())
	s.parts.attach(n.persist.part())
	s.parts.attach(n.persist.stopping.part())
	n.repl.attach()
	if n.lab != nil {
		s.parts.attach(n.lab.part())
	}
	if n.glass != nil {
		s.parts.attach(n.glass.part())
	}
	s.hooks.rest = n.persist.restInScript
	s.hooks.feedMonitors, s.hooks.transfer = n.admin.monitors.feed, n.admin.transfer
	return n
}

// start makes the node ready for Run: it listens, and its files are open.
func (n *node) start() error {
	if err := n.newExecutor(n.clock); err != nil {
		return err
	}
	n.figures.started = n.ks.Now
	if err := n.persist.start(); err != nil {
		return err
	}
	n.repl.replicas.configured()
	if err := n.open(); err != nil {
		return err
	}
	if n.lab != nil {
		if err := n.lab.refuseOpen(); err != nil {
			return err
		}
	}
	if !n.loadsInRun {
		if err := n.parts.start(); err != nil {
			return err
		}
	}
	if n.number == 1 { // the process has one score
		if err := n.oomScore.apply(n.cfg); err != nil {
			n.log('#', "%v", err) // redis-server starts all the same
		}
	}
	if n.lab != nil {
		n.lab.keepConfig()
		n.lab.warnOfOpen()
	}
	return nil
}

// discard closes a node that was never run.
func (n *node) discard() {
	n.listeners.close()
	n.persist.end()
	n.loop.Close()
}

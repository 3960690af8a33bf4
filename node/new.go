// Package node assembles servers: the plain server, and beside it files, replication, a lab and its page. A process
// has one or several of them.
//
//	node ──> server/glass ─> server/lab ─> server/cluster ─> server/repl ─> server/persist ─> server
//	  ├────> server/sentinel ────┘                                                               │
//	  └─────────────────────────────────────────────────────> server/admin ──────────────────────┘
//
// Each package knows only those to its right. lab also uses admin. Programs start with New or NewNodes, and call Run.
// nodes.go says which goroutines there are.
//
// In Redis, server.c: main and initServer do this.
package node

import (
	"errors"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/dialect"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/server/admin"
	"github.com/miniredisd/miniredisd/server/cluster"
	"github.com/miniredisd/miniredisd/server/glass"
	"github.com/miniredisd/miniredisd/server/lab"
	"github.com/miniredisd/miniredisd/server/persist"
	"github.com/miniredisd/miniredisd/server/repl"
	"github.com/miniredisd/miniredisd/server/sentinel"
)

// commands are what every server of this process can execute, unless it has a dialect of its own.
var commands = newCommands(dialect.Named(dialect.Default))

func newCommands(d dialect.Dialect, more ...command.Row) *command.Commands {
	return command.CommandsOf(d, admin.Rows(), persist.Rows(), repl.Rows(), cluster.Rows(), lab.Rows(), glass.Rows(),
		sentinel.Rows(), more)
}

// New makes a server that listens. It answers nothing before Run.
func New(cfg *config.Config, log server.Log) (*server.Server, error) {
	if err := lab.WriteTLS(cfg); err != nil {
		return nil, err
	}
	n, err := newNode(cfg, log, 1, 1)
	if err != nil {
		return nil, err
	}
	if n.cluster != nil {
		cluster.Introduce([]*cluster.State{n.cluster})
	}
	return n.Server, nil
}

// node is a server with all that stands beside its pass. Each part attaches itself: server/parts.go, server/hooks.go.
type node struct {
	*server.Server
	admin   *admin.State
	persist *persist.Files
	repl    *repl.Role
	cluster *cluster.State  // nil unless the directive cluster-enabled is on
	lab     *lab.State      // nil unless the directive lab is on
	glass   *glass.State    // nil unless the directive watch is set
	sentry  *sentinel.State // nil unless it is a Sentinel
}

// newNode is New for one of several nodes of this process. The caller lets them know each other.
func newNode(cfg *config.Config, log server.Log, number, nodes int) (*node, error) {
	if cfg.Seed == 0 {
		cfg.Seed = newSeed()
	}
	if err := lab.Check(cfg); err != nil {
		return nil, err
	}
	if cfg.Watch != "" && !cfg.Lab {
		return nil, errors.New("watch needs --lab yes")
	}
	cfg.Dialect = dialect.OfMaster(cfg.Dialect, cfg.MasterOf(number))
	return startNode(cfg, log, number, nodes, commandsOf(cfg))
}

func startNode(cfg *config.Config, log server.Log, number, nodes int, commands *command.Commands) (*node, error) {
	s, err := server.New(cfg, log, number, nodes, commands)
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
		return newCommands(dialect.Named(cfg.Dialect), lab.MaintRows()...)
	case cfg.Dialect != dialect.Default:
		return newCommands(dialect.Named(cfg.Dialect))
	}
	return commands
}

// assemble gives the parts their places in the pass. Their order counts: a change must be on the disk before replicas
// hear of it.
func assemble(s *server.Server) *node {
	n := &node{Server: s, admin: admin.New(s), persist: persist.New(s)}
	n.repl = repl.New(s, n.persist)
	if s.Cfg.ClusterEnabled {
		n.cluster = cluster.New(n.repl)
	}
	if s.Cfg.Lab {
		n.lab = lab.New(n.repl, n.admin, s.Clock)
		if n.cluster != nil {
			n.lab.JoinCluster(n.cluster)
		}
	}
	if s.Cfg.Watch != "" {
		n.glass = glass.New(n.lab, s.Clock)
	}
	s.Parts.Attach(n.admin.Part())
	s.Parts.Attach(n.persist.Part())
	s.Parts.Attach(n.persist.Stopping.Part())
	n.repl.Attach()
	if n.cluster != nil {
		s.Parts.Attach(n.cluster.Part())
	}
	if n.lab != nil {
		s.Parts.Attach(n.lab.Part())
	}
	if n.glass != nil {
		s.Parts.Attach(n.glass.Part())
	}
	if s.Cfg.IsSentinel(s.Number) {
		n.sentry = sentinel.New(n.lab, n.admin)
		s.Parts.Attach(n.sentry.Part())
	}
	s.Hooks.Rest = n.persist.RestInScript
	s.Hooks.FeedMonitors, s.Hooks.Transfer = n.admin.Monitors.Feed, n.admin.Transfer
	return n
}

// start makes the node ready for Run: it listens, and its files are open.
func (n *node) start() error {
	if err := n.NewExecutor(n.Clock); err != nil {
		return err
	}
	n.Figures.Started = n.KS.Now
	if err := n.persist.Start(); err != nil {
		return err
	}
	n.repl.Replicas.Configured()
	if err := n.Open(); err != nil {
		return err
	}
	if n.lab != nil {
		if err := n.lab.RefuseOpen(); err != nil {
			return err
		}
	}
	if !n.LoadsInRun {
		if err := n.Parts.Start(); err != nil {
			return err
		}
	}
	if n.Number == 1 { // the process has one score
		if err := n.OOMScore.Apply(n.Cfg); err != nil {
			n.Log('#', "%v", err) // redis-server starts all the same
		}
	}
	if n.lab != nil {
		n.lab.KeepConfig()
		n.lab.WarnOfOpen()
	}
	return nil
}

// discard closes a node that was never run.
func (n *node) discard() {
	n.Listeners.Close()
	n.persist.End()
	n.Loop.Close()
}

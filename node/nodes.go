package node

import (
	"context"
	"errors"
	"fmt"
	random "math/rand/v2"
	"net"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/server/cluster"
	"github.com/miniredisd/miniredisd/server/glass"
	"github.com/miniredisd/miniredisd/server/lab"
	"github.com/miniredisd/miniredisd/server/persist"
	"github.com/miniredisd/miniredisd/server/repl"
)

// Nodes are the servers of one process: masters, as Redlock needs them, then their replicas, and then Sentinels. Each
// has its own loop, goroutine, keyspace and configuration. A replica follows its master by the protocol of replication
// (server/repl/peer.go). Otherwise only the lab reaches from one node to another: it posts to the other's loop
// (server/internal_request.go), and its doctors share one ledger of locks, which has a mutex.
//
//	--masters 3 --port 7001
//
//	   7001            7002            7003
//	Server.Run      Server.Run      Server.Run      a goroutine each
//	    └── Post ──────>└── Post ──────>┘           the lab's only way between them
//
// SHUTDOWN ends the node that gets it. Run returns when all have ended.
type Nodes []*server.Server

// NewNodes makes as many servers as cfg asks for: the masters, the replicas of the first, and so on. All of them
// listen, or none does. Each gets the next port and the next seed. With port 0 each finds a free port, and cfg gets the
// first one's. log returns the log of a server, counted from 1.
func NewNodes(cfg *config.Config, log func(node int) server.Log) (Nodes, error) {
	if cfg.Servers() <= 1 {
		s, err := New(cfg, log(1))
		return Nodes{s}, err
	}
	if err := errors.Join(checkNodes(cfg), checkSentinels(cfg)); err != nil {
		return nil, err
	}
	if err := lab.WriteTLS(cfg); err != nil {
		return nil, err
	}
	if cfg.Seed == 0 {
		cfg.Seed = newSeed()
	}
	var all []*node
	for n := 1; n <= cfg.Nodes(); n++ {
		own := ownConfig(cfg, n)
		s, err := newNode(own, log(n), n, cfg.Nodes())
		if err != nil {
			discard(all)
			return nil, err
		}
		all = append(all, s)
		cfg.MaxClients = own.MaxClients // what the first has found out, the others need not complain of
	}
	sentinels, err := newSentinels(cfg, log, func(n int) *config.Config { return ownConfig(cfg, n) })
	if err != nil {
		discard(all)
		return nil, err
	}
	cfg.Port, cfg.TLSPort = all[0].Cfg.Port, all[0].Cfg.TLSPort
	introduce(all)
	introduceSentinels(all, sentinels)
	all = append(all, sentinels...)
	if err := followMasters(all); err != nil {
		discard(all)
		return nil, err
	}
	servers := make(Nodes, len(all))
	for i, n := range all {
		servers[i] = n.Server
	}
	return servers, nil
}

// ownConfig is the configuration of the server with a number.
func ownConfig(cfg *config.Config, n int) *config.Config {
	own := cfg.Clone()
	if cfg.Replicas > 0 {
		prepareToReplicate(own, n)
	}
	own.Seed += uint64(n - 1)
	if cfg.Port > 0 {
		own.Port += n - 1
	}
	if cfg.TLSPort > 0 {
		own.TLSPort += n - 1
	}
	return own
}

// introduce lets the nodes of a process know each other.
func introduce(all []*node) {
	var repls []*repl.Role
	var clusters []*cluster.State
	var labs []*lab.State
	var glasses []*glass.State
	var bubbles []*reactor.Bubble
	for _, n := range all {
		repls, labs, glasses = append(repls, n.repl), append(labs, n.lab), append(glasses, n.glass)
		clusters, bubbles = append(clusters, n.cluster), append(bubbles, n.Bubble)
	}
	for i, n := range all {
		n.repl.Peers = repls
		if n.lab != nil {
			n.lab.All = labs
		}
		if n.glass != nil {
			n.glass.All = glasses
		}
		if n.Bubble != nil { // its loop looks at the sockets between them
			n.Bubble.Neighbours(slices.Concat(bubbles[:i], bubbles[i+1:]))
			n.admin.Dial = n.dialPeer
		}
	}
	if all[0].cluster != nil {
		cluster.Introduce(clusters)
	}
	if all[0].lab != nil {
		lab.ShareLedger(labs)
	}
}

// dialPeer connects to another server of the bubble, which TCP does not reach.
func (n *node) dialPeer(host, port string, _ time.Duration) (net.Conn, error) {
	number, _ := strconv.Atoi(port)
	to := repl.PeerAt(n.repl, host, number)
	if to == nil {
		return nil, syscall.ECONNREFUSED
	}
	return to.Dial()
}

// newSeed returns a seed that clients cannot guess, because they choose the keys.
func newSeed() uint64 { return 1 + random.Uint64N(1<<53) }

// checkNodes refuses what several nodes cannot share.
func checkNodes(cfg *config.Config) error {
	n, what := cfg.Servers(), "masters"
	if cfg.Replicas+cfg.Sentinels > 0 {
		what = "servers"
	}
	switch {
	case cfg.UnixSocket != "":
		return fmt.Errorf("unixsocket is one socket and cannot be shared by %d %s", n, what)
	case cfg.Trace != "":
		return fmt.Errorf("trace records one server, not %d %s: use DEBUG TRACE on the one to look at", n, what)
	case max(cfg.Port, cfg.TLSPort)+n-1 > server.MaxPort:
		first := max(cfg.Port, cfg.TLSPort)
		return fmt.Errorf("%d %s from port %d on would need ports above %d", n, what, first, server.MaxPort)
	case cfg.Nodes() > mostNodes:
		return fmt.Errorf("%d masters with %d replicas each are more than %d servers", cfg.Masters, cfg.Replicas, mostNodes)
	}
	return nil
}

const mostNodes = 1000 // servers of a process

func discard(all []*node) {
	for _, n := range all {
		n.discard()
	}
}

// Run serves until all nodes have ended. The first one runs in the calling goroutine, so a single
// server needs no other. If a loop fails, all nodes end.
func (ns Nodes) Run() error {
	if len(ns) == 1 {
		return ns[0].Run()
	}
	errs := make([]error, len(ns))
	run := func(i int) {
		if errs[i] = ns[i].Run(); errs[i] != nil {
			ns.Stop()
		}
		ns[i].Log('*', "This %s has ended", ns[i].Kind())
	}
	var others sync.WaitGroup
	for i := 1; i < len(ns); i++ {
		others.Add(1)
		go func() {
			defer others.Done()
			run(i)
		}()
	}
	run(0)
	others.Wait()
	return errors.Join(errs...)
}

// Stop ends Run: every node ends after its pass. Any goroutine may call it.
func (ns Nodes) Stop() {
	for _, s := range ns {
		s.Stop()
	}
}

// Terminate is Terminate of every node.
func (ns Nodes) Terminate(interrupt bool) {
	for _, s := range ns {
		s.Terminate(interrupt)
	}
}

// Terminates reports whether Terminate has asked for an end that is still to come: it waits, and nobody has aborted it.
// Any goroutine may call it.
func (ns Nodes) Terminates() bool {
	return slices.ContainsFunc(ns, func(s *server.Server) bool { return server.PartOf[*persist.Stopping](s).Asked.Load() })
}

// Addrs returns the addresses of all nodes in order. Call it before Run.
func (ns Nodes) Addrs() []string {
	var addrs []string
	for _, s := range ns {
		addrs = append(addrs, s.Addrs()...)
	}
	return addrs
}

// TLSAddrs is Addrs for the tls-port.
func (ns Nodes) TLSAddrs() []string {
	var addrs []string
	for _, s := range ns {
		addrs = append(addrs, s.TLSAddrs()...)
	}
	return addrs
}

// MasterOf returns the place of the master to which a server belonged at the start. That of a master is its own.
func (ns Nodes) MasterOf(i int) int { return ns[i].Group - 1 }

// Do is Server.Do of node n, counted from 1. For 0 it takes a node that has not ended.
func (ns Nodes) Do(ctx context.Context, n int, args ...string) (resp.Value, error) {
	if n > 0 {
		return ns[n-1].Do(ctx, args...)
	}
	runs := ns[0]
	for _, s := range ns {
		if !s.Inbox.HasEnded() {
			runs = s
			break
		}
	}
	return runs.Do(ctx, args...)
}

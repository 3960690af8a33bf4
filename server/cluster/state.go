// Package cluster is Redis Cluster among the servers of one process. A node is a server like any other. What it
// believes of the cluster is a topology.View of its own, which belongs to the goroutine that executes its commands.
// Nodes hear of each other by posts:
//
//	node 1                                   node 2
//	set: a new view
//	say ─────────── post, with the view ───> hear: its own view, changed by it
//	answered <───── post ───────────────────┘
//
//	state.go     the view of a node, and what follows from a new one
//	gossip.go    saying and hearing; who is down, and who takes over
//	route.go     who executes a request, and messages to all nodes
//	rows.go      the commands; show.go those that change nothing, change.go and meet.go the others
//
// There is no bus and no vote: a majority is counted by who can be reached. In Redis, cluster.c does all of this, with
// sockets of its own.
package cluster

import (
	"strings"
	"sync/atomic"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/lab/topology"
	"github.com/miniredisd/miniredisd/pubsub"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/server/repl"
)

// State is what a server is in a cluster. Another goroutine may use only what its comment allows.
type State struct {
	*repl.Role
	All   []*State // the servers of the process that have a cluster, by their number; see Introduce
	Hooks Hooks

	view    topology.View
	serving bool           // view.Serving
	home    topology.Range // slots in a row that this node alone serves, and that stay: most requests are about these
	epochs  *atomic.Uint64 // the newest epoch of the process: all nodes share it
	query   topology.Query // room for the next one
	router  command.Cluster
	peers   []peer // by number, from 1 on
	timer   *reactor.Timer
	started bool
	role    string // Cfg.ReplicaOf as the view last saw it
}

// Hooks are what a lab may do to a node.
type Hooks struct {
	CutOff func(number int) bool // the network is down between this node and another one
	Off    func() bool           // this node is down
	Stale  bool                  // it hears nothing
}

// New makes a node that knows no other.
func New(rs *repl.Role) *State {
	st := &State{Role: rs, epochs: &atomic.Uint64{}}
	st.Hooks = Hooks{CutOff: func(int) bool { return false }, Off: func() bool { return false }}
	st.query.Has = func(key []byte) bool { // a key whose time is over is gone, although it may still be there
		found := st.KS.DBs[0].Peek(key)
		return found.Exists() && (found.Expire() == 0 || found.Expire() > st.KS.Now)
	}
	st.router = command.Cluster{Route: st.route, Publish: st.publish}
	st.view = topology.New(topology.Node{ID: server.NewRunID(), Shard: server.NewRunID(), Place: rs.Number})
	st.All, st.peers, st.home = []*State{st}, make([]peer, 1), topology.NoRange()
	return st
}

// Part is the place of a node in the pass.
func (st *State) Part() server.Part {
	return server.Part{
		Self: st, Installed: st.install, Started: st.start, Advance: st.advance,
		Configured: func(string) error {
			st.set(st.view.With(st.self()))
			return nil
		},
	}
}

// install prepares a new executor. After a LAB CRASH the node has the role that it had in the cluster: Redis reads it
// from its file of nodes.
func (st *State) install() error {
	st.Ex.Cluster = &st.router
	if st.started {
		st.Cfg.ReplicaOf = st.role
	}
	return nil
}

func (st *State) start() error {
	st.role, st.started = st.Cfg.ReplicaOf, true
	st.set(st.view.With(st.self()))
	return nil
}

// self describes this node as its configuration says. Like a Redis, it does not know its address before it meets
// another node.
func (st *State) self() topology.Node {
	n, cfg := *st.view.Me(), st.Cfg
	n.Port, n.TLSPort = or(cfg.ClusterAnnouncePort, st.Port()), or(cfg.ClusterAnnounceTLSPort, max(cfg.TLSPort, 0))
	n.BusPort = or(cfg.ClusterAnnounceBusPort, or(cfg.ClusterPort, or(st.Port(), n.TLSPort)+busOffset))
	n.Hostname, n.Offset = cfg.ClusterAnnounceHostname, st.Replicas.Stream.Offset
	n.Loading, n.Host = st.isLoading(), cfg.ClusterAnnounceIP
	if n.Host == "" && (len(st.view.Nodes) > 1 || cfg.Cluster) {
		n.Host = server.PeerHost
	}
	return n
}

// busOffset is how far the port of the bus is above that of clients (cluster.h: CLUSTER_PORT_INCR). Nobody listens
// there.
const busOffset = 10000

func or(n, otherwise int) int {
	if n != 0 {
		return n
	}
	return otherwise
}

// epoch returns an epoch that no node has.
func (st *State) epoch() uint64 {
	for {
		last := st.epochs.Load()
		if next := max(last, st.view.Current) + 1; st.epochs.CompareAndSwap(last, next) {
			return next
		}
	}
}

// set puts a new view in place of the one before, and says it to others.
func (st *State) set(v topology.View) {
	st.believe(v)
	st.say()
}

// believe puts a new view in place of the one before: the role in the replication follows, subscribers of shard
// channels and blocked clients learn that their slots are elsewhere.
func (st *State) believe(v topology.View) {
	before := st.view
	st.view, st.home = v, v.Home()
	if serving := v.Serving(st.Cfg.ClusterFullCoverage); serving != st.serving {
		st.serving = serving
		level, text := byte('#'), "fail"
		if serving {
			level, text = '*', "ok"
		}
		st.Log(level, "Cluster state changed: %s", text)
	}
	if !st.serving {
		st.home = topology.NoRange()
	}
	st.obey()
	if st.Ex.Subs.Len(pubsub.Shard) > 0 {
		st.Ex.DropShardChannels(func(channel []byte) bool {
			slot := topology.Slot(channel)
			was, is := before.Owner(slot), v.Owner(slot)
			return was != nil && was.Shard == before.Me().Shard && (is == nil || is.ID != was.ID)
		})
	}
	for _, c := range st.Clients.ByAge() {
		st.Ex.Reroute(&c.Sess)
	}
}

// obey makes the replication follow the view (cluster.c: clusterSetMaster).
func (st *State) obey() {
	master := st.view.Find(st.view.Me().Master)
	if master == nil {
		if st.Follow.Host != "" {
			st.Follow.Promote()
		}
	} else if port := st.All[master.Place-1].PeerPort; st.Follow.Host != server.PeerHost || st.Follow.Port != port {
		st.Follow.Follow(server.PeerHost, port)
	}
	st.role = st.Cfg.ReplicaOf
}

// advance makes the view follow the replication: a replica that the lab or CLUSTER FAILOVER has made a master claims
// the slots, and a master that was told to follow gives them up.
func (st *State) advance() {
	if st.timer == nil {
		st.wait()
	}
	role := st.Cfg.ReplicaOf
	if role == st.role || st.Hooks.Off() {
		return
	}
	st.role = role
	if role == "" {
		if !st.view.Me().IsMaster() {
			st.set(st.view.Promote(st.epoch()))
		}
		return
	}
	_, port, _ := strings.Cut(role, " ")
	for i := range st.view.Nodes {
		n := &st.view.Nodes[i]
		if port == portOf(st.All[n.Place-1]) && n.ID != st.view.Me().Master && n.ID != st.view.Self {
			st.set(st.view.Follow(n.ID))
			return
		}
	}
}

package cluster

import (
	"math"
	"net/netip"
	"strconv"
	"sync/atomic"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/lab/topology"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/store"
)

func itoa(n uint64) string { return strconv.FormatUint(n, 10) }

// Introduce lets the nodes of a process find each other by CLUSTER MEET. With cluster yes they know each other at once,
// and the masters share all slots as redis-cli --cluster create shares them. Call it before Run.
func Introduce(all []*State) {
	epochs := &atomic.Uint64{}
	for _, st := range all {
		st.All, st.epochs, st.peers = all, epochs, make([]peer, len(all))
	}
	if !all[0].Cfg.Cluster {
		return
	}
	for i, st := range all {
		st.view, _ = st.view.With(st.self()).Number(uint64(i + 1)) // a new node has no epoch
		epochs.Store(uint64(i + 1))
		if i < st.Cfg.Masters {
			st.view, _ = st.view.Claim(share(i, st.Cfg.Masters)) // nobody has them
		}
	}
	own := make([]topology.View, len(all))
	for i, st := range all {
		own[i] = st.view
	}
	for i, st := range all {
		for j := range own {
			if j != i {
				st.view = st.view.With(*own[j].Me())
			}
		}
		for j := range own {
			st.view = st.view.Hear(&own[j], 0, st.epoch, false)
		}
	}
	for _, st := range all {
		for _, other := range all {
			if master := all[other.Group-1]; master != other {
				st.view = st.view.Place(other.view.Self, master.view.Self)
			}
		}
		st.serving = st.view.Serving(st.Cfg.ClusterFullCoverage)
	}
}

// share returns the slots of a master (redis-cli.c: clusterManagerCommandCreate).
func share(master, masters int) (slots []int) {
	each := float64(topology.Slots) / float64(masters)
	end := func(i int) int { // the first slot after those of i masters
		if i == masters {
			return topology.Slots
		}
		return int(math.Round(float64(i)*each-1)) + 1
	}
	for slot := end(master); slot < end(master+1); slot++ {
		slots = append(slots, slot)
	}
	return slots
}

// CLUSTER MEET ip port [cluster-bus-port] (cluster.c: clusterStartHandshake)
func (st *State) meet(c *command.Call) error {
	if len(c.Args) > 5 {
		return c.SubcommandSyntax()
	}
	port, ok := ascii.ParseInt(c.Args[3])
	if !ok {
		return store.Errorf("ERR Invalid base port specified: %s", c.Args[3])
	}
	bus := port + busOffset
	if len(c.Args) == 5 {
		if bus, ok = ascii.ParseInt(c.Args[4]); !ok {
			return store.Errorf("ERR Invalid bus port specified: %s", c.Args[4])
		}
	}
	_, err := netip.ParseAddr(string(c.Args[2]))
	if err != nil || port <= 0 || port > server.MaxPort || bus <= 0 || bus > server.MaxPort {
		return store.Errorf("ERR Invalid node address specified: %s:%s", c.Args[2], c.Args[3])
	}
	to := st.at(string(c.Args[2]), int(port))
	if to == nil {
		return store.Errorf("ERR CLUSTER MEET: no node of this process is at %s:%d. The nodes of a cluster live in one "+
			"process here: start all of them with --cluster yes --masters 3. A cluster of several processes needs Redis or "+
			"Valkey.", c.Args[2], port)
	}
	c.OK()
	if to != st {
		st.introduceTo(to)
	}
	return nil
}

// at returns the node at an address, nil if none of the process is there.
func (st *State) at(host string, port int) *State {
	addr, _ := netip.ParseAddr(host)
	if !addr.IsLoopback() && host != st.Cfg.ClusterAnnounceIP {
		return nil
	}
	for _, other := range st.All {
		if other.PeerPort == port {
			return other
		}
	}
	return nil
}

// introduceTo lets this node and another one know each other. From then on they hear each other.
func (st *State) introduceTo(to *State) {
	own := st.view
	var other *topology.View
	v := &server.InternalRequest{Errand: func(v *server.InternalRequest) {
		if !to.Hooks.Off() && !to.Hooks.CutOff(st.Number) {
			to.meets(&own)
			view := to.view
			other = &view
		}
		v.End(nil)
	}}
	v.Done = func([]byte) {
		st.Inbox.Post(func() {
			if other != nil {
				st.meets(other)
			}
		})
	}
	v.SendTo(to.Server)
}

// meets adds the node whose view it gets, and learns from it.
func (st *State) meets(other *topology.View) {
	v := st.view
	if v.Find(other.Self) == nil {
		n := *other.Me()
		n.Epoch, n.Down = 0, false
		v = v.With(n)
	}
	st.view = v
	st.set(v.With(st.self())) // from now on it knows its address
	st.learn(other)
}

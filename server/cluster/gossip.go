package cluster

import (
	"strconv"
	"time"

	"github.com/miniredisd/miniredisd/lab/topology"
	"github.com/miniredisd/miniredisd/server"
)

// peer is what a node knows of another server of the process, beside its view.
type peer struct {
	asked  int64          // ns, by Clock.Timeline: it was said something then, and has not answered; 0 for none
	again  bool           // there was a newer view meanwhile
	silent int64          // since when it does not answer, likewise; 0 for a node that does
	heard  *topology.View // the last one, or nil
}

func portOf(st *State) string { return strconv.Itoa(st.PeerPort) }

func (st *State) now() int64 { return st.Ex.Clock.Timeline(st.Ex.Now.Mono) }

// say gives the view to all nodes that it knows, as PING does in Redis. A node that has not taken the last one yet gets
// the newest one after it.
func (st *State) say() {
	view := st.view
	for i := range view.Nodes {
		if n := &view.Nodes[i]; n.ID != view.Self {
			st.sayTo(n.Place)
		}
	}
}

func (st *State) sayTo(number int) {
	p, to, view := &st.peers[number-1], st.All[number-1], st.view
	if p.asked != 0 {
		p.again = true
		return
	}
	p.asked, p.again = st.now(), false
	if st.Hooks.CutOff(number) {
		st.Inbox.Post(func() { st.answered(number, nil) })
		return
	}
	var answer *topology.View
	v := &server.InternalRequest{Errand: func(v *server.InternalRequest) {
		answer = to.hear(st.Number, &view)
		v.End(nil)
	}}
	v.Done = func([]byte) { st.Inbox.Post(func() { st.answered(number, answer) }) }
	v.SendTo(to.Server)
}

// hear takes the view of another node, and returns the own one. It returns nil if this node cannot be reached.
func (st *State) hear(number int, from *topology.View) *topology.View {
	if st.Hooks.Off() || st.Hooks.CutOff(number) {
		return nil
	}
	st.peers[number-1].heard = from
	if !st.Hooks.Stale {
		st.learn(from)
	}
	view := st.view
	return &view
}

// learn changes the view by that of another node. Keys of slots that this master has lost are deleted, unless it
// becomes a replica, which gets other keys anyway. A slow script ends first.
func (st *State) learn(from *topology.View) {
	if st.Ex.Scripts.Busy() != nil {
		st.Deferred = append(st.Deferred, func() { st.learn(from) })
		return
	}
	before := st.view
	after := before.Hear(from, st.KS.Now, st.epoch, st.Cfg.ClusterReplicaMigration)
	if after.Same(&before) {
		st.view = after // times and offsets
		return
	}
	st.believe(after)
	if *after.Me() != *before.Me() || len(after.Nodes) != len(before.Nodes) {
		st.say() // otherwise all have heard it from the same node
	}
	if before.Me().IsMaster() && after.Me().IsMaster() {
		lost := func(slot int) bool {
			return before.Owner(slot) == before.Me() && after.Owner(slot) != after.Me()
		}
		st.Ex.DropKeys(func(key string) bool { return lost(topology.Slot(key)) })
	}
}

// answered is called when another node has taken the view, or cannot be reached: then view is nil.
func (st *State) answered(number int, view *topology.View) {
	p := &st.peers[number-1]
	asked := p.asked
	p.asked = 0
	if st.Hooks.Off() {
		return
	}
	if view == nil {
		if p.silent == 0 {
			p.silent = asked
		}
		st.judge()
		return
	}
	p.silent = 0
	if !st.Hooks.Stale {
		st.learn(view)
	}
	if p.again {
		st.sayTo(number)
	}
}

// wait lets a period pass by the lab's clock. ticked says the view then, so that nodes that could not be reached hear
// of it (cluster.c: clusterCron).
func (st *State) wait() {
	period := min(time.Second, max(time.Duration(st.Cfg.ClusterNodeTimeout)*time.Millisecond/4, 10*time.Millisecond))
	st.timer = st.After(period, func() {
		st.timer = nil // advance begins the next period: LAB RESET runs timers until none is left
		st.ticked()
	})
}

func (st *State) ticked() {
	if len(st.view.Nodes) == 1 || st.Hooks.Off() {
		return
	}
	if me := st.self(); me != *st.view.Me() {
		st.view = st.view.With(me)
	}
	st.say()
	st.judge()
}

// judge looks who was silent for longer than cluster-node-timeout (cluster.c: markNodeAsFailingIfNeeded). If it is the
// master of this replica, this may take its place.
func (st *State) judge() {
	view, changed := st.view, false
	for i := range st.view.Nodes {
		n := st.view.Nodes[i]
		p := &st.peers[n.Place-1]
		down := n.ID != st.view.Self && p.silent != 0 &&
			st.now()-p.silent >= int64(st.Cfg.ClusterNodeTimeout)*int64(time.Millisecond)
		if down != n.Down {
			st.Log('*', "Marking node %s as %s", n.ID, map[bool]string{true: "failing", false: "reachable"}[down])
			n.Down, changed = down, true
			view = view.With(n)
		}
	}
	if changed {
		st.set(view)
	}
	if st.mayTakeOver() {
		st.Log('*', "Failover: this replica takes the place of its master %s", st.view.Me().Master)
		st.takeOver()
	}
}

// mayTakeOver reports whether this replica has to take the place of its master: the master is down for a majority, and
// no other replica in reach has more of its data. In Redis the masters vote (cluster.c: clusterHandleSlaveFailover).
func (st *State) mayTakeOver() bool {
	v := &st.view
	master := v.Find(v.Me().Master)
	if master == nil || !v.Failed(master) || v.Serves(master.ID) == 0 || st.Cfg.ClusterReplicaNoFailover ||
		!st.Follow.Known || st.Hooks.Stale || st.Ex.Scripts.Busy() != nil {
		return false
	}
	own := st.Replicas.Stream.Offset
	for _, n := range v.Replicas(master.ID) {
		if n.ID != v.Self && !n.Down && (n.Offset > own || n.Offset == own && n.Place < st.Number) {
			return false
		}
	}
	return true
}

// SetStale lets this node keep its map, or ends that.
func (st *State) SetStale(on bool) {
	st.Hooks.Stale = on
	st.say()
}

// Refresh forgets who was silent: the clock has another time.
func (st *State) Refresh() {
	st.Hooks.Stale = false
	for i := range st.peers {
		st.peers[i].silent = 0
	}
	st.judge()
	st.say()
}

// takeOver makes this replica the master.
func (st *State) takeOver() { st.set(st.view.Promote(st.epoch())) }

package explore

import (
	"fmt"
	"slices"
)

// With Cluster or Sentinels each master has a replica, and clients have to find the node that serves them.
//
//	Cluster      nodes 1 2 3 are masters, 4 5 6 their replicas     a client follows MOVED and ASK
//	Sentinels    node 1 is the master, 2 its replica               a client asks Sentinels 1 2 3
//
// A promoted replica stays the master. It has everything that the old one had, so a client that finds it loses nothing.

// SentinelMaster names the master at the Sentinels, as in the examples of redis-sentinel.
const SentinelMaster = "mymaster"

// isTopology reports whether clients have to find the node that serves them.
func (o *Options) isTopology() bool { return o.Cluster || o.Sentinels }

// Nodes returns how many servers have keys: the masters, then their replicas.
func (o *Options) Nodes() int {
	if o.isTopology() {
		return 2 * max(o.Masters, 1)
	}
	return max(o.Masters, 1)
}

// topologyWords are the words of the command line for these servers.
func (o *Options) topologyWords() []string {
	switch {
	case o.Cluster:
		return []string{"--cluster", "yes", "--replicas", "1"}
	case o.Sentinels:
		return []string{"--replicas", "1", "--sentinels", "3"}
	}
	return nil
}

// vote reports whether a lock may be on a majority of the masters. Those of a cluster share keys and do not vote.
func (o *Options) vote() bool { return o.Masters > 1 && !o.Cluster }

// topologyFaults are the rows of the table that need a cluster or Sentinels.
func topologyFaults() []fault {
	hold := []string{"HOLD"}
	return []fault{
		{Fault: Fault{"promotion", "promotion", "Before the request a replica that has everything becomes the master, " +
			"and stays it."}, deed: promotion, action: hold, cause: "a replica is promoted before %s", moves: true},
		{Fault: Fault{"sentinel-late", "Sentinel late", "Before the request a replica that has everything becomes the " +
			"master, and the first Sentinel does not hear of it."},
			deed: lateSentinel, action: hold, cause: "a replica is promoted before %s and one Sentinel is late", sentinel: true},
		{Fault: Fault{"slot-moves", "slot moves", "Before the request the slot of the lock moves to another node, " +
			"with its keys."}, deed: slotMoves, action: hold, cause: "the slot moves before %s", slots: true},
		{Fault: Fault{"slot-half", "slot half moved", "Before the request the keys of the slot move to another node, " +
			"and the old one replies ASK until the end of the run."},
			deed: slotHalf, action: hold, cause: "the keys of the slot move before %s and the slot does not", slots: true},
		{Fault: Fault{"old-map", "old map", "Before the request the slot of the lock moves, and a third node keeps its " +
			"old map."}, deed: oldMap, action: hold, cause: "the slot moves before %s and a third node keeps its old map",
			slots: true},
	}
}

// lacks returns which option a fault needs, "" if the options have it.
func (o *Options) lacks(f *fault) string {
	switch {
	case f.inside() && o.Foreign != "":
		return "miniredisd itself as the server, without " + o.option("--server", "Server")
	case f.disk && o.Disk == "":
		return o.option("--lab-disk", "Disk")
	case f.replica && !o.Replica:
		return o.option("--replica", "Replicas(1)")
	case f.slots && !o.Cluster:
		return o.inTest("--cluster", "a cluster")
	case f.sentinel && !o.Sentinels:
		return o.inTest("--sentinels", "Sentinels")
	case f.moves && !o.isTopology():
		return o.inTest("--cluster or --sentinels", "a cluster or Sentinels")
	}
	return ""
}

// promote returns what makes the replica of a master the master.
func promote(master int) []Order {
	return []Order{{master, words("REPLICATION WAIT")}, {master, words("FAILOVER")}}
}

// moveSlot returns what moves the slot of the lock that a rule holds a request about. There is nothing if the request
// names no lock.
func (e *Explorer) moveSlot(t Trial, d deed, rule string, s Scene) []Order {
	held, ok := heldBy(rule, s.Histories)
	if !ok {
		return nil
	}
	keys := e.about(held).keys
	i := slices.IndexFunc(keys, func(key string) bool { return e.lockOf(key) != "" })
	if i < 0 {
		return nil
	}
	slot, owner := s.Slot(raw(keys[i]))
	if owner == 0 {
		return nil
	}
	to := owner%e.opt.Masters + 1
	move := fmt.Sprintf("CLUSTER MOVE %d TO %d", slot, to)
	switch d {
	case slotHalf:
		e.unsettled[t.ID] = append(e.unsettled[t.ID], Order{1, words(move)})
		return []Order{{1, words(move + " STEP KEYS")}}
	case oldMap:
		return []Order{{1, words(fmt.Sprintf("CLUSTER STALE %d", to%e.opt.Masters+1))}, {to, words(move)}}
	}
	return []Order{{1, words(move)}}
}

// alsoLeft says that a lock is left behind, for a trial that the verdict cannot judge.
func (j *judgement) alsoLeft() string {
	if !j.e.opt.isTopology() {
		return ""
	}
	for _, g := range j.remaining() {
		if g.ttl > 0 && !j.e.base.left[g.glob] {
			return "; and " + g.key + " is free again when its lease ends"
		}
	}
	return ""
}

// Settle returns what ends the moves that a trial has left half done, when the program is over: then each key has a
// place again.
func (e *Explorer) Settle(t Trial) []Order { return e.unsettled[t.ID] }

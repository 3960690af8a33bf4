// Package topology is what the nodes of a cluster believe: who is there, who serves which slot, and in which epoch. It
// is pure: it knows no sockets, no clock and no goroutines.
//
//	slot.go     the slot of a key
//	view.go     View: what one node believes
//	change.go   commands that change it: ADDSLOTS, SETSLOT, REPLICATE, FORGET ...
//	hear.go     what a node learns from another one
//	route.go    who has to execute a request                 cluster.c: getNodeByQuery
//	text.go     CLUSTER NODES and CLUSTER INFO
//
// A View never changes. What changes it returns a new one, so a node can give its view to others:
//
//	node 1                          node 2
//	v = v.Bind(slot, own) ── v ───> w = w.Hear(v)
//
// In Redis one struct has all of this and changes in place (cluster.h: clusterState). A newer epoch wins there as here.
// There the masters vote for an epoch, so no two of them have the same one. Here whoever needs an epoch gets it as an
// argument.
package topology

import (
	"cmp"
	"maps"
	"slices"
)

// Node is what a view knows of one node (cluster.h: clusterNode).
type Node struct {
	ID, Shard string // 40 hexadecimal digits
	Host      string // "" while a node knows no other
	Port      int    // 0 for none
	TLSPort   int    // 0 for none
	BusPort   int
	Hostname  string // cluster-announce-hostname
	Master    string // the ID of its master, "" for a master
	Epoch     uint64 // of its slots: the newest claim wins
	Offset    int64  // of the stream of replication
	Heard     int64  // unix ms, when it was heard last; 0 for never
	Down      bool   // silent for longer than cluster-node-timeout
	Loading   bool   // a replica that has not all data of its master
	Place     int    // the number of the server in its process
}

// IsMaster reports whether the node has no master.
func (n *Node) IsMaster() bool { return n.Master == "" }

// View is what one node believes.
type View struct {
	Self      string
	Current   uint64           // the newest epoch that it has heard of
	Nodes     []Node           // in the order in which it got to know them, itself first
	Migrating map[int]string   // slots that it gives away: the node that gets each
	Importing map[int]string   // slots that it gets: the node that gives each
	Forgotten map[string]int64 // nodes that it must not hear of again until then, in unix ms
	owner     *[Slots]int16    // 1 + the place in Nodes, 0 for none
	loose     map[int]struct{} // slots whose owner does not claim them any more (cluster.h: owner_not_claiming_slot)
}

// New returns the view of a node that knows nobody else.
func New(self Node) View {
	return View{Self: self.ID, Nodes: []Node{self}, owner: &[Slots]int16{}}
}

// clone returns a view whose parts may be changed.
func (v *View) clone() View {
	w := *v
	w.Nodes, w.Migrating, w.Importing = slices.Clone(v.Nodes), maps.Clone(v.Migrating), maps.Clone(v.Importing)
	w.Forgotten, w.loose = maps.Clone(v.Forgotten), maps.Clone(v.loose)
	owner := *v.owner
	w.owner = &owner
	return w
}

// place returns the place of a node, -1 for none.
func (v *View) place(id string) int {
	return slices.IndexFunc(v.Nodes, func(n Node) bool { return n.ID == id })
}

// Find returns a node, nil if the view has none with this ID. The caller must not change it.
func (v *View) Find(id string) *Node {
	if i := v.place(id); i >= 0 {
		return &v.Nodes[i]
	}
	return nil
}

// Me is the node whose view this is.
func (v *View) Me() *Node { return &v.Nodes[0] }

// Same reports whether two views of a node differ in nothing that somebody has to hear of: only in times and offsets.
func (v *View) Same(w *View) bool {
	same := func(a, b Node) bool {
		a.Heard, a.Offset, b.Heard, b.Offset = 0, 0, 0, 0
		return a == b
	}
	return v.Current == w.Current && slices.EqualFunc(v.Nodes, w.Nodes, same) && *v.owner == *w.owner &&
		maps.Equal(v.Migrating, w.Migrating) && maps.Equal(v.Importing, w.Importing) && maps.Equal(v.loose, w.loose)
}

// Owner returns the node that serves a slot, nil for none.
func (v *View) Owner(slot int) *Node {
	if i := v.owner[slot]; i > 0 {
		return &v.Nodes[i-1]
	}
	return nil
}

// Serves returns how many slots a node serves.
func (v *View) Serves(id string) (count int) {
	at := int16(v.place(id) + 1)
	for _, i := range v.owner {
		if i == at && i > 0 {
			count++
		}
	}
	return count
}

// Replicas returns the replicas of a node, in the order of their IDs: so all nodes name them in the same order
// (cluster.c: clusterNodeAddSlave).
func (v *View) Replicas(id string) (all []*Node) {
	for i := range v.Nodes {
		if v.Nodes[i].Master == id && id != "" {
			all = append(all, &v.Nodes[i])
		}
	}
	slices.SortFunc(all, func(a, b *Node) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// Range is slots in a row with one owner.
type Range struct {
	From, To int // both belong to it
	Owner    *Node
}

// Ranges returns the slots that have an owner, in order.
func (v *View) Ranges() (all []Range) {
	for slot, i := range v.owner {
		switch last := len(all) - 1; {
		case i == 0:
		case slot > 0 && v.owner[slot-1] == i:
			all[last].To = slot
		default:
			all = append(all, Range{slot, slot, &v.Nodes[i-1]})
		}
	}
	return all
}

// NoRange is a range without slots.
func NoRange() Range { return Range{From: Slots} }

// Home returns the longest range of the node itself, while none of its slots moves.
func (v *View) Home() Range {
	longest := NoRange()
	if len(v.Migrating)+len(v.Importing) > 0 {
		return longest
	}
	for _, r := range v.Of(v.Self) {
		if r.To-r.From > longest.To-longest.From {
			longest = r
		}
	}
	return longest
}

// Of returns the ranges of one node.
func (v *View) Of(id string) []Range {
	return slices.DeleteFunc(v.Ranges(), func(r Range) bool { return r.Owner.ID != id })
}

// Shards returns the nodes by shard, in the order of the nodes.
func (v *View) Shards() (all [][]*Node) {
	for i := range v.Nodes {
		n := &v.Nodes[i]
		of := slices.IndexFunc(all, func(shard []*Node) bool { return shard[0].Shard == n.Shard })
		if of < 0 {
			all = append(all, []*Node{n})
			continue
		}
		all[of] = append(all[of], n)
	}
	return all
}

// Size returns how many masters serve slots, and how many of these the node does not believe to be down.
func (v *View) Size() (masters, up int) {
	serves := make([]bool, len(v.Nodes)+1)
	for _, i := range v.owner {
		serves[i] = true
	}
	for i := range v.Nodes {
		if serves[i+1] && v.Nodes[i].IsMaster() {
			masters++
			if !v.Nodes[i].Down {
				up++
			}
		}
	}
	return masters, up
}

// HasMajority reports whether the node hears more than half of the masters that serve slots.
func (v *View) HasMajority() bool {
	masters, up := v.Size()
	return up >= masters/2+1
}

// Failed reports whether a node is down for the cluster, and not only for this node: a majority is there to say so.
func (v *View) Failed(n *Node) bool { return n.Down && v.HasMajority() }

// Serving reports whether the cluster serves requests (cluster.c: clusterUpdateState). full is the directive
// cluster-require-full-coverage.
func (v *View) Serving(full bool) bool {
	if !v.HasMajority() {
		return false
	}
	for slot := range v.owner {
		if n := v.Owner(slot); full && (n == nil || n.Down) {
			return false
		}
	}
	return true
}

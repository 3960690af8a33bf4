package topology

import (
	"fmt"
	"strings"
)

// Text is a line of CLUSTER NODES (cluster.c: clusterGenNodeDescription). withTLS shows the port for TLS.
func (v *View) Text(n *Node, withTLS bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s:%d@%d", n.ID, n.Host, n.ClientPort(withTLS), n.BusPort)
	if n.Hostname != "" {
		b.WriteString("," + n.Hostname)
	}
	master := "-"
	if n.Master != "" {
		master = n.Master
	}
	link := "connected"
	if n.Down {
		link = "disconnected"
	}
	fmt.Fprintf(&b, " %s %s 0 %d %d %s", v.flags(n), master, n.Heard, v.EpochOf(n), link)
	for _, r := range v.Of(n.ID) {
		if r.From == r.To {
			fmt.Fprintf(&b, " %d", r.From)
		} else {
			fmt.Fprintf(&b, " %d-%d", r.From, r.To)
		}
	}
	if n.ID != v.Self {
		return b.String()
	}
	for slot := range Slots {
		if to, is := v.Migrating[slot]; is {
			fmt.Fprintf(&b, " [%d->-%s]", slot, to)
		} else if from, is := v.Importing[slot]; is {
			fmt.Fprintf(&b, " [%d-<-%s]", slot, from)
		}
	}
	return b.String()
}

// EpochOf is the epoch of a node's slots. A replica has that of its master.
func (v *View) EpochOf(n *Node) uint64 {
	if m := v.Find(n.Master); m != nil {
		return m.Epoch
	}
	return n.Epoch
}

// ClientPort is the port that clients connect to.
func (n *Node) ClientPort(withTLS bool) int {
	if withTLS && n.TLSPort > 0 || n.Port == 0 {
		return n.TLSPort
	}
	return n.Port
}

// flags are the flags of a node in CLUSTER NODES.
func (v *View) flags(n *Node) string {
	text := "master"
	if !n.IsMaster() {
		text = "slave"
	}
	if n.ID == v.Self {
		text = "myself," + text
	}
	switch {
	case v.Failed(n):
		text += ",fail"
	case n.Down:
		text += ",fail?"
	}
	return text
}

// Lines is the reply to CLUSTER NODES.
func (v *View) Lines(withTLS bool) string {
	var b strings.Builder
	for i := range v.Nodes {
		b.WriteString(v.Text(&v.Nodes[i], withTLS))
		b.WriteByte('\n')
	}
	return b.String()
}

// Info is the reply to CLUSTER INFO, up to the messages of the bus (cluster.c: genClusterInfoString). serving is what
// Serving says.
func (v *View) Info(serving bool) string {
	state := "fail"
	if serving {
		state = "ok"
	}
	var assigned, ok, mayFail, failed int
	majority := v.HasMajority()
	for slot := range Slots {
		switch n := v.Owner(slot); {
		case n == nil:
			continue
		case n.Down && majority:
			failed++
		case n.Down:
			mayFail++
		default:
			ok++
		}
		assigned++
	}
	masters, _ := v.Size()
	return fmt.Sprintf("cluster_state:%s\r\ncluster_slots_assigned:%d\r\ncluster_slots_ok:%d\r\n"+
		"cluster_slots_pfail:%d\r\ncluster_slots_fail:%d\r\ncluster_known_nodes:%d\r\ncluster_size:%d\r\n"+
		"cluster_current_epoch:%d\r\ncluster_my_epoch:%d\r\n",
		state, assigned, ok, mayFail, failed, len(v.Nodes), masters, v.Current, v.EpochOf(v.Me()))
}

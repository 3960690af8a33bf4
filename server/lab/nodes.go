package lab

import (
	"fmt"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/server/repl"
)

// What the lab knows of the nodes of a process: masters, their replicas, and the links between them. A link is a client
// of the master with the name replica-PORT, and one of the replica with the name master-PORT. So LAB PARTITION can cut
// it.

// hookLinks makes links and streams of replication obey the lab.
func (l *State) hookLinks(h *repl.LinkHooks) {
	h.Refuses = func(c *server.Client) error {
		if l.holdsStream(c) {
			return errHeld
		}
		return nil
	}
	h.Heard = func() {
		if l.Clock.Rate != 1 {
			l.hearLinks()
		}
	}
	h.StreamEnd, h.PassEnds, h.Asked = l.streamEnd, l.noteEnd, l.delayKeys
	h.Cuts, h.Begun, h.Up, h.Promoted, h.Demoted = l.cutsLink, l.setMuted, l.noteSynced, l.notePromoted, l.noteDemoted
	h.Down = func() {
		l.noteLink(lab.LinkDown, l.Follow.Port)
		l.endTurn()
	}
	h.WaitsOn, h.Name, h.RealTime = awaitsLab, l.linkName, true
}

// awaitsLab reports whether c waits for a verb that does not end with the role of its server.
func awaitsLab(c *server.Client) bool {
	last := c.Sess.Last
	return Of(c).control && last != nil && last.Group == labGroup && last.Name != "lab|replication"
}

// linkName is the name of a link on one of its sides. to says what is on the other side.
func (l *State) linkName(to string, port int) string {
	return fmt.Sprintf("%s-%d", to, port)
}

// cutsLink reports whether the network holds up the link of this replica to its master.
func (l *State) cutsLink(port int) bool {
	return l.blackhole || len(l.partitions) > 0 && l.hides(l.linkName("master", port))
}

// cutsOff reports whether the network keeps this node from another one.
func (l *State) cutsOff(other *State) bool {
	return l.blackhole || l.hides(l.linkName("master", other.PeerPort)) || l.hides(l.linkName("replica", other.PeerPort))
}

// nodes returns all nodes that began with the same master, which is the first.
func (l *State) nodes() (all []*State) {
	for _, s := range l.All {
		if s.Group == l.Group {
			all = append(all, s)
		}
	}
	return all
}

// neighbour returns another node of the process, nil if none has this address.
func (l *State) neighbour(host string, port int) *State {
	if peer := repl.PeerAt(l.Role, host, port); peer != nil {
		return l.All[peer.Number-1]
	}
	return nil
}

// hearLinks is called when the clock has leapt. It leaves no time for acknowledgements, so a link of the process that
// works in real time counts as heard.
func (l *State) hearLinks() {
	for _, c := range l.Replicas.All {
		from, rep := repl.PeerOf(c), repl.ReplicaOf(c)
		if from != nil && l.Ex.Now.Mono-rep.Told < linkSilence && !c.Muted && !l.holdsStream(c) &&
			!l.All[from.Number-1].linkCut.Load() {
			rep.Heard = l.Replicas.Now()
		}
	}
}

// linkSilence is how long nothing may come over a link that works, in real ns. An acknowledgement comes each second.
const linkSilence = 5_000_000_000

// effect is the place in the stream after what was done last: see lab.Entry.
func (l *State) effect() int64 {
	if l.Follow.Host != "" {
		return l.Replicas.Stream.Offset
	}
	return l.Ex.Propagation.Effect()
}

// numberAt returns the number of the node with a port, 0 if it is none of this process.
func (l *State) numberAt(port int) int {
	if peer := l.neighbour(server.PeerHost, port); peer != nil {
		return peer.Number
	}
	return 0
}

// noteRole adds an entry about the role of this node, or about its link.
func (l *State) noteRole(event, what string, port int, id string) {
	e := l.newEntry(nil, event)
	e.Outcome, e.Reply, e.Peer, e.ReplID = lab.Executed, what, l.numberAt(port), id
	e.Changes = l.changed(lab.ByLoss)
	l.history.Add(e)
}

func (l *State) noteLink(what string, port int) {
	l.noteRole(lab.EventLink, what, port, "")
}

// noteSynced is called when the link to the master is up.
func (l *State) noteSynced(full bool) {
	how := lab.SyncedPartial
	if full {
		how = lab.SyncedFull
	}
	l.endTurn()
	l.linkCut.Store(l.cutsLink(l.Follow.Port))
	l.noteRole(lab.EventSynced, how, l.Follow.Port, l.Replicas.Stream.ID)
	if l.Cfg.Replicas > 0 {
		l.doctor.Synced(l.numberAt(l.Follow.Port)-1, l.Replicas.Stream.ID, l.KS.Now, full)
	}
}

// notePromoted is called before a replica becomes a master.
func (l *State) notePromoted() {
	l.noteRole(lab.EventPromoted, "", l.Follow.Port, l.Replicas.Stream.ID)
	if l.Cfg.Replicas > 0 {
		l.doctor.Promoted(l.numberAt(l.Follow.Port)-1, l.Replicas.Stream.Offset, l.KS.Now)
	}
}

// noteDemoted is called before a master becomes a replica of the node with a port. A server that starts as a replica
// was no master.
func (l *State) noteDemoted(port int) {
	if l.Cfg.ReplicaOf != "" {
		return
	}
	l.noteRole(lab.EventDemoted, "", port, l.Replicas.Stream.ID)
	if l.Cfg.Replicas > 0 {
		l.doctor.Demoted()
	}
	l.releaseAll()
}

// node describes this node for an exported log.
func (l *State) node() *lab.Node {
	if l.Cfg.Replicas == 0 && l.cluster == nil {
		return nil
	}
	n := &lab.Node{Node: l.Number, Nodes: l.NodeCount, Port: l.PeerPort, Role: "master",
		ReplID: l.Replicas.Stream.ID, Offset: l.Replicas.Stream.Offset}
	if l.Follow.Host != "" {
		n.Role, n.ReplID, n.Offset = "replica", l.Replicas.Stream.ID, l.Replicas.Stream.Offset
	}
	return n
}

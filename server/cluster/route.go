package cluster

import (
	"bytes"
	"fmt"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/lab/topology"
	"github.com/miniredisd/miniredisd/pubsub"
	"github.com/miniredisd/miniredisd/server"
)

// The errors of a request that goes nowhere (cluster.c: clusterRedirectClient).
const (
	errCrossSlot command.Redirect = "CROSSSLOT Keys in request don't hash to the same slot"
	errTryAgain  command.Redirect = "TRYAGAIN Multiple keys request during rehashing of slot"
	errUnbound   command.Redirect = "CLUSTERDOWN Hash slot not served"
)

// route says who executes a request. It is command.Cluster.Route.
func (st *State) route(r *command.Routed) (slot int, err error) {
	if len(r.Keys) == 1 {
		if slot := topology.Slot(r.Keys[0]); st.home.From <= slot && slot <= st.home.To {
			return slot, nil // as Decide says, without a look at the map
		}
	}
	q := &st.query
	q.Keys, q.Writes, q.Asking, q.ReadsHere, q.IsShard = r.Keys, r.Writes, r.Asking, r.ReadsHere, r.IsShard
	q.IsMigrate = r.IsMigrate || r.Blocked // who waits for a key waits on while its slot moves
	q.IsDown, q.ReadsWhenDown = !st.serving, st.Cfg.ClusterReadsWhenDown && !r.Blocked
	q.PubSubWhileDown = st.Cfg.ClusterPubSubWhenDown
	verdict, slot, to := st.view.Decide(q)
	switch verdict {
	case topology.Here:
		return slot, nil
	case topology.CrossSlot:
		return -1, errCrossSlot
	case topology.TryAgain:
		return slot, errTryAgain
	case topology.Down:
		return -1, command.ErrClusterDown
	case topology.DownReads:
		return -1, command.ErrClusterReads
	case topology.Unbound:
		return -1, errUnbound
	}
	word := "MOVED"
	if verdict == topology.Ask {
		word = "ASK"
	}
	return slot, command.Redirect(fmt.Sprintf("%s %d %s:%d", word, slot, st.endpoint(to), to.ClientPort(st.byTLS())))
}

// byTLS reports whether the running client has a connection with TLS: it is told the ports for TLS.
func (st *State) byTLS() bool { return st.Running != nil && st.Running.TLS != nil }

// endpoint is how clients are told to reach a node (cluster.c: getPreferredEndpoint).
func (st *State) endpoint(n *topology.Node) string {
	switch st.Cfg.ClusterEndpointType {
	case "hostname":
		if n.Hostname == "" {
			return "?"
		}
		return n.Hostname
	case "unknown-endpoint":
		return ""
	}
	return n.Host
}

// publish gives a message to all nodes, or to those of the shard (cluster.c: clusterPropagatePublish).
func (st *State) publish(kind pubsub.Kind, channel, message []byte) {
	channel, message = bytes.Clone(channel), bytes.Clone(message)
	for i := range st.view.Nodes {
		n := &st.view.Nodes[i]
		if n.ID == st.view.Self || kind == pubsub.Shard && n.Shard != st.view.Me().Shard || st.Hooks.CutOff(n.Place) {
			continue
		}
		to := st.All[n.Place-1]
		v := &server.InternalRequest{Done: func([]byte) {}, Errand: func(v *server.InternalRequest) {
			if !to.Hooks.Off() && !to.Hooks.CutOff(st.Number) {
				to.Ex.PublishHere(kind, channel, message)
			}
			v.End(nil)
		}}
		v.SendTo(to.Server)
	}
}

// OwnerOf returns the number of the server that serves a slot, 0 for none.
func (st *State) OwnerOf(slot int) int {
	if n := st.view.Owner(slot); n != nil {
		return n.Place
	}
	return 0
}

// IDOf returns the ID of the node with a number, "" for one that this node does not know.
func (st *State) IDOf(number int) string {
	for i := range st.view.Nodes {
		if st.view.Nodes[i].Place == number {
			return st.view.Nodes[i].ID
		}
	}
	return ""
}

// ASKING (cluster.c: askingCommand)
func (st *State) asking(c *command.Call) error {
	c.Ask()
	c.OK()
	return nil
}

// READONLY (cluster.c: readonlyCommand)
func (st *State) readOnly(c *command.Call) error {
	c.Sess.ReadsHere = true
	c.OK()
	return nil
}

// READWRITE (cluster.c: readwriteCommand)
func (st *State) readWrite(c *command.Call) error {
	c.Sess.ReadsHere = false
	c.OK()
	return nil
}

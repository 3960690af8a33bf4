package cluster

import (
	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/lab/topology"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

const (
	errSlotInvalid  store.Error = "ERR Invalid slot"
	errSlotOrCount  store.Error = "ERR Invalid slot or number of keys"
	errNotTheMaster store.Error = "ERR The specified node is not a master"
)

func unknownNode(id []byte) error { return store.Errorf("ERR Unknown node %s", id) }

// CLUSTER HELP (cluster.c: clusterCommand)
func (*State) help(c *command.Call) error { return command.Help(c) }

// CLUSTER NODES (cluster.c: clusterGenNodesDescription)
func (st *State) nodes(c *command.Call) error {
	c.Verbatim("txt", st.view.Lines(st.byTLS()))
	return nil
}

// CLUSTER INFO (cluster.c: genClusterInfoString)
// There is no bus, so no message was counted.
func (st *State) info(c *command.Call) error {
	c.Verbatim("txt", st.view.Info(st.serving)+"cluster_stats_messages_sent:0\r\ncluster_stats_messages_received:0\r\n"+
		"total_cluster_links_buffer_limit_exceeded:0\r\n")
	return nil
}

// CLUSTER MYID (cluster.c: clusterCommand)
func (st *State) myID(c *command.Call) error {
	c.BulkString(st.view.Self)
	return nil
}

// CLUSTER MYSHARDID (cluster.c: clusterCommand)
func (st *State) myShardID(c *command.Call) error {
	c.BulkString(st.view.Me().Shard)
	return nil
}

// CLUSTER KEYSLOT key (cluster.c: clusterCommand)
func (st *State) keySlot(c *command.Call) error {
	c.Int(int64(topology.Slot(c.Args[2])))
	return nil
}

// CLUSTER COUNTKEYSINSLOT slot (cluster.c: countKeysInSlot)
// Redis has a list of keys for each slot. Here all keys are looked at, so that a server without a cluster pays nothing.
func (st *State) countKeys(c *command.Call) error {
	slot, ok := ascii.ParseInt(c.Args[2])
	switch {
	case !ok:
		return store.ErrNotInt
	case slot < 0 || slot >= topology.Slots:
		return errSlotInvalid
	}
	c.Int(int64(st.keysIn(int(slot))))
	return nil
}

// CLUSTER GETKEYSINSLOT slot count (cluster.c: clusterCommand)
func (st *State) getKeys(c *command.Call) error {
	slot, ok := ascii.ParseInt(c.Args[2])
	most, fits := ascii.ParseInt(c.Args[3])
	switch {
	case !ok || !fits:
		return store.ErrNotInt
	case slot < 0 || slot >= topology.Slots || most < 0:
		return errSlotOrCount
	}
	m, count := c.Defer(), 0
	st.eachIn(int(slot), func(key string) {
		if int64(count) < most {
			c.BulkString(key)
			count++
		}
	})
	c.EndArray(m, count)
	return nil
}

// keysIn counts the keys of a slot that are here.
func (st *State) keysIn(slot int) (count int) {
	st.eachIn(slot, func(string) { count++ })
	return count
}

// eachIn calls fn with the keys of a slot that are here.
func (st *State) eachIn(slot int, fn func(key string)) {
	st.KS.DBs[0].Each(func(key string, _ store.Type) {
		if topology.Slot(key) == slot {
			fn(key)
		}
	})
}

// CLUSTER REPLICAS node-id (cluster.c: clusterCommand)
// CLUSTER SLAVES node-id (cluster.c: clusterCommand)
func (st *State) replicas(c *command.Call) error {
	n := st.view.Find(string(c.Args[2]))
	switch {
	case n == nil:
		return unknownNode(c.Args[2])
	case !n.IsMaster():
		return errNotTheMaster
	}
	all := st.view.Replicas(n.ID)
	c.Array(len(all))
	for _, replica := range all {
		c.BulkString(st.view.Text(replica, st.byTLS()))
	}
	return nil
}

// CLUSTER COUNT-FAILURE-REPORTS node-id (cluster.c: clusterNodeFailureReportsCount)
func (st *State) failureReports(c *command.Call) error {
	n := st.view.Find(string(c.Args[2]))
	if n == nil {
		return unknownNode(c.Args[2])
	}
	reports := 0
	for i := range st.peers {
		if from := st.peers[i].heard; from != nil && from.Me().IsMaster() && st.view.Find(from.Self) != nil {
			if seen := from.Find(n.ID); seen != nil && seen.Down {
				reports++
			}
		}
	}
	c.Int(int64(reports))
	return nil
}

// CLUSTER SLOTS (cluster.c: clusterReplyMultiBulkSlots)
func (st *State) slots(c *command.Call) error {
	ranges := st.view.Ranges()
	c.Array(len(ranges))
	for _, r := range ranges {
		nodes := []*topology.Node{r.Owner}
		for _, n := range st.view.Replicas(r.Owner.ID) {
			if !st.view.Failed(n) && !st.loads(n) {
				nodes = append(nodes, n)
			}
		}
		c.Array(2 + len(nodes))
		c.Int(int64(r.From))
		c.Int(int64(r.To))
		for _, n := range nodes {
			st.writeAddress(c, n)
		}
	}
	return nil
}

// writeAddress writes where a node is (cluster.c: addNodeToNodeReply).
func (st *State) writeAddress(c *command.Call, n *topology.Node) {
	by := st.Cfg.ClusterEndpointType
	c.Array(4)
	if by == "unknown-endpoint" {
		c.Null()
	} else {
		c.BulkString(st.endpoint(n))
	}
	c.Int(int64(n.ClientPort(st.byTLS())))
	c.BulkString(n.ID)
	m := c.Defer()
	fields := 0
	if by != "ip" {
		c.TextField("ip", n.Host)
		fields++
	}
	if by != "hostname" && n.Hostname != "" {
		c.TextField("hostname", n.Hostname)
		fields++
	}
	c.EndMap(m, fields)
}

// loads reports whether a replica has not all data of its master.
func (st *State) loads(n *topology.Node) bool {
	if n.ID == st.view.Self {
		return st.isLoading()
	}
	return n.Loading
}

func (st *State) isLoading() bool {
	return st.Follow.Host != "" && (!st.Follow.Known || st.Follow.Sync != nil)
}

// CLUSTER SHARDS (cluster.c: clusterReplyShards)
func (st *State) shards(c *command.Call) error {
	shards := st.view.Shards()
	c.Array(len(shards))
	for _, shard := range shards {
		c.Map(2)
		c.BulkString("slots")
		master := shard[0]
		if m := st.view.Find(master.Master); m != nil {
			master = m
		}
		ranges := st.view.Of(master.ID)
		c.Array(2 * len(ranges))
		for _, r := range ranges {
			c.Int(int64(r.From))
			c.Int(int64(r.To))
		}
		c.BulkString("nodes")
		c.Array(len(shard))
		for _, n := range shard {
			st.writeNode(c, n)
		}
	}
	return nil
}

// writeNode writes what CLUSTER SHARDS says of a node (cluster.c: addNodeDetailsToShardReply).
func (st *State) writeNode(c *command.Call, n *topology.Node) {
	offset, role, health := n.Offset, "master", "online"
	if n.ID == st.view.Self {
		offset = st.Replicas.Stream.Offset
	}
	if !n.IsMaster() {
		role = "replica"
	}
	switch {
	case st.view.Failed(n):
		health = "fail"
	case st.loads(n):
		health = "loading"
	}
	m, fields := c.Defer(), 6
	c.TextField("id", n.ID)
	for _, port := range []struct {
		name string
		n    int
	}{{"port", n.Port}, {"tls-port", n.TLSPort}} {
		if port.n != 0 {
			c.IntField(port.name, int64(port.n))
			fields++
		}
	}
	c.TextField("ip", n.Host)
	c.TextField("endpoint", st.endpoint(n))
	if n.Hostname != "" {
		c.TextField("hostname", n.Hostname)
		fields++
	}
	c.TextField("role", role)
	c.IntField("replication-offset", offset)
	c.TextField("health", health)
	c.EndMap(m, fields)
}

// CLUSTER LINKS (cluster.c: addReplyClusterLinksDescription)
// Redis has two connections for each pair of nodes.
func (st *State) links(c *command.Call) error {
	m, links := c.Defer(), 0
	for i := range st.view.Nodes {
		n := &st.view.Nodes[i]
		if n.ID == st.view.Self || n.Down {
			continue
		}
		for _, direction := range []string{"to", "from"} {
			writeLink(c.Writer, direction, n)
			links++
		}
	}
	c.EndArray(m, links)
	return nil
}

func writeLink(w *resp.Writer, direction string, n *topology.Node) {
	w.Map(6)
	w.TextField("direction", direction)
	w.TextField("node", n.ID)
	w.IntField("create-time", n.Heard)
	w.TextField("events", map[string]string{"to": "rw", "from": "r"}[direction])
	w.IntField("send-buffer-allocated", 0)
	w.IntField("send-buffer-used", 0)
}

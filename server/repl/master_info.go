package repl

import (
	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/server"
)

func (r *replicas) info(to *server.Report) {
	if r.isTop() {
		to.Fields("role", "master")
	} else {
		to.Fields("role", "slave")
		r.s.Follow.info(to)
	}
	to.Fields("connected_slaves", len(r.All))
	if r.s.Cfg.MinReplicas > 0 && r.s.Cfg.MinReplicasMaxLag > 0 {
		to.Fields("min_slaves_good_slaves", r.good)
	}
	n := 0
	for _, c := range r.All {
		rep := ReplicaOf(c)
		lag := int64(0)
		switch rep.State {
		case gotRDB:
			continue
		case Online:
			lag = r.lag(c)
		}
		to.Line("slave%d:ip=%s,port=%d,state=%s,offset=%d,lag=%d", n, rep.host(c), rep.Port, rep.State, rep.Acked, lag)
		n++
	}
	st := &r.Stream
	to.Fields("master_failover_state", r.s.Failover.State.String(), "master_replid", st.ID, "master_replid2", st.ID2,
		"master_repl_offset", st.Offset, "second_repl_offset", st.Second,
		"repl_backlog_active", server.OneIf(st.Active), "repl_backlog_size", st.Size,
		"repl_backlog_first_byte_offset", st.First(), "repl_backlog_histlen", st.Kept())
}

// ROLE (replication.c: roleCommand)
func (r *replicas) role(c *command.Call) error {
	if r.s.Follow.Host != "" {
		r.s.Follow.role(c)
		return nil
	}
	c.Array(3)
	c.BulkString("master")
	c.Int(r.Stream.Offset)
	var on []*server.Client
	for _, other := range r.All {
		if ReplicaOf(other).State == Online {
			on = append(on, other)
		}
	}
	c.Array(len(on))
	for _, other := range on {
		c.Array(3)
		c.BulkString(ReplicaOf(other).host(other))
		c.BulkInt(ReplicaOf(other).Port)
		c.BulkInt(ReplicaOf(other).Acked)
	}
	return nil
}

// backlogMem is how many bytes of the stream the backlog takes. What only slow replicas need is behindMem.
func (r *replicas) backlogMem() int { return int(r.Stream.Mem()) - r.behindMem() }

func (r *replicas) behindMem() int {
	return max(0, int(r.Stream.Mem())-int(r.Stream.Size+r.Stream.Size/16)-smallestBacklog)
}

package server

import (
	"github.com/miniredisd/miniredisd/command"
)

func (r *report) infoReplication() {
	rs := &r.s.replicas
	if rs.isTop() {
		r.fields("role", "master")
	} else {
		r.fields("role", "slave")
		r.infoReplica()
	}
	r.fields("connected_slaves", len(rs.all))
	if r.s.cfg.MinReplicas > 0 && r.s.cfg.MinReplicasMaxLag > 0 {
		r.fields("min_slaves_good_slaves", rs.good)
	}
	n := 0
	for _, c := range rs.all {
		rep := replicaOf(c)
		lag := int64(0)
		switch rep.state {
		case gotRDB:
			continue
		case online:
			lag = rs.lag(c)
		}
		r.line("slave%d:ip=%s,port=%d,state=%s,offset=%d,lag=%d", n, rep.host(c), rep.port, rep.state, rep.acked, lag)
		n++
	}
	st := &rs.stream
	r.fields("master_failover_state", r.s.failover.state.String(), "master_replid", st.ID, "master_replid2", st.ID2,
		"master_repl_offset", st.Offset, "second_repl_offset", st.Second,
		"repl_backlog_active", oneIf(st.Active), "repl_backlog_size", st.Size,
		"repl_backlog_first_byte_offset", st.First(), "repl_backlog_histlen", st.Kept())
}

// ROLE (replication.c: roleCommand)
func (s *Server) role(c *command.Call) error {
	if s.follow.host != "" {
		s.follow.role(c)
		return nil
	}
	r := &s.replicas
	c.Array(3)
	c.BulkString("master")
	c.Int(r.stream.Offset)
	var on []*client
	for _, other := range r.all {
		if replicaOf(other).state == online {
			on = append(on, other)
		}
	}
	c.Array(len(on))
	for _, other := range on {
		c.Array(3)
		c.BulkString(replicaOf(other).host(other))
		c.BulkInt(replicaOf(other).port)
		c.BulkInt(replicaOf(other).acked)
	}
	return nil
}

// memory is how many bytes the stream takes, and how many of them only slow replicas need.
func (r *replicas) memory() (all, behind int) {
	all = int(r.stream.Mem())
	return all, max(0, all-int(r.stream.Size+r.stream.Size/16)-smallestBacklog)
}

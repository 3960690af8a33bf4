package server

import (
	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/store"
)

func (r *report) infoReplication() {
	if r.s.follow.host != "" {
		r.fields("role", "slave")
		r.infoReplica()
		r.infoHistory()
		return
	}
	rs := &r.s.replicas
	r.fields("role", "master", "connected_slaves", len(rs.all))
	if r.s.cfg.MinReplicas > 0 && r.s.cfg.MinReplicasMaxLag > 0 {
		r.fields("min_slaves_good_slaves", rs.good)
	}
	n := 0
	for _, c := range rs.all {
		rep := c.replica
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
	r.fields("master_failover_state", "no-failover", "master_replid", st.ID, "master_replid2", st.ID2,
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
		if other.replica.state == online {
			on = append(on, other)
		}
	}
	c.Array(len(on))
	for _, other := range on {
		c.Array(3)
		c.BulkString(other.replica.host(other))
		c.BulkInt(other.replica.port)
		c.BulkInt(other.replica.acked)
	}
	return nil
}

// memory is how many bytes the stream takes, and how many of them only slow replicas need.
func (r *replicas) memory() (all, behind int) {
	all = int(r.stream.Mem())
	return all, max(0, all-int(r.stream.Size+r.stream.Size/16)-smallestBacklog)
}

const (
	errNoFailover      store.Error = "ERR No failover in progress."
	errFailoverTimeout store.Error = "ERR FAILOVER timeout must be greater than 0"
	errNoReplicas      store.Error = "ERR FAILOVER requires connected replicas."
	errFailoverReplica store.Error = "ERR FAILOVER is not valid when server is a replica."
	errFailover        store.Error = "ERR FAILOVER is not supported by miniredisd: " +
		"promote the replica by REPLICAOF NO ONE, and turn this server to it"
)

// FAILOVER [TO (host port [FORCE])] [ABORT] [TIMEOUT milliseconds] (replication.c: failoverCommand)
func (s *Server) failover(c *command.Call) error {
	if len(c.Args) == 2 && is(c.Args[1], "abort") {
		return errNoFailover
	}
	timeout, target, force := false, false, false
	for i := 1; i < len(c.Args); i++ {
		left := len(c.Args) - 1 - i
		switch {
		case is(c.Args[i], "timeout") && left >= 1 && !timeout:
			ms, ok := ascii.ParseInt(c.Args[i+1])
			if !ok {
				return store.ErrNotInt
			}
			if ms <= 0 {
				return errFailoverTimeout
			}
			timeout = true
			i++
		case is(c.Args[i], "to") && left >= 2 && !target:
			if _, ok := ascii.ParseInt(c.Args[i+2]); !ok {
				return store.ErrNotInt
			}
			target = true
			i += 2
		case is(c.Args[i], "force") && !force:
			force = true
		default:
			return errSyntax
		}
	}
	if s.follow.host != "" {
		return errFailoverReplica
	}
	if len(s.replicas.all) == 0 {
		return errNoReplicas
	}
	return errFailover
}

package server

import "time"

// Role is what a server is in the replication: a master with replicas, a replica, or both.
type Role struct {
	*Server
	Persist  *Files
	Replicas replicas  // repl_master*.go
	Follow   following // repl_follow*.go
	Failover Failover  // repl_failover.go
	Link     LinkHooks // repl_hooks.go
	Peers    []*Role   // all servers of the process, with this one: repl_peer.go
}

func NewRepl(s *Server, p *Files) *Role {
	rs := &Role{Server: s, Persist: p, Link: plainLink()}
	rs.Replicas = newReplicas(rs)
	rs.Follow.s, rs.Failover.S, rs.Peers = rs, rs, []*Role{rs}
	return rs
}

// Attach gives replicas, and the link to a master, their places in a pass, and tells the files of them.
func (rs *Role) Attach() {
	rs.Persist.history = historyHooks{
		place: rs.Replicas.place, restore: rs.Replicas.restore, fsynced: rs.Replicas.noteFsync,
		offset:  func() int64 { return rs.Replicas.Stream.Offset },
		haveAll: rs.Replicas.haveAll, ask: rs.Replicas.askNow, logLag: rs.Replicas.logLag,
	}
	rs.Parts.Attach(Part{Self: &rs.Failover, advance: rs.Failover.advance})
	rs.Parts.Attach(rs.Replicas.part())
	rs.Parts.Attach(rs.Follow.part())
}

func (r *replicas) part() Part {
	return Part{
		Self: r,
		Configured: func(name string) error {
			if name == "repl-backlog-size" {
				r.s.Cfg.ReplBacklogSize = max(r.s.Cfg.ReplBacklogSize, smallestBacklog)
			}
			r.Configured()
			return nil
		},
		beforeReplies: func() (ok bool) {
			r.handOver()
			return true
		},
		longestSleep: func() time.Duration { return noneIf(r.isUrgent()) },
		served:       r.answerFsynced, Left: r.left, stop: r.flush,
		Memory: r.backlogMem,
		info:   map[string]func(to *report){"replication": r.info},
		figures: map[string]func() int{
			"mem_replication_backlog": r.backlogMem, "mem_clients_slaves": r.behindMem,
		},
		debug: r.debug(),
	}
}

func (f *following) part() Part {
	return Part{
		Self: f, started: f.Start,
		advance: func() {
			if f.Host != "" && !f.s.Persist.Loads() {
				f.advance()
			}
		},
		Configured: func(string) error {
			f.configure()
			return nil
		},
		Left: func(c *Client) {
			if c.Sess.Master {
				f.lost(c)
			}
		},
		longestSleep: func() time.Duration { return noneIf(f.IsUrgent()) },
		last:         f.abortSync, stop: f.end,
		figures: map[string]func() int{"slave_expires_tracked_keys": func() int { return len(f.own.all) }},
	}
}

// noneIf is no sleep if something is urgent, else any sleep.
func noneIf(urgent bool) time.Duration {
	if urgent {
		return 0
	}
	return -1
}

package server

import "time"

// replState is what a server is in the replication: a master with replicas, a replica, or both.
type replState struct {
	*Server
	persist  *persistence
	replicas replicas     // repl_master*.go
	follow   following    // repl_follow*.go
	failover failover     // repl_failover.go
	link     linkHooks    // repl_hooks.go
	peers    []*replState // all servers of the process, with this one: repl_peer.go
}

func newRepl(s *Server, p *persistence) *replState {
	rs := &replState{Server: s, persist: p, link: plainLink()}
	rs.replicas = newReplicas(rs)
	rs.follow.s, rs.failover.s, rs.peers = rs, rs, []*replState{rs}
	return rs
}

// attach gives replicas, and the link to a master, their places in a pass, and tells the files of them.
func (rs *replState) attach() {
	rs.persist.history = historyHooks{
		place: rs.replicas.place, restore: rs.replicas.restore, fsynced: rs.replicas.noteFsync,
		offset:  func() int64 { return rs.replicas.stream.Offset },
		haveAll: rs.replicas.haveAll, ask: rs.replicas.askNow, logLag: rs.replicas.logLag,
	}
	rs.parts.attach(part{self: &rs.failover, advance: rs.failover.advance})
	rs.parts.attach(rs.replicas.part())
	rs.parts.attach(rs.follow.part())
}

func (r *replicas) part() part {
	return part{
		self: r,
		configured: func(name string) error {
			if name == "repl-backlog-size" {
				r.s.cfg.ReplBacklogSize = max(r.s.cfg.ReplBacklogSize, smallestBacklog)
			}
			r.configured()
			return nil
		},
		beforeReplies: func() (ok bool) {
			r.handOver()
			return true
		},
		longestSleep: func() time.Duration { return noneIf(r.isUrgent()) },
		served:       r.answerFsynced, left: r.left, stop: r.flush,
		memory: r.backlogMem,
		info:   map[string]func(to *report){"replication": r.info},
		figures: map[string]func() int{
			"mem_replication_backlog": r.backlogMem, "mem_clients_slaves": r.behindMem,
		},
		debug: r.debug(),
	}
}

func (f *following) part() part {
	return part{
		self: f, started: f.start,
		advance: func() {
			if f.host != "" && !f.s.persist.loads() {
				f.advance()
			}
		},
		configured: func(string) error {
			f.configure()
			return nil
		},
		left: func(c *client) {
			if c.sess.Master {
				f.lost(c)
			}
		},
		longestSleep: func() time.Duration { return noneIf(f.isUrgent()) },
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

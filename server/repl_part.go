package server

import "time"

// attachReplication gives replicas, and the link to a master, their places in a pass, and tells the files of them.
func attachReplication(s *Server) {
	s.persist.history = historyHooks{
		place: s.replicas.place, restore: s.replicas.restore, fsynced: s.replicas.noteFsync,
		offset: func() int64 { return s.replicas.stream.Offset }, loads: s.follow.configure,
		haveAll: s.replicas.haveAll, ask: s.replicas.askNow, logLag: s.replicas.logLag,
	}
	s.parts.attach(part{self: &s.failover, advance: s.failover.advance})
	s.parts.attach(s.replicas.part())
	s.parts.attach(s.follow.part())
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

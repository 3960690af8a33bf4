package server

import "time"

// replication is the place of replicas, and of a replica, in a pass.
func (s *Server) replication() part {
	s.persist.history = historyHooks{
		place: s.replicas.place, restore: s.replicas.restore, fsynced: s.replicas.noteFsync,
		offset: func() int64 { return s.replicas.stream.Offset }, loads: s.follow.configure,
		haveAll: s.replicas.haveAll, ask: s.replicas.askNow, logLag: s.replicas.logLag,
	}
	return part{
		started: s.follow.start,
		advance: func() {
			s.failover.advance()
			if s.follow.host != "" && !s.persist.loads() {
				s.follow.advance()
			}
		},
		beforeReplies: func() (ok bool) {
			s.replicas.handOver()
			return true
		},
		served: s.replicas.answerFsynced,
		longestSleep: func() time.Duration {
			if s.replicas.isUrgent() || s.follow.isUrgent() {
				return 0
			}
			return -1
		},
		memory: s.replicas.backlogMem,
		info:   map[string]func(r *report){"replication": s.replicas.info},
		debug:  s.replicas.debug(),
		figures: map[string]func() int{
			"mem_replication_backlog": s.replicas.backlogMem, "mem_clients_slaves": s.replicas.behindMem,
			"slave_expires_tracked_keys": func() int { return len(s.follow.own.all) },
		},
		configured: func(name string) error {
			if name == "repl-backlog-size" {
				s.cfg.ReplBacklogSize = max(s.cfg.ReplBacklogSize, smallestBacklog)
			}
			s.replicas.configured()
			s.follow.configure()
			return nil
		},
		left: s.forgetPeer, last: s.follow.abortSync,
		stop: func() {
			s.replicas.flush()
			s.follow.end()
		},
	}
}

// forgetPeer forgets a replica, or the master.
func (s *Server) forgetPeer(c *client) {
	s.replicas.left(c)
	if c.sess.Master {
		s.follow.lost(c)
	}
}

// Package repl is replication, both sides of it. A master feeds its replicas, and a replica follows its master.
//
//	master*.go    replicas: PSYNC, the stream, WAIT                  replication.c, the part MASTER
//	follow*.go    following: the link to a master, and its stream    replication.c, the part SLAVE
//	failover.go   FAILOVER: a master hands its role over             replication.c: failoverCommand
//	peer.go       links between servers of one process
//	hooks.go      what a lab may hold up
//
// The goroutine that executes commands owns all of it. Two other goroutines help a replica: one resolves the name of
// its master, one makes the handshake of TLS. Both post what they have found:
//
//	executePhase                                a goroutine
//	following.advance ─── ask, shakeHands ────> DNS, TLS
//	       noted <───────────── post ───────────┘
//
// In Redis both happen in the loop (replication.c: connectWithMaster), and all clients wait for a slow name server.
// internal/replication has the stream, and internal/replication/follow the conversation with a master.
package repl

import (
	"slices"
	"time"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/server/persist"
)

// Role is what a server is in the replication: a master with replicas, a replica, or both.
type Role struct {
	*server.Server
	Persist  *persist.Files
	Replicas replicas
	Follow   following
	Failover Failover
	Link     LinkHooks
	Peers    []*Role // all servers of the process, with this one: peer.go
}

// New makes a master without replicas.
func New(s *server.Server, p *persist.Files) *Role {
	rs := &Role{Server: s, Persist: p, Link: plainLink()}
	rs.Replicas = newReplicas(rs)
	rs.Follow.s, rs.Failover.S, rs.Peers = rs, rs, []*Role{rs}
	return rs
}

// Rows are the commands of replication: those of a master, those that wait for replicas, and those of a replica.
func Rows() []command.Row { return slices.Concat(replicaRows(), waitRows(), followRows()) }

// Attach gives replicas, and the link to a master, their places in a pass, and tells the files of them.
func (rs *Role) Attach() {
	rs.Persist.History = persist.HistoryHooks{
		Place: rs.Replicas.place, Restore: rs.Replicas.restore, Fsynced: rs.Replicas.noteFsync,
		Offset:  func() int64 { return rs.Replicas.Stream.Offset },
		HaveAll: rs.Replicas.haveAll, Ask: rs.Replicas.askNow, LogLag: rs.Replicas.logLag,
	}
	rs.Parts.Attach(server.Part{Self: &rs.Failover, Advance: rs.Failover.advance})
	rs.Parts.Attach(rs.Replicas.part())
	rs.Parts.Attach(rs.Follow.part())
}

func (r *replicas) part() server.Part {
	return server.Part{
		Self: r,
		Configured: func(name string) error {
			if name == "repl-backlog-size" {
				r.s.Cfg.ReplBacklogSize = max(r.s.Cfg.ReplBacklogSize, smallestBacklog)
			}
			r.Configured()
			return nil
		},
		BeforeReplies: func() (ok bool) {
			r.handOver()
			return true
		},
		LongestSleep: r.longestSleep,
		Served:       r.answerFsynced, Left: r.left, Stop: r.flush,
		Memory: r.backlogMem,
		Info:   map[string]func(to *server.Report){"replication": r.info},
		Figures: map[string]func() int{
			"mem_replication_backlog": r.backlogMem, "mem_clients_slaves": r.behindMem,
		},
		Debug: r.debug(),
	}
}

func (f *following) part() server.Part {
	return server.Part{
		Self: f, Started: f.Start,
		Advance: func() {
			if f.Host != "" && !f.s.Persist.Loads() {
				f.advance()
			}
		},
		Configured: func(string) error {
			f.configure()
			return nil
		},
		Left: func(c *server.Client) {
			if c.Sess.Master {
				f.lost(c)
			}
		},
		LongestSleep: func() time.Duration {
			if f.IsUrgent() {
				return 0
			}
			return -1
		},
		Last: f.abortSync, Stop: f.end,
		Figures: map[string]func() int{"slave_expires_tracked_keys": func() int { return len(f.own.all) }},
	}
}

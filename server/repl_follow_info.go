package server

import (
	"fmt"

	"github.com/miniredisd/miniredisd/replication"
)

// infoReplica writes what INFO says of the link to the master.
func (r *report) infoReplica() {
	f := &r.s.follow
	cfg := r.s.cfg
	status, heard := "down", int64(-1)
	if f.isUp() {
		status, heard = "up", (r.s.now-f.link.heard)/1e9
	}
	offset := f.Offset
	if f.ID == "" {
		offset = 1
	}
	r.fields("master_host", f.host, "master_port", f.port, "master_link_status", status,
		"master_last_io_seconds_ago", heard, "master_sync_in_progress", number(f.sync != nil),
		"slave_read_repl_offset", offset, "slave_repl_offset", offset)
	if y := f.sync; y != nil {
		percent, silent := 0.0, int64(0)
		if y.size > 0 {
			percent = 100 * float64(y.read) / float64(y.size)
		}
		if f.link != nil {
			silent = (r.s.now - f.link.heard) / 1e9
		}
		total := max(y.size, 0)
		r.fields("master_sync_total_bytes", total, "master_sync_read_bytes", y.read,
			"master_sync_left_bytes", total-y.read, "master_sync_perc", fmt.Sprintf("%.2f", percent),
			"master_sync_last_io_seconds_ago", silent)
	}
	if !f.isUp() {
		since := int64(-1)
		if f.downSince > 0 {
			since = r.s.persist.unix() - f.downSince
		}
		r.fields("master_link_down_since_seconds", since)
	}
	r.fields("slave_priority", cfg.ReplicaPriority, "slave_read_only", number(cfg.ReplicaReadOnly),
		"replica_announced", number(cfg.ReplicaAnnounced))
}

// infoHistory writes which data a replica has. It has no replicas and no backlog.
func (r *report) infoHistory() {
	f := &r.s.follow
	id, id2, second := r.s.replicas.stream.ID, replication.NoID, int64(-1)
	if f.ID != "" {
		id = f.ID
	}
	if f.id2 != "" {
		id2, second = f.id2, f.second
	}
	r.fields("connected_slaves", 0, "master_failover_state", "no-failover", "master_replid", id, "master_replid2", id2,
		"master_repl_offset", f.Offset, "second_repl_offset", second,
		"repl_backlog_active", 0, "repl_backlog_size", r.s.replicas.stream.Size, "repl_backlog_first_byte_offset", 0,
		"repl_backlog_histlen", 0)
}

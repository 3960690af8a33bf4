package repl

import (
	"fmt"

	"github.com/miniredisd/miniredisd/server"
)

// info writes what INFO says of the link to the master.
func (f *following) info(to *server.Report) {
	cfg := f.s.Cfg
	status, heard := "down", int64(-1)
	if f.IsUp() {
		status, heard = "up", (f.s.Now-f.Link.heard)/1e9
	}
	offset := f.s.Replicas.Stream.Offset
	if !f.Known {
		offset = 1
	}
	to.Fields("master_host", f.Host, "master_port", f.Port, "master_link_status", status,
		"master_last_io_seconds_ago", heard, "master_sync_in_progress", server.OneIf(f.Sync != nil),
		"slave_read_repl_offset", offset+f.readOnly(), "slave_repl_offset", offset)
	if y := f.Sync; y != nil {
		percent, silent := 0.0, int64(0)
		if y.size > 0 {
			percent = 100 * float64(y.read) / float64(y.size)
		}
		if f.Link != nil {
			silent = (f.s.Now - f.Link.heard) / 1e9
		}
		total := max(y.size, 0)
		to.Fields("master_sync_total_bytes", total, "master_sync_read_bytes", y.read,
			"master_sync_left_bytes", total-y.read, "master_sync_perc", fmt.Sprintf("%.2f", percent),
			"master_sync_last_io_seconds_ago", silent)
	}
	if !f.IsUp() {
		since := int64(-1)
		if f.downSince > 0 {
			since = f.s.Persist.Unix() - f.downSince
		}
		to.Fields("master_link_down_since_seconds", since)
	}
	to.Fields("slave_priority", cfg.ReplicaPriority, "slave_read_only", server.OneIf(cfg.ReplicaReadOnly),
		"replica_announced", server.OneIf(cfg.ReplicaAnnounced))
}

// readOnly is how many bytes of the stream were read and are not executed.
func (f *following) readOnly() (n int64) {
	if f.IsUp() {
		n = int64(len(f.partial) + f.Link.Talk.Unread())
	}
	return n
}

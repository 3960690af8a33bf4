package persist

import (
	"fmt"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/persist/aof"
	"github.com/miniredisd/miniredisd/server"
)

func (p *Files) info(r *server.Report) {
	b := &p.Background
	isSaving, current, percent, status := 0, int64(-1), 0.0, "ok"
	all, copied := 0, 0
	if b.snapshot != nil {
		isSaving, current = 1, p.Unix()-b.began
	}
	if snapshot := p.UnderWay(); snapshot != nil {
		if all, copied = snapshot.Keys(); all > 0 {
			percent = 100 * float64(copied) / float64(all)
		}
	}
	if p.s.Ex.Refusals.Has(command.SaveFailed) {
		status = "err"
	}
	a := &p.AOF
	isRewriting, currentRewrite, rewriteStatus := 0, int64(-1), "ok"
	if a.rewrite.snapshot != nil {
		isRewriting, currentRewrite = 1, p.Unix()-a.rewrite.began
	}
	if a.rewrite.failed {
		rewriteStatus = "err"
	}
	r.Fields("loading", server.OneIf(p.s.IsLoading()),
		"async_loading", server.OneIf(p.s.Ex.Refusals.Has(command.LoadsAside)),
		"current_cow_peak", 0, "current_cow_size", 0, "current_cow_size_age", 0,
		"current_fork_perc", fmt.Sprintf("%.2f", percent), "current_save_keys_processed", copied,
		"current_save_keys_total", all,
		"rdb_changes_since_last_save", p.s.KS.Stats.Dirty, "rdb_bgsave_in_progress", isSaving,
		"rdb_last_save_time", p.lastSave(),
		"rdb_last_bgsave_status", status, "rdb_last_bgsave_time_sec", b.Took, "rdb_current_bgsave_time_sec", current,
		"rdb_saves", p.saves, "rdb_last_cow_size", 0,
		"rdb_last_load_keys_expired", p.Expired, "rdb_last_load_keys_loaded", p.Loaded,
		"aof_enabled", server.OneIf(a.IsOn()), "aof_rewrite_in_progress", isRewriting,
		"aof_rewrite_scheduled", server.OneIf(a.rewrite.isWanted), "aof_last_rewrite_time_sec", a.rewrite.took,
		"aof_current_rewrite_time_sec", currentRewrite, "aof_last_bgrewrite_status", rewriteStatus,
		"aof_rewrites", a.rewrite.count, "aof_rewrites_consecutive_failures", a.rewrite.failures,
		"aof_last_write_status", a.writeStatus(), "aof_last_cow_size", 0,
		"module_fork_in_progress", 0, "module_fork_last_cow_size", 0)
	if a.IsOn() {
		var st aof.State
		if a.Writer != nil {
			st = a.Writer.State()
		}
		r.Fields("aof_current_size", a.size(), "aof_base_size", a.base,
			"aof_pending_rewrite", server.OneIf(a.rewrite.isWanted),
			"aof_buffer_length", st.Buffered, "aof_pending_bio_fsync", server.OneIf(st.Syncing), "aof_delayed_fsync", st.Delayed)
	}
	if p.s.IsLoading() {
		p.infoLoading(r)
	}
}

// infoLoading says how far a loading is, and how long it may still last.
func (p *Files) infoLoading(r *server.Report) {
	w := &p.Progress
	usedMemory := int64(0)
	if w.RDB != nil {
		usedMemory = w.RDB.UsedMemory
	}
	percent, left := 0.0, int64(1)
	switch {
	case w.Total > 0:
		percent, left = 100*float64(w.Read)/float64(w.Total), w.Total-w.Read
	case usedMemory > 0: // a bad guess of the length of a stream
		percent, left = min(100*float64(w.Read)/float64(usedMemory), 99.99), max(usedMemory-w.Read, 1)
	}
	eta := int64(1)
	if elapsed := p.Unix() - w.Began; elapsed > 0 {
		eta = elapsed * left / (w.Read + 1)
	}
	r.Fields("loading_start_time", w.Began, "loading_total_bytes", w.Total, "loading_rdb_used_mem", usedMemory,
		"loading_loaded_bytes", w.Read, "loading_loaded_perc", fmt.Sprintf("%.2f", percent), "loading_eta_seconds", eta)
}

func (a *appendOnly) writeStatus() string {
	if a.Writer != nil && a.Writer.Err() != nil {
		return "err"
	}
	return "ok"
}

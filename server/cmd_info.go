package server

import (
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/acl"
	"github.com/miniredisd/miniredisd/internal/version"
	"github.com/miniredisd/miniredisd/pubsub"
)

// section is a part of INFO. Sections outside the default need their name, or "all". write is nil for a section that
// is of another part of the server, or that has nothing.
type section struct {
	name, title string
	byDefault   bool
	write       func(*Admin, *Report)
}

func sections() [15]section { // an array needs no allocation
	return [15]section{
		{"server", "Server", true, (*Admin).infoServer},
		{"clients", "Clients", true, (*Admin).infoClients},
		{"memory", "Memory", true, (*Admin).infoMemory},
		{"persistence", "Persistence", true, nil},
		{"stats", "Stats", true, (*Admin).infoStats},
		{"replication", "Replication", true, nil},
		{"cpu", "CPU", true, (*Admin).infoCPU},
		{"modules", "Modules", true, nil},
		{"commandstats", "Commandstats", false, (*Admin).infoCommandStats},
		{"errorstats", "Errorstats", true, (*Admin).infoErrorStats},
		{"latencystats", "Latencystats", false, (*Admin).infoLatencyStats},
		{"cluster", "Cluster", true, (*Admin).infoCluster},
		{"keyspace", "Keyspace", true, (*Admin).infoKeyspace},
		{"miniredisd", "Miniredisd", true, (*Admin).infoMiniredisd},
		{debugSection, "Debug", false, (*Admin).infoDebug},
	}
}

// debugSection is written only by its name, not by "everything".
const debugSection = "debug"

// INFO [section ...] (server.c: infoCommand)
func (a *Admin) info(c *command.Call) error {
	r := Report{a.text[:0]}
	for _, sec := range sections() {
		if !wanted(&sec, c.Args[1:]) {
			continue
		}
		if len(r.b) > 0 {
			r.b = append(r.b, "\r\n"...)
		}
		r.b = append(append(append(r.b, "# "...), sec.title...), "\r\n"...)
		if sec.write != nil {
			sec.write(a, &r)
		}
		a.s.Parts.tell(&r, sec.name)
	}
	a.reply(c, r.b)
	return nil
}

// reply replies with a text that was written after a.text[:0], and keeps its memory for the next one.
func (a *Admin) reply(c *command.Call, text []byte) {
	if c.Proto < 3 { // a verbatim string is a bulk string then
		c.Bulk(text)
	} else {
		c.Verbatim("txt", string(text))
	}
	const kept = 64 << 10
	if cap(text) <= kept {
		a.text = text
	}
}

func wanted(sec *section, names [][]byte) bool {
	for _, name := range names {
		all := Is(name, "all") || Is(name, "everything")
		if Is(name, sec.name) || all && sec.name != debugSection || Is(name, "default") && sec.byDefault {
			return true
		}
	}
	return len(names) == 0 && sec.byDefault
}

func (a *Admin) infoServer(r *Report) {
	uptime := (a.s.Now - a.s.Figures.Start) / 1e9
	played := a.s.Ex.Table.Dialect
	r.Fields("redis_version", played.RedisVersion)
	if played.ServerName != "" {
		r.Fields("server_name", played.ServerName, played.ServerName+"_version", played.Version)
	}
	manners := &a.s.Ex.Table.Manners
	if manners.InfoStage {
		r.Fields(played.ServerName+"_release_stage", "ga")
	}
	r.Fields("miniredisd_version", version.Version,
		"redis_git_sha1", "00000000", "redis_git_dirty", 0, "redis_build_id", "0", played.ModeField, "standalone",
		"os", a.s.Figures.process.system, "arch_bits", 64, "monotonic_clock", "POSIX clock_gettime",
		"multiplexing_api", a.s.Cfg.Multiplexer,
		"atomicvar_api", "sync/atomic", "gcc_version", "0.0.0",
		"process_id", a.s.Figures.process.id, "process_supervised", a.s.Cfg.Supervised, "run_id", a.s.Figures.RunID,
		"tcp_port", a.s.Port(), "server_time_usec", a.s.Ex.Now.Wall/1e3,
		"uptime_in_seconds", uptime, "uptime_in_days", uptime/86400, "hz", a.s.Cfg.Hz, "configured_hz", a.s.Cfg.Hz,
		"lru_clock", a.s.KS.Now/1000&0xffffff, "executable", a.s.Figures.process.executable, "config_file", a.s.Cfg.File,
		"io_threads_active", OneIf(a.s.Pool.Active))
	a.s.Parts.tell(r, "shutdown_in_milliseconds")
	if manners.InfoHz {
		r.Fields("clients_hz", a.s.Cfg.Hz)
	}
	if manners.InfoZone {
		r.Fields("availability_zone", "")
	}
	for i, l := range a.s.Listeners.All {
		if l.Unix {
			r.Line("listener%d:name=unix,bind=%s", i, l.Addr)
			continue
		}
		host, port := l.Addr, ""
		if at := strings.LastIndexByte(host, ':'); at >= 0 {
			host, port = strings.Trim(host[:at], "[]"), host[at+1:]
		}
		name := "tcp"
		if l.tls {
			name = "tls"
		}
		r.Line("listener%d:name=%s,bind=%s,port=%s", i, name, host, port)
	}
}

func (a *Admin) infoClients(r *Report) {
	in, out := 0, 0
	var timed, replicas int64
	for _, c := range a.s.Clients.Order {
		room, _ := c.Buffered()
		in, out = max(in, room), max(out, c.Unsent())
		timed += OneIf(c.Timer != nil)
		replicas += OneIf(c.Sess.Replica)
	}
	keys, orGone := a.s.Ex.Waiters.Keys()
	tracking, _, _, _ := a.s.Ex.Tracking.Stats()
	r.Fields("connected_clients", int64(len(a.s.Clients.Order))-replicas, "cluster_connections", 0,
		"maxclients", a.s.Cfg.MaxClients,
		"client_recent_max_input_buffer", in, "client_recent_max_output_buffer", out,
		"blocked_clients", a.s.held, "tracking_clients", tracking, "clients_in_timeout_table", timed,
		"total_blocking_keys", keys, "total_blocking_keys_on_nokey", orGone)
}

func (a *Admin) infoDebug(r *Report) {
	r.Fields("eventloop_duration_aof_sum", 0, "eventloop_duration_cron_sum", a.s.Stats.Cron/1000,
		"eventloop_duration_max", a.s.Stats.LongestPass/1000, "eventloop_cmd_per_cycle_max", a.s.Stats.MostCommands)
}

func (a *Admin) infoStats(r *Report) {
	in, out := a.s.Stats.NetIn, a.s.Stats.NetOut
	_, keys, items, prefixes := a.s.Ex.Tracking.Stats()
	exceeded, exceedsFor := a.s.Ex.Stats.EvictionExceeded(a.s.Ex.Clock)
	r.Fields("total_connections_received", a.s.Stats.Connections, "total_commands_processed", a.s.Ex.Stats.Commands,
		"instantaneous_ops_per_sec", int64(a.s.Figures.Rates.mean(rateCommands)), "total_net_input_bytes", in,
		"total_net_output_bytes", out,
		"total_net_repl_input_bytes", 0, "total_net_repl_output_bytes", a.s.Stats.ReplicaOut)
	r.decimal("instantaneous_input_kbps", a.s.Figures.Rates.mean(rateIn)/1024, 2, "")
	r.decimal("instantaneous_output_kbps", a.s.Figures.Rates.mean(rateOut)/1024, 2, "")
	r.Fields("instantaneous_input_repl_kbps", "0.00", "instantaneous_output_repl_kbps", "0.00",
		"rejected_connections", a.s.Stats.Rejected, "sync_full", a.s.Stats.FullSyncs,
		"sync_partial_ok", a.s.Stats.PartialSyncs, "sync_partial_err", a.s.Stats.RefusedSyncs,
		"expired_keys", a.s.KS.Stats.Expired, "expired_stale_perc", "0.00", "expired_time_cap_reached_count", 0,
		"expire_cycle_cpu_milliseconds", 0,
		"evicted_keys", a.s.KS.Stats.Evicted, "evicted_clients", a.s.Stats.EvictedClients,
		"total_eviction_exceeded_time", exceeded/1e6, "current_eviction_exceeded_time", exceedsFor/1e6,
		"keyspace_hits", a.s.KS.Stats.Hits, "keyspace_misses", a.s.KS.Stats.Misses,
		"pubsub_channels", a.s.Ex.Subs.Len(pubsub.Channel), "pubsub_patterns", a.s.Ex.Subs.Len(pubsub.Pattern),
		"pubsubshard_channels", a.s.Ex.Subs.Len(pubsub.Shard),
		"latest_fork_usec", 0, "total_forks", a.s.Stats.Forks,
		"migrate_cached_sockets", len(a.Migrate),
		"slave_expires_tracked_keys", a.s.Parts.figure("slave_expires_tracked_keys"),
		"active_defrag_hits", 0, "active_defrag_misses", 0, "active_defrag_key_hits", 0, "active_defrag_key_misses", 0,
		"total_active_defrag_time", 0, "current_active_defrag_time", 0,
		"tracking_total_keys", keys, "tracking_total_items", items, "tracking_total_prefixes", prefixes,
		"unexpected_error_replies", 0, "total_error_replies", a.s.Ex.Stats.ErrorReplies, "dump_payload_sanitizations", 0,
		"total_reads_processed", a.s.Stats.Reads, "total_writes_processed", a.s.Stats.Writes,
		"io_threaded_reads_processed", a.s.Stats.ThreadedReads, "io_threaded_writes_processed", a.s.Stats.ThreadedWrites,
		"client_query_buffer_limit_disconnections", a.s.Stats.QueryLimitClosed,
		"client_output_buffer_limit_disconnections", a.s.Stats.OutputLimitClosed,
		"reply_buffer_shrinks", 0, "reply_buffer_expands", 0,
		"eventloop_cycles", a.s.Stats.Passes, "eventloop_duration_sum", a.s.Stats.Busy/1000,
		"eventloop_duration_cmd_sum", a.s.Stats.Executing/1000,
		"instantaneous_eventloop_cycles_per_sec", int64(a.s.Figures.Rates.mean(rateCycles)),
		"instantaneous_eventloop_duration_usec", int64(a.s.Figures.Rates.mean(rateBusy)/1000),
		"acl_access_denied_auth", a.s.Ex.Stats.Denied[acl.DeniedAuth],
		"acl_access_denied_cmd", a.s.Ex.Stats.Denied[acl.DeniedCommand],
		"acl_access_denied_key", a.s.Ex.Stats.Denied[acl.DeniedKey],
		"acl_access_denied_channel", a.s.Ex.Stats.Denied[acl.DeniedChannel])
	if a.s.Ex.Table.Manners.InfoThreads { // jobs that threads have here no part in
		r.Fields("io_threaded_freed_objects", 0, "io_threaded_poll_processed", 0,
			"io_threaded_total_prefetch_batches", 0, "io_threaded_total_prefetch_entries", 0)
	}
}

// infoCPU reports the CPU time of the process also for the main thread. Go moves goroutines between
// threads, so there is no figure for this one.
func (*Admin) infoCPU(r *Report) {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u) // fails only for a bad argument
	sys := float64(u.Stime.Sec) + float64(u.Stime.Usec)/1e6
	user := float64(u.Utime.Sec) + float64(u.Utime.Usec)/1e6
	r.decimal("used_cpu_sys", sys, 6, "")
	r.decimal("used_cpu_user", user, 6, "")
	r.Fields("used_cpu_sys_children", "0.000000", "used_cpu_user_children", "0.000000")
	r.decimal("used_cpu_sys_main_thread", sys, 6, "")
	r.decimal("used_cpu_user_main_thread", user, 6, "")
}

// eachCommand calls fn for each command and subcommand.
func (a *Admin) eachCommand(fn func(*command.Command)) {
	for _, cmd := range a.s.Ex.Table.All() {
		fn(cmd)
		for _, sub := range cmd.SubCommands() {
			fn(sub)
		}
	}
}

func (a *Admin) infoCommandStats(r *Report) {
	a.eachCommand(func(cmd *command.Command) {
		if n := a.s.Ex.Table.Calls(cmd); n.Count+n.Rejected+n.Failed > 0 {
			r.Line("cmdstat_%s:calls=%d,usec=%d,usec_per_call=%.2f,rejected_calls=%d,failed_calls=%d",
				cmd.Name, n.Count, n.Nanos/1000, float64(n.Nanos)/1000/math.Max(float64(n.Count), 1), n.Rejected, n.Failed)
		}
	})
}

func (a *Admin) infoErrorStats(r *Report) {
	for _, code := range slices.Sorted(maps.Keys(a.s.Ex.Stats.Errors)) {
		r.Line("errorstat_%s:count=%d", code, a.s.Ex.Stats.Errors[code])
	}
}

func (a *Admin) infoLatencyStats(r *Report) {
	if len(a.s.Cfg.LatencyPercentiles) == 0 {
		return
	}
	a.eachCommand(func(cmd *command.Command) {
		latency := a.s.Ex.Table.Calls(cmd).Latency
		if latency == nil {
			return
		}
		var parts []string
		for _, p := range a.s.Cfg.LatencyPercentiles {
			parts = append(parts, fmt.Sprintf("p%g=%.3f", p, float64(latency.Percentile(p))/1000))
		}
		r.Line("latency_percentiles_usec_%s:%s", cmd.Name, strings.Join(parts, ","))
	})
}

func (*Admin) infoCluster(r *Report) { r.Fields("cluster_enabled", 0) }

func (a *Admin) infoKeyspace(r *Report) {
	for _, db := range a.s.KS.DBs {
		if db.Len() > 0 {
			r.Line("db%d:keys=%d,expires=%d,avg_ttl=%d", db.ID, db.Len(), db.Expires(), db.AverageTTL())
		}
	}
}

// infoMiniredisd writes a section of our own. Tools skip unknown sections.
func (a *Admin) infoMiniredisd(r *Report) {
	lifetime := max(a.s.Now-a.s.Figures.Start, 1)
	clock := "system"
	if a.s.Cfg.Lab {
		clock = "lab"
	}
	loop := "one goroutine: read, execute, write"
	if a.s.Queue != nil {
		loop = "two goroutines: read, write; execute"
	}
	r.Fields("go", runtime.Version(), "loop", loop, "clock", clock, "seed", a.s.Cfg.Seed,
		"passes", a.s.Stats.Passes, "sockets_read", a.s.Stats.Reads, "sockets_written", a.s.Stats.Writes)
	r.decimal("commands_per_pass", float64(a.s.Ex.Stats.Commands)/float64(max(a.s.Stats.Passes, 1)), 2, "")
	r.decimal("epoll_wait_share", 1-math.Min(float64(a.s.Stats.Busy)/float64(lifetime), 1), 4, "")
	if id := threadID(); id != 0 && a.s.Cfg.IOThreads > 1 { // with one thread, the runtime may move this goroutine
		r.Fields("executor_thread_id", id)
	}
}

package admin

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
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/internal/version"
	"github.com/miniredisd/miniredisd/pubsub"
	"github.com/miniredisd/miniredisd/server"
)

// section is a part of INFO. Sections outside the default need their name, or "all". write is nil for a section that
// is of another part of the server, or that has nothing.
type section struct {
	name, title string
	byDefault   bool
	write       func(*State, *server.Report)
}

func sections() [15]section { // an array needs no allocation
	return [15]section{
		{"server", "Server", true, (*State).infoServer},
		{"clients", "Clients", true, (*State).infoClients},
		{"memory", "Memory", true, (*State).infoMemory},
		{"persistence", "Persistence", true, nil},
		{"stats", "Stats", true, (*State).infoStats},
		{"replication", "Replication", true, nil},
		{"cpu", "CPU", true, (*State).infoCPU},
		{"modules", "Modules", true, nil},
		{"commandstats", "Commandstats", false, (*State).infoCommandStats},
		{"errorstats", "Errorstats", true, (*State).infoErrorStats},
		{"latencystats", "Latencystats", false, (*State).infoLatencyStats},
		{"cluster", "Cluster", true, (*State).infoCluster},
		{"keyspace", "Keyspace", true, (*State).infoKeyspace},
		{"miniredisd", "Miniredisd", true, (*State).infoMiniredisd},
		{debugSection, "Debug", false, (*State).infoDebug},
	}
}

// debugSection is written only by its name, not by "everything".
const debugSection = "debug"

// INFO [section ...] (server.c: infoCommand)
func (a *State) info(c *command.Call) error {
	r := server.Report{B: a.text[:0]}
	for _, sec := range sections() {
		if wanted(&sec, c.Args[1:]) {
			a.section(&r, &sec)
		}
	}
	a.reply(c, r.B)
	return nil
}

func (a *State) section(r *server.Report, sec *section) {
	if len(r.B) > 0 {
		r.B = append(r.B, "\r\n"...)
	}
	r.B = append(append(append(r.B, "# "...), sec.title...), "\r\n"...)
	if sec.write != nil {
		sec.write(a, r)
	}
	a.s.Parts.Tell(r, sec.name)
}

// Section writes a section of INFO for another server than a database.
func (a *State) Section(r *server.Report, name string) {
	for _, sec := range sections() {
		if sec.name == name {
			a.section(r, &sec)
		}
	}
}

// reply replies with a text that was written after a.text[:0], and keeps its memory for the next one.
func (a *State) reply(c *command.Call, text []byte) {
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
		all := ascii.EqualFold(name, "all") || ascii.EqualFold(name, "everything")
		byDefault := ascii.EqualFold(name, "default") && sec.byDefault
		if ascii.EqualFold(name, sec.name) || all && sec.name != debugSection || byDefault {
			return true
		}
	}
	return len(names) == 0 && sec.byDefault
}

func (a *State) infoServer(r *server.Report) {
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
		"redis_git_sha1", "00000000", "redis_git_dirty", 0, "redis_build_id", "0", played.ModeField, a.s.Ex.Mode(),
		"os", a.s.Figures.Process.System, "arch_bits", 64, "monotonic_clock", "POSIX clock_gettime",
		"multiplexing_api", a.s.Cfg.Multiplexer,
		"atomicvar_api", "sync/atomic", "gcc_version", "0.0.0",
		"process_id", a.s.Figures.Process.ID, "process_supervised", a.s.Cfg.Supervised, "run_id", a.s.Figures.RunID,
		"tcp_port", a.s.Port(), "server_time_usec", a.s.Ex.Now.Wall/1e3,
		"uptime_in_seconds", uptime, "uptime_in_days", uptime/86400, "hz", a.s.Cfg.Hz, "configured_hz", a.s.Cfg.Hz,
		"lru_clock", a.s.KS.Now/1000&0xffffff, "executable", a.s.Figures.Process.Executable, "config_file", a.s.Cfg.File,
		"io_threads_active", server.OneIf(a.s.Pool.Active))
	a.s.Parts.Tell(r, "shutdown_in_milliseconds")
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
		if l.TLS {
			name = "tls"
		}
		r.Line("listener%d:name=%s,bind=%s,port=%s", i, name, host, port)
	}
}

func (a *State) infoClients(r *server.Report) {
	in, out := 0, 0
	var timed, replicas int64
	for _, c := range a.s.Clients.Order {
		room, _ := c.Buffered()
		in, out = max(in, room), max(out, c.Unsent())
		timed += server.OneIf(c.Timer != nil)
		replicas += server.OneIf(c.Sess.Replica)
	}
	keys, orGone := a.s.Ex.Waiters.Keys()
	tracking, _, _, _ := a.s.Ex.Tracking.Stats()
	r.Fields("connected_clients", int64(len(a.s.Clients.Order))-replicas, "cluster_connections", 0,
		"maxclients", a.s.Cfg.MaxClients,
		"client_recent_max_input_buffer", in, "client_recent_max_output_buffer", out,
		"blocked_clients", a.s.Held, "tracking_clients", tracking, "clients_in_timeout_table", timed,
		"total_blocking_keys", keys, "total_blocking_keys_on_nokey", orGone)
}

func (a *State) infoDebug(r *server.Report) {
	r.Fields("eventloop_duration_aof_sum", 0, "eventloop_duration_cron_sum", a.s.Stats.Cron/1000,
		"eventloop_duration_max", a.s.Stats.LongestPass/1000, "eventloop_cmd_per_cycle_max", a.s.Stats.MostCommands)
}

func (a *State) infoStats(r *server.Report) {
	in, out := a.s.Stats.NetIn, a.s.Stats.NetOut
	_, keys, items, prefixes := a.s.Ex.Tracking.Stats()
	exceeded, exceedsFor := a.s.Ex.Stats.EvictionExceeded(a.s.Ex.Clock)
	r.Fields("total_connections_received", a.s.Stats.Connections, "total_commands_processed", a.s.Ex.Stats.Commands,
		"instantaneous_ops_per_sec", int64(a.s.Figures.Rates.Mean(server.RateCommands)), "total_net_input_bytes", in,
		"total_net_output_bytes", out,
		"total_net_repl_input_bytes", 0, "total_net_repl_output_bytes", a.s.Stats.ReplicaOut)
	r.Decimal("instantaneous_input_kbps", a.s.Figures.Rates.Mean(server.RateIn)/1024, 2, "")
	r.Decimal("instantaneous_output_kbps", a.s.Figures.Rates.Mean(server.RateOut)/1024, 2, "")
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
		"slave_expires_tracked_keys", a.s.Parts.Figure("slave_expires_tracked_keys"),
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
		"instantaneous_eventloop_cycles_per_sec", int64(a.s.Figures.Rates.Mean(server.RateCycles)),
		"instantaneous_eventloop_duration_usec", int64(a.s.Figures.Rates.Mean(server.RateBusy)/1000),
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
func (*State) infoCPU(r *server.Report) {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u) // fails only for a bad argument
	sys := float64(u.Stime.Sec) + float64(u.Stime.Usec)/1e6
	user := float64(u.Utime.Sec) + float64(u.Utime.Usec)/1e6
	r.Decimal("used_cpu_sys", sys, 6, "")
	r.Decimal("used_cpu_user", user, 6, "")
	r.Fields("used_cpu_sys_children", "0.000000", "used_cpu_user_children", "0.000000")
	r.Decimal("used_cpu_sys_main_thread", sys, 6, "")
	r.Decimal("used_cpu_user_main_thread", user, 6, "")
}

// eachCommand calls fn for each command and subcommand.
func (a *State) eachCommand(fn func(*command.Command)) {
	for _, cmd := range a.s.Ex.Table.All() {
		fn(cmd)
		for _, sub := range cmd.SubCommands() {
			fn(sub)
		}
	}
}

func (a *State) infoCommandStats(r *server.Report) {
	a.eachCommand(func(cmd *command.Command) {
		if n := a.s.Ex.Table.Calls(cmd); n.Count+n.Rejected+n.Failed > 0 {
			r.Line("cmdstat_%s:calls=%d,usec=%d,usec_per_call=%.2f,rejected_calls=%d,failed_calls=%d",
				cmd.Name, n.Count, n.Nanos/1000, float64(n.Nanos)/1000/math.Max(float64(n.Count), 1), n.Rejected, n.Failed)
		}
	})
}

func (a *State) infoErrorStats(r *server.Report) {
	for _, code := range slices.Sorted(maps.Keys(a.s.Ex.Stats.Errors)) {
		r.Line("errorstat_%s:count=%d", code, a.s.Ex.Stats.Errors[code])
	}
}

func (a *State) infoLatencyStats(r *server.Report) {
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

func (a *State) infoCluster(r *server.Report) {
	r.Fields("cluster_enabled", server.OneIf(a.s.Cfg.ClusterEnabled))
}

func (a *State) infoKeyspace(r *server.Report) {
	for _, db := range a.s.KS.DBs {
		if db.Len() > 0 {
			r.Line("db%d:keys=%d,expires=%d,avg_ttl=%d", db.ID, db.Len(), db.Expires(), db.AverageTTL())
		}
	}
}

// infoMiniredisd writes a section of our own. Tools skip unknown sections.
func (a *State) infoMiniredisd(r *server.Report) {
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
	r.Decimal("commands_per_pass", float64(a.s.Ex.Stats.Commands)/float64(max(a.s.Stats.Passes, 1)), 2, "")
	r.Decimal("epoll_wait_share", 1-math.Min(float64(a.s.Stats.Busy)/float64(lifetime), 1), 4, "")
	if id := server.ThreadID(); id != 0 && a.s.Cfg.IOThreads > 1 { // with one thread, the runtime may move this goroutine
		r.Fields("executor_thread_id", id)
	}
}

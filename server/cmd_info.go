package server

import (
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/acl"
	"github.com/miniredisd/miniredisd/internal/version"
	"github.com/miniredisd/miniredisd/pubsub"
)

// report is the reply of INFO while it is written. Tools look for "name:" at the beginning of a
// line and for \r at its end. redis-cli --stat does so without checking.
type report struct {
	s *Server
	b []byte
}

func (r *report) line(format string, args ...any) {
	r.b = fmt.Appendf(r.b, format+"\r\n", args...)
}

// fields writes pairs of name and value. A value is a string, an int, an int64 or a uint64. Package
// fmt would take longer than all the rest of INFO, and would move every value to the heap.
func (r *report) fields(pairs ...any) {
	for i := 0; i+1 < len(pairs); i += 2 {
		r.b = append(append(r.b, pairs[i].(string)...), ':')
		switch v := pairs[i+1].(type) {
		case int:
			r.b = strconv.AppendInt(r.b, int64(v), 10)
		case int64:
			r.b = strconv.AppendInt(r.b, v, 10)
		case uint64:
			r.b = strconv.AppendUint(r.b, v, 10)
		default:
			r.b = append(r.b, v.(string)...)
		}
		r.b = append(r.b, "\r\n"...)
	}
}

// decimal writes a number with that many decimals, and a unit behind it.
func (r *report) decimal(name string, v float64, decimals int, unit string) {
	r.b = strconv.AppendFloat(append(append(r.b, name...), ':'), v, 'f', decimals, 64)
	r.b = append(append(r.b, unit...), "\r\n"...)
}

// memory writes a number of bytes, and a second time in a form for people.
func (r *report) memory(name string, n int) {
	r.fields(name, n)
	r.human(name, n)
}

// human writes a number of bytes as server.c: bytesToHuman does.
func (r *report) human(name string, n int) {
	r.b = append(append(r.b, name...), "_human:"...)
	units := "KMGTP"
	if n < 1024 {
		r.b = append(strconv.AppendInt(r.b, int64(n), 10), "B\r\n"...)
		return
	}
	f := float64(n) / 1024
	for len(units) > 1 && f >= 1024 {
		f /= 1024
		units = units[1:]
	}
	r.b = append(strconv.AppendFloat(r.b, f, 'f', 2, 64), units[0], '\r', '\n')
}

// section is a part of INFO. Sections outside the default need their name, or "all".
type section struct {
	name, title string
	byDefault   bool
	write       func(*report)
}

func sections() [15]section { // an array needs no allocation
	return [15]section{
		{"server", "Server", true, (*report).infoServer},
		{"clients", "Clients", true, (*report).infoClients},
		{"memory", "Memory", true, (*report).infoMemory},
		{"persistence", "Persistence", true, (*report).infoPersistence},
		{"stats", "Stats", true, (*report).infoStats},
		{"replication", "Replication", true, (*report).infoReplication},
		{"cpu", "CPU", true, infoCPU},
		{"modules", "Modules", true, func(*report) {}},
		{"commandstats", "Commandstats", false, (*report).infoCommandStats},
		{"errorstats", "Errorstats", true, (*report).infoErrorStats},
		{"latencystats", "Latencystats", false, (*report).infoLatencyStats},
		{"cluster", "Cluster", true, func(r *report) { r.fields("cluster_enabled", 0) }},
		{"keyspace", "Keyspace", true, (*report).infoKeyspace},
		{"miniredisd", "Miniredisd", true, (*report).infoMiniredisd},
		{debugSection, "Debug", false, (*report).infoDebug},
	}
}

// debugSection is written only by its name, not by "everything".
const debugSection = "debug"

// INFO [section ...] (server.c: infoCommand)
func (a *admin) info(c *command.Call) error {
	r := report{s: a.s, b: a.s.figures.report[:0]}
	for _, sec := range sections() {
		if !wanted(&sec, c.Args[1:]) {
			continue
		}
		if len(r.b) > 0 {
			r.b = append(r.b, "\r\n"...)
		}
		r.b = append(append(append(r.b, "# "...), sec.title...), "\r\n"...)
		sec.write(&r)
	}
	a.s.figures.reply(c, r.b)
	return nil
}

// reply replies with a text that was written behind s.report[:0], and keeps its memory for the
// next one.
func (f *figures) reply(c *command.Call, text []byte) {
	if c.Proto < 3 { // a verbatim string is a bulk string then
		c.Bulk(text)
	} else {
		c.Verbatim("txt", string(text))
	}
	const kept = 64 << 10
	if cap(text) <= kept {
		f.report = text
	}
}

func wanted(sec *section, names [][]byte) bool {
	for _, name := range names {
		all := is(name, "all") || is(name, "everything")
		if is(name, sec.name) || all && sec.name != debugSection || is(name, "default") && sec.byDefault {
			return true
		}
	}
	return len(names) == 0 && sec.byDefault
}

func (r *report) infoServer() {
	uptime := (r.s.now - r.s.figures.start) / 1e9
	active := 0
	if r.s.pool.Active {
		active = 1
	}
	played := r.s.ex.Table.Dialect
	r.fields("redis_version", played.RedisVersion)
	if played.ServerName != "" {
		r.fields("server_name", played.ServerName, played.ServerName+"_version", played.Version)
	}
	manners := &r.s.ex.Table.Manners
	if manners.InfoStage {
		r.fields(played.ServerName+"_release_stage", "ga")
	}
	r.fields("miniredisd_version", version.Version,
		"redis_git_sha1", "00000000", "redis_git_dirty", 0, "redis_build_id", "0", played.ModeField, "standalone",
		"os", r.s.figures.process.system, "arch_bits", 64, "monotonic_clock", "POSIX clock_gettime",
		"multiplexing_api", r.s.cfg.Multiplexer,
		"atomicvar_api", "sync/atomic", "gcc_version", "0.0.0",
		"process_id", r.s.figures.process.id, "process_supervised", r.s.cfg.Supervised, "run_id", r.s.figures.runID,
		"tcp_port", r.s.Port(), "server_time_usec", r.s.ex.Now.Wall/1e3,
		"uptime_in_seconds", uptime, "uptime_in_days", uptime/86400, "hz", r.s.cfg.Hz, "configured_hz", r.s.cfg.Hz,
		"lru_clock", r.s.ks.Now/1000&0xffffff, "executable", r.s.figures.process.executable, "config_file", r.s.cfg.File,
		"io_threads_active", active)
	if r.s.stopping.on {
		r.fields("shutdown_in_milliseconds", (r.s.stopping.until-r.s.now)/1e6)
	}
	if manners.InfoHz {
		r.fields("clients_hz", r.s.cfg.Hz)
	}
	if manners.InfoZone {
		r.fields("availability_zone", "")
	}
	for i, l := range r.s.listeners.all {
		if l.unix {
			r.line("listener%d:name=unix,bind=%s", i, l.addr)
			continue
		}
		host, port := l.addr, ""
		if at := strings.LastIndexByte(host, ':'); at >= 0 {
			host, port = strings.Trim(host[:at], "[]"), host[at+1:]
		}
		name := "tcp"
		if l.tls {
			name = "tls"
		}
		r.line("listener%d:name=%s,bind=%s,port=%s", i, name, host, port)
	}
}

func (r *report) infoClients() {
	in, out, timed := 0, 0, 0
	for _, c := range r.s.clients.order {
		room, _ := c.Buffered()
		in, out = max(in, room), max(out, c.Unsent())
		if c.timer != nil {
			timed++
		}
	}
	keys, orGone := r.s.ex.Waiters.Keys()
	tracking, _, _, _ := r.s.ex.Tracking.Stats()
	r.fields("connected_clients", len(r.s.clients.order)-len(r.s.replicas.all), "cluster_connections", 0,
		"maxclients", r.s.cfg.MaxClients,
		"client_recent_max_input_buffer", in, "client_recent_max_output_buffer", out,
		"blocked_clients", r.s.held, "tracking_clients", tracking, "clients_in_timeout_table", timed,
		"total_blocking_keys", keys, "total_blocking_keys_on_nokey", orGone)
}

func (r *report) infoDebug() {
	r.fields("eventloop_duration_aof_sum", 0, "eventloop_duration_cron_sum", r.s.stats.Cron/1000,
		"eventloop_duration_max", r.s.stats.LongestPass/1000, "eventloop_cmd_per_cycle_max", r.s.stats.MostCommands)
}

func (r *report) infoStats() {
	in, out := r.s.stats.NetIn, r.s.stats.NetOut
	_, keys, items, prefixes := r.s.ex.Tracking.Stats()
	exceeded, exceedsFor := r.s.ex.Stats.EvictionExceeded(r.s.ex.Clock)
	r.fields("total_connections_received", r.s.stats.Connections, "total_commands_processed", r.s.ex.Stats.Commands,
		"instantaneous_ops_per_sec", int64(r.s.figures.rates.mean(rateCommands)), "total_net_input_bytes", in,
		"total_net_output_bytes", out,
		"total_net_repl_input_bytes", 0, "total_net_repl_output_bytes", r.s.stats.ReplicaOut)
	r.decimal("instantaneous_input_kbps", r.s.figures.rates.mean(rateIn)/1024, 2, "")
	r.decimal("instantaneous_output_kbps", r.s.figures.rates.mean(rateOut)/1024, 2, "")
	r.fields("instantaneous_input_repl_kbps", "0.00", "instantaneous_output_repl_kbps", "0.00",
		"rejected_connections", r.s.stats.Rejected, "sync_full", r.s.replicas.full,
		"sync_partial_ok", r.s.replicas.partial, "sync_partial_err", r.s.replicas.refused,
		"expired_keys", r.s.ks.Stats.Expired, "expired_stale_perc", "0.00", "expired_time_cap_reached_count", 0,
		"expire_cycle_cpu_milliseconds", 0,
		"evicted_keys", r.s.ks.Stats.Evicted, "evicted_clients", r.s.stats.EvictedClients,
		"total_eviction_exceeded_time", exceeded/1e6, "current_eviction_exceeded_time", exceedsFor/1e6,
		"keyspace_hits", r.s.ks.Stats.Hits, "keyspace_misses", r.s.ks.Stats.Misses,
		"pubsub_channels", r.s.ex.Subs.Len(pubsub.Channel), "pubsub_patterns", r.s.ex.Subs.Len(pubsub.Pattern),
		"pubsubshard_channels", r.s.ex.Subs.Len(pubsub.Shard),
		"latest_fork_usec", 0, "total_forks", r.s.persist.forks,
		"migrate_cached_sockets", len(r.s.admin.migrate), "slave_expires_tracked_keys", len(r.s.follow.own.all),
		"active_defrag_hits", 0, "active_defrag_misses", 0, "active_defrag_key_hits", 0, "active_defrag_key_misses", 0,
		"total_active_defrag_time", 0, "current_active_defrag_time", 0,
		"tracking_total_keys", keys, "tracking_total_items", items, "tracking_total_prefixes", prefixes,
		"unexpected_error_replies", 0, "total_error_replies", r.s.ex.Stats.ErrorReplies, "dump_payload_sanitizations", 0,
		"total_reads_processed", r.s.stats.Reads, "total_writes_processed", r.s.stats.Writes,
		"io_threaded_reads_processed", r.s.stats.ThreadedReads, "io_threaded_writes_processed", r.s.stats.ThreadedWrites,
		"client_query_buffer_limit_disconnections", r.s.stats.QueryLimitClosed,
		"client_output_buffer_limit_disconnections", r.s.stats.OutputLimitClosed,
		"reply_buffer_shrinks", 0, "reply_buffer_expands", 0,
		"eventloop_cycles", r.s.stats.Passes, "eventloop_duration_sum", r.s.stats.Busy/1000,
		"eventloop_duration_cmd_sum", r.s.stats.Executing/1000,
		"instantaneous_eventloop_cycles_per_sec", int64(r.s.figures.rates.mean(rateCycles)),
		"instantaneous_eventloop_duration_usec", int64(r.s.figures.rates.mean(rateBusy)/1000),
		"acl_access_denied_auth", r.s.ex.Stats.Denied[acl.DeniedAuth],
		"acl_access_denied_cmd", r.s.ex.Stats.Denied[acl.DeniedCommand],
		"acl_access_denied_key", r.s.ex.Stats.Denied[acl.DeniedKey],
		"acl_access_denied_channel", r.s.ex.Stats.Denied[acl.DeniedChannel])
	if r.s.ex.Table.Manners.InfoThreads { // jobs that threads have here no part in
		r.fields("io_threaded_freed_objects", 0, "io_threaded_poll_processed", 0,
			"io_threaded_total_prefetch_batches", 0, "io_threaded_total_prefetch_entries", 0)
	}
}

// infoCPU reports the CPU time of the process also for the main thread. Go moves goroutines between
// threads, so there is no figure for this one.
func infoCPU(r *report) {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u) // fails only for a bad argument
	sys := float64(u.Stime.Sec) + float64(u.Stime.Usec)/1e6
	user := float64(u.Utime.Sec) + float64(u.Utime.Usec)/1e6
	r.decimal("used_cpu_sys", sys, 6, "")
	r.decimal("used_cpu_user", user, 6, "")
	r.fields("used_cpu_sys_children", "0.000000", "used_cpu_user_children", "0.000000")
	r.decimal("used_cpu_sys_main_thread", sys, 6, "")
	r.decimal("used_cpu_user_main_thread", user, 6, "")
}

// eachCommand calls fn for each command and subcommand.
func (r *report) eachCommand(fn func(*command.Command)) {
	for _, cmd := range r.s.ex.Table.All() {
		fn(cmd)
		for _, sub := range cmd.SubCommands() {
			fn(sub)
		}
	}
}

func (r *report) infoCommandStats() {
	r.eachCommand(func(cmd *command.Command) {
		if n := r.s.ex.Table.Calls(cmd); n.Count+n.Rejected+n.Failed > 0 {
			r.line("cmdstat_%s:calls=%d,usec=%d,usec_per_call=%.2f,rejected_calls=%d,failed_calls=%d",
				cmd.Name, n.Count, n.Nanos/1000, float64(n.Nanos)/1000/math.Max(float64(n.Count), 1), n.Rejected, n.Failed)
		}
	})
}

func (r *report) infoErrorStats() {
	for _, code := range slices.Sorted(maps.Keys(r.s.ex.Errors)) {
		r.line("errorstat_%s:count=%d", code, r.s.ex.Errors[code])
	}
}

func (r *report) infoLatencyStats() {
	if len(r.s.cfg.LatencyPercentiles) == 0 {
		return
	}
	r.eachCommand(func(cmd *command.Command) {
		latency := r.s.ex.Table.Calls(cmd).Latency
		if latency == nil {
			return
		}
		var parts []string
		for _, p := range r.s.cfg.LatencyPercentiles {
			parts = append(parts, fmt.Sprintf("p%g=%.3f", p, float64(latency.Percentile(p))/1000))
		}
		r.line("latency_percentiles_usec_%s:%s", cmd.Name, strings.Join(parts, ","))
	})
}

func (r *report) infoKeyspace() {
	for _, db := range r.s.ks.DBs {
		if db.Len() > 0 {
			r.line("db%d:keys=%d,expires=%d,avg_ttl=%d", db.ID, db.Len(), db.Expires(), db.AverageTTL())
		}
	}
}

// infoMiniredisd writes a section of our own. Tools skip unknown sections.
func (r *report) infoMiniredisd() {
	lifetime := max(r.s.now-r.s.figures.start, 1)
	clock := "system"
	if r.s.lab != nil {
		clock = "lab"
	}
	loop := "one goroutine: read, execute, write"
	if r.s.queue != nil {
		loop = "two goroutines: read, write; execute"
	}
	r.fields("go", runtime.Version(), "loop", loop, "clock", clock, "seed", r.s.cfg.Seed,
		"passes", r.s.stats.Passes, "sockets_read", r.s.stats.Reads, "sockets_written", r.s.stats.Writes)
	r.decimal("commands_per_pass", float64(r.s.ex.Stats.Commands)/float64(max(r.s.stats.Passes, 1)), 2, "")
	r.decimal("epoll_wait_share", 1-math.Min(float64(r.s.stats.Busy)/float64(lifetime), 1), 4, "")
	if id := threadID(); id != 0 && r.s.cfg.IOThreads > 1 { // with one thread, the runtime may move this goroutine
		r.fields("executor_thread_id", id)
	}
}

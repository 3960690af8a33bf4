package config

import (
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/internal/dialect"
)

// newer lists directives of servers newer than Redis 7.2: since when, and their names with their defaults. A server
// whose dialect has one accepts it, with a warning. None has an effect here: working has those that do. CONFIG SET
// refuses those with an exclamation mark.
//
//	a=yes         yes or no
//	a=x|y         one of these words; the first one is the default
//	a=1:0..9      an integer from 0 to 9; without the numbers any integer
//	a=text        any text
const newer = `
8.6.0,9.1.0: tls-auth-clients-user=off
8.8.0,: slowlog-entry-max-argc=32 slowlog-entry-max-string-len=128
,8.0.0: aof-rewrite-cpulist!= availability-zone= bgsave-cpulist!= bio-cpulist!= server-cpulist!= unixsocketgroup!=
,8.0.0: cluster-announce-client-ipv4= cluster-announce-client-ipv6= cluster-blacklist-ttl=60:
,8.0.0: cluster-slot-stats-enabled=no dual-channel-replication-enabled=no events-per-io-thread=2:0..2147483647
,8.0.0: extended-redis-compatibility=no hide-user-data-from-log=yes prefetch-batch-max-size=16:0..128
,8.0.0: max-new-connections-per-cycle=10:1..1000 max-new-tls-connections-per-cycle=1:1..1000 primaryauth= primaryuser=
,8.1.0: log-format=legacy|logfmt|json log-timestamp-format=legacy|iso8601|milliseconds
,9.1.0: active-defrag-cycle-us=500:0..100000 cluster-announce-client-port=0:0..65535
,9.1.0: cluster-announce-client-tls-port=0:0..65535 cluster-config-save-behavior=sync|best-effort
,9.1.0: cluster-databases!=1 cluster-manual-failover-timeout=5000:1..2147483647
,9.1.0: cluster-slot-migration-log-max-len=1000:0..9223372036854775807
,9.1.0: hash-seed!= import-mode=no mptcp!=no rdb-version-check=strict|relaxed
,9.1.0: rdma-bind= rdma-completion-vector!=-1 rdma-port=0:0..65535 rdma-rx-size!=1048576 repl-mptcp!=no
,9.1.0: slot-migration-max-failover-repl-bytes=0 tls-auto-reload-interval=0:0..2147483647
,9.2.0: bgsave-default-method= forkless-infrastructure-enabled= maxclients-reserved= maxmemory-scripts=
,9.2.0: priority-subnets= repl-throttling-enabled=
`

// newRow is a directive of newer servers that has an effect.
type newRow struct {
	since dialect.Since
	row
}

// working are the directives of newer servers that have an effect. Two are other names of directives of the slow log.
func working() []newRow {
	return []newRow{
		{",8.1.0", row{name: "commandlog-execution-slower-than", kind: integer, def: "10000", min: -1, max: maxLong,
			field: func(c *Config) any { return &c.SlowlogSlowerThan }}},
		{",8.1.0", row{name: "commandlog-slow-execution-max-len", kind: integer, def: "128", max: maxLong,
			field: func(c *Config) any { return &c.SlowlogMaxLen }}},
		{",8.1.0", row{name: "commandlog-request-larger-than", kind: integer, def: "1048576", min: -1, max: maxLong,
			field: func(c *Config) any { return &c.CommandlogRequestLargerThan }}},
		{",8.1.0", row{name: "commandlog-large-request-max-len", kind: integer, def: "128", max: maxLong,
			field: func(c *Config) any { return &c.CommandlogLargeRequestMaxLen }}},
		{",8.1.0", row{name: "commandlog-reply-larger-than", kind: integer, def: "1048576", min: -1, max: maxLong,
			field: func(c *Config) any { return &c.CommandlogReplyLargerThan }}},
		{",8.1.0", row{name: "commandlog-large-reply-max-len", kind: integer, def: "128", max: maxLong,
			field: func(c *Config) any { return &c.CommandlogLargeReplyMaxLen }}},
	}
}

// Newer returns the names of the directives of newer servers that a dialect has and that have no effect, sorted.
func Newer(d dialect.Dialect) (names []string) {
	for _, r := range (&Config{Dialect: d.Name}).newerRows() {
		if r.flags&inert != 0 {
			names = append(names, r.name)
		}
	}
	slices.Sort(names)
	return names
}

// hiddenNewer are those that CONFIG GET shows for their exact names only.
func hiddenNewer() []string { return []string{"events-per-io-thread"} }

// newerRows returns the rows of the newer directives that a dialect of the server has.
func (c *Config) newerRows() (rows []*row) {
	if c.Dialect == dialect.Default {
		return nil
	}
	for line := range strings.Lines(newer) {
		since, directives, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if since == "" || !c.plays(dialect.Since(since)) {
			continue
		}
		for _, directive := range strings.Fields(directives) {
			rows = append(rows, newerRow(directive))
		}
	}
	for _, r := range working() {
		if c.plays(r.since) {
			rows = append(rows, &r.row)
		}
	}
	return rows
}

// newerRow reads a directive of newer.
func newerRow(directive string) *row {
	name, form, _ := strings.Cut(directive, "=")
	name, fixed := strings.CutSuffix(name, "!")
	def, limits, ranged := strings.Cut(form, ":")
	r := &row{name: name, kind: text, flags: inert, def: def}
	switch words := strings.Split(form, "|"); {
	case def == "yes" || def == "no":
		r.kind = boolean
	case len(words) > 1:
		r.kind, r.words, r.def = word, words, words[0]
	case ranged:
		r.kind, r.min, r.max = integer, math.MinInt64, maxLong
		if least, most, bounded := strings.Cut(limits, ".."); bounded {
			r.min, r.max = number(integer, least), number(integer, most)
		}
	}
	if fixed {
		r.flags |= immutable
	}
	if slices.Contains(hiddenNewer(), name) {
		r.flags |= hidden
	}
	return r
}

// plays reports whether one of the masters plays a server that has something.
func (c *Config) plays(since dialect.Since) bool {
	return slices.ContainsFunc(strings.Split(c.Dialect, ","), func(name string) bool {
		return dialect.Named(name).Has(since)
	})
}

// lookup is the function lookup with the newer directives.
func (c *Config) lookup(name string) *row {
	if r, _ := lookup(name); r != nil {
		return r
	}
	name = ascii.ToLower(name)
	for _, r := range c.newerRows() {
		if r.name == name {
			return r
		}
	}
	return nil
}

// rows returns all directives that the server has.
func (c *Config) rows() iter.Seq[*row] {
	return func(yield func(*row) bool) {
		for i := range table {
			if !yield(&table[i]) {
				return
			}
		}
		for _, r := range c.newerRows() {
			if !yield(r) {
				return
			}
		}
	}
}

// dialectOf returns the value of the last line that names a dialect, or "". The dialect decides which lines before
// it are right.
func dialectOf(lines string) (value string) {
	for line := range strings.SplitSeq(lines, "\n") {
		if !strings.Contains(ascii.ToLower(line), "dialect") {
			continue
		}
		args, ok := SplitArgs(strings.Trim(line, " \t\r\n"))
		if !ok || len(args) != 2 || ascii.ToLower(args[0]) != "dialect" {
			continue
		}
		if names, why := parseDialect(args[1]); why == "" {
			value = names
		}
	}
	return value
}

package command

import (
	"strings"

	"github.com/miniredisd/miniredisd/internal/acl"
	"github.com/miniredisd/miniredisd/internal/clock"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

// Stats are the executor's counters for INFO.
type Stats struct {
	Commands     int64 // executed
	ErrorReplies int64
	Errors       map[string]int64   // the same by their first word
	Denied       [acl.Denials]int64 // refusals of ACL rules, by reason

	exceeded      int64 // ns for which maxmemory was exceeded in spite of eviction
	exceededSince int64 // monotonic ns of the beginning, 0 while it is not
}

// exceeds notes whether the data exceeds maxmemory after eviction.
func (st *Stats) exceeds(over bool, clock *clock.Clock) {
	switch {
	case over && st.exceededSince == 0:
		st.exceededSince = clock.Mono()
	case !over && st.exceededSince != 0:
		st.exceeded += clock.Mono() - st.exceededSince
		st.exceededSince = 0
	}
}

// EvictionExceeded returns for how long maxmemory was exceeded in spite of eviction, in ns: in total,
// and in the current stretch (INFO: total_eviction_exceeded_time, current_eviction_exceeded_time).
func (st *Stats) EvictionExceeded(clock *clock.Clock) (total, current int64) {
	if since := st.exceededSince; since != 0 {
		current = clock.Mono() - since
	}
	return st.exceeded + current, current
}

// maxErrors limits the error codes that are counted: scripts make up codes of their own.
const maxErrors = 128

// countError counts an error reply under its first word, the error code
// (networking.c: afterErrorReply).
func (st *Stats) countError(text string) {
	st.ErrorReplies++
	code := "ERR"
	if i := strings.IndexByte(text[:min(len(text), 32)], ' '); i > 0 {
		code = text[:i]
	}
	if _, known := st.Errors[code]; known || len(st.Errors) < maxErrors {
		st.Errors[code]++
	}
}

// Calls are the counters of one command, for INFO commandstats.
type Calls struct {
	Count    int64 // executed
	Nanos    int64 // spent executing
	Rejected int64 // refused before execution
	Failed   int64 // the command itself answered with an error

	Latency *Histogram // nil before the first call, and while latency-tracking is off
}

func (c *Calls) observe(nanos int64) {
	if c.Latency == nil {
		c.Latency = &Histogram{}
	}
	c.Latency.add(nanos)
}

// ResetStats is the executor's part of CONFIG RESETSTAT.
func (ex *Executor) ResetStats() {
	clear(ex.Stats.Errors)
	ex.Stats = Stats{Errors: ex.Stats.Errors}
	ex.KS.Stats = store.Stats{Dirty: ex.KS.Stats.Dirty}
	clear(ex.Table.calls)
}

// account counts a command that has ended (server.c: call). Its reply begins at mark.
func (ex *Executor) account(cmd *Command, s *Session, args [][]byte, took int64, w *resp.Writer, mark int) {
	ex.Stats.Commands++
	s.Executed++
	calls := ex.Table.Calls(cmd)
	calls.Count++
	calls.Nanos += took
	if ex.Cfg.LatencyTracking {
		calls.observe(took)
	}
	if took >= ex.slow {
		ex.logs.noteSlow(cmd, s, args, took)
	}
	if ex.logs.sized {
		ex.logs.noteSizes(cmd, s, args, w, mark)
	}
}

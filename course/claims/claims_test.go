package claims

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
)

// expected has the verdict of each claim, and the facts that do not depend on the machine.
func expected() map[int]Finding {
	return map[int]Finding{
		1:  {Verdict: Partly, Facts: facts{"commands": 3, "between": 12, "handed_over": 0, "executing_threads": 1}},
		2:  {Verdict: Partly, Facts: facts{"arrays": 1, "handlers": 3, "sleeps_between": 0, "again": 1}},
		3:  {Verdict: False, Facts: facts{"b_before_exec": true, "others_inside_exec": 0}},
		4:  {Verdict: Partly, Facts: facts{"get_inside_multi": "+QUEUED", "exec_a": "*1 +OK", "exec_b": "nil"}},
		5:  {Verdict: History, Facts: facts{"since": "2.6.12"}},
		6:  {Verdict: Partly, Facts: facts{"reading_by_default": 1, "executing_threads": 1}},
		7:  {Verdict: Partly},
		8:  {Verdict: Partly, Facts: facts{"lost_get_set": 1, "lost_incr": 0}},
		9:  {Verdict: False, Facts: facts{"still_held": true, "ttl": "-1", "doctor": "owner-gone"}},
		10: {Verdict: False, Facts: facts{"holders_del": 2, "holders_script": 1}},
		11: {Verdict: False, Facts: facts{"friendly": 1, "strict": 0, "writes_late": 2}},
		12: {Verdict: False, Facts: facts{"crash": 2, "jump": 2, "pause": 1, "fenced": 0}},
		13: {Verdict: Partly, Facts: facts{"renewals": 4, "every_s": int64(10), "lost_after_s": int64(30),
			"told_after_s": int64(35)}},
		14: {Verdict: Partly, Facts: facts{"others_inside_script": 0, "busy": 1,
			"kept_after_error": "$7 written", "unkillable": 1}},
		15: {Verdict: False, Facts: facts{"reads": 1, "commands": 16, "writes": 1, "others_between": 1}},
		16: {Verdict: False, Facts: facts{"looked_epoll": 1}},
		17: {Verdict: False, Facts: facts{"timers": 303, "after_5": 2, "after_13": 1}},
		18: {Verdict: False, Facts: facts{"queue_error": "-EXECABORT", "applied": 2, "rolled_back": 0}},
		19: {Verdict: Partly, Facts: facts{"executing_threads": 1}},
		20: {Verdict: False, Facts: facts{"stall_ms": int64(1000), "closed_requests": 101, "closed_p99": int64(0),
			"open_requests": 200, "open_p99": int64(980)}},
		21: {Verdict: False, Facts: facts{"calls_plain": 32, "calls_pipeline": 2, "calls_threads": 32, "moved_plain": 0,
			"moved_pipeline": 0, "moved_threads": 32}},
		22: {Verdict: Partly, Facts: facts{"idle": 300, "arrive": 16, "waiting_epoll": 18, "waiting_poll": 2,
			"waiting_select": 2, "looked_epoll": 16}},
		23: {Verdict: False, Facts: facts{"old": "-ERR unknown command 'DELEX'", "old_script": 1, "scripts": 0,
			"holders_redis": 1, "holders_valkey": 1}},
		24: {Verdict: Partly, Facts: facts{"fsync_first": true, "kept_always": 1, "kept_everysec": 0,
			"released_after_flip": 0}},
		25: {Verdict: False, Facts: facts{"lost_ms_quick": int64(999), "lost_ms_second": int64(1999),
			"lost_ms_three": int64(2999)}},
		26: {Verdict: False, Facts: facts{"back_everysec": 1, "back_always": 0, "left_ms": 28500}},
		27: {Verdict: False, Facts: facts{"waited": 1, "granted_again": true, "waited_all_again": false, "waited_late": 0,
			"kept_late": true}},
		28: {Verdict: False, Facts: facts{"granted_after_s": int64(5), "refused_after_s": int64(11),
			"refused_with": "-NOREPLICAS"}},
		29: {Verdict: False, Facts: facts{"master_replied": "+OK", "replica_before": "nil", "replica_after": "$7 token-A"}},
	}
}

type facts = map[string]any

func TestEveryClaimReachesItsVerdict(t *testing.T) {
	verdicts := expected()
	for _, c := range List() {
		if !amount.Picked(c.Name, 2) {
			continue
		}
		t.Run(fmt.Sprintf("%d %s", c.N, c.Name), func(t *testing.T) {
			want, known := verdicts[c.N]
			require.True(t, known)
			got, err := Run(context.Background(), c.N)
			require.NoError(t, err)
			require.Equal(t, want.Verdict, got.Verdict, "%v", got.Facts)
			for name, fact := range want.Facts {
				require.Equal(t, fact, got.Facts[name], name)
			}
			requireEvidence(t, got)
		})
	}
}

// Every number of the evidence is an event of the recording.
func requireEvidence(t *testing.T, r *Result) {
	if r.Verdict == History {
		require.Empty(t, r.Recording)
		return
	}
	require.NotEmpty(t, r.Evidence)
	record := &Record{}
	var lines []string
	for _, line := range r.Recording {
		require.True(t, json.Valid(line))
		lines = append(lines, string(line))
	}
	require.NoError(t, record.read(lines))
	known := map[int64]bool{}
	for _, e := range record.Events {
		known[e.Seq] = true
	}
	for _, seq := range r.Evidence {
		require.True(t, known[seq], "event %d is not in the recording", seq)
	}
}

func TestAnUnknownClaimIsRefused(t *testing.T) {
	_, err := Run(context.Background(), 99)
	require.ErrorContains(t, err, "there is no claim 99")
}

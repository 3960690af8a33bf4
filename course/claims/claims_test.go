package claims

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// expected has the verdict of each claim, and the facts that do not depend on the machine.
func expected() map[int]Finding {
	return map[int]Finding{
		1:  {Verdict: Partly, Facts: facts{"commands": 3, "between": 0, "executing_threads": 1}},
		2:  {Verdict: False, Facts: facts{"arrays": 1, "handlers": 3, "sleeps_between": 0}},
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
		14: {Verdict: Partly, Facts: facts{"others_inside_script": 0, "busy": 1}},
		15: {Verdict: False, Facts: facts{"reads": 1, "commands": 16, "writes": 1, "others_between": 1}},
		16: {Verdict: False, Facts: facts{"looked_epoll": 1}},
		17: {Verdict: False, Facts: facts{"after_5": 2, "after_13": 1, "slots": "5 5 5", "rounds": "0 1 0"}},
		18: {Verdict: Partly, Facts: facts{"queue_error": "-EXECABORT", "applied": 2, "rolled_back": 0}},
	}
}

type facts = map[string]any

func TestEveryClaimReachesItsVerdict(t *testing.T) {
	verdicts := expected()
	for _, c := range List() {
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

package proof_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/verdict"
)

// moved returns the logs of two nodes. A client takes a lock at the first one, which sends it to the second one with a
// value and a rest of the lease. Then another client takes it there.
func moved(value, rest string, arrives bool) []lab.History {
	is := func(text string, deadline int64) *lab.Value {
		return &lab.Value{Type: "string", Text: text, Deadline: deadline}
	}
	entry := func(at, client int64, name, reply string, change lab.Change, cmd ...string) lab.Entry {
		change.Key = "lock:x"
		return lab.Entry{Seq: at, Time: 1000 + at, Mono: at * 1000, Client: client, Name: name, Event: lab.EventCommand,
			Cmd: cmd, Key: "lock:x", Outcome: lab.Executed, Reply: reply, Changes: []lab.Change{change}}
	}
	all := make([]lab.History, 2)
	for i := range all {
		all[i] = lab.History{Format: lab.Format, Master: i + 1, Masters: 2, Cluster: true,
			Node: &lab.Node{Node: i + 1, Nodes: 2, Port: 7001 + i, Role: "master"}}
	}
	all[0].Entries = []lab.Entry{
		entry(1, 1, "a", "OK", lab.Change{After: is("token-a", 2001)}, "SET", "lock:x", "token-a", "NX", "PX", "1000"),
		entry(11, 0, "", "OK", lab.Change{Before: is("token-a", 2001)}, "MIGRATE", "h", "7002", "lock:x", "0", "1000"),
	}
	if arrives {
		all[1].Entries = append(all[1].Entries,
			entry(11, 9, "", "OK", lab.Change{After: is(value, 2001)}, "RESTORE-ASKING", "lock:x", rest, "payload"),
			entry(20, 2, "a", "1", lab.Change{Before: is(value, 2001)}, "DEL", "lock:x"))
	}
	all[1].Entries = append(all[1].Entries,
		entry(30, 3, "b", "OK", lab.Change{After: is("token-b", 2030)}, "SET", "lock:x", "token-b", "NX", "PX", "1000"))
	for i := range all[1].Entries {
		all[1].Entries[i].Seq = int64(i + 1)
	}
	return all
}

func TestAPassageIsProvedByValueAndLease(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		histories []lab.History
		want      verdict.Result
	}{
		"both are the same":   {moved("token-a", "990", true), verdict.Safe},
		"another value":       {moved("token-c", "990", true), verdict.Undecided},
		"another lease":       {moved("token-a", "989", true), verdict.Undecided},
		"nothing has arrived": {moved("", "", false), verdict.TwoHolders},
	} {
		v, err := verdict.Judge(tc.histories)
		require.NoError(t, err)
		require.Equal(t, tc.want, v.Result(), "%s: %s", name, v.Text())
	}
}

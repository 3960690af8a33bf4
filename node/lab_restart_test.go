package node_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// Each history is played against a server with appendfsync everysec. A line is a client and its command, or lab and
// a verb. The file is fsynced a second after each change.
func TestTheVerdictKnowsWhatARestartHasForgotten(t *testing.T) {
	for _, test := range []struct {
		what, history, verdict, why string
	}{
		{"the grant was not on disk", `
			a SET lock ta NX PX 30000
			lab CLOCK ADVANCE 300
			lab CRASH
			b SET lock tb NX PX 30000`,
			"two-holders", "a restart made the lock of the first holder end 300 ms after its grant: it was never on disk"},
		{"the grant was on disk", `
			a SET lock ta NX PX 30000
			lab CLOCK ADVANCE 1000
			lab CRASH
			b SET lock tb NX PX 30000`, "safe", ""},
		{"the release was on disk", `
			a SET lock ta NX PX 30000
			a DEL lock
			lab CLOCK ADVANCE 1000
			lab CRASH
			b SET lock tb NX PX 30000`, "safe", ""},
		{"the lock came back, and its lease ended again", `
			a SET lock ta NX PX 30000
			lab CLOCK ADVANCE 1000
			a DEL lock
			lab CRASH
			b SET lock tb NX PX 30000
			lab CLOCK ADVANCE 29001
			b SET lock tb NX PX 30000
			b DEL lock`, "safe", ""},
		{"the grant of another one was lost, and an older lock came back", `
			a SET lock ta NX PX 3000
			lab CLOCK ADVANCE 1000
			a DEL lock
			b SET lock tb NX PX 30000
			lab CRASH
			c SET lock tc NX PX 30000
			lab CLOCK ADVANCE 2001
			c SET lock tc NX PX 30000`,
			"two-holders", "only an older value was on disk"},
		{"the renewal was not on disk", `
			a SET lock ta NX PX 2000
			lab CLOCK ADVANCE 1000
			a PEXPIRE lock 30000
			lab CRASH
			lab CLOCK ADVANCE 1001
			b SET lock tb NX PX 30000`, "two-holders", "only another expiry was on disk"},
		{"the renewal was not on disk, and its holder renewed again", `
			a SET lock ta NX PX 2000
			lab CLOCK ADVANCE 1000
			a PEXPIRE lock 30000
			lab CRASH
			a PEXPIRE lock 500
			lab CLOCK ADVANCE 501
			b SET lock tb NX PX 30000`, "safe", ""},
		{"the lease was over before the restart", `
			a SET lock ta NX PX 500
			lab CLOCK ADVANCE 501
			lab CRASH
			b SET lock tb NX PX 30000`, "safe", ""},
		{"the grant was lost, and its holder had given it up", `
			a SET lock ta NX PX 30000
			a DEL lock
			lab CRASH
			b SET lock tb NX PX 30000`, "safe", ""},
		{"the disk was wiped", `
			a SET lock ta NX PX 30000
			lab CLOCK ADVANCE 1000
			lab CRASH LOSE ALL
			b SET lock tb NX PX 30000`, "two-holders", ""},
		{"nothing was lost", `
			a SET lock ta NX PX 30000
			lab CRASH LOSE NOTHING
			b SET lock tb NX PX 30000`, "safe", ""},
	} {
		t.Run(test.what, func(t *testing.T) {
			addr, admin := startDisk(t)
			clients := map[string]*redistest.Conn{}
			for _, line := range strings.Split(strings.TrimSpace(test.history), "\n") {
				words := strings.Fields(line)
				switch {
				case words[0] != "lab":
					if clients[words[0]] == nil {
						clients[words[0]] = redistest.Dial(t, addr)
						ok(t, clients[words[0]], "CLIENT", "SETNAME", words[0])
					}
					clients[words[0]].Do(words[1:]...)
				case words[1] == "CRASH":
					admin = crashes(t, addr, admin, words[2:]...)
					clear(clients)
				default:
					admin.Do(append([]string{"LAB"}, words[1:]...)...)
				}
			}
			v := admin.Do("LAB", "VERDICT")
			require.Equal(t, test.verdict, v.Elems[1].Str)
			require.Contains(t, v.Elems[3].Str, test.why)
		})
	}
}

// On one of three masters a restart forgets its vote, and that makes a second majority.
func TestTheVerdictKnowsWhatOneOfThreeMastersHasForgotten(t *testing.T) {
	m := startMasters(t, 3, "--lab-disk", "yes", "--appendonly", "yes")
	on := []*redistest.Conn{dialMaster(t, m, 1), dialMaster(t, m, 2), dialMaster(t, m, 3)}
	on[0].Do("LAB", "ALL", "CLOCK", "FREEZE")
	on[0].Do("LAB", "ALL", "LOG", "WATCH", "*")
	ok(t, on[0], "SET", "lock", "a", "NX", "PX", "30000")
	ok(t, on[1], "SET", "lock", "a", "NX", "PX", "30000")
	ok(t, on[0], "LAB", "MASTER", "2", "CRASH")
	on[1] = dialMaster(t, m, 2)
	ok(t, on[1], "SET", "lock", "b", "NX", "PX", "30000")
	ok(t, on[2], "SET", "lock", "b", "NX", "PX", "30000")
	v := on[0].Do("LAB", "VERDICT")
	require.Equal(t, "two-holders", v.Elems[1].Str)
	require.Contains(t, v.Elems[3].Str, "it was never on disk")
	var findings []string
	for _, c := range on {
		findings = append(findings, c.Do("LAB", "DOCTOR").String())
	}
	require.Contains(t, strings.Join(findings, ""), "it was never on disk")
}

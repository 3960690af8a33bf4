package verdict

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/words"
)

// nodes makes the histories of one master and its replicas, as story does it. The nodes are 7001, 7002 and so on.
//
//	1 1000 a SET lock:x token-a NX PX 500 = OK @10    node 1; replicas at offset 10 have the effect
//	2 1000 promoted 1 A @10                           node 2 followed the stream A of node 1 up to offset 10
//	1 1000 demoted 2 A @30                            node 1 is a replica of node 2 now; its stream A ended at 30
//	1 1000 synced 2 B full @15                        its keys were replaced; "partial" if it only missed a part
//	1 1000 link held
//	1 1000 a unseen                                   a request without an entry in the log
//	1 1000 crash / A2                                 with a new replication ID
//
// The real time passes as the times say, so that clocks run, but for those that are moved.
func nodes(t *testing.T, text string) []lab.History {
	t.Helper()
	last := 1
	for line := range strings.Lines(strings.TrimSpace(text)) {
		line = strings.TrimSpace(line)
		last = max(last, int(line[0]-'0'))
	}
	all := make([]lab.History, last)
	for i := range all {
		all[i] = lab.History{Format: lab.FirstFormat, Master: 1, Masters: 1,
			Node: &lab.Node{Node: i + 1, Nodes: last, Port: 7001 + i, Role: replica}}
	}
	all[0].Role = "master"
	mono, run, moved := int64(0), int64(1), make([]int64, last)
	requests, held := map[string]int64{}, map[string]string{}
	for line := range strings.Lines(strings.TrimSpace(text)) {
		fields := strings.Fields(line)
		who := fields[0] + fields[2]
		if fields[len(fields)-1] == "unseen" {
			requests[who]++
			continue
		}
		h, e := &all[fields[0][0]-'1'], nodeEntry(t, fields[1:])
		mono = max(mono+1, (e.Time-moved[h.Node.Node-1])*1000)
		moved[h.Node.Node-1] += e.To - e.From
		if held[who] == strings.Join(e.Cmd, " ") && len(e.Cmd) > 0 {
			requests[who]-- // the same request
		}
		delete(held, who)
		if e.Outcome == lab.Held {
			held[who] = strings.Join(e.Cmd, " ")
		}
		if e.Request = requests[who] + 1; e.By == "" {
			requests[who]++ // a script stands after its commands
		}
		e.Mono, e.Seq = mono, int64(len(h.Entries)+1)
		if e.By != "" {
			e.Run = run
		} else if e.Event == lab.EventCommand {
			run++ // a script stands after its commands
		}
		h.Entries = append(h.Entries, e)
	}
	return all
}

func nodeEntry(t *testing.T, fields []string) lab.Entry {
	t.Helper()
	offset := int64(0)
	if at, found := strings.CutPrefix(fields[len(fields)-1], "@"); found {
		n, err := strconv.ParseInt(at, 10, 64)
		require.NoError(t, err, fields)
		offset, fields = n, fields[:len(fields)-1]
	}
	time, err := strconv.ParseInt(fields[0], 10, 64)
	require.NoError(t, err, fields)
	e := lab.Entry{Time: time, Event: fields[1], Outcome: lab.Executed, Offset: offset}
	switch fields[1] {
	case lab.EventPromoted, lab.EventDemoted, lab.EventSynced:
		e.Peer, e.ReplID, e.Reply = int(fields[2][0]-'0'), fields[3], strings.Join(fields[4:], " ")
		return e
	case lab.EventLink:
		e.Reply = strings.Join(fields[2:], " ")
		return e
	}
	id := ""
	if n := len(fields); n > 2 && fields[n-2] == "/" {
		id, fields = fields[n-1], fields[:n-2]
	}
	e = storyEntry(t, fields)
	e.Offset, e.ReplID = offset, id
	return e
}

func judgedNodes(t *testing.T, text string) (*Verdict, string) {
	t.Helper()
	v, err := Judge(nodes(t, text))
	require.NoError(t, err)
	var out bytes.Buffer
	v.Print(&out)
	return v, out.String()
}

const (
	lostGrant = `
		1 1000 a SET lock:x token-a NX PX 30000 = OK @30
		2 1500 promoted 1 A @0
		2 2000 b SET lock:x token-b NX PX 30000 = OK @60`
	bothHold = ": both clients believe that they hold it"
)

// Each history has a truth that one can see by reading it.
func TestFailoversAreJudged(t *testing.T) {
	for name, c := range map[string]struct{ text, result, why string }{
		"a grant that was never replicated is granted again": {lostGrant, "two-holders",
			"granted by 7001 at +0 s, never replicated; 7002 was promoted at +0.5 s and granted it again at +1 s"},
		"a grant that was replicated is refused to the next": {`
			1 1000 a SET lock:x token-a NX PX 30000 = OK @30
			2 1500 promoted 1 A @30
			2 2000 b SET lock:x token-b NX PX 30000 = nil @30
			2 3000 a DEL lock:x = 1 @60
			2 3500 b SET lock:x token-b NX PX 30000 = OK @90`, "safe", ""},
		"the lease was over before, by clocks that run": {`
			1 1000 a SET lock:x token-a NX PX 500 = OK @30
			2 1200 promoted 1 A @0
			2 1600 b SET lock:x token-b NX PX 30000 = OK @60`, "safe", ""},
		"the lease was not over, by clocks that run": {`
			1 1000 a SET lock:x token-a NX PX 500 = OK @30
			2 1200 promoted 1 A @0
			2 1400 b SET lock:x token-b NX PX 30000 = OK @60`, "two-holders", "never replicated"},
		"the lease was over before, by clocks that were moved": {`
			1 1000 a SET lock:x token-a NX PX 500 = OK @30
			1 1000 clock 2000 together
			2 1000 clock 2000 together
			2 2000 promoted 1 A @0
			2 2000 b SET lock:x token-b NX PX 30000 = OK @60`, "safe", ""},
		"the lease was over before, and its master has not shown that": {`
			2 1000 promoted 1 A @0
			1 1000 a SET lock:x token-a NX PX 500 = OK @30
			2 1600 b SET lock:x token-b NX PX 30000 = OK @60
			1 1700 expired lock:x @60`, "safe", ""},
		"one clock alone was moved, which is no time": {`
			1 1000 a SET lock:x token-a NX PX 500 = OK @30
			2 1000 clock 2000
			2 2000 promoted 1 A @0
			2 2000 b SET lock:x token-b NX PX 30000 = OK @60`, "two-holders", "never replicated"},
		"the old master goes on, and grants it, too": {`
			2 1500 promoted 1 A @0
			2 2000 b SET lock:x token-b NX PX 30000 = OK @60
			1 2500 c SET lock:x token-c NX PX 30000 = OK @30`, "two-holders",
			"granted by 7002 at +0.5 s; 7001 did not know that 7002 had been promoted at +0 s, and granted it again at +1 s"},
		"the old master grants it first, after the promotion": {`
			2 1500 promoted 1 A @0
			1 2000 c SET lock:x token-c NX PX 30000 = OK @30
			2 2500 b SET lock:x token-b NX PX 30000 = OK @60`, "two-holders",
			"granted by 7001 at +0.5 s, which did not know that 7002 had been promoted at +0 s; 7002 granted it again at +1 s"},
		"the old master goes on, and its client has given the lock up": {`
			2 1500 promoted 1 A @0
			1 2000 c SET lock:x token-c NX PX 30000 = OK @30
			1 2200 c DEL lock:x = 1 @60
			2 2500 b SET lock:x token-b NX PX 30000 = OK @60`, "safe", ""},
		"the old master still has a lock that was released at the new one": {`
			1 1000 a SET lock:x token-a NX PX 30000 = OK @30
			2 1500 promoted 1 A @30
			2 2000 a DEL lock:x = 1 @60
			2 2100 b SET lock:x token-b NX PX 30000 = OK @90
			1 2200 c SET lock:x token-c NX PX 30000 = nil @30`, "safe", ""},
		"a release at the old master frees it there, and the new one grants it when the lease is over": {`
			1 1000 a SET lock:x token-a NX PX 1000 = OK @30
			2 1500 promoted 1 A @30
			1 1600 a DEL lock:x = 1 @60
			1 1700 c SET lock:x token-c NX PX 30000 = OK @90
			2 2001 expired lock:x @60
			2 2100 b SET lock:x token-b NX PX 30000 = OK @90`, "two-holders", "which did not know that 7002"},
		"the clock of the new master is behind: the lease is longer there": {`
			1 41000 a SET lock:x token-a NX PX 500 = OK @30
			2 1200 promoted 1 A @30
			2 1800 b SET lock:x token-b NX PX 30000 = nil @30`, "safe", ""},
		"the clock of the new master is ahead: the lease is over there": {`
			1 1000 a SET lock:x token-a NX PX 30000 = OK @30
			2 1000 clock 41000
			2 41000 promoted 1 A @30
			2 41000 expired lock:x @60
			2 41000 b SET lock:x token-b NX PX 30000 = OK @90`, "two-holders",
			"granted by 7001 at +0 s; by the clock of 7002 the lease was over at +40 s, and 7002 granted it again at +40 s"},
		"a release that was never replicated: the lock is back, and nobody holds it": {`
			1 1000 a SET lock:x token-a NX PX 3000 = OK @30
			1 1400 a DEL lock:x = 1 @60
			2 1500 promoted 1 A @30
			2 2000 b SET lock:x token-b NX PX 30000 = nil @30
			2 4001 expired lock:x @60
			2 4100 b SET lock:x token-b NX PX 30000 = OK @90`, "safe", ""},
		"a release and the next grant were never replicated, and the old lease ends first": {`
			1 1000 a SET lock:x token-a NX PX 1000 = OK @30
			1 1400 a DEL lock:x = 1 @60
			1 1450 c SET lock:x token-c NX PX 30000 = OK @90
			2 1500 promoted 1 A @30
			2 1600 b SET lock:x token-b NX PX 30000 = nil @30
			2 2001 expired lock:x @60
			2 2100 b SET lock:x token-b NX PX 30000 = OK @90`, "two-holders", "granted by 7001 at +0.45 s, never replicated"},
		"a renewal was never replicated": {`
			1 1000 a SET lock:x token-a NX PX 1000 = OK @30
			1 1400 a PEXPIRE lock:x 30000 = 1 @60
			2 1500 promoted 1 A @30
			2 2001 expired lock:x @60
			2 2100 b SET lock:x token-b NX PX 30000 = OK @90`, "two-holders",
			"granted by 7001 at +0 s, and a renewal never replicated; " +
				"7002 was promoted at +0.5 s and granted it again at +1.1 s"},
		"a renewal was replicated": {`
			1 1000 a SET lock:x token-a NX PX 1000 = OK @30
			1 1400 a PEXPIRE lock:x 2000 = 1 @60
			2 1500 promoted 1 A @60
			2 3401 expired lock:x @90
			2 3500 b SET lock:x token-b NX PX 30000 = OK @120`, "safe", ""},
		"the lock is renewed at the new master": {`
			1 1000 a SET lock:x token-a NX PX 1000 = OK @30
			2 1500 promoted 1 A @30
			2 1600 a PEXPIRE lock:x 30000 = 1 @60
			2 2500 m DEL lock:x = 1 @90
			2 2600 b SET lock:x token-b NX PX 30000 = OK @120`, "two-holders", "a command of another client took the lock"},
		"the holder never knew of its grant": {`
			1 1000 a SET lock:x token-a NX PX 30000 = OK lost @30
			2 1500 promoted 1 A @0
			2 2000 b SET lock:x token-b NX PX 30000 = OK @60`, "undecided", ""},
		"the other replica is promoted": {`
			1 1000 a SET lock:x token-a NX PX 30000 = OK @30
			3 1500 promoted 1 A @0
			2 1600 synced 3 B full @0
			3 2000 b SET lock:x token-b NX PX 30000 = OK @60`, "two-holders", "7003 was promoted at +0.5 s"},
		"two failovers, and the second replica has what the first granted": {`
			2 1000 promoted 1 A @0
			3 1100 synced 2 B partial @0
			2 1500 b SET lock:x token-b NX PX 30000 = OK @30
			3 1600 promoted 2 B @30
			3 1700 c SET lock:x token-c NX PX 30000 = nil @30
			3 1800 b DEL lock:x = 1 @60
			3 1900 c SET lock:x token-c NX PX 30000 = OK @90`, "safe", ""},
		"two failovers, and the second one loses what the first granted": {`
			2 1000 promoted 1 A @0
			3 1100 synced 2 B partial @0
			2 1500 b SET lock:x token-b NX PX 30000 = OK @30
			3 1600 promoted 2 B @0
			3 1700 c SET lock:x token-c NX PX 30000 = OK @30`, "two-holders", "granted by 7002 at +0.5 s, never replicated"},
		"the old master is a replica, and then the master again": {`
			1 1000 a SET lock:x token-a NX PX 30000 = OK @30
			2 1500 promoted 1 A @30
			1 1600 demoted 2 A @30
			1 1600 synced 2 B partial @30
			2 1700 a DEL lock:x = 1 @60
			2 1800 b SET lock:x token-b NX PX 30000 = OK @90
			1 1900 promoted 2 B @90
			1 2000 c SET lock:x token-c NX PX 30000 = nil @90
			1 2100 b DEL lock:x = 1 @120
			1 2200 c SET lock:x token-c NX PX 30000 = OK @150`, "safe", ""},
		"what the old master granted alone is lost when it becomes a replica": {`
			2 1500 promoted 1 A @0
			1 1600 a SET lock:x token-a NX PX 30000 = OK @30
			1 1700 demoted 2 A @30
			1 1700 synced 2 B full @0
			2 1800 b SET lock:x token-b NX PX 30000 = OK @30`, "two-holders", "which did not know that 7002 had been promoted"},
		"a replica that takes writes grants it": {`
			1 1000 a SET lock:x token-a NX PX 30000 = OK @30
			2 1500 b SET lock:x token-b NX PX 30000 = OK @30`, "two-holders",
			"7002 is a replica that takes writes, and granted it again at +0.5 s"},
		"a replica refuses writes, and shows an old state": {`
			1 1000 a SET lock:x token-a NX PX 30000 = OK @30
			2 1500 b GET lock:x = nil @0
			1 1600 a DEL lock:x = 1 @60
			2 1700 b GET lock:x = token-a @30
			1 1800 b SET lock:x token-b NX PX 30000 = OK @90`, "safe", ""},
		"a master that restarts without keys takes its replicas with it": {`
			1 1000 a SET lock:x token-a NX PX 30000 = OK @30
			1 1100 crash / A2 @0
			2 1200 synced 1 A2 full @0
			2 1300 promoted 1 A2 @0
			2 2000 b SET lock:x token-b NX PX 30000 = OK @30`, "two-holders", "the server lost the lock"},
		"a replica is promoted with what was before the restart": {`
			1 1000 a SET lock:x token-a NX PX 30000 = OK @30
			1 1100 crash / A2 @0
			2 1200 promoted 1 A @30
			2 2000 b SET lock:x token-b NX PX 30000 = nil @30
			2 2100 a DEL lock:x = 1 @60
			2 2200 b SET lock:x token-b NX PX 30000 = OK @90`, "safe", ""},
	} {
		t.Run(name, func(t *testing.T) {
			v, text := judgedNodes(t, c.text)
			require.Equal(t, c.result, string(v.Result()), text)
			var svg bytes.Buffer
			require.NoError(t, v.SVG(&svg))
			if c.why == "" {
				return
			}
			require.Contains(t, text, c.why, text)
			v.Language = words.Chinese
			svg.Reset()
			require.NoError(t, v.SVG(&svg))
			require.NotContains(t, svg.String(), "believe that they hold it", "it is Chinese")
		})
	}
}

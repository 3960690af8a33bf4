// Package adversary judges the verdict. Each history in testdata is played against a real server, with a
// clock that stands still. The history says when each worker believes that it holds a lock. From that the
// test computes whether two workers held a lock at one time, and compares it with LAB VERDICT.
//
// The truth comes from the beliefs of the workers, and never from the code that is judged. The format of
// the histories is explained in testdata/README.md. Players in other languages read the same files.
package adversary

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/miniredistest"
	"github.com/miniredisd/miniredisd/resp"
)

func TestMain(m *testing.M) {
	amount.SideBySide(8) // the tests mostly wait
	os.Exit(m.Run())
}

// brief is a test whose servers do not print their last history when it fails.
type brief struct{ testing.TB }

func (brief) Failed() bool { return false }

// row is a line of the table: what a history is, and what the verdict says about it.
type row struct {
	name, truth, verdict, why string
	wrong                     string // how the verdict is wrong, "" if it is right
}

const (
	falseSafe  = "FALSE SAFE"
	falseAlarm = "FALSE ALARM"
	unexpected = "UNEXPECTED"
)

func TestTheVerdictAgainstAnAdversary(t *testing.T) {
	t.Parallel()
	summary(t, judgeHistories(t, readAll(t)))
}

// A user watches the locks and nothing else. So the log does not have the commands on other keys, such as
// the one that made a key which RENAME brings over the lock.
func TestTheVerdictWhenOnlyLocksAreWatched(t *testing.T) {
	t.Parallel()
	var some []history
	for _, h := range readAll(t) {
		if h.touchesOtherKeys() {
			h.watched = "lock:*"
			some = append(some, h)
		}
	}
	require.NotEmpty(t, judgeHistories(t, some))
}

// A process with several masters judges a lock of one master as a process with one master does.
func TestTheVerdictOfALockOnOneMasterOfThree(t *testing.T) {
	t.Parallel()
	whoHolds := []string{"names.txt", "shared.txt", "hash.txt", "restart.txt"}
	var some []history
	for _, h := range readAll(t) {
		if h.masters == 1 && slices.Contains(whoHolds, h.file) {
			h.masters, h.onOne = 3, true
			some = append(some, h)
		}
	}
	require.NotEmpty(t, judgeHistories(t, some))
}

// judgeHistories plays histories against servers of their own.
func judgeHistories(t *testing.T, histories []history) (rows []row) {
	type setup struct {
		masters int
		dialect string
	}
	stages := map[setup]miniredistest.Masters{}
	for _, h := range histories {
		if want := (setup{h.masters, h.dialect}); stages[want] == nil && h.replicas == 0 {
			stages[want] = miniredistest.RunMasters(brief{t}, h.masters, miniredistest.Watch(), miniredistest.Dialect(h.dialect))
		}
	}
	for _, h := range histories {
		t.Run(h.name, func(t *testing.T) {
			nodes := stages[setup{h.masters, h.dialect}]
			if h.replicas > 0 {
				var end func()
				nodes, end = newGroup(t, h)
				defer end()
			}
			r := judge(t, nodes, h)
			rows = append(rows, r)
			if r.wrong != "" {
				t.Errorf("%s: the truth is %s, the verdict is %s: %s\n%s", r.wrong, r.truth, r.verdict, h.about, r.why)
			}
		})
	}
	return rows
}

// newGroup starts a master and its replicas. They are for one history, because a failover changes them.
func newGroup(t *testing.T, h history) (nodes miniredistest.Masters, end func()) {
	srv := miniredistest.Run(brief{t}, miniredistest.Replicas(h.replicas), miniredistest.Dialect(h.dialect),
		miniredistest.Watch(), miniredistest.FrozenAt(time.UnixMilli(start)))
	return srv.Nodes(), srv.Stop
}

// summary prints the table and checks the counts that the suite promises.
func summary(t *testing.T, rows []row) {
	var out strings.Builder
	count := map[string]int{}
	for _, r := range rows {
		fmt.Fprintf(&out, "%-44s %-4s %-16s %-11s %s\n", r.name, r.truth, r.verdict, r.wrong, firstLine(r.why))
		count[r.truth]++
		count[r.wrong]++
		if r.truth == "one" && r.verdict == "undecided" {
			count["undecided"]++
		}
	}
	t.Logf("\n%s\nhistories %d: %d with two holders, %d with one; false safe %d, false alarm %d, unexpected %d; "+
		"undecided with one holder: %d", &out, len(rows), count["two"], count["one"],
		count[falseSafe], count[falseAlarm], count[unexpected], count["undecided"])
	if len(rows) < fewest || !amount.Whole() { // some are chosen
		return
	}
	require.InDelta(t, len(rows)/2, count["two"], float64(len(rows))/20, "half of the histories have two holders")
	require.LessOrEqual(t, 8*count["undecided"], count["one"], "at most an eighth may be undecided")
}

// fewest is the number of histories that the suite has at least.
const fewest = 150

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// judge plays a history and compares the verdict with its truth.
func judge(t *testing.T, masters miniredistest.Masters, h history) row {
	t.Helper()
	p := newPlayer(t, masters, h)
	p.play()
	require.Equal(t, h.truth, p.truth(), "%s: the header says truth: %s, but the beliefs say otherwise", h.name, h.truth)

	v := p.lab("VERDICT", "lock:*")
	require.Contains(t, p.lab("VERDICT", "SVG", "lock:*").Str, "</svg>", "the picture of %s", h.name)
	r := row{name: h.name, truth: h.truth, verdict: field(v, "verdict").Str, why: reason(v)}
	switch {
	case r.verdict == h.accepts:
	case r.verdict == "undecided" && h.undecided != "":
	case r.verdict == "undecided":
		r.wrong = unexpected
	case h.truth == "one" && r.verdict == "safe":
	case h.truth == "two" && (r.verdict == "two-holders" || r.verdict == "not-linearizable"):
	case h.truth == "two":
		r.wrong = falseSafe
	default:
		r.wrong = falseAlarm
	}
	found := map[string]bool{}
	for _, f := range masters.Doctor() {
		found[f.Pattern] = true
	}
	switch {
	case r.wrong != "":
	case h.finding != "" && !found[h.finding]:
		r.wrong, r.why = unexpected, "the doctor has no finding "+h.finding
	case h.truth == "one" && found["two-holders"]:
		r.wrong, r.why = falseAlarm, "the doctor finds two holders"
	}
	return r
}

// reason returns why the verdict is what it is: the first violation, or the first reason for no decision.
func reason(v resp.Value) string {
	for _, list := range []string{"violations", "undecided"} {
		for _, f := range field(v, list).Elems {
			lines := []string{field(f, "key").Str + ": " + field(f, "why").Str}
			for _, c := range field(f, "commands").Elems {
				lines = append(lines, "  "+c.Str)
			}
			return strings.Join(lines, "\n")
		}
	}
	return strings.ReplaceAll(strings.TrimSpace(field(v, "text").Str), "\n", " ")
}

// field returns a value of a map, or the zero Value.
func field(m resp.Value, name string) resp.Value {
	for i := 0; i+1 < len(m.Elems); i += 2 {
		if m.Elems[i].Str == name {
			return m.Elems[i+1]
		}
	}
	return resp.Value{}
}

// readAll reads all histories, file by file, and returns those that this run plays.
func readAll(t *testing.T) (all []history) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, file := range files {
		for _, h := range readFile(t, file) {
			require.False(t, seen[h.name], "%s: there are two histories %q", file, h.name)
			seen[h.name] = true
			if amount.Picked(h.name, 6) {
				all = append(all, h)
			}
		}
	}
	require.NotEmpty(t, all)
	return all
}

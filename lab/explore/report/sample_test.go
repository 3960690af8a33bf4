package report

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/explore"
	"github.com/miniredisd/miniredisd/lab/verdict"
	"github.com/miniredisd/miniredisd/lab/words"
)

// evidence returns a history of lab/verdict, and its picture in each language.
func evidence(t testing.TB, name string) ([]lab.History, map[string][]byte) {
	t.Helper()
	text, err := os.Open(filepath.Join("..", "..", "verdict", "testdata", name))
	require.NoError(t, err)
	defer text.Close()
	histories, err := verdict.Read(text)
	require.NoError(t, err)
	v, err := verdict.Judge(histories)
	require.NoError(t, err)
	pictures := map[string][]byte{}
	for _, v.Language = range []words.Language{words.English, words.Chinese} {
		var svg bytes.Buffer
		require.NoError(t, v.SVG(&svg))
		pictures[string(v.Language)] = svg.Bytes()
	}
	return histories, pictures
}

func sampleFaults() []explore.Fault {
	return []explore.Fault{
		{Name: "request-lost", Title: "request lost", Sentence: "The request is lost, and the connection ends."},
		{Name: "reply-lost", Title: "reply lost", Sentence: "The server executes the request, and the reply is lost."},
		{Name: "paused", Title: "paused", Sentence: "The request waits until the lease of its client is over " +
			"and all others have gone on: a long pause of the client, or a slow network."},
		{Name: "lease-over", Title: "lease over",
			Sentence: "The lease of the client ends just before the server executes the request."},
		{Name: "silent", Title: "silent",
			Sentence: "The server executes the request, and the connection stays open without a reply."},
		{Name: "restart", Title: "restart",
			Sentence: "The server restarts before it executes the request, and keeps its keys."},
		{Name: "keys-lost", Title: "keys lost",
			Sentence: "The server restarts before it executes the request, and loses its keys."},
		{Name: "clock-jump", Title: "clock jumps",
			Sentence: "The clock of the server jumps past every lease before the request."},
		{Name: "master-gone", Title: "master gone", Sentence: "The master is down from this request on."},
		{Name: "message-lost", Title: "message lost", Sentence: "The message never reaches its receiver."},
		{Name: "message-late", Title: "message late", Sentence: "The message comes half a second late."},
		{Name: "reset-before", Title: "reset before",
			Sentence: "The connection is reset before the server executes the request."},
		{Name: "reset-after", Title: "reset after",
			Sentence: "The server executes the request, then the connection is reset."},
		{Name: "error-loading", Title: "LOADING",
			Sentence: "The server does not execute the request, and replies LOADING."},
		{Name: "error-readonly", Title: "READONLY",
			Sentence: "The server does not execute the request, and replies READONLY."},
		{Name: "error-oom", Title: "OOM", Sentence: "The server does not execute the request, and replies OOM."},
		{Name: "error-noscript", Title: "NOSCRIPT",
			Sentence: "The server does not execute the request, and replies NOSCRIPT."},
		{Name: "error-busy", Title: "BUSY", Sentence: "The server does not execute the request, and replies BUSY."},
		{Name: "executed-loading", Title: "LOADING after",
			Sentence: "The server executes the request, and a proxy replies LOADING."},
		{Name: "executed-oom", Title: "OOM after", Sentence: "The server executes the request, and a proxy replies OOM."},
	}
}

func samplePoints() []explore.Point {
	var all []explore.Point
	for _, client := range []string{"worker-1", "worker-2", "worker-3"} {
		for n, command := range []string{"SET", "GET", "DEL"} {
			all = append(all, explore.Point{Client: client, N: n + 1, Command: command, Key: "lock:order", Master: 1,
				Writes: command != "GET"})
		}
	}
	return append(all,
		explore.Point{Client: "#4", N: 1, Command: "EVALSHA", Key: "lock:stock:eu-central", Master: 1, Writes: true},
		explore.Point{Client: "#4", N: 2, Command: "EVALSHA", Key: "lock:stock:eu-central", Master: 1, Writes: true,
			Unstable: true},
		explore.Point{Client: "worker-2", N: 1, Command: "message", Key: "lock:order:released", Master: 1, Message: true})
}

// sample returns a report with 12 points, 20 faults and five mistakes.
func sample(t testing.TB) *explore.Report {
	t.Helper()
	r := &explore.Report{
		Program: []string{"pytest", "tests/test_lock.py", "--redis", "redis://default:hunter2@localhost:6379/0"},
		Seed:    7, Masters: 1, Points: samplePoints(), Faults: sampleFaults(), Baselines: 3, Trials: 171, Confirms: 50,
		Untried: 5, Took: 42_517 * time.Millisecond,
		Wall: 44_120 * time.Millisecond, CPU: 2_250 * time.Millisecond,
	}
	for i, p := range r.Points {
		row := make([]explore.Cell, len(r.Faults))
		for j, f := range r.Faults {
			row[j] = sampleCell(i, j, p, f)
		}
		r.Cells = append(r.Cells, row)
	}
	unlock, picture := evidence(t, "overlapping-unlock.json")
	lost, lostPicture := evidence(t, "reply-lost.json")
	set := func(point, fault int, mark explore.Mark, f explore.Finding) {
		f.Strikes, f.Of = []explore.Strike{{Point: point, Fault: fault}}, 5
		if mark == explore.Hangs {
			f.Of = 1
		}
		r.Cells[point][fault] = explore.Cell{Mark: mark, Finding: &f}
	}
	set(2, 2, explore.Broken, explore.Finding{
		Harm: explore.TwoHolders, Lock: "lock:order", Clients: []string{"worker-2", "worker-3"},
		From: 30_001 * time.Millisecond,
		Sentence: "If worker-1's third request, DEL lock:order, waits until the lease of its client is over, " +
			"worker-2 and worker-3 both hold lock:order from +30.001 s.",
		Reason: "a command of another client took the lock from its first holder, and a second client got it: " +
			"both believe that they hold it",
		Fix: "release with a script that compares and deletes in one step: " +
			`if redis.call("get",KEYS[1])==ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end`,
		Commands: []string{
			"LAB LOG WATCH lock:order",
			"LAB FAULT ADD explore-1 KEY lock:order CLIENT worker-1 ORDER 1 NTH 3 TIMES 1000000 ACTION HOLD",
			"# start the program, then:", "LAB HOLD WAIT explore-1 60000", "LAB CLOCK ADVANCE 31000",
			explore.OthersGoOn, "LAB FAULT DEL explore-1",
		},
		History: unlock, SVG: picture, Loop: []byte("\x1f\x8b not a real recording"), With: 5,
		Output: "============================= test session starts ==============================\n" +
			"collected 1 item\n\ntests/test_lock.py \x1b[31mF\x1b[0m                                  [100%]\n",
	})
	set(0, 1, explore.Broken, explore.Finding{
		Harm: explore.ForEver, Lock: "lock:order", Clients: []string{"worker-1"}, Mistake: "lock-without-ttl",
		Sentence: "If the reply to worker-1's first request, SET lock:order, is lost, nobody can ever take lock:order again.",
		Reason:   "the lock has no TTL: if its owner dies before it releases the lock, the lock stays for ever",
		Fix:      "take it with a TTL: SET key token NX PX milliseconds, and renew it while the work goes on",
		Commands: []string{"LAB FAULT ADD explore-1 KEY lock:order CLIENT worker-1 NTH 1 ACTION DROP-REPLY"},
		History:  lost, SVG: lostPicture, With: 5,
	})
	for i, with := range []int{5, 3} { // the same mistake
		set(3*i+3, 1, explore.Broken, explore.Finding{
			Harm: explore.ForEver, Lock: "lock:order", With: with, Mistake: "setnx-then-expire",
			Sentence: "If a reply is lost, nobody can ever take lock:order again.",
			Reason: "one command took the lock and another one set its TTL: a client that dies between them leaves a lock " +
				"that nobody can ever take",
			Fix:      "take the lock and set its TTL in one command: SET key token NX PX milliseconds",
			Commands: []string{"LAB LOG WATCH lock:order", "LAB FAULT ADD explore-1 KEY lock:order NTH 1 ACTION DROP-REPLY"},
		})
	}
	set(9, 16, explore.Broken, explore.Finding{
		Harm:     explore.CheckFails,
		Sentence: "If the reply to #4's first EVALSHA is the error NOSCRIPT, the check after the run fails.",
		Commands: []string{
			`LAB FAULT ADD explore-1 KEY lock:stock:* ORDER 4 NTH 1 ACTION ERROR "NOSCRIPT No matching script."`,
		},
		Output: "AssertionError: the stock is -1\n", With: 5,
	})
	r.Cells[11][10] = explore.Cell{Mark: explore.ByItself, Why: "it breaks by itself, 2 of 30"}
	r.Cells[11][10].Finding = &explore.Finding{Sentence: "It never came back.", Of: 5}
	set(11, 9, explore.Hangs, explore.Finding{
		Harm: explore.NeverWakes, Lock: "lock:order", Clients: []string{"worker-2"},
		Sentence: "If worker-2's first message on lock:order:released is lost, worker-2 waits for lock:order for ever.",
		Commands: []string{"LAB FAULT ADD explore-1 CMD message KEY lock:order:released NTH 1 ACTION SKIP-PUSH"}, With: 1,
	})
	set(10, 7, explore.Broken, explore.Finding{
		Harm: explore.TwoHolders, Lock: "lock:stock:eu-central", Clients: []string{"#4", "worker-1"},
		Sentence: "If the clock of the server jumps before #4's second EVALSHA, " +
			"#4 and worker-1 both hold lock:stock:eu-central.",
		Commands: []string{
			"LAB FAULT ADD explore-1 CMD EVALSHA KEY lock:stock:* NTH 2 ACTION HOLD",
			"LAB HOLD WAIT explore-1 60000",
			"LAB CLOCK ADVANCE 1500", "LAB CRASH LOSE NOTHING", "LAB HOLD RELEASE explore-1",
		}, With: 5,
	})
	return r
}

// sampleCell is the mark of a cell without a finding.
func sampleCell(i, j int, p explore.Point, f explore.Fault) explore.Cell {
	message := f.Name == "message-lost" || f.Name == "message-late"
	switch {
	case p.Message && !message:
		return explore.Cell{Why: "a message is not a request"}
	case message && !p.Message:
		return explore.Cell{Why: "a request is not a message"}
	case f.Name == "master-gone":
		return explore.Cell{Why: "it needs several masters"}
	case f.Name == "error-noscript" && p.Command != "EVALSHA":
		return explore.Cell{Why: "only EVALSHA gets this error"}
	case f.Name == "keys-lost":
		return explore.Cell{Why: "no client of a single server can stand it; --strict tries it"}
	case p.Unstable && j > 15:
		return explore.Cell{Why: "it breaks by itself, 2 of 30"}
	case f.Name == "silent" && i%4 == 3:
		return explore.Cell{Mark: explore.Undecided, Why: "the log cannot tell whether the DEL was of the holder"}
	case p.Command == "SET" && (j == 12 || j == 1):
		return explore.Cell{Mark: explore.LeftBehind}
	case j > 12 && p.Writes, j == 0 && i%2 == 0:
		return explore.Cell{Mark: explore.Noticed, Why: "the program ended with exit status 1"}
	}
	return explore.Cell{Mark: explore.Fine}
}

package explore

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab"
)

// script is a run as lines: "a SET lock:o t NX PX 1000 -> OK". A first word explore-1! is the rule that fired.
func script(lines ...string) []lab.History {
	h := lab.History{Format: lab.FirstFormat, Master: 1, Masters: 1}
	ids := map[string]int64{}
	for i, line := range lines {
		command, reply, _ := strings.Cut(line, " -> ")
		fields := strings.Fields(command)
		e := lab.Entry{Seq: int64(i + 1), Time: int64(1000 + 10*i), Mono: int64(i)}
		e.Event, e.Outcome = lab.EventCommand, lab.Executed
		if rule, fired := strings.CutSuffix(fields[0], "!"); fired {
			e.Event, e.Outcome, fields = rule, lab.ReplyLost, fields[1:]
		}
		if ids[fields[0]] == 0 {
			ids[fields[0]] = int64(len(ids) + 1)
		}
		e.Client, e.Name, e.Cmd, e.Key = ids[fields[0]], fields[0], fields[1:], fields[2]
		switch e.Reply = reply; reply {
		case "nil":
			e.Reply, e.Kind = "(nil)", "_"
		case "OK":
			e.Kind = "+"
		default:
			e.Kind = ":"
		}
		if e.Event == noted {
			e.Kind = ""
		}
		h.Entries = append(h.Entries, e)
	}
	return []lab.History{h}
}

// outcome is a run that ended well, with these keys left.
func outcome(left map[string]int64, lines ...string) Outcome {
	return Outcome{Took: time.Millisecond, Scene: Scene{Histories: script(lines...),
		TTL: func(_, _ int, key string) int64 {
			if ms, there := left[key]; there {
				return ms
			}
			return -2
		}}}
}

const (
	takes   = "a SET lock:o token-a-1 NX PX 1000 -> OK"
	refused = "b SET lock:o token-b-1 NX PX 1000 -> nil"
	deletes = "a DEL lock:o -> 1"
)

// exploreWorld runs an Explorer over a world that decides what each trial shows.
func exploreWorld(t *testing.T, opt Options, world func(Trial) Outcome) *Explorer {
	t.Helper()
	e := New(opt)
	for n := 0; ; n++ {
		require.Less(t, n, 5000, "it does not end")
		tr, ok := e.Next()
		if !ok {
			return e
		}
		e.Done(tr, world(tr))
	}
}

// plain is a world in which faults change nothing: the rule fires at the request that it is for.
func plain(e *Trial) Outcome {
	lines := []string{takes, refused, deletes}
	for _, o := range e.Orders {
		text := strings.Join(o.Words, " ")
		if !strings.Contains(text, "explore-1") {
			continue
		}
		at := map[string]int{"CLIENT a ORDER 1 NTH 1 ": 0, "CLIENT b ORDER 1 NTH 1 ": 1, "CLIENT a ORDER 1 NTH 2 ": 2}
		for part, i := range at {
			if strings.Contains(text, part) {
				lines[i] = "explore-1! " + lines[i]
			}
		}
	}
	return outcome(nil, lines...)
}

func TestTheBaselinesShowThePoints(t *testing.T) {
	e := exploreWorld(t, Options{Only: []string{"reply-lost"}}, func(tr Trial) Outcome { return plain(&tr) })
	require.NoError(t, e.Err())
	r := e.Report()
	require.Equal(t, []Point{
		{Client: "a", N: 1, Command: "SET", Key: "lock:o", Master: 1, Writes: true},
		{Client: "b", N: 1, Command: "SET", Key: "lock:o", Master: 1},
		{Client: "a", N: 2, Command: "DEL", Key: "lock:o", Master: 1, Writes: true},
	}, r.Points)
	require.Equal(t, 3, r.Baselines)
	require.Equal(t, 3, r.Trials)
	require.Zero(t, r.Untried)
}

func TestAFaultAfterARequestThatChangedNothingIsTheOneBefore(t *testing.T) {
	only := []string{"request-lost", "reply-lost"}
	e := exploreWorld(t, Options{Only: only}, func(tr Trial) Outcome { return plain(&tr) })
	r := e.Report()
	require.Equal(t, 5, r.Trials, "the refused SET has one")
	require.Equal(t, "it is the same as request lost: the request changes nothing", r.Cells[1][1].Why)
	require.Equal(t, r.Cells[1][0].Mark, r.Cells[1][1].Mark)
}

func TestOnlyTheCellsThatWereAskedForAreTried(t *testing.T) {
	asked := func(p Point, f Fault) bool { return p.Client == "b" && f.Name == "reply-lost" }
	e := exploreWorld(t, Options{Cells: asked}, func(tr Trial) Outcome { return plain(&tr) })
	r := e.Report()
	require.Equal(t, 1, r.Trials, "although the fault before the request would be the same")
	require.Zero(t, r.Untried)
	for i, row := range r.Cells {
		for j, c := range row {
			if asked(r.Points[i], r.Faults[j]) {
				require.Equal(t, Fine, c.Mark)
			} else {
				require.Equal(t, NotTried, c.Mark)
				require.NotEmpty(t, c.Why)
			}
		}
	}
}

// lossy is a world in which the lock stays for ever if the reply to a's SET is lost.
func lossy(tr Trial) Outcome {
	if len(tr.Strikes) > 0 && strings.Contains(fmt.Sprint(tr.Orders), "CLIENT a ORDER 1 NTH 1 ") {
		o := outcome(map[string]int64{"lock:o": -1}, "explore-1! "+takes, refused)
		o.Failed = "exit status 1"
		return o
	}
	return plain(&tr)
}

func TestAFindingIsConfirmedWithAndWithoutItsFault(t *testing.T) {
	kinds := map[Kind]int{}
	e := exploreWorld(t, Options{Only: []string{"reply-lost"}}, func(tr Trial) Outcome {
		kinds[tr.Kind]++
		return lossy(tr)
	})
	c := e.Report().Cells[0][0]
	require.Equal(t, Broken, c.Mark)
	require.Equal(t, "If the reply to a's first SET is lost, nobody can ever take lock:o again.", c.Finding.Sentence)
	require.Equal(t, []int{5, 0, 5}, []int{c.Finding.With, c.Finding.Without, c.Finding.Of})
	require.Equal(t, map[Kind]int{Baseline: 3, Single: 3, With: 5, Without: 2}, kinds)
}

func TestWhatAlsoBreaksWithoutTheFaultIsNotAccused(t *testing.T) {
	without := 0
	e := exploreWorld(t, Options{Only: []string{"reply-lost"}}, func(tr Trial) Outcome {
		if tr.Kind == Without {
			if without++; without == 2 {
				return outcome(map[string]int64{"lock:o": -1}, takes, refused)
			}
		}
		return lossy(tr)
	})
	r := e.Report()
	require.Equal(t, ByItself, r.Cells[0][0].Mark)
	require.Equal(t, "it breaks by itself, 1 of 5", r.Cells[0][0].Why)
	require.Equal(t, "Without any fault, nobody can ever take lock:o again.", r.Itself.Sentence)
}

func TestWhatHappensOnceIsUndecided(t *testing.T) {
	e := exploreWorld(t, Options{Only: []string{"reply-lost"}}, func(tr Trial) Outcome {
		if tr.Kind == With {
			return plain(&tr)
		}
		return lossy(tr)
	})
	c := e.Report().Cells[0][0]
	require.Equal(t, Undecided, c.Mark)
	require.Contains(t, c.Why, "it happened again in only 0 of 5 runs with the fault, and in none without: If the reply")
	require.Nil(t, c.Finding)
}

func TestAPointThatDoesNotComeIsTriedAgain(t *testing.T) {
	tries := 0
	e := exploreWorld(t, Options{Only: []string{"reply-lost"}}, func(tr Trial) Outcome {
		if tr.Kind == Single && strings.Contains(fmt.Sprint(tr.Orders), "CLIENT b") {
			tries++
			return outcome(nil, takes, deletes)
		}
		return plain(&tr)
	})
	require.Equal(t, mostTries, tries)
	c := e.Report().Cells[1][0]
	require.Equal(t, NotReached, c.Mark)
	require.Equal(t, notCome, c.Why)
	require.Equal(t, 1, e.Report().Unreached())
}

func TestAPairIsTriedAsItsHalves(t *testing.T) {
	for _, alone := range []bool{false, true} {
		e := exploreWorld(t, Options{Only: []string{"reply-lost"}, Pairs: true}, func(tr Trial) Outcome {
			broken := len(tr.Strikes) == 2 || alone && tr.Kind == Half
			if o := plain(&tr); !broken {
				return o
			}
			lines := []string{"explore-1! " + takes, "explore-2! " + refused}
			if tr.Kind != Half && (tr.Strikes[0].Point != 0 || tr.Strikes[1].Point != 1) {
				return plain(&tr)
			}
			return outcome(map[string]int64{"lock:o": -1}, lines...)
		})
		pairs := 0
		for _, p := range e.Report().Pairs {
			if p.Mark == Broken {
				pairs++
				require.Equal(t, "If the reply to a's first SET is lost and the reply to b's first SET is lost, "+
					"nobody can ever take lock:o again.", p.Finding.Sentence)
			}
		}
		require.Equal(t, map[bool]int{false: 1, true: 0}[alone], pairs)
	}
}

func TestTheEndOfTheTimeLeavesCellsUntried(t *testing.T) {
	e := New(Options{})
	for n := 0; n < 8; n++ {
		tr, ok := e.Next()
		require.True(t, ok)
		e.Done(tr, plain(&tr))
	}
	e.TimeIsOver()
	_, ok := e.Next()
	require.False(t, ok)
	r := e.Report()
	require.True(t, r.OutOfTime)
	require.Equal(t, 5, r.Trials)
	require.Positive(t, r.Untried)
}

func TestAProgramWithoutLocksIsAnError(t *testing.T) {
	e := exploreWorld(t, Options{}, func(Trial) Outcome { return outcome(nil, "a GET k -> nil", "a INCR n -> 1") })
	require.EqualError(t, e.Err(), "no command took a lock, only GET (1), INCR (1)"+
		"; a lock is SET with NX, SETNX, or a script that takes one; --key GLOB names others")
	e = exploreWorld(t, Options{Keys: []string{"k"}}, func(Trial) Outcome { return outcome(nil, "a GET k -> nil") })
	require.NoError(t, e.Err())
	require.Equal(t, "GET", e.Report().Points[0].Command)
}

func TestALockWithAnotherNameInEachRunGetsAGlob(t *testing.T) {
	run := 0
	e := exploreWorld(t, Options{Only: []string{"reply-lost"}}, func(tr Trial) Outcome {
		run++
		key := fmt.Sprintf("lock:%d-x", 1000+run)
		lines := []string{strings.ReplaceAll(takes, "lock:o", key), strings.ReplaceAll(deletes, "lock:o", key)}
		return outcome(nil, lines...)
	})
	require.NoError(t, e.Err())
	require.Equal(t, "lock:*-x", e.Report().Points[0].Key)
	require.Contains(t, strings.Join(e.strike(0, Strike{0, 0}).Words, " "), "KEY lock:*-x CLIENT a ORDER 1 NTH 1")
}

func TestAMessageIsAPoint(t *testing.T) {
	e := exploreWorld(t, Options{Only: []string{"message-lost", "reply-lost"}}, func(tr Trial) Outcome {
		return outcome(nil, takes, noted+"! b message free:o -> x", deletes)
	})
	p := e.Report().Points[1]
	require.Equal(t, Point{Client: "b", N: 1, Command: "message", Key: "free:o", Master: 1, Message: true}, p)
	require.Equal(t, "a message is not a request", e.Report().Cells[1][0].Why)
}

// The lease of a client ends only while all its requests are held.
func TestALeaseEndsOnlyIfItsHolderIsHeld(t *testing.T) {
	e := exploreWorld(t, Options{Only: []string{"paused"}}, func(tr Trial) Outcome { return plain(&tr) })
	at := func(point int, lines ...string) Act {
		tr := Trial{Strikes: []Strike{{point, 0}}}
		s := outcome(map[string]int64{"lock:o": 900}, lines...).Scene
		h := s.Histories[0].Entries
		h[len(h)-1].Outcome = lab.Held
		return e.Held(tr, "explore-1", s)
	}
	a := at(2, takes, "explore-1! "+deletes)
	require.Equal(t, "LAB CLOCK ADVANCE 901", strings.Join(a.First[len(a.First)-1].Words, " "))
	require.True(t, a.Wait)
	b := at(1, takes, "explore-1! "+refused)
	require.Empty(t, b.First, "b is held, and a has the lease")
}

// A lease of 10 s has less than that left when its client is held. The commands of a finding are the same each time.
func TestTheCommandsOfAFindingDoNotTellHowFastTheProgramWas(t *testing.T) {
	e := exploreWorld(t, Options{Only: []string{"paused"}}, func(tr Trial) Outcome { return plain(&tr) })
	for _, left := range []int64{10_000, 9_999, 7_200} {
		h := script("a SET lock:o token-a-1 NX PX 10000 -> OK", "explore-1! "+deletes)
		h[0].Entries = append(h[0].Entries, lab.Entry{Event: lab.EventClock, From: 5, To: 5 + left + 1, Mono: 9, Seq: 9})
		require.Contains(t, e.commands(Trial{Strikes: []Strike{{2, 0}}}, h), "LAB CLOCK ADVANCE 10000", left)
	}
}

// Another connection renews the lock of the client that was held: then it has not paused.
func TestAPauseIsNoneIfTheClientGoesOnElsewhere(t *testing.T) {
	e := exploreWorld(t, Options{Only: []string{"paused"}}, func(tr Trial) Outcome { return plain(&tr) })
	h := script(takes, "explore-1! "+deletes, "w PEXPIRE lock:o 1000 -> 0", "b SET lock:o token-b-1 NX PX 1000 -> OK")
	h[0].Entries[1].Outcome = lab.Held
	moved := lab.Entry{Event: lab.EventClock, From: 1, To: 2, Mono: 1, Seq: 9}
	h[0].Entries = append(h[0].Entries[:2:2], append([]lab.Entry{moved}, h[0].Entries[2:]...)...)
	tr := Trial{Strikes: []Strike{{2, 0}}}
	require.Contains(t, e.awake(tr, h), "another connection renews the lock")
	h[0].Entries[3].Cmd = []string{"GET", "lock:o"}
	require.Empty(t, e.awake(tr, h))
}

// b takes the lock when the request of a was executed, and so it did not meet that request.
func TestThePauseThatNoOtherClientMetIsNoted(t *testing.T) {
	const taken = "b SET lock:o token-b-1 NX PX 1000 -> OK"
	for _, c := range []struct {
		lines []string
		noted bool
	}{
		{[]string{takes, "explore-1! " + deletes, deletes, taken}, true},
		{[]string{takes, "explore-1! " + deletes, taken, deletes}, false},
		{[]string{takes, "explore-1! " + deletes, deletes}, false},
	} {
		e := exploreWorld(t, Options{Only: []string{"paused"}}, func(tr Trial) Outcome { return plain(&tr) })
		o := outcome(nil, c.lines...)
		o.Histories[0].Entries[1].Outcome = lab.Held
		e.passed[heldAt{99, 0}] = 901
		j := &judgement{e: e, t: Trial{ID: 99, Strikes: []Strike{{2, 0}}}, o: o}
		j.unmet()
		require.Equal(t, c.noted, strings.Contains(strings.Join(e.Report().Notes, "\n"), "nobody took the lock while these "+
			"requests waited, only afterwards, so a client that asks earlier was not tried: a's first DEL"), c.lines)
	}
}

func TestGlobsMatchTheKeyAndNothingElse(t *testing.T) {
	for _, key := range []string{"lock:o", "a*b", `a?[b]`, `back\\slash`, `\x00\xff\n`, "^"} {
		require.True(t, matches(globOf(key), key), key)
		require.False(t, matches(globOf(key), key+"x"), key)
	}
	require.False(t, matches(globOf("a*b"), "axb"))
	require.Equal(t, "lock:*:job-*", classOf("lock:42:job-9f8a"))
}

package miniredistest_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/lab/explore"
	"github.com/miniredisd/miniredisd/lab/explore/report"
	"github.com/miniredisd/miniredisd/miniredistest"
)

// only is an option that tries these failures only, unless the tests run all of their cases.
func only(faults ...string) miniredistest.Option {
	if amount.Whole() {
		faults = nil
	}
	return miniredistest.Faults(faults...)
}

// itself returns what breaks without a failure, "" for nothing. The finding has pages, which nobody wants to read as
// numbers when a test fails.
func itself(r *explore.Report) string {
	if r.Itself == nil {
		return ""
	}
	return r.Itself.Sentence
}

// aMoment is how much earlier a worker of a queue begins: long enough for a lock of several masters.
const aMoment = 100 * time.Millisecond

// Nothing is broken, nothing is undecided, and every failure was tried at every request.
func TestExploreFindsNothingInClientsThatAreRight(t *testing.T) {
	for name, test := range map[string]func(*miniredistest.Trial){
		"plain": race(plain), "watched": race(watched), "woken": race(woken), "reentrant": race(reentrant),
		"redlock": queue(redlock, aMoment),
	} {
		if !amount.Picked(name, 2) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			r := miniredistest.Explored(t, test, append(mastersOf(name), only("reply-lost", "paused"))...)
			require.Empty(t, itself(r))
			require.Zero(t, r.Untried)
			require.False(t, r.OutOfTime)
			for i, row := range r.Cells {
				for j, c := range row {
					at := r.Points[i].Client + " " + r.Points[i].Command + " " + r.Faults[j].Name
					require.LessOrEqual(t, c.Mark, explore.LeftBehind, at+": "+c.Why)
					require.True(t, c.Mark != explore.NotTried || c.Why != "", at)
				}
			}
		})
	}
}

func mastersOf(name string) []miniredistest.Option {
	if name == "redlock" {
		return []miniredistest.Option{miniredistest.OnMasters(3)}
	}
	return nil
}

// planted is a client that is wrong, and one failure that shows it.
type planted struct {
	test     func(*miniredistest.Trial)
	opts     []miniredistest.Option
	fault    string
	sentence string
}

func bugs() map[string]planted {
	strict, masters := miniredistest.Strict(), miniredistest.OnMasters(3)
	options := func(all ...miniredistest.Option) []miniredistest.Option { return all }
	const stays = "lock:order stays taken until its lease ends, and nobody holds it."
	return map[string]planted{
		"releases without a look at the token": {race(deletes), nil, "paused",
			"If b's first DEL waits until the lease of its client is over, no order of the operations on lock:order is legal."},
		"looks at the token, then deletes": {race(looksThenDeletes), nil, "paused",
			"If b's first DEL waits until the lease of its client is over, no order of the operations on lock:order is legal."},
		"renews without a look at the token": {race(renewsAny), nil, "paused",
			"If b's first PEXPIRE waits until the lease of its client is over, b and a both hold lock:order from +6.0 s."},
		"tries again with a new token": {race(forgetsItsToken), options(strict), "reply-lost",
			"If the reply to b's first SET is lost, " + stays},
		"releases a lock that it does not have": {race(releasesAnyway), nil, "request-lost",
			"If a's second SET is lost, no order of the operations on lock:order is legal."},
		"never stops its watchdog": {race(neverStopsItsWatchdog), nil, "request-lost",
			"If b's third EVAL is lost, the test says: lock:order is renewed for ever, although all workers have ended."},
		"waits for a message without a timeout": {race(waitsForEver), nil, "message-lost",
			"If a's first message from lock:order:free is lost, a client waits for lock:order for ever."},
		"knows no NOSCRIPT": {race(knowsNoNOSCRIPT), nil, "restart",
			"If the server restarts before b's first EVALSHA, the test says: a works while b does; b works while a does."},
		"takes READONLY for success": {race(takesErrorsForSuccess), nil, "error-readonly",
			"If the reply to b's first SET is the error READONLY, the test says: a works while b does."},
		"takes the lock and then sets its TTL": {race(takesThenExpires), nil, "reply-lost",
			"If the reply to b's first SETNX is lost, nobody can ever take lock:order again."},
		"forgets to release after an error": {race(forgetsToRelease), options(strict), "request-lost",
			"If a's first PTTL is lost, " + stays},
		"forgets how long the majority took": {queue(forgetsValidity, aMoment), options(masters), "paused",
			"If a's first SET to master 3 waits until the lease of its client is over, the test says: a works while b does."},
		"keeps the votes of a minority": {queue(keepsItsMinority, aMoment), options(masters, strict), "keys-lost",
			"If the server restarts before b's first SET to master 1 and loses its keys, " + stays},
		"loses a permit of a semaphore": {countPermits(race(leaksAPermit)),
			options(miniredistest.Limit(theLock, permits)), "reply-lost",
			"If the reply to b's first EVAL is lost, the test says: 1 of 2 permits are gone."},
		"loses the count of a re-entrant lock": {race(losesItsCount), nil, "reply-lost",
			"If the reply to b's second EVAL is lost, the test says: a works while b does."},
	}
}

func TestExploreFindsEachPlantedBug(t *testing.T) {
	for name, bug := range bugs() {
		if !amount.Picked(name, 4) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			r := miniredistest.Explored(t, bug.test, append(bug.opts, only(bug.fault))...)
			require.Empty(t, itself(r))
			var all []string
			for _, row := range r.Cells {
				for j, c := range row {
					if c.Mark != explore.Broken {
						continue
					}
					require.Equal(t, c.Finding.Of, c.Finding.With, "in a bubble each run is the same")
					require.Zero(t, c.Finding.Without)
					require.NotEmpty(t, c.Finding.Commands)
					all = append(all, r.Faults[j].Name+": "+c.Finding.Sentence)
				}
			}
			require.Contains(t, all, bug.fault+": "+bug.sentence, strings.Join(all, "\n"))
		})
	}
}

func TestTwoExplorationsInBubblesAreEqualByteForByte(t *testing.T) {
	tests := []func(*miniredistest.Trial){race(looksThenDeletes), race(woken), race(forgetsItsToken)}
	for _, test := range tests[:amount.Count(1, 3)] {
		var first []byte
		for i := range amount.Count(2, 3) {
			r := miniredistest.Explored(t, test, miniredistest.Seed(7))
			var now bytes.Buffer
			require.NoError(t, report.JSON(&now, r))
			require.NoError(t, report.HTML(&now, r, "en"))
			if i == 0 {
				first = now.Bytes()
			}
			require.Equal(t, string(first), now.String())
		}
	}
}

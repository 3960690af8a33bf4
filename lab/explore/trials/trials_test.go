package trials

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/orphans"
	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/lab/explore"
)

// options are those for a program of this test binary.
func options(t *testing.T, name string, faults ...string) Options {
	t.Helper()
	return Options{Options: explore.Options{
		Program: []string{os.Args[0], playing, name}, Seed: 1, Patience: 2 * time.Second, Only: faults,
	}}
}

// at is options with only those points that a test is about, unless the tests run all of their cases.
func at(point func(p explore.Point) bool, o Options) Options {
	if !amount.Whole() {
		o.Cells = func(p explore.Point, _ explore.Fault) bool { return point(p) }
	}
	return o
}

// The points of client a: those of all its requests, and that of its first one, to master 1.
func ofA(p explore.Point) bool        { return p.Client == "a" }
func firstOfA(p explore.Point) bool   { return ofA(p) && p.N == 1 && p.Master == 1 }
func firstOfB(p explore.Point) bool   { return p.Client == "b" && p.N == 1 }
func firstOfDog(p explore.Point) bool { return p.Client == "a-dog" && p.N == 1 }
func secondOfA(p explore.Point) bool  { return ofA(p) && p.N == 2 }
func deletes(p explore.Point) bool    { return p.Command == "DEL" }

func play(t *testing.T, o Options) *explore.Report {
	t.Helper()
	r, err := Run(t.Context(), o)
	require.NoError(t, err)
	return r
}

// sentences returns those of the findings with a mark.
func sentences(r *explore.Report, mark explore.Mark) (all []string) {
	for _, row := range r.Cells {
		for _, c := range row {
			if c.Mark == mark && c.Finding != nil && !slices.Contains(all, c.Finding.Sentence) {
				all = append(all, c.Finding.Sentence)
			}
		}
	}
	return all
}

// itself returns what breaks without a failure, "" for nothing. The finding has pages, which nobody wants to read as
// numbers when a test fails.
func itself(r *explore.Report) string {
	if r.Itself == nil {
		return ""
	}
	return r.Itself.Sentence
}

// cell returns the cell of a fault at a client's n-th request or message.
func cell(t *testing.T, r *explore.Report, client string, n int, fault string) explore.Cell {
	t.Helper()
	i := slices.IndexFunc(r.Points, func(p explore.Point) bool { return p.Client == client && p.N == n && !p.Unstable })
	j := slices.IndexFunc(r.Faults, func(f explore.Fault) bool { return f.Name == fault })
	require.GreaterOrEqual(t, i, 0, "%s %d in %v", client, n, r.Points)
	require.GreaterOrEqual(t, j, 0, fault)
	return r.Cells[i][j]
}

func TestALockForEverIsFoundInSetnxAndExpire(t *testing.T) {
	t.Parallel()
	o := at(firstOfA, options(t, "setnx", "request-lost", "reply-lost"))
	o.Jobs = 4
	r := play(t, o)
	found := sentences(r, explore.Broken)
	require.Contains(t, found, "If the reply to a's first SETNX is lost, nobody can ever take lock:o again.")
	c := cell(t, r, "a", 1, "reply-lost")
	require.Equal(t, []string{"LAB LOG WATCH lock:o",
		"LAB FAULT ADD explore-1 KEY lock:o CLIENT a ORDER 1 NTH 1 ACTION DROP-REPLY"}, c.Finding.Commands)
	require.Equal(t, explore.ForEver, c.Finding.Harm)
	require.NotEmpty(t, c.Finding.SVG)
	require.NotEmpty(t, c.Finding.Loop)
	require.Contains(t, c.Finding.Fix, "SET key token NX PX")
	require.Zero(t, c.Finding.Without)
}

func TestADeleteWithoutCompareIsFound(t *testing.T) {
	for name, sentence := range map[string]string{
		"get-del":    "DEL waits until the lease of its client is over, ",
		"rarely":     "DEL waits until the lease of its client is over, ",
		"no-compare": "DEL waits until the lease of its client is over, ",
		"nameless":   "If #1's first DEL waits",
	} {
		if !amount.Picked(name, 2) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := play(t, at(deletes, options(t, name, "paused")))
			require.Contains(t, strings.Join(sentences(r, explore.Broken), "\n"), sentence)
		})
	}
}

func TestNothingIsBrokenInACarefulClient(t *testing.T) {
	for _, name := range []string{"careful", "watchdog", "look-again"}[:amount.Count(1, 3)] {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := play(t, at(ofA, options(t, name, "reply-lost", "paused")))
			require.Empty(t, sentences(r, explore.Broken))
			require.Empty(t, sentences(r, explore.ByItself))
			require.Empty(t, itself(r))
			require.Greater(t, r.Trials, 3)
		})
	}
}

func TestALockThatNobodyHoldsIsLeftBehind(t *testing.T) {
	t.Parallel()
	o := at(secondOfA, options(t, "look-again", "request-lost"))
	o.Jobs = 4
	r := play(t, o)
	c := cell(t, r, "a", 2, "request-lost")
	require.Equal(t, explore.LeftBehind, c.Mark, c.Why)
	require.Equal(t, "lock:o is free again when its lease ends", c.Why)
	o.Strict = true
	r = play(t, o)
	require.Contains(t, sentences(r, explore.Broken),
		"If a's first EVAL is lost, lock:o stays taken until its lease ends, and nobody holds it.")
}

func TestAWaiterThatMissesItsMessageIsFound(t *testing.T) {
	t.Parallel()
	o := options(t, "listener", "message-lost")
	o.Jobs = 12 // each trial waits until it is overdue
	r := play(t, o)
	c := cell(t, r, "b-ears", 1, "message-lost")
	require.Equal(t, explore.Broken, c.Mark)
	require.Equal(t, "If b-ears's first message from free:o is lost, a client waits for lock:o for ever.",
		c.Finding.Sentence)
}

func TestWorkWithoutTheLockIsFoundByTheInvariant(t *testing.T) {
	t.Parallel()
	o := at(firstOfA, options(t, "counter", "request-lost"))
	o.Invariant = os.Args[0] + " " + playing + " check"
	r := play(t, o)
	require.Contains(t, sentences(r, explore.Broken), "If a's first SET is lost, the check after the run fails.")
	c := cell(t, r, "a", 1, "request-lost")
	require.Equal(t, explore.CheckFails, c.Finding.Harm)
	require.Contains(t, c.Finding.Reason, "somebody worked without the lock")
	o.Invariant = "exit 7"
	r = play(t, o)
	require.Contains(t, r.Itself.Reason, "exit status 7")
}

func TestAProgramThatBreaksByItselfIsNotAccusedOfAFault(t *testing.T) {
	t.Parallel()
	r := play(t, options(t, "race", "request-lost"))
	require.NotNil(t, r.Itself)
	require.Equal(t, "Without any fault, a and c both hold lock:o.", r.Itself.Sentence)
	require.Equal(t, r.Itself.Of, r.Itself.Without)
	require.Empty(t, sentences(r, explore.Broken))
	require.Zero(t, r.Trials)
}

func TestAProgramThatCannotBeExploredGetsASentence(t *testing.T) {
	for name, why := range map[string]string{
		"no-lock":  "no command took a lock, only SET (1)",
		"no-redis": "the program sent no command about a key. It finds the server by REDIS_URL",
		"fails":    "the program fails without a fault (exit status 3); it printed: assertion failed",
		"shutdown": "the server has ended during a run: the program has sent SHUTDOWN",
		"never":    "the program does not end without a fault either",
		"prints":   "the program does not end without a fault either; it printed: xxx",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(t, name)
			if name == "never" || name == "prints" {
				o.Budget = time.Second
			}
			_, err := Run(t.Context(), o)
			require.ErrorContains(t, err, why)
		})
	}
	_, err := Run(t.Context(), Options{Options: explore.Options{Program: []string{"/no/such/program"}}})
	require.ErrorContains(t, err, "the program cannot be started")
}

func TestWhatAProgramLeavesBehindIsEnded(t *testing.T) {
	o := options(t, "forks")
	o.Budget = time.Second
	all, stop, err := orphans.Adopt()
	if err != nil {
		t.Skip("this system gives orphans to its first process:", err)
	}
	defer stop()
	d := newDriver(o)
	d.explorer, d.orphans = explore.New(o.Options), all
	require.NoError(t, d.loop(t.Context()))
	_, alive, err := all.End(nil, time.Second)
	require.NoError(t, err)
	require.Empty(t, alive)
}

func TestARunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	o := options(t, "never")
	o.Progress = func(Progress) { cancel() }
	_, err := Run(ctx, o)
	require.ErrorIs(t, err, context.Canceled)
}

func TestAPowerCutLosesALockUnlessItsFileIsFsyncedAlways(t *testing.T) {
	for fsync, broken := range map[string]bool{"everysec": true, "always": false} {
		if !broken && !amount.Whole() {
			continue
		}
		t.Run(fsync, func(t *testing.T) {
			t.Parallel()
			o := options(t, "slow", "power-cut")
			o.Disk, o.Jobs = fsync, 4
			o.Cells = func(p explore.Point, _ explore.Fault) bool { return p.N == 1 }
			r := play(t, o)
			require.Equal(t, broken, len(sentences(r, explore.Broken)) > 0, sentences(r, explore.Broken))
			require.Greater(t, r.Trials, 1)
			for _, row := range r.Cells {
				if f := row[0].Finding; f != nil {
					require.Contains(t, f.Commands, "# The server has --lab-disk yes --appendonly yes --appendfsync everysec.")
					require.Contains(t, f.Commands, "LAB CRASH LOSE UNSYNCED")
					require.Contains(t, f.Reason, "it was never on disk")
				}
			}
		})
	}
}

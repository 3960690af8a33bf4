package miniredistest_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/lab/explore"
	"github.com/miniredisd/miniredisd/lab/glass"
	"github.com/miniredisd/miniredisd/miniredistest"
)

// strange is a test that Explore has to refuse, or that fails, and what it has to say.
type strange struct {
	run  func(t *testing.T)
	says string // a regular expression
}

func exploreOne(test func(*miniredistest.Trial), opts ...miniredistest.Option) func(*testing.T) {
	return func(t *testing.T) { miniredistest.Explore(t, test, opts...) }
}

// alone is a test with one worker.
func alone(work func(w *miniredistest.Worker) error) func(*miniredistest.Trial) {
	return func(t *miniredistest.Trial) { t.Go("a", work) }
}

func send(words ...string) func(*miniredistest.Trial) {
	return alone(func(w *miniredistest.Worker) error {
		p := newPeer(w)
		defer p.close()
		_, err := p.do(words...)
		return err
	})
}

func strangers() map[string]strange {
	soon := miniredistest.MostReal(500 * time.Millisecond)
	return map[string]strange{
		"sleeps for ever": {exploreOne(alone(func(*miniredistest.Worker) error {
			for {
				time.Sleep(time.Second)
			}
		})), "the test does not end without a fault either"},
		"waits for ever": {exploreOne(alone(func(*miniredistest.Worker) error { select {} })),
			"the test does not end without a fault either"},
		"runs for ever": {exploreOne(alone(func(*miniredistest.Worker) error {
			for {
			}
		}), soon), `the test stands still: a goroutine is in state (running|runnable) at .*\.go`},
		"sleeps in a mutex": {exploreOne(func(t *miniredistest.Trial) {
			var mu sync.Mutex
			for _, name := range []string{"a", "b"} {
				t.Go(name, func(*miniredistest.Worker) error {
					mu.Lock()
					defer mu.Unlock()
					time.Sleep(time.Second)
					return nil
				})
			}
		}, soon), `a goroutine is in state sync.Mutex.Lock at .*explore_strange_test.go`},
		"fails": {exploreOne(alone(func(*miniredistest.Worker) error { return errors.New("no luck") })),
			`the test fails without a fault \(a: no luck\)`},
		"uses no lock": {exploreOne(send("SET", "page", "text")), `no command took a lock, only SET \(1\)`},
		"uses no server": {exploreOne(alone(func(*miniredistest.Worker) error { return nil })),
			"the test sent no command about a key. Its clients have to connect to the server of the trial: in Go by Dial"},
		"skips itself": {exploreOne(func(t *miniredistest.Trial) { t.Skip("not today") }), "not today(?s:.*)SKIP"},
		"has no name": {exploreOne(func(t *miniredistest.Trial) {
			t.Go("the first", func(*miniredistest.Worker) error { return nil })
		}), `Go\("the first"\): a name has printable characters without spaces`},
		"is in a bubble": {func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { miniredistest.Explore(t, race(plain)) })
		}, "Explore makes a bubble for each trial"},
		"has an option of Explore": {func(t *testing.T) { miniredistest.Run(t, miniredistest.Pairs()) },
			"Pairs is an option of Explore, not of a server"},
		"has two masters of a cluster": {exploreOne(race(plain), miniredistest.Cluster(), miniredistest.OnMasters(2)),
			"a cluster needs three masters or more"},
		"has a cluster and Sentinels": {exploreOne(race(plain), miniredistest.Cluster(), miniredistest.Sentinels(3)),
			"a cluster has no Sentinels"},
		"has one Sentinel": {exploreOne(race(plain), miniredistest.Sentinels(1)), `Explore plays Sentinels\(3\)`},
		"has Sentinels of several masters": {exploreOne(race(plain), miniredistest.Sentinels(3), miniredistest.OnMasters(3)),
			"Sentinels watch one master"},
		"moves a slot of one server": {exploreOne(race(plain), miniredistest.Faults("slot-moves")),
			`the failure "slot-moves" needs a cluster`},
		"is broken in a cluster": {exploreOne(one(moving(inCluster, deaf), &room{}), miniredistest.Cluster(),
			miniredistest.Faults("promotion"), miniredistest.Strict()),
			`(?s)is promoted before a's first EVAL to master 2.*recording of finding 1: .*explore-1.loop.gz`},
		"has no time": {exploreOne(race(plain), miniredistest.Budget(time.Nanosecond)),
			"the time was over before the test had run three times without a fault"},
		"leaves a goroutine": {exploreOne(func(t *miniredistest.Trial) {
			go func() { select {} }()
			race(plain)(t)
		}, only("reply-lost")), "goroutines were left behind in \\d+ trials"},
		"is broken": {exploreOne(race(deletes), only("paused")), `(?s)Explore broke a lock.*` +
			`If b's first DEL waits until the lease of its client is over, no order of the operations on lock:order is legal.*` +
			`Seen in 5 of 5 runs with it, and in 0 of 5 without it.*` +
			`LAB FAULT ADD explore-1 KEY lock:order CLIENT b ORDER 1 NTH 2 TIMES 1000000 ACTION HOLD.*` +
			`LAB CLOCK ADVANCE.*report: .*explore.html.*recording of finding 1: .*explore-1.loop.gz`},
		"makes one mistake": {exploreOne(alone(func(w *miniredistest.Worker) error {
			h := newPatient(w)
			defer h.close()
			if _, err := h.do("SETNX", theLock, h.token); err != nil {
				return err
			}
			_, err := h.do("DEL", theLock)
			return err
		}), only("reply-lost", "reset-after")), `(?s)Explore broke a lock in 1 way.*` +
			`nobody can ever take lock:order again.*[1-9] more of the failures show the same mistake`},
	}
}

const theStranger = "EXPLORE_STRANGER"

func TestStranger(t *testing.T) {
	name := os.Getenv(theStranger)
	if name == "" {
		t.Skip("TestExploreSaysWhatIsStrange runs it in a process of its own, because it fails or leaves goroutines")
	}
	strangers()[name].run(t)
}

func TestExploreSaysWhatIsStrange(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	for name, s := range strangers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kept := t.TempDir()
			child := exec.CommandContext(t.Context(), self, "-test.run=^TestStranger$", "-test.v", "-test.timeout=2m")
			child.Env = append(os.Environ(), theStranger+"="+name, "TMPDIR="+kept)
			said, _ := child.CombinedOutput() // it fails as it should
			require.Regexp(t, s.says, string(said))
			require.NotRegexp(t, "panic|DATA RACE", string(said))
			if at := regexp.MustCompile(`report: (\S+)`).FindSubmatch(said); at != nil {
				for _, file := range []string{"explore.html", "explore.txt", "explore.json"} {
					require.FileExists(t, filepath.Join(filepath.Dir(string(at[1])), file))
				}
			}
			if name == "is broken" {
				at := regexp.MustCompile(`recording of finding 1: (\S+)`).FindSubmatch(said)
				requireRecording(t, string(at[1]), "DEL "+theLock)
			}
		})
	}
}

// requireRecording wants a recording in which a command is executed.
func requireRecording(t *testing.T, path, command string) {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	r, err := glass.ReadRecording(f)
	require.NoError(t, err)
	require.True(t, slices.ContainsFunc(r.Lines, func(m glass.Message) bool {
		return slices.ContainsFunc(m.Events, func(e trace.Event) bool { return e.Text == command })
	}), "%d lines", len(r.Lines))
}

func TestAPanicOfAWorkerIsAFinding(t *testing.T) {
	r := miniredistest.Explored(t, alone(func(w *miniredistest.Worker) error {
		h := newHolder(w)
		defer h.close()
		h.newToken()
		if v, err := h.do("SET", theLock, h.token, "NX", "PX", ms(lease)); err != nil || v.Null {
			panic("no lock")
		}
		h.until = time.Now().Add(lease)
		return h.release()
	}), only("request-lost"))
	require.Contains(t, sentences(r), "If a's first SET is lost, the test says: a panics: no lock.")
}

// sentences returns those of all findings of a kind that fails the test.
func sentences(r *explore.Report) (all []string) {
	for _, row := range r.Cells {
		for _, c := range row {
			if c.Mark == explore.Broken || c.Mark == explore.ByItself {
				all = append(all, c.Finding.Sentence)
			}
		}
	}
	return all
}

// The sleeps differ in each run, because the seed does not decide them.
func TestRandomSleepsAreNoFinding(t *testing.T) {
	for range amount.Count(1, 3) {
		r := miniredistest.Explored(t, race(func(w *miniredistest.Worker, r *room) error {
			time.Sleep(rand.N(300 * time.Millisecond))
			return plain(w, r)
		}), only("request-lost", "reply-lost", "paused"))
		require.Empty(t, itself(r))
		require.Empty(t, sentences(r))
	}
}

// Each worker sometimes works without the lock.
func TestARaceOfTheTestBreaksByItself(t *testing.T) {
	r := miniredistest.Explored(t, race(func(w *miniredistest.Worker, r *room) error {
		if rand.N(3) == 0 {
			r.work(w, nil)
		}
		return plain(w, r)
	}))
	for _, row := range r.Cells {
		for _, c := range row {
			require.NotEqual(t, explore.Broken, c.Mark, "%+v", c)
		}
	}
	if r.Itself == nil {
		require.NotEmpty(t, sentences(r), "nothing was seen of a race that comes in every third run")
	}
}

// The chance of a worker is the same in each trial.
func TestAWorkersRandIsTheSameInEachTrial(t *testing.T) {
	test := race(func(w *miniredistest.Worker, r *room) error {
		time.Sleep(time.Duration(w.Rand.Int64N(int64(time.Second))))
		return plain(w, r)
	})
	var first []explore.Point
	for _, seed := range []uint64{3, 3, 4, 5, 6, 7}[:amount.Count(3, 6)] {
		r := miniredistest.Explored(t, test, miniredistest.Seed(seed), only("reply-lost"))
		require.Empty(t, sentences(r))
		for _, p := range r.Points {
			require.False(t, p.Unstable)
		}
		if first == nil {
			first = r.Points
		}
		if seed == 3 {
			require.Equal(t, first, r.Points)
		}
	}
}

// A worker takes two locks. The report says at which of them the failure strikes.
func TestTwoLocksAtOnceAreToldApart(t *testing.T) {
	r := miniredistest.Explored(t, race(func(w *miniredistest.Worker, r *room) error {
		h := newPatient(w)
		defer h.close()
		for _, key := range []string{"lock:stock", "lock:order"} {
			err := retry(func() (bool, error) {
				h.newToken()
				v, err := h.do("SET", key, h.token, "NX", "PX", ms(lease))
				return err == nil && !v.Null, err
			})
			if err != nil {
				return err
			}
		}
		r.work(w, nil)
		_, err := h.do("DEL", "lock:order")
		_, err2 := h.do("DEL", "lock:stock")
		return errors.Join(err, err2)
	}), only("paused"))
	require.Empty(t, itself(r))
	require.Contains(t, sentences(r), "If b's first DEL on lock:stock waits until the lease of its client is over, "+
		"no order of the operations on lock:stock is legal.")
	keys := map[string]bool{}
	for _, p := range r.Points {
		keys[p.Key] = true
	}
	require.Equal(t, map[string]bool{"lock:stock": true, "lock:order": true}, keys)
}

// The clients are those that connect by a port, and time is real.
func TestExploreFindsABugInRealTime(t *testing.T) {
	r := miniredistest.Explored(t, alone(func(w *miniredistest.Worker) error {
		h := newHolder(w)
		h.wait = time.Second
		defer h.close()
		v, err := h.do("SETNX", theLock, "token-of-a-1")
		if err != nil || v.Int != 1 {
			return errors.Join(err, errTaken)
		}
		if _, err = h.do("PEXPIRE", theLock, ms(lease)); err != nil {
			return err
		}
		_, err = h.do("DEL", theLock)
		return err
	}), miniredistest.RealTime(), only("reply-lost"))
	require.Contains(t, sentences(r), "If the reply to a's first SETNX is lost, nobody can ever take lock:order again.")
}

// Without Locks the exploration ends, because nothing takes a lock: see "uses no lock".
func TestExploreTakesNamedKeysForLocks(t *testing.T) {
	miniredistest.Explore(t, send("SET", "page", "text", "PX", "1000"), miniredistest.Locks("pa*"))
}

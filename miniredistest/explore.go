package miniredistest

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/lab/explore"
)

// Explore finds the failure that breaks the locks of a test. It runs the test again and again, each time on a
// fresh server and with one failure at one place: a reply is lost, a client pauses until its lease is over, the
// server restarts, and so on. It ends when all failures are tried at all requests that touch a lock.
//
//	func TestNoFailureBreaksOurLock(t *testing.T) {
//		miniredistest.Explore(t, func(t *miniredistest.Trial) {
//			for _, name := range []string{"a", "b"} {
//				t.Go(name, func(w *miniredistest.Worker) error {
//					client := redis.NewClient(&redis.Options{Addr: w.Addr(), Dialer: w.Dial})
//					defer client.Close()
//					return mylock.With(client, "lock:order:42", 30*time.Second, func() { time.Sleep(time.Second) })
//				})
//			}
//		})
//	}
//
// Each trial lives in a bubble of testing/synctest of its own. So sleeps take no time, and hundreds of trials a
// second are usual. The clients have to connect by Dial. The network takes a little time in a bubble, by the
// seed, and so two runs of Explore find the same. With RealTime there is no bubble.
//
// The test fails if a failure breaks a lock: two clients hold it, or no order of the commands is legal, or nobody
// can ever take it again, or a waiter never wakes, or an assertion of the trial fails, or the trial never ends.
// The message has the failure in one sentence and the LAB commands that make it again. It names a page with the
// whole report.
//
// With the options Cluster() or Sentinels(3) the clients have to find the node that serves them. Then promotions and
// slots that move are tried, too.
//
// An error that a worker returns breaks nothing: a client that notices a failure is a good client. So the test
// asserts what must be true after any failure, and returns the other errors.
func Explore(t *testing.T, test func(*Trial), opts ...Option) {
	t.Helper()
	r, d := explored(t, test, opts)
	tell(t, r, d.record(findings(r)))
}

// explored is Explore without its judgement.
func explored(t *testing.T, test func(*Trial), opts []Option) (*explore.Report, *driver) {
	t.Helper()
	o := apply(opts)
	real := o.explore.realTime
	switch {
	case inBubble():
		t.Fatal("miniredistest: Explore makes a bubble for each trial. Call it outside of testing/synctest")
	case o.elsewhere != nil:
		t.Fatal("miniredistest: Explore has servers of its own. At another server: miniredisd explore --server COMMAND")
	case o.tls != nil && !real:
		t.Fatal("miniredistest: there is no TLS in a bubble. Explore needs RealTime for it")
	}
	asked := explore.Options{
		Program: []string{t.Name()}, InTest: true, Seed: o.seed, Disk: o.disk(t), Replica: o.replica(t),
		Keys: o.explore.locks, Limits: o.explore.limits, Patience: patience(real),
		Only: o.explore.faults, Strict: o.explore.strict, Pairs: o.explore.pairs, Exact: !real,
	}
	o.topology(t, &asked)
	o.explore.masters = max(o.explore.masters, 1)
	asked.Masters = o.explore.masters
	for _, name := range o.explore.faults {
		if !slices.Contains(explore.FaultNames(), name) {
			t.Fatalf("miniredistest: there is no failure %q, only %s", name, strings.Join(explore.FaultNames(), ", "))
		}
		if lacks := asked.Lacks(name); lacks != "" {
			t.Fatalf("miniredistest: the failure %q needs %s", name, lacks)
		}
	}
	d := &driver{stage: &stage{t: t, test: test, o: o}, slow: true, e: explore.New(asked)}
	d.drive()
	if d.strays > 0 {
		t.Logf("goroutines were left behind in %d trials: what a worker starts has to end with it", d.strays)
	}
	if err := d.e.Err(); err != nil {
		if d.said != "" {
			err = fmt.Errorf("%w. The test says: %s", err, d.said)
		}
		t.Fatalf("miniredistest: %v", err)
	}
	r := d.e.Report()
	if !real {
		r.Took = 0 // the time of a bubble is nobody's time
	}
	return r, d
}

// disk returns the appendfsync of servers that have an append only file on a simulated disk, "" for others.
func (o *options) disk(t *testing.T) string {
	t.Helper()
	cfg := o.config(t)
	if !cfg.LabDisk || !cfg.AppendOnly {
		return ""
	}
	return cfg.AppendFsync
}

// replica reports whether each server has a replica.
func (o *options) replica(t *testing.T) bool {
	t.Helper()
	n := o.config(t).Replicas
	if n > 1 {
		t.Fatalf("miniredistest: Explore plays failovers with Replicas(1), not with %d", n)
	}
	return n == 1
}

func (o *options) config(t *testing.T) *config.Config {
	t.Helper()
	cfg, err := config.Parse(append(strings.Fields(os.Getenv("MINIREDISD_ARGS")), o.args...), strings.NewReader(""))
	if err != nil {
		t.Fatalf("miniredistest: %v", err)
	}
	return cfg
}

// patience is by how much a trial may take longer than one without a failure.
func patience(real bool) time.Duration {
	if real {
		return 10 * time.Second
	}
	return 2 * time.Minute
}

// driver plays the trials that an Explorer asks for.
type driver struct {
	*stage
	slow bool // whether the network takes time

	mu  sync.Mutex // guards the rest: a trial that stood still may go on beside the next
	e   *explore.Explorer
	now int // ID of the trial that runs

	strays int    // trials that left goroutines behind
	said   string // what the assertions of a run without a failure said
}

// aMinute is how long Explore takes at most, unless Budget says otherwise.
const aMinute = time.Minute

func (d *driver) drive() {
	begin, budget := time.Now(), d.o.explore.budget
	if budget == 0 {
		budget = aMinute
	}
	for {
		trial, more := d.next()
		if !more {
			return
		}
		o := d.try(trial)
		d.mu.Lock()
		d.e.Done(trial, o)
		if time.Since(begin) > budget {
			d.e.TimeIsOver()
		}
		d.mu.Unlock()
	}
}

func (d *driver) next() (explore.Trial, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	trial, more := d.e.Next()
	d.now = trial.ID
	return trial, more
}

// try plays one trial.
func (d *driver) try(trial explore.Trial) explore.Outcome {
	p := d.playOf(trial)
	of := d.play(p)
	if of.stray != "" && of.hung == nil {
		d.strays++
	}
	if of.stood != "" && trial.Kind == explore.Baseline {
		of = d.stoodStill(p, of)
	}
	if trial.Kind == explore.Baseline {
		if of.skipped {
			d.t.Skip(strings.TrimSpace(of.output))
		}
		d.said = several(of.failures)
	}
	return of.outcome()
}

// playOf returns how to play a trial.
func (d *driver) playOf(trial explore.Trial) play {
	p := play{limit: trial.Limit, slow: d.slow, arm: func(m Masters) { send(m, trial.Orders) }}
	if p.limit == 0 {
		p.limit = 5 * patience(d.o.explore.realTime)
	}
	for _, hold := range trial.Holds {
		p.lead = append(p.lead, func(m Masters) { d.hold(trial, hold, m) })
	}
	p.over = func(m Masters) {
		d.mu.Lock()
		orders := d.e.Settle(trial)
		d.mu.Unlock()
		send(m, orders)
	}
	p.late = func(m Masters) {
		scene := sceneOf(m)
		d.mu.Lock()
		orders := d.e.Overdue(scene)
		d.mu.Unlock()
		if !m[0].InBubble() {
			send(m, orders)
		}
	}
	return p
}

// stoodStill plays a trial again without the time that the network takes. A test may hold a sync.Mutex while it
// waits for the network, and then the time of a bubble does not pass.
func (d *driver) stoodStill(p play, of *played) *played {
	if d.slow {
		d.slow, p.slow = false, false
		of = d.play(p)
	}
	if of.stood != "" {
		d.t.Fatalf("miniredistest: the test stands still: a goroutine is in state %s.\nThe time of a bubble passes only "+
			"while all goroutines wait for channels, sleeps or Dial's connections, not for a sync.Mutex or another "+
			"network. Let the test wait in such a way, or use the option RealTime", of.stood)
	}
	return of
}

// hold does what is to be done when a rule holds a client.
func (d *driver) hold(trial explore.Trial, hold explore.Hold, m Masters) {
	held, err := m[0].in.nodes[hold.Master-1].Try("LAB", "HOLD", "WAIT", hold.Rule, "0")
	if err != nil || held.Null {
		return // the servers have ended
	}
	scene := sceneOf(m)
	d.mu.Lock()
	if d.now != trial.ID {
		d.mu.Unlock()
		return
	}
	act := d.e.Held(trial, hold.Rule, scene)
	d.mu.Unlock()
	if m[0].InBubble() && act.Pass > 0 { // time passes for the test as well
		act.First = slices.DeleteFunc(act.First, advances)
		send(m, act.First)
		time.Sleep(act.Pass + odd)
	} else {
		send(m, act.First)
	}
	if act.Wait {
		d.wait(hold.Rule, m)
	}
	send(m, act.Then)
}

// odd keeps what Explore does from the instant of a client's timeout, which is usually round.
const odd = 3*time.Microsecond + 7

// wait waits until another client has taken the lock, or until no client sends anything any more, or for a second.
func (d *driver) wait(rule string, m Masters) {
	if m[0].InBubble() {
		time.Sleep(time.Second + odd)
		return
	}
	const step, still = 20 * time.Millisecond, 5
	entries, same := 0, 0
	for end := time.Now().Add(time.Second); same < still && time.Now().Before(end); time.Sleep(step) {
		scene := sceneOf(m)
		d.mu.Lock()
		over := d.e.GoneOn(rule, scene)
		d.mu.Unlock()
		if over {
			return
		}
		now := 0
		for _, h := range scene.Histories {
			now += len(h.Entries)
		}
		if same++; now != entries {
			entries, same = now, 0
		}
	}
}

// advances reports whether an order moves the clock on.
func advances(o explore.Order) bool {
	at := slices.Index(o.Words, "CLOCK")
	return at >= 0 && slices.Contains(o.Words[at:], "ADVANCE")
}

// send gives orders to masters. What a master refuses shows in its history.
func send(m Masters, orders []explore.Order) {
	for _, o := range orders {
		_, _ = m[0].in.nodes[o.Master-1].Try(o.Words...)
	}
}

func sceneOf(m Masters) explore.Scene {
	m = m[0].in.nodes
	return explore.Scene{Histories: exports(m), TTL: m.ttl, Slot: m.slot}
}

// outcome says what a trial has shown in the words of package explore.
func (of *played) outcome() explore.Outcome {
	o := explore.Outcome{
		Took: of.took, Failed: strings.Join(of.errors, "; "), Unsafe: several(of.failures),
		Hung: of.hung != nil, Woke: of.woke, Waiting: of.waiting, Output: of.output,
	}
	if of.stood != "" {
		o.Unknown = "the test stood still: a goroutine was in state " + of.stood
	}
	o.Histories, o.Ends = of.histories, of.ends
	o.TTL = func(master, db int, key string) int64 {
		most := int64(noKey)
		for at, ttl := range of.ttls {
			if at.db == db && at.key == key && (at.master == master || of.moves) {
				most = longer(most, ttl)
			}
		}
		return most
	}
	return o
}

// several joins the failures of a trial. One bug often has many.
func several(failures []string) string {
	var all []string
	for _, f := range failures {
		if !slices.Contains(all, f) && len(all) < 3 {
			all = append(all, f)
		}
	}
	return strings.Join(all, "; ")
}

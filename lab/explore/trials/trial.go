package trials

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/miniredisd/miniredisd/course/stage"
	"github.com/miniredisd/miniredisd/lab/explore"
	"github.com/miniredisd/miniredisd/resp"
)

// trial is one trial under way.
type trial struct {
	*driver
	explore.Trial
	ctx     context.Context
	servers servers
	all     []string     // addresses: the masters, then their replicas, then Sentinels
	stage   *stage.Stage // servers, nil if they are foreign
	program *program
	held    chan explore.Hold // rules that hold a client
	pauses  chan func()       // see Task
}

// play runs a trial, and tells the explorer what it has shown.
func (d *driver) play(ctx context.Context, t explore.Trial) error {
	return d.show(ctx, t, func(o explore.Outcome) {
		d.mu.Lock()
		d.explorer.Done(t, o)
		d.mu.Unlock()
	})
}

// show runs a trial on servers of its own. done is called while they still run.
func (d *driver) show(ctx context.Context, t explore.Trial, done func(explore.Outcome)) error {
	p := &trial{driver: d, Trial: t, held: make(chan explore.Hold, len(t.Holds)), pauses: make(chan func(), len(t.Holds))}
	if d.Foreign != "" {
		f, err := d.borrow(ctx)
		if err != nil {
			return failure(t, err)
		}
		p.servers, p.all = f, f.addrs
		err = p.showOn(ctx, done)
		d.giveBack(f, err)
		return err
	}
	s, err := d.newStage()
	if err != nil {
		return failure(t, err)
	}
	p.servers, p.all, p.stage = s, s.Addrs, s
	return errors.Join(p.showOn(ctx, done), s.Close())
}

// showOn runs a trial on its servers.
func (t *trial) showOn(ctx context.Context, done func(explore.Outcome)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the waits for rules
	t.ctx = ctx
	o, err := t.run()
	if err == nil && ctx.Err() == nil {
		done(o)
	}
	switch {
	case err != nil && strings.HasSuffix(err.Error(), "has ended"):
		return errors.New("the server has ended during a run: the program has sent SHUTDOWN")
	case err != nil:
		return failure(t.Trial, err)
	}
	return nil
}

// lab executes a verb of LAB on a master.
func (t *trial) lab(master int, words ...string) (resp.Value, error) {
	return t.servers.Do(t.ctx, master, append([]string{"LAB"}, words...)...)
}

func (t *trial) run() (o explore.Outcome, err error) {
	if err := t.send(t.Orders); err != nil {
		return o, err
	}
	if t.isRecorded() {
		t.stage.Record(t.Master, true)
	}
	for _, h := range t.Holds {
		go t.await(h)
	}
	began := time.Now()
	if t.program, err = t.begin(); err != nil {
		return o, err
	}
	over, err := t.wait(t.limit())
	o.Took = time.Since(began)
	o.Hung = !over
	if err == nil {
		err = errors.Join(t.settle(), t.look(&o))
	}
	err = errors.Join(err, t.driver.end(t.program))
	if err != nil {
		return o, err
	}
	if over {
		o.Failed, o.Unsafe = t.program.failed, t.program.unsafe
	}
	o.Output = t.program.output.lines()
	if t.isRecorded() {
		o.Loop = t.loop()
	}
	return o, t.check(&o)
}

// isRecorded reports whether a finding of this trial can have a recording.
func (t *trial) isRecorded() bool {
	return t.stage != nil && (t.Kind == explore.Single || t.Kind == explore.Double)
}

// begin starts the program.
func (t *trial) begin() (*program, error) {
	if t.Play != nil {
		return t.ask(), nil
	}
	return t.start(t.driver.Program, t.environment())
}

// limit is how long the program may take.
func (t *trial) limit() time.Duration {
	if t.Limit > 0 {
		return t.Limit
	}
	if t.Budget > 0 {
		return min(firstLimit, t.Budget)
	}
	return firstLimit
}

// settle ends what a fault has left half done.
func (t *trial) settle() error {
	t.mu.Lock()
	orders := t.explorer.Settle(t.Trial)
	t.mu.Unlock()
	return t.send(orders)
}

// send sends orders to the servers.
func (t *trial) send(orders []explore.Order) error {
	for _, o := range orders {
		if _, err := t.servers.Do(t.ctx, o.Master, o.Words...); err != nil {
			return err
		}
	}
	return nil
}

// await waits until a rule holds a client. It ends with the trial.
func (t *trial) await(h explore.Hold) {
	v, err := t.lab(h.Master, "HOLD", "WAIT", h.Rule, "0")
	if err == nil && !v.Null {
		t.held <- h
	}
}

// wait waits for the end of the program, and acts when a rule holds a client. It reports whether the program is
// over in time.
func (t *trial) wait(limit time.Duration) (over bool, err error) {
	late := t.after(limit, t.lost())
	for {
		select {
		case <-t.program.over:
			return true, nil
		case <-late:
			return false, nil
		case <-t.ctx.Done():
			return false, t.ctx.Err()
		case h := <-t.held:
			if err := t.act(h); err != nil {
				return false, err
			}
		}
	}
}

// after returns a channel that is closed after some time. It waits in many short steps. On a busy machine each step
// takes longer, and so does the program: it is not late because it gets no processor. So that time does not count, up
// to a bound. lost gets it.
func (t *trial) after(limit time.Duration, lost func(time.Duration)) <-chan struct{} {
	const steps, mostStill = 100, 20
	over, still, given := make(chan struct{}), standstillOf(t.program), time.Duration(0)
	go func() {
		defer close(over)
		for left, step := limit, limit/steps; left > 0; left -= step {
			began := time.Now()
			select {
			case <-time.After(step):
			case <-t.ctx.Done():
				return
			}
			passed := time.Since(began)
			used := still.took()
			if given < mostStill*limit {
				left, given = left+min(used.still, step), given+min(used.still, step)
			}
			lost(max(min(used.still, passed), passed-step))
			t.note(used, passed, limit-left)
		}
	}()
	return over
}

// lost returns what notes that the machine stood still for the program. As many trials as run at once share that.
func (t *trial) lost() func(time.Duration) {
	jobs := int64(max(t.Jobs, 1))
	return func(still time.Duration) { t.still.Add(int64(still) / jobs) }
}

// act plays the fault of a rule that holds a client.
func (t *trial) act(h explore.Hold) error {
	s, err := t.scene()
	if err != nil {
		return err
	}
	t.mu.Lock()
	a := t.explorer.Held(t.Trial, h.Rule, s)
	t.mu.Unlock()
	if err := t.send(a.First); err != nil {
		return err
	}
	switch {
	case a.Wait && t.Tells:
		t.pause()
	case a.Wait:
		if err := t.watch(h.Rule, a.Quiet); err != nil {
			return err
		}
	}
	return t.send(a.Then)
}

// pause waits until the test says that the others have gone on, or the program is over.
func (t *trial) pause() {
	over := make(chan struct{})
	t.pauses <- sync.OnceFunc(func() { close(over) })
	select {
	case <-over:
	case <-t.program.over:
	case <-t.ctx.Done():
	case <-t.after(t.limit(), func(time.Duration) {}):
	}
}

// How long the servers have to see no request until the clients count as quiet, unless the options say it, and how
// much longer clients that are never quiet have. A step is short: the next holder may give the lock back soon.
const (
	quietFor  = 200 * time.Millisecond
	quietStep = 3 * time.Millisecond
	quietMost = 1300 * time.Millisecond
)

// watch waits until another client has the lock, or no client sends anything, or the program is over.
func (t *trial) watch(rule string, polls time.Duration) error {
	const mostStill = 20
	last, quiet, still := "", max(cmp.Or(t.Quiet, quietFor), polls), standstillOf(t.program)
	var passed, since time.Duration
	began, looked := time.Now(), time.Now()
	for most := quiet + quietMost; passed < most && passed-since < quiet && time.Since(began) < mostStill*most; {
		select {
		case <-t.program.over:
			return nil
		case <-time.After(quietStep):
		}
		passed += still.took().had(time.Since(looked), quietStep)
		looked = time.Now()
		newest, err := t.newest()
		if err != nil {
			return err
		}
		if newest != last {
			last, since = newest, passed
			s, err := t.scene()
			if err != nil || t.explorer.GoneOn(rule, s) {
				return err
			}
		}
	}
	return nil
}

// newest returns the numbers of the newest entries of all logs.
func (t *trial) newest() (string, error) {
	var b strings.Builder
	for n := range t.nodes() {
		v, err := t.lab(n+1, "LOG", "1")
		if err != nil {
			return "", err
		}
		for _, e := range v.Elems {
			b.WriteString(strconv.FormatInt(stage.Field(e, "seq").Int, 10) + " ")
		}
	}
	return b.String(), nil
}

// look notes the state of the servers, and lets a program go on that only waits for the end of a lease.
func (t *trial) look(o *explore.Outcome) (err error) {
	if o.Scene, err = t.scene(); err != nil {
		return err
	}
	if !o.Hung {
		o.Ends, err = t.ends()
		return err
	}
	t.mu.Lock()
	orders := t.explorer.Overdue(o.Scene)
	t.mu.Unlock()
	if err := t.send(orders); err != nil {
		return err
	}
	if t.Kind == explore.Baseline {
		return nil
	}
	o.Woke, err = t.wait(max(t.limit()/2, time.Second))
	if err != nil || o.Woke {
		return err
	}
	o.Waiting, err = t.waiting()
	return err
}

// loop returns what gives the recording of the master that the first fault strikes.
func (t *trial) loop() func() []byte {
	r := t.stage.EndRecording(t.Master)
	return func() []byte {
		var b bytes.Buffer
		if err := r.Write(&b); err != nil {
			return nil // a buffer takes everything
		}
		return b.Bytes()
	}
}

// check runs the command of the user that looks at the state after a trial. No rule meets its requests. A program
// that hung was killed at its work, perhaps after its leases were ended: its state proves nothing.
func (t *trial) check(o *explore.Outcome) error {
	if t.Invariant == "" || o.Hung {
		return nil
	}
	for n := range t.nodes() {
		if _, err := t.lab(n+1, "FAULT", "CLEAR"); err != nil {
			return err
		}
	}
	p, err := t.start([]string{"/bin/sh", "-c", t.Invariant}, t.environment())
	if err != nil {
		return err
	}
	state := "it does not end"
	select {
	case <-p.over:
		state = p.failed
	case <-t.ctx.Done():
	case <-t.after(t.limit(), func(time.Duration) {}):
	}
	err = t.driver.end(p)
	if state != "" {
		o.Unsafe = strings.TrimSuffix("the command of --invariant fails ("+state+"): "+p.output.lines(), ": ")
	}
	return err
}

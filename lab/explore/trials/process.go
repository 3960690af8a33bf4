package trials

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/miniredisd/miniredisd/internal/orphans"
	"github.com/miniredisd/miniredisd/lab/explore"
)

// Options say what to run.
type Options struct {
	explore.Options
	Invariant string        // a command for the shell, run after each trial; "" for none
	Port      int           // of the first server; 0 for a free one
	Dialect   string        // of the servers; "" for the default
	Budget    time.Duration // real time in which the program gets a processor; 0 for no end
	Jobs      int           // trials at a time; 0 for 1, or as many as Finds finds
	Finds     bool          // without Jobs, as many as there are processors, if the program stands that
	Quiet     time.Duration // without a request for so long, clients have gone on as far as they can; 0 for 200 ms
	Progress  func(Progress)

	// Play runs a test that another process has, once. It returns when the test has ended, or soon after ctx has:
	// then the trial is given up. Nil if Program is a command.
	Play func(ctx context.Context, t Task) (Answer, error)

	// Tells says that Play calls the functions of Task.Pauses. Without it a pause ends when another client has the
	// lock, or when no client has sent anything for a while.
	Tells bool

	// Guests says that the clients may not change the servers that judge them: see stage.NewForGuests.
	Guests bool

	// Alone says that this process does nothing else. Then every new child of it is the program's.
	Alone bool
}

// Progress tells how far a run is.
type Progress struct {
	Trial  string // what runs now
	Done   int
	Left   int
	Passed time.Duration
}

// firstLimit is how long the program may take without a fault, unless the budget is smaller.
const firstLimit = 2 * time.Minute

// driver is one call of Run.
type driver struct {
	Options
	mu       sync.Mutex // several jobs ask the explorer, and count
	explorer *explore.Explorer
	cpu      time.Duration    // of programs that have ended
	orphans  *orphans.Orphans // nil if they cannot be found
	began    time.Time
	played   int
	begun    bool // a trial has begun
	pool     pool
	busy     map[int]bool  // the trials that run, by ID: whether they want a processor
	turns    chan struct{} // gets something when one no longer does
	still    atomic.Int64  // ns in which the machine had no processor for the program
}

func newDriver(o Options) *driver {
	return &driver{Options: o, began: time.Now(), busy: map[int]bool{}, turns: make(chan struct{}, 1)}
}

// Run explores a program. The error says why it could not.
func Run(ctx context.Context, o Options) (*explore.Report, error) {
	if len(o.Program) == 0 {
		return nil, errors.New("a command is needed")
	}
	if o.Port > 0 {
		o.Jobs = 1 // one server has the port
	}
	d := newDriver(o)
	if o.Foreign != "" {
		defer d.endPool()
		if err := d.meets(ctx); err != nil {
			return nil, err
		}
	}
	d.explorer = explore.New(d.Options.Options)
	if o.Alone {
		all, stop, err := orphans.Adopt()
		if err == nil {
			d.orphans = all
			defer stop()
		}
	}
	if err := errors.Join(d.loop(ctx), d.endOrphans()); err != nil {
		return nil, err
	}
	r := d.explorer.Report()
	r.Wall, r.CPU = time.Since(d.began), d.cpu
	return r, d.explorer.Err()
}

// ended is a trial that is over.
type ended struct {
	id  int
	err error
}

// loop plays trials until none is left. As many as there are jobs want a processor at once. One that waits, for the end
// of a time, say, leaves its place to another one.
func (d *driver) loop(whole context.Context) (err error) {
	ctx, cancel := context.WithCancel(whole)
	defer cancel()
	results, running := make(chan ended), 0
	for {
		for err == nil && ctx.Err() == nil && d.working() < max(d.Jobs, 1) && running < d.most() {
			t, ok := d.next()
			if !ok {
				break
			}
			if d.Finds && d.Jobs == 0 && t.Kind != explore.Baseline {
				err = d.findJobs(ctx, t)
			}
			running++
			d.enter(t.ID)
			go func() { results <- ended{t.ID, d.play(ctx, t)} }()
		}
		if running == 0 {
			return cmp.Or(whole.Err(), err)
		}
		select {
		case <-d.turns:
		case r := <-results:
			if r.err != nil {
				err = cmp.Or(err, r.err) // the others are its consequence
				cancel()
			}
			running--
			d.leave(r.id)
			d.played++
		}
	}
}

// findJobs finds out whether the program stands it that several of it run at once: they may need the same file, or the
// same port. It plays two runs without a fault side by side.
func (d *driver) findJobs(ctx context.Context, like explore.Trial) error {
	d.Jobs = 2
	type shown struct {
		explore.Outcome
		err error
	}
	results := make(chan shown)
	for range d.Jobs {
		go func() {
			var s shown
			t := explore.Trial{Kind: explore.Baseline, Master: 1, Limit: like.Limit}
			s.err = d.show(ctx, t, func(o explore.Outcome) { s.Outcome = o })
			results <- s
		}()
	}
	var err error
	jobs := max(runtime.NumCPU(), 1)
	for range d.Jobs {
		s := <-results
		err = cmp.Or(err, s.err)
		if s.Hung || s.Failed != "" {
			jobs = 1
		}
	}
	d.Jobs = jobs
	return err
}

// passed returns how long the run has taken, without the time in which the machine stood still.
func (d *driver) passed() time.Duration { return time.Since(d.began) - time.Duration(d.still.Load()) }

// next returns the next trial.
func (d *driver) next() (explore.Trial, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.Budget > 0 && d.begun && d.passed() > d.Budget { // one run is played, however late it comes
		d.explorer.TimeIsOver()
	}
	d.begun = true
	t, ok := d.explorer.Next()
	if ok && d.Progress != nil {
		d.Progress(Progress{d.explorer.Title(t), d.played, d.explorer.Left(), time.Since(d.began)})
	}
	return t, ok
}

// failure is why the driver could not play a trial.
func failure(t explore.Trial, err error) error { return fmt.Errorf("trial %d: %w", t.ID, err) }

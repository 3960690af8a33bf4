package trials

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
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
	Budget    time.Duration // real time; 0 for no end
	Jobs      int           // trials at a time, at least 1
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
}

// Run explores a program. The error says why it could not.
func Run(ctx context.Context, o Options) (*explore.Report, error) {
	if len(o.Program) == 0 {
		return nil, errors.New("a command is needed")
	}
	if o.Port > 0 {
		o.Jobs = 1 // one server has the port
	}
	d := &driver{Options: o, explorer: explore.New(o.Options), began: time.Now()}
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

// loop plays trials until none is left.
func (d *driver) loop(whole context.Context) (err error) {
	ctx, cancel := context.WithCancel(whole)
	defer cancel()
	results := make(chan error)
	running := 0
	for {
		for err == nil && ctx.Err() == nil && running < max(d.Jobs, 1) {
			t, ok := d.next()
			if !ok {
				break
			}
			running++
			go func() { results <- d.play(ctx, t) }()
		}
		if running == 0 {
			return cmp.Or(whole.Err(), err)
		}
		if failed := <-results; failed != nil {
			err = cmp.Or(err, failed) // the others are its consequence
			cancel()
		}
		running--
		d.played++
	}
}

// next returns the next trial.
func (d *driver) next() (explore.Trial, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.Budget > 0 && time.Since(d.began) > d.Budget {
		d.explorer.TimeIsOver()
	}
	t, ok := d.explorer.Next()
	if ok && d.Progress != nil {
		d.Progress(Progress{d.explorer.Title(t), d.played, d.explorer.Left(), time.Since(d.began)})
	}
	return t, ok
}

// failure is why the driver could not play a trial.
func failure(t explore.Trial, err error) error { return fmt.Errorf("trial %d: %w", t.ID, err) }

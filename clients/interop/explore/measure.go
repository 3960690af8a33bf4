package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/miniredisd/miniredisd/course/stage"
	"github.com/miniredisd/miniredisd/lab/explore"
	"github.com/miniredisd/miniredisd/lab/explore/trials"
)

const (
	// patience is how much longer a scenario may take than without a failure: several timeouts of one second, and
	// the pauses between attempts.
	patience = 12 * time.Second
	// quiet is longer than a worker waits for the other one.
	quiet = 1500 * time.Millisecond
)

// measure explores a client. Wanted says which cells to try; nil for all.
func (c client) measure(ctx context.Context, o options, wanted func(cell) bool) (*explore.Report, error) {
	p := &process{command: []string{"./explore", c.Name}, dir: folder(c.ecosystem)}
	defer p.end()
	opt := trials.Options{Options: c.options, Quiet: quiet, Play: p.warmPlay}
	opt.Program, opt.Seed, opt.Patience, opt.Foreign = []string{c.Name}, o.seed, patience, o.foreign()
	if wanted != nil {
		opt.Cells = func(at explore.Point, f explore.Fault) bool { return wanted(cell{pointOf(at), f.Name}) }
	}
	if o.verbose {
		opt.Progress = func(now trials.Progress) {
			fmt.Printf("%s: %d done, %d left, %.1f s: %s\n", c, now.Done, now.Left, now.Passed.Seconds(), now.Trial)
		}
	}
	r, err := trials.Run(ctx, opt)
	if err != nil {
		return r, fmt.Errorf("%s: %w", c, err)
	}
	if r.Itself != nil {
		return r, fmt.Errorf("%s: %s", c, r.Itself.Sentence)
	}
	return r, nil
}

// warmPlay is play, after a scenario that does not count if the program has just begun: the first one loads and
// compiles code, and would run into time limits on a busy machine.
func (p *process) warmPlay(ctx context.Context, t trials.Task) (trials.Answer, error) {
	if p.cmd == nil {
		s, err := stage.New(1)
		if err != nil {
			return trials.Answer{}, err
		}
		_, err = p.play(ctx, trials.Task{Addrs: s.Addrs})
		if err := errors.Join(err, s.Close()); err != nil {
			return trials.Answer{}, err
		}
	}
	return p.play(ctx, t)
}

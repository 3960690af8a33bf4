package trials

import (
	"context"
	"time"

	"github.com/miniredisd/miniredisd/course/stage"
	"github.com/miniredisd/miniredisd/lab/explore"
)

// Task is one run of a test.
type Task struct {
	ID    int
	Kind  explore.Kind
	Title string        // what is tried
	Addrs []string      // of the masters, which end with the trial
	Limit time.Duration // after that the trial is given up

	Replicas  []string // addresses: those that the test may meet, of a cluster or behind Sentinels
	Sentinels []string // addresses

	Servers *stage.Stage // the same, for who runs the test and judges it; nil if they are foreign

	// Pauses has a function for each client that begins to pause, when its lease is over. The test lets the others
	// go on, and calls the function. The client waits for that if Options.Tells.
	Pauses <-chan func()
}

// Answer is how a test has ended.
type Answer struct {
	Failed string // an error that the test did not expect, "" for none
	Unsafe string // an assertion that failed: a promise of the test is broken; "" for none
	Output string // the last lines that it printed
}

// ask lets Play run the test.
func (t *trial) ask() *program {
	t.mu.Lock()
	title := t.explorer.Title(t.Trial)
	t.mu.Unlock()
	p := &program{over: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.ctx)
	p.giveUp = cancel
	go func() {
		defer close(p.over)
		task := Task{
			ID: t.ID, Kind: t.Kind, Title: title, Addrs: t.addrs(), Limit: t.limit(), Servers: t.stage, Pauses: t.pauses,
		}
		if t.Cluster || t.Sentinels {
			task.Replicas, task.Sentinels = t.all[len(task.Addrs):t.nodes()], t.all[t.nodes():]
		}
		a, err := t.Play(ctx, task)
		p.failed, p.unsafe, p.err = a.Failed, a.Unsafe, err
		_, _ = p.output.Write([]byte(a.Output)) // it has no error
	}()
	return p
}

// Command explore finds which single failure breaks released lock clients, and shows that nothing has changed since.
//
//	clients/interop/run explore [-only ECO,...] [-client NAME,...] [-beside COMPANY,...] [-update [-join] | -replay]
//	clients/interop/run explore -server PROGRAM [-only ECO,...] [-client NAME,...] [-update | -replay]
//
// Each client runs its scenario in one process that lives long: two workers, a and b, take and release one lock. Each
// trial has a server of its own, with one failure at one request. The marks are compared with the recorded ones.
//
//	main.go      flags; the clients, several at a time
//	client.go    the clients of an ecosystem
//	company.go   what the server has beside it: nothing, a replica or a disk
//	process.go   the process of a client: an address goes in, and how the scenario ended comes out
//	measure.go   package lab/explore with a client in place of a program
//	record.go    what is recorded of a client, and what varies between runs
//	replay.go    which cells are tried again, and which have changed
//	foreign.go   the same cells at another server, and what it has shown
//	document.go  the generated parts of docs/explore-results.md
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/clients/interop/folders"
	"github.com/miniredisd/miniredisd/clients/interop/signals"
)

const (
	document = "docs/explore-results.md"
	records  = "clients/interop/explore/testdata"
)

type options struct {
	only    []string // ecosystems; none means all
	clients []string // none means all
	beside  []string // companies; none means all
	server  string   // the program of another server, behind a proxy; "" for miniredisd
	update  bool
	join    bool
	replay  bool
	seed    uint64
	runs    int  // of an update
	jobs    int  // clients at a time
	strict  bool // in CI: whatever is missing is a failure
	verbose bool
}

func main() {
	ctx, stop := signals.Context(os.Stdout)
	o := options{strict: os.Getenv("CI") == "true"}
	only := flag.String("only", "", "explore these `ecosystems` only (their folders' names, separated by commas)")
	clients := flag.String("client", "", "explore these `clients` only (separated by commas)")
	beside := flag.String("beside", "", "only with servers of these `companies`: "+strings.Join(companyNames(), ", "))
	flag.StringVar(&o.server, "server", "", "compare with what is recorded at this `program`, such as redis-server")
	flag.BoolVar(&o.update, "update", false, "write what is found into "+document+" and "+records)
	flag.BoolVar(&o.join, "join", false, "with -update: add to the runs that are recorded, in place of a new record")
	flag.BoolVar(&o.replay, "replay", false, "try only cells that are broken or noticed, and a few others")
	flag.Uint64Var(&o.seed, "seed", 1, "decides which others")
	flag.IntVar(&o.runs, "runs", 2, "explore each client so `often` for -update: marks that differ vary")
	flag.IntVar(&o.jobs, "jobs", 2, "clients at a time")
	flag.BoolVar(&o.verbose, "v", false, "print each trial")
	flag.Parse()
	o.only, o.clients, o.beside = names(*only), names(*clients), names(*beside)
	began := time.Now()
	err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "explore:", err)
		os.Exit(1)
	}
	fmt.Printf("explored in %.0f s\n", time.Since(began).Seconds())
}

func names(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
}

func run(ctx context.Context, o options) error {
	for _, name := range o.beside {
		if !slices.Contains(companyNames(), name) {
			return fmt.Errorf("-beside %s: there are %s", name, strings.Join(companyNames(), ", "))
		}
	}
	if o.server != "" {
		if len(o.beside) > 0 || o.join {
			return errors.New("-beside and -join do not go with -server: its server is alone")
		}
		o.beside = []string{alone}
	}
	all, err := o.find(ctx)
	if err != nil {
		return err
	}
	if o.update && o.server == "" {
		err = each(all, o.jobs, func(c client) error { return c.update(ctx, o) })
		return errors.Join(err, write(document, records))
	}
	plans, err := o.plans(all)
	if err != nil {
		return err
	}
	err = each(plans, o.jobs, func(p plan) error { return p.check(ctx, o) })
	if o.update {
		err = errors.Join(err, write(document, records))
	}
	return err
}

// find returns the clients to explore.
func (o options) find(ctx context.Context) (all []client, err error) {
	ecosystems, err := folders.With("explore", "clients/interop", o.only)
	if err != nil {
		return nil, err
	}
	for _, name := range ecosystems {
		found, err := clientsOf(ctx, name)
		switch {
		case errors.Is(err, errPrepare) && !o.strict:
			fmt.Println("skipped:", err)
		case err != nil:
			return nil, err
		}
		for _, c := range found {
			if len(o.clients) == 0 || slices.Contains(o.clients, c.Name) {
				all = append(all, c.in(o.beside)...)
			}
		}
	}
	if len(all) == 0 {
		return nil, errors.New("no client was explored")
	}
	return all, nil
}

// each calls do for all items, several at a time, and returns all errors.
func each[T any](items []T, jobs int, do func(T) error) error {
	places, results := make(chan bool, max(jobs, 1)), make(chan error)
	for _, item := range items {
		go func() {
			places <- true
			err := do(item)
			<-places
			results <- err
		}()
	}
	var all []error
	for range items {
		all = append(all, <-results)
	}
	return errors.Join(all...)
}

// Command launchers proves that miniredisd can stand where redis-server stood. It runs programs that
// start a redis-server (launchers) and programs that need one (applications), each with miniredisd and,
// as the control, with redis-server. It prints a table, and docs/launchers.md has the same table.
//
//	clients/interop/launchers/run [-only ECO,...] [-update]
//
// An ecosystem is a folder here with two executables:
//
//	prepare       installs what the build file pins; quick when there is nothing to do
//	run SERVER    does the work with the program SERVER, whose name is redis-server
//
// The folder of SERVER is the first of PATH. MINIREDISD is the path of miniredisd under its own name, for
// its subcommands. run prints one line of JSON for each row and nothing else; texts for people go to stderr:
//
//	{"kind":"launcher","name":"pytest-redis","version":"5.0.1","ok":true,"detail":"starts it, sets a key, ends it"}
//
// kind is launcher or application. version comes from the build file or the library. detail says what was
// done, the same in every run, or the first line of the error. No process may be left behind.
//
//	main.go       flags; the order of things; the exit code
//	servers.go    the two programs, each in a folder of its own
//	ecosystem.go  prepare and run of one folder
//	table.go      what the rows of both servers mean together
//	docs.go       the table in docs/launchers.md
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/miniredisd/miniredisd/clients/interop/folders"
	"github.com/miniredisd/miniredisd/clients/interop/signals"
)

const (
	folder = "clients/interop/launchers"
	page   = "docs/launchers.md"
)

type options struct {
	only   []string // ecosystems; none means all
	update bool     // write the page instead of comparing it
	strict bool     // in CI: what is missing is a failure
}

func main() {
	only := flag.String("only", "", "run these `ecosystems` only (their folders' names, separated by commas)")
	update := flag.Bool("update", false, "write the table into "+page)
	flag.Parse()
	o := options{update: *update, strict: os.Getenv("CI") == "true"}
	o.only = strings.FieldsFunc(*only, func(r rune) bool { return r == ',' })
	ctx, stop := signals.Context(os.Stdout)
	failed, err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "launchers:", err)
	}
	if failed || err != nil {
		os.Exit(1)
	}
}

// run prints the table. failed reports whether a row or an ecosystem is not as expected.
func run(ctx context.Context, o options) (failed bool, err error) {
	work, err := os.MkdirTemp("", "launchers")
	if err != nil {
		return true, err
	}
	defer os.RemoveAll(work)
	names, err := folders.With("run", folder, o.only)
	if err != nil {
		return true, err
	}
	mine, err := buildOurs(ctx, work)
	if err != nil {
		return true, err
	}
	programs := []program{mine}
	theirs, err := copyControl(ctx, work)
	switch {
	case err == nil:
		programs = append(programs, theirs)
	case o.strict:
		return true, err
	default:
		fmt.Fprintf(os.Stderr, "launchers: %v: running without it\n", err)
	}
	results := make([]result, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() { results[i] = collect(ctx, name, filepath.Join(folder, name), programs) })
	}
	all.Wait() // side by side: each of them waits for jobs that are due later
	if ctx.Err() != nil {
		return true, errors.New("interrupted")
	}
	t := judge(results, programs, o.strict)
	if len(t.problems) == 0 && len(programs) > 1 {
		err = t.compare(page, o.update)
	}
	t.print(os.Stdout)
	return len(t.problems) > 0, err
}

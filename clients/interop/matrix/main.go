// Command matrix runs real Redis clients against miniredisd and, as the control, against
// redis-server, and prints a table of client x scenario.
//
//	clients/interop/run [-only ECO,...] [-servers miniredisd,redis-server] [-cell TEXT] [-doctor]
//		[-dialect NAME] [-through PROGRAM] [-- ARGUMENTS OF miniredisd]
//
// The clients are programs in their own languages, in the folders beside this one. This program
// starts three servers of each kind and runs each ecosystem once for each kind. It reads one line
// of JSON for each cell. clients/interop/README.md describes the interface.
//
//	main.go       flags; the order of things; the exit code
//	kind.go       the servers of one kind: ours, the control, or the proxy before either
//	server.go     a process
//	ecosystem.go  prepare and run of one folder
//	cell.go       a line of JSON; the names of the scenarios
//	verdict.go    what the cells of both servers mean together
//	table.go      what is printed
//	doctor.go     what LAB DOCTOR says of the clients
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/miniredisd/miniredisd/clients/interop/folders"
	"github.com/miniredisd/miniredisd/clients/interop/signals"
)

// The two kinds of servers, as -servers names them.
const (
	ours    = "miniredisd"
	control = "redis-server"
)

// proxied is the name of servers that clients reach through miniredisd proxy. The control is the same program alone.
const proxied = "proxy"

type options struct {
	only    []string // ecosystems; none means all
	servers []string
	cell    string   // run only cells whose client/scenario contains it
	extra   []string // arguments of miniredisd
	strict  bool     // in CI: whatever is missing is a failure
	doctor  bool     // findings of LAB DOCTOR are failures
	dialect string   // of miniredisd; "" for the default
	through string   // the program behind the proxy; "" for no proxy
}

func main() {
	ctx, stop := signals.Context(os.Stdout)
	failed, err := run(ctx, parseFlags())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "interop:", err)
	}
	if failed || err != nil {
		os.Exit(1)
	}
}

func parseFlags() options {
	only := flag.String("only", "", "run these `ecosystems` only (their folders' names, separated by commas)")
	servers := flag.String("servers", ours+","+control, "which `servers` to run against")
	cell := flag.String("cell", "", "run only cells whose client/scenario contains `text`")
	doctor := flag.Bool("doctor", false, "give miniredisd, or the proxy, a lab, and fail for what LAB DOCTOR finds in "+
		"these clients")
	dialect := flag.String("dialect", "", "run miniredisd alone, with `--dialect`, and cells for commands of that server")
	through := flag.String("through", "", "run the clients through a proxy before this `program`, and without it")
	flag.Parse()
	o := options{
		cell: *cell, extra: flag.Args(), strict: os.Getenv("CI") == "true", doctor: *doctor, dialect: *dialect,
		through: *through,
	}
	if o.through != "" {
		*servers = proxied + "," + o.through
	}
	if o.dialect != "" {
		*servers = ours
		o.extra = append([]string{"--dialect", o.dialect}, o.extra...)
	}
	if o.doctor && o.through == "" {
		o.extra = append([]string{"--lab", "yes"}, o.extra...)
	}
	o.only = split(*only)
	o.servers = split(*servers)
	return o
}

func split(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
}

// run prints the matrix. failed reports whether a cell or an ecosystem is not as expected.
func run(ctx context.Context, o options) (failed bool, err error) {
	work, err := os.MkdirTemp("", "interop")
	if err != nil {
		return true, err
	}
	defer os.RemoveAll(work)

	names, err := folders.With("prepare", "clients/interop", o.only)
	if err != nil {
		return true, err
	}
	var kinds []*kind
	defer func() {
		for _, k := range kinds {
			k.stop()
		}
	}()
	for _, name := range o.servers {
		k, err := startKind(ctx, name, work, o)
		if k != nil {
			kinds = append(kinds, k)
		}
		if errors.Is(err, errMissing) && !o.strict && len(o.servers) > 1 {
			fmt.Fprintf(os.Stderr, "interop: %v: running without it\n", err)
			continue
		}
		if err != nil {
			return true, err
		}
	}

	var results []result
	for _, name := range names {
		r := result{ecosystem: name, cells: map[string][]cell{}}
		r.collect(ctx, filepath.Join("clients", "interop", name), kinds, o)
		if ctx.Err() != nil {
			return true, errors.New("interrupted")
		}
		results = append(results, r)
	}
	running := make([]string, len(kinds))
	for i, k := range kinds {
		running[i] = k.name
	}
	v := judge(results, running, o)
	v.print(os.Stdout)
	return v.failed(), nil
}

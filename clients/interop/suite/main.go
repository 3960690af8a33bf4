// Command suite runs Redis's own test suite with miniredisd instead of redis-server.
//
//	clients/interop/run suite [-tree DIR] [-timeout S] [-port N] [-update [-control BINARY]] [FILE ...]
//
// The suite is not part of this project: -tree names the source tree of a Redis 7.2 release. The tools
// redis-cli, redis-benchmark, redis-check-rdb and redis-check-aof come from its src folder when it was built, and
// from PATH otherwise. The suite is written in Tcl, and needs tclsh.
//
// docs/redis-suite.md lists each test that is not ok here, with its reason. A run fails when a file ends early, when a
// test is not ok that the document does not list, and when fewer tests are ok than the document says.
//
//	main.go      flags, the order of things, the exit code
//	tree.go      a folder in which the suite finds our binary as its redis-server
//	run.go       one file of the suite: start it, read what it prints
//	document.go  docs/redis-suite.md: read it, compare with it, write it
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/miniredisd/miniredisd/clients/interop/signals"
)

const documentPath = "docs/redis-suite.md"

type options struct {
	tree    string        // a Redis source tree, with tests/ in it
	control string        // a redis-server, run as well with update
	update  bool          // write the document
	timeout time.Duration // without progress
	port    int           // the first of the suite's servers
	files   []string      // none means all that the document has
}

func main() {
	ctx, stop := signals.Context(os.Stdout)
	ok, err := run(ctx, parseFlags())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "suite:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

func parseFlags() options {
	var o options
	flag.StringVar(&o.tree, "tree", "", "the source `folder` of a Redis 7.2 release")
	flag.BoolVar(&o.update, "update", false, "write the tests that are not ok to "+documentPath)
	flag.StringVar(&o.control, "control", "", "with -update: the `redis-server` that says which tests there are")
	flag.DurationVar(&o.timeout, "timeout", time.Minute, "how long a test may take without progress")
	flag.IntVar(&o.port, "port", 24111, "the first of 2,000 `ports` for servers; the suite takes one of the 32 before")
	flag.Parse()
	o.files = flag.Args()
	return o
}

// run reports whether the suite ended as the document says.
func run(ctx context.Context, o options) (ok bool, err error) {
	if o.tree == "" {
		return false, errors.New("-tree is missing: the source folder of a Redis 7.2 release")
	}
	tclsh, err := exec.LookPath("tclsh")
	if err != nil {
		return false, fmt.Errorf("the suite is written in Tcl: %w", err)
	}
	text, err := os.ReadFile(documentPath)
	if err != nil {
		return false, fmt.Errorf("start this at the top of the project: %w", err)
	}
	doc, err := parseDocument(string(text))
	if err != nil {
		return false, err
	}
	if len(o.files) == 0 {
		o.files = doc.order
	}
	ours, err := newTree(ctx, o.tree, "")
	if err != nil {
		return false, err
	}
	defer ours.remove()
	s := suite{tclsh: tclsh, timeout: o.timeout, port: o.port}
	if o.update {
		return true, s.update(ctx, o, doc, ours)
	}
	return s.check(ctx, doc, ours, o.files), ctx.Err()
}

// check runs the files and compares each with the document. A file that is not as the document says runs once more:
// some tests of the suite go by the real time, and fail now and then with any server.
func (s *suite) check(ctx context.Context, doc *document, ours *tree, files []string) (ok bool) {
	ok = true
	for _, name := range files {
		f := s.file(ctx, ours, name)
		findings := doc.findings(f)
		if len(findings) > 0 && ctx.Err() == nil {
			fmt.Printf("%-28s again, because: %s\n", name, findings[0])
			f = s.file(ctx, ours, name)
			findings = doc.findings(f)
		}
		fmt.Printf("%-28s %4d ok %4d red %4.0fs\n", name, f.sum(f.ok), f.sum(f.red), f.took.Seconds())
		for _, finding := range findings {
			ok = false
			fmt.Println("    " + finding)
		}
		if len(findings) > 0 {
			fmt.Println(f.tail())
		}
	}
	return ok
}

// update runs the files on the control and here, and writes what the difference is, after each file: a run takes long.
func (s *suite) update(ctx context.Context, o options, doc *document, ours *tree) error {
	if o.control == "" {
		return errors.New("-update needs -control: a redis-server 7.2")
	}
	control, err := newTree(ctx, o.tree, o.control)
	if err != nil {
		return err
	}
	defer control.remove()
	for _, name := range o.files {
		theirs := s.file(ctx, control, name)
		here := s.file(ctx, ours, name)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if theirs.end == noEnd {
			return fmt.Errorf("the suite does not run: %s", theirs.tail())
		}
		doc.take(theirs, here)
		if err := os.WriteFile(documentPath, []byte(doc.String()), 0o644); err != nil {
			return err
		}
		fmt.Printf("%-28s %4d ok of %4d, %s\n", name, here.sum(here.ok), theirs.sum(theirs.ok), here.end)
	}
	return nil
}

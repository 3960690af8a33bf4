// Command resend measures which released clients send a request again by themselves when its reply does
// not come, and which setting ends that.
//
//	clients/interop/run resend [-only ECO,...] [-v]
//
// It starts a miniredisd with a lab. Each client sends SET key token NX PX 30000, or takes Redisson's lock,
// twice: the lab drops the connection instead of the first reply, or keeps the reply back for longer than
// the client waits. The log of the lab has how often the server executed the request. The program prints
// the table of docs/resend.md, and fails if a row of the table there says something else.
//
//	main.go    flags; the ecosystems, one after another
//	faults.go  the two faults, and what the server executed
//	sender.go  the program of an ecosystem, and its lines
//	table.go   the table, and the one in docs/resend.md
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/miniredisd/miniredisd/clients/interop/folders"
	"github.com/miniredisd/miniredisd/clients/interop/labserver"
	"github.com/miniredisd/miniredisd/clients/interop/signals"
)

const document = "docs/resend.md"

type options struct {
	only   []string // ecosystems; none means all
	update bool
	strict bool // in CI: whatever is missing is a failure
}

func main() {
	ctx, stop := signals.Context(os.Stdout)
	only := flag.String("only", "", "run these `ecosystems` only (their folders' names, separated by commas)")
	update := flag.Bool("update", false, "write the table into "+document)
	flag.Parse()
	err := run(ctx, options{
		only:   strings.FieldsFunc(*only, func(r rune) bool { return r == ',' }),
		update: *update, strict: os.Getenv("CI") == "true",
	})
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "resend:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	names, err := folders.With("resend", "clients/interop", o.only)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "resend")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	binary, err := labserver.Build(ctx, work)
	if err != nil {
		return err
	}
	started, err := labserver.Start(ctx, binary, work, 1)
	if err != nil {
		return err
	}
	defer started.Stop()
	s := server{started}
	var t table
	for _, name := range names {
		dir := filepath.Join("clients", "interop", name)
		if why, err := exec.CommandContext(ctx, filepath.Join(dir, "prepare")).CombinedOutput(); err != nil {
			if o.strict {
				return fmt.Errorf("%s: %w\n%s", dir, err, why)
			}
			fmt.Printf("skipped: %s: %v\n", name, err)
			continue
		}
		found, err := s.measureAgain(ctx, dir, o.update)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		t = append(t, found...)
	}
	if len(t) == 0 {
		return errors.New("no client was measured")
	}
	for _, line := range t.lines() {
		fmt.Println(line)
	}
	return t.compare(document, o.update)
}

// Command redlock shows where Redlock holds and where it does not. Released clients use five
// masters in one miniredisd. LAB controls the clocks, connections and crashes of the masters.
//
//	clients/interop/run redlock [-only ECO,...] [-scene TEXT] [-o FOLDER] [-v]
//
// For each scene it starts five masters with stopped clocks. Two owners of one client take the same
// lock, at the moments that the scene gives. Package verdict then reads the logs of the masters and
// decides whether the lock had two holders at the same time. Histories and pictures go into a
// folder. The program fails if a verdict is not the expected one.
//
//	main.go     flags; the order of things; the exit code
//	scenes.go   what happens, and what has to come of it
//	owners.go   a client's program, which takes and releases at a word
//	play.go     one scene with one client
//
// The clients are programs in the folders of the ecosystems. clients/interop/README.md describes the
// interface.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/miniredisd/miniredisd/clients/interop/folders"
	"github.com/miniredisd/miniredisd/clients/interop/labserver"
	"github.com/miniredisd/miniredisd/clients/interop/signals"
)

const masterCount = 5

const prepareLimit = 15 * time.Minute // a cold cache and two cores that others use too

type options struct {
	only    []string // ecosystems; none means all
	scenes  string   // those whose name contains it
	folder  string   // for histories and pictures
	verbose bool
	strict  bool // in CI: whatever is missing is a failure
}

func main() {
	ctx, stop := signals.Context(os.Stdout)
	err := run(ctx, parseFlags())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "redlock:", err)
		os.Exit(1)
	}
}

func parseFlags() options {
	only := flag.String("only", "", "run these `ecosystems` only (their folders' names, separated by commas)")
	scene := flag.String("scene", "", "play only scenes whose name contains `text`")
	folder := flag.String("o", "clients/interop/redlock/histories", "write histories and pictures into this `folder`")
	verbose := flag.Bool("v", false, "print the steps of each scene, and the verdict on it")
	flag.Parse()
	return options{
		only:   strings.FieldsFunc(*only, func(r rune) bool { return r == ',' }),
		scenes: *scene, folder: *folder, verbose: *verbose, strict: os.Getenv("CI") == "true",
	}
}

func run(ctx context.Context, o options) error {
	work, err := os.MkdirTemp("", "redlock")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := os.MkdirAll(o.folder, 0o755); err != nil {
		return err
	}
	binary, err := labserver.Build(ctx, work)
	if err != nil {
		return err
	}
	names, err := folders.With("holders", "clients/interop", o.only)
	if err != nil {
		return err
	}
	p := &play{options: o, binary: binary, work: work}
	var all tally
	for _, eco := range names {
		t, err := p.ecosystem(ctx, eco)
		if err != nil {
			return err
		}
		all = all.plus(t)
	}
	fmt.Printf("\n%d passed, %d failed, %d skipped\n", all.passed, all.failed, all.skipped)
	if all.failed > 0 || all.passed == 0 {
		return errors.New("not what Redlock has to do")
	}
	fmt.Printf("Histories and pictures are in %s; go run ./cmd/miniredisd verdict FILE.json judges one again.\n", o.folder)
	return nil
}

// tally counts scenes, and the ecosystems that were skipped.
type tally struct{ passed, failed, skipped int }

func (t tally) plus(u tally) tally {
	return tally{t.passed + u.passed, t.failed + u.failed, t.skipped + u.skipped}
}

// ecosystem plays every scene with each client of one ecosystem. The clients run at the same time,
// because they mostly wait.
func (p *play) ecosystem(ctx context.Context, eco string) (all tally, err error) {
	dir := filepath.Join("clients", "interop", eco)
	if err := prepare(ctx, dir); err != nil {
		if p.strict || ctx.Err() != nil {
			return all, fmt.Errorf("%s: prepare: %w", eco, err)
		}
		fmt.Printf("\n%s: skipped: prepare: %v\n", eco, err)
		return tally{skipped: 1}, nil
	}
	list := exec.CommandContext(ctx, "./holders")
	list.Dir = dir
	out, err := list.Output()
	if err != nil {
		return all, fmt.Errorf("%s: holders: %w", eco, err)
	}
	began := time.Now()
	kinds := strings.Fields(string(out))
	reports := make([]report, len(kinds))
	var wg sync.WaitGroup
	for i, kind := range kinds {
		wg.Go(func() { reports[i].err = p.client(ctx, dir, kind, &reports[i]) })
	}
	wg.Wait()
	for i, kind := range kinds {
		os.Stdout.Write(reports[i].text.Bytes())
		all = all.plus(reports[i].tally)
		if reports[i].err != nil {
			err = errors.Join(err, fmt.Errorf("%s: %s: %w", eco, kind, reports[i].err))
		}
	}
	fmt.Printf("  (%s took %.1f s)\n", eco, time.Since(began).Seconds())
	return all, err
}

// report holds the results of one client and its output.
type report struct {
	tally
	text bytes.Buffer
	err  error // it could not be played to the end
}

func prepare(ctx context.Context, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, prepareLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "./prepare")
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, os.Stderr, os.Stderr
	return cmd.Run()
}

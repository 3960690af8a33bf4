package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

const (
	prepareLimit = 30 * time.Minute // a cold cache and two cores that others use too
	runLimit     = 20 * time.Minute
)

// result holds the cells of one ecosystem, by kind of server.
type result struct {
	ecosystem string
	cells     map[string][]cell
	skipped   error // it could not be prepared
	broken    error // it could be prepared but not run to its end
	took      map[string]time.Duration
	wrong     []string // findings of LAB DOCTOR
	excused   []string // those that were to be expected
	again     []string // cells that were red on miniredisd, but not twice
}

// collect prepares the ecosystem in dir and runs it against all kinds of servers, side by side.
func (r *result) collect(ctx context.Context, dir string, kinds []*kind, o options) {
	r.took = map[string]time.Duration{}
	began := time.Now()
	if err := prepare(ctx, dir); err != nil {
		r.skipped = fmt.Errorf("prepare: %w", err)
		return
	}
	fmt.Fprintf(os.Stderr, "interop: %s: prepared in %.1f s\n", r.ecosystem, time.Since(began).Seconds())
	plays := make([]chan play, len(kinds))
	for i, k := range kinds {
		plays[i] = make(chan play, 1)
		go func() { plays[i] <- runAgainst(ctx, dir, k, o.cell, o.dialect) }()
	}
	all := make([]play, len(kinds))
	for i, k := range kinds {
		all[i] = <-plays[i]
		r.took[k.name] = all[i].took
		fmt.Fprintf(os.Stderr, "interop: %s: %d cells on %s in %.1f s\n", r.ecosystem, len(all[i].cells), k.name,
			r.took[k.name].Seconds())
	}
	for i, k := range kinds { // all have ended, so that what runs again is alone
		r.note(k, all[i], o, func(name string) play { return runAgainst(ctx, dir, k, name, o.dialect) })
	}
}

// note takes the cells of one kind of server. run runs the cells of a name again.
func (r *result) note(k *kind, p play, o options, run func(name string) play) {
	cells, err := p.cells, p.err
	if err == nil && k.judged {
		cells, r.again = secondChance(cells, run)
	}
	if err == nil {
		err = k.dead()
	}
	if err != nil {
		r.broken = errors.Join(r.broken, fmt.Errorf("on %s: %w", k.name, err))
	}
	if o.doctor && k.judged && err == nil {
		if r.wrong, r.excused, err = k.consult(); err != nil {
			r.broken = errors.Join(r.broken, err)
		}
	}
	r.cells[k.name] = cells
}

// fewCells is the number of red cells that may be red by chance.
const fewCells = 3

// secondChance runs red cells again, one at a time. Clients use the real time and renew leases of a
// few hundred milliseconds. On a machine that stops for that long they fail with any server. A
// fault of the server shows twice.
func secondChance(cells []cell, run func(name string) play) (judged []cell, again []string) {
	red := 0
	for _, c := range cells {
		if c.Outcome != "pass" {
			red++
		}
	}
	if red > fewCells {
		return cells, nil
	}
	for _, c := range cells {
		if c.Outcome != "pass" {
			more := run(c.name())
			i := slices.IndexFunc(more.cells, func(m cell) bool { return m.name() == c.name() && m.Outcome == "pass" })
			if more.err == nil && i >= 0 {
				again = append(again, fmt.Sprintf("%s passed when it ran again alone; at first, after %d ms: %s",
					c.name(), c.MS, c.Detail))
				c = more.cells[i]
			}
		}
		judged = append(judged, c)
	}
	return judged, again
}

func prepare(ctx context.Context, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, prepareLimit)
	defer cancel()
	cmd := command(ctx, dir, "prepare")
	cmd.Stdout = os.Stderr
	return cmd.Run()
}

// play is one run of an ecosystem against one kind of server.
type play struct {
	cells []cell
	took  time.Duration
	err   error
}

func runAgainst(ctx context.Context, dir string, k *kind, only, dialect string) (p play) {
	ctx, cancel := context.WithTimeout(ctx, runLimit)
	defer cancel()
	cmd := command(ctx, dir, "run")
	cmd.Env = append(append(os.Environ(), k.env()...), "ONLY="+only, "DIALECT="+dialect)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return play{err: err}
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return play{err: err}
	}
	p.cells, p.err = readCells(out)
	io.Copy(io.Discard, out) // or the program blocks on what is left after a bad line
	if waited := cmd.Wait(); waited != nil {
		p.err = errors.Join(p.err, fmt.Errorf("run: %w", waited))
	}
	if ctx.Err() != nil {
		p.err = errors.Join(p.err, fmt.Errorf("run was ended after %v", runLimit))
	}
	p.took = time.Since(began)
	return p
}

func readCells(from io.Reader) (cells []cell, err error) {
	seen := map[string]bool{}
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		c, err := parseCell(lines.Bytes())
		if err != nil {
			return cells, err
		}
		if seen[c.name()] {
			return cells, fmt.Errorf("a second cell %s", c.name())
		}
		seen[c.name()] = true
		cells = append(cells, c)
	}
	return cells, lines.Err()
}

// command runs a file of the ecosystem in its own process group, so that all its children end with
// it.
func command(ctx context.Context, dir, file string) *exec.Cmd {
	path, err := filepath.Abs(filepath.Join(dir, file))
	cmd := exec.CommandContext(ctx, path)
	if err != nil {
		cmd.Err = err
	}
	cmd.Dir = dir
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

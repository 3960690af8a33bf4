package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/miniredisd/miniredisd/clients/interop/folders"
)

const (
	readyLimit = 90 * time.Second // twelve programs start at once, on two cores
	stuckLimit = 40 * time.Second // from the fault on
)

// program is a client of an ecosystem. Each has a process of its own.
type program struct {
	dir, name string
}

// line is what a program prints.
type line struct {
	Client string
	Saw    string // ready, ok, or an error
	Stuck  int    // ms from the fault until the first lock
}

// findPrograms prepares the ecosystems and lists their clients. In strict mode an ecosystem without its toolchain is an
// error.
func findPrograms(ctx context.Context, only []string, strict bool) (all []program, err error) {
	names, err := folders.With("sentinel", "clients/interop", only)
	if err != nil {
		return nil, err
	}
	for _, eco := range names {
		dir := filepath.Join("clients", "interop", eco)
		if why, err := exec.CommandContext(ctx, filepath.Join(dir, "prepare")).CombinedOutput(); err != nil {
			if strict || ctx.Err() != nil {
				return nil, fmt.Errorf("%s: %w\n%s", dir, err, why)
			}
			fmt.Printf("skipped: %s: %v\n", eco, err)
			continue
		}
		list := exec.CommandContext(ctx, "./sentinel")
		list.Dir, list.Stderr = dir, os.Stderr
		out, err := list.Output()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		for _, name := range strings.Fields(string(out)) {
			all = append(all, program{dir, name})
		}
	}
	if len(all) == 0 {
		return nil, errors.New("no ecosystem has its toolchain here")
	}
	return all, nil
}

// runClients lets all clients go through one failover of each server, and prints a table. It returns an error if a
// client fails on the first server, unless it fails on the control as well.
func runClients(ctx context.Context, o options, kinds []programs) error {
	all, err := findPrograms(ctx, o.only, o.strict)
	if err != nil {
		return err
	}
	for _, how := range o.faults {
		found := make([]map[string]line, len(kinds))
		for i, p := range kinds {
			if found[i], err = playClients(ctx, p, how, all); err != nil {
				return fmt.Errorf("%s, master %s: %w", p.name(), how, err)
			}
		}
		if err := compare(how, kinds, found); err != nil {
			return err
		}
	}
	return nil
}

func compare(how string, kinds []programs, found []map[string]line) error {
	fmt.Printf("\n%-36s", "seconds without a lock, master "+how)
	for _, p := range kinds {
		fmt.Printf("  %14s", p.name())
	}
	fmt.Println()
	failed := 0
	for _, client := range slices.Sorted(maps.Keys(found[0])) {
		fmt.Printf("%-36s", client)
		for i := range kinds {
			l := found[i][client]
			says := fmt.Sprintf("%.2f", float64(l.Stuck)/1000)
			if l.Saw != "ok" {
				says = l.Saw
			}
			fmt.Printf("  %14s", says)
		}
		fmt.Println()
		if found[0][client].Saw != "ok" && (len(kinds) == 1 || found[1][client].Saw == "ok") {
			failed++
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d clients do not get over it", failed)
	}
	return nil
}

// playClients starts a group and all clients, loses the master once, and returns what the clients have seen.
func playClients(ctx context.Context, p programs, how string, all []program) (map[string]line, error) {
	dir, err := os.MkdirTemp("", "sentinel")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	g, err := startGroup(dir, p, how == cutOff)
	if err != nil {
		return nil, err
	}
	defer g.stop()
	runs := make([]*run, len(all))
	defer func() {
		for _, r := range runs {
			r.end()
		}
	}()
	var starting sync.WaitGroup
	for i, one := range all {
		starting.Go(func() { runs[i] = startRun(ctx, one, g) })
	}
	starting.Wait()
	// The locks that the clients keep must be on the replica that is promoted.
	for _, r := range runs {
		if r.err != nil {
			return nil, errors.Join(r.err, g.logs())
		}
	}
	if err := until(groupLimit, "all replicas have what the clients keep", g.hasKept); err != nil {
		return nil, err
	}
	if err := g.lose(how); err != nil {
		return nil, err
	}
	found := map[string]line{}
	for _, r := range runs {
		io.WriteString(r.in, "down\n")
	}
	end := time.Now().Add(stuckLimit)
	for _, r := range runs {
		l := r.next(time.Until(end))
		if l.Client == "" {
			l.Client = r.ready.Client
		}
		found[l.Client] = l
	}
	return found, nil
}

// hasKept reports whether each replica has executed what the master had when it was asked. WAIT counts what its own
// connection wrote, so this one writes something.
func (g *group) hasKept() bool {
	c, err := dial(g.master.addr, askLimit)
	if err != nil {
		return false
	}
	defer c.Net.Close()
	if _, err := c.Do("SET", "sentinel:written", "yes"); err != nil {
		return false
	}
	v, err := c.Do("WAIT", strconv.Itoa(replicas), "1000")
	return err == nil && v.Int == replicas
}

// run is the process of a program.
type run struct {
	program
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan line
	ready line
	err   error
}

// startRun starts a client, and returns when it has taken its first lock.
func startRun(ctx context.Context, p program, g *group) *run {
	r := &run{program: p, lines: make(chan line, 2)}
	r.cmd = exec.CommandContext(ctx, "./sentinel", p.name)
	var addrs []string
	for _, s := range g.sentinels {
		addrs = append(addrs, s.public)
	}
	stderr, err := os.Create(filepath.Join(g.dir, "client-"+filepath.Base(p.dir)+"-"+p.name))
	if err != nil {
		r.err = err
		return r
	}
	defer stderr.Close()
	r.cmd.Dir, r.cmd.Stderr = p.dir, stderr
	r.cmd.Env = append(os.Environ(), "SENTINELS="+strings.Join(addrs, ","), "SENTINEL_MASTER="+masterName)
	r.in, r.err = r.cmd.StdinPipe()
	out, err := r.cmd.StdoutPipe()
	if r.err = errors.Join(r.err, err); r.err != nil {
		return r
	}
	if r.err = r.cmd.Start(); r.err != nil {
		return r
	}
	go r.read(out)
	if r.ready = r.next(readyLimit); r.ready.Saw != "ready" {
		said, _ := os.ReadFile(stderr.Name())
		r.err = fmt.Errorf("%s %s: %s\n%s", p.dir, p.name, r.ready.Saw, said[:min(len(said), 4000)])
	}
	return r
}

func (r *run) read(out io.Reader) {
	defer close(r.lines)
	for s := bufio.NewScanner(out); s.Scan(); {
		var l line
		if err := json.Unmarshal(s.Bytes(), &l); err != nil {
			l = line{Saw: fmt.Sprintf("error: it prints %q", s.Text())}
		}
		r.lines <- l
	}
}

// next returns the next line, or why there is none.
func (r *run) next(limit time.Duration) line {
	select {
	case l, ok := <-r.lines:
		if !ok {
			return line{Saw: "error: it ended"}
		}
		return l
	case <-time.After(max(limit, glance)):
		return line{Saw: fmt.Sprintf("error: no lock within %v", limit.Round(time.Second))}
	}
}

func (r *run) end() {
	if r == nil || r.cmd.Process == nil {
		return
	}
	r.in.Close()
	_ = r.cmd.Process.Kill() // it may have ended
	_ = r.cmd.Wait()
}

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"
)

const (
	prepareLimit = 20 * time.Minute // downloads, on a machine that others use too
	runLimit     = 5 * time.Minute
)

// row is what one launcher or application did with one server.
type row struct {
	Kind    string `json:"kind"` // "launcher" or "application"
	Name    string `json:"name"`
	Version string `json:"version"`
	OK      bool   `json:"ok"`
	Detail  string `json:"detail"`
}

// result holds the rows of one ecosystem, by the name of the server.
type result struct {
	ecosystem string
	rows      map[string][]row
	skipped   error            // it could not be prepared
	broken    map[string]error // it did not run to its end with this server
}

// collect prepares the ecosystem in dir and runs it with all programs side by side. The first is ours.
func collect(ctx context.Context, name, dir string, programs []program) result {
	r := result{ecosystem: name, rows: map[string][]row{}, broken: map[string]error{}}
	if err := prepare(ctx, dir); err != nil {
		r.skipped = fmt.Errorf("prepare: %w", err)
		return r
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, p := range programs {
		all.Go(func() {
			began := time.Now()
			path, err := p.link(name)
			var rows []row
			if err == nil {
				rows, err = runWith(ctx, dir, path, environment(path, programs[0].file))
			}
			for _, line := range endLeftovers(path) {
				err = errors.Join(err, fmt.Errorf("left behind: %s", line))
			}
			mu.Lock()
			defer mu.Unlock()
			r.rows[p.name], r.broken[p.name] = rows, err
			fmt.Fprintf(os.Stderr, "launchers: %s: %d rows with %s in %.1f s\n", name, len(rows), p.name,
				time.Since(began).Seconds())
		})
	}
	all.Wait()
	return r
}

func prepare(ctx context.Context, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, prepareLimit)
	defer cancel()
	cmd := command(ctx, dir, "prepare")
	cmd.Stdout = os.Stderr
	return cmd.Run()
}

func runWith(ctx context.Context, dir, server string, env []string) ([]row, error) {
	ctx, cancel := context.WithTimeout(ctx, runLimit)
	defer cancel()
	cmd := command(ctx, dir, "run", server)
	cmd.Env = env
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	rows, err := readRows(out)
	_, _ = io.Copy(io.Discard, out) // or the program blocks on what is left after a bad line
	if waited := cmd.Wait(); waited != nil {
		err = errors.Join(err, fmt.Errorf("run: %w", waited))
	}
	if ctx.Err() != nil {
		err = errors.Join(err, fmt.Errorf("run was ended after %v", runLimit))
	}
	return rows, err
}

// readRows refuses a line that is not a complete row, and a second row of the same name.
func readRows(from io.Reader) (rows []row, err error) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r row
		switch err := json.Unmarshal(lines.Bytes(), &r); {
		case err != nil:
			return rows, fmt.Errorf("not a row: %q: %w", lines.Bytes(), err)
		case r.Kind != "launcher" && r.Kind != "application":
			return rows, fmt.Errorf("kind has to be launcher or application: %s", lines.Bytes())
		case r.Name == "" || r.Version == "" || r.Detail == "":
			return rows, fmt.Errorf("a row without name, version or detail: %s", lines.Bytes())
		case slices.ContainsFunc(rows, func(o row) bool { return o.Name == r.Name }):
			return rows, fmt.Errorf("a second row %s", r.Name)
		}
		rows = append(rows, r)
	}
	return rows, lines.Err()
}

// command runs a file of the ecosystem in its own process group, so that all its children end with it.
func command(ctx context.Context, dir, file string, args ...string) *exec.Cmd {
	path, err := filepath.Abs(filepath.Join(dir, file))
	cmd := exec.CommandContext(ctx, path, args...)
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

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// The two kinds of servers, as columns of the table.
const (
	ours    = "miniredisd"
	control = "redis-server"
)

// program is a server that launchers start.
type program struct {
	name    string // ours or control
	path    string // a file named redis-server
	self    string // the same program under its own name; empty for the control
	version string
}

// buildOurs builds miniredisd and gives it the name redis-server by a hard link.
func buildOurs(ctx context.Context, work string) (program, error) {
	dir := filepath.Join(work, ours)
	p := program{name: ours, path: filepath.Join(dir, control), self: filepath.Join(dir, ours)}
	build := exec.CommandContext(ctx, "go", "build", "-o", p.self, "./cmd/miniredisd")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return p, fmt.Errorf("building %s: %w", ours, err)
	}
	if err := os.Link(p.self, p.path); err != nil {
		return p, err
	}
	p.version = versionOf(ctx, p.path)
	return p, nil
}

// copyControl copies redis-server from PATH. The path of the copy tells its processes from other servers
// on this machine.
func copyControl(ctx context.Context, work string) (program, error) {
	dir := filepath.Join(work, "control")
	p := program{name: control, path: filepath.Join(dir, control)}
	found, err := exec.LookPath(control)
	if err != nil {
		return p, fmt.Errorf("%s is not in PATH", control)
	}
	text, err := os.ReadFile(found)
	if err == nil {
		err = errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(p.path, text, 0o755))
	}
	p.version = versionOf(ctx, p.path)
	return p, err
}

// versionOf reads v= in the output of --version. Both servers print it.
func versionOf(ctx context.Context, path string) string {
	out, _ := exec.CommandContext(ctx, path, "--version").Output()
	for _, word := range strings.Fields(string(out)) {
		if v, found := strings.CutPrefix(word, "v="); found {
			return v
		}
	}
	return "?"
}

// env is the environment of an ecosystem that runs with p. Both kinds have miniredisd for its subcommands.
func (p program) env(miniredisd string) []string {
	path := filepath.Dir(p.path) + string(os.PathListSeparator) + os.Getenv("PATH")
	return append(os.Environ(), "PATH="+path, "MINIREDISD="+miniredisd)
}

// endLeftovers kills the processes of p that run after their launcher has ended, and returns their command
// lines. It reads /proc, so it finds nothing where that is missing.
func (p program) endLeftovers() (lines []string) {
	exes, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, exe := range exes {
		target, err := os.Readlink(exe)
		if err != nil || target != p.path && target != p.self {
			continue
		}
		var pid int
		if _, err := fmt.Sscanf(exe, "/proc/%d/exe", &pid); err != nil {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(exe), "cmdline"))
		lines = append(lines, strings.TrimSpace(strings.ReplaceAll(string(line), "\x00", " ")))
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended by now
	}
	return lines
}

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
	file    string
	version string
}

// buildOurs builds miniredisd in work.
func buildOurs(ctx context.Context, work string) (program, error) {
	p := program{name: ours, file: filepath.Join(work, ours)}
	build := exec.CommandContext(ctx, "go", "build", "-o", p.file, "./cmd/miniredisd")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return p, fmt.Errorf("building %s: %w", ours, err)
	}
	p.version = versionOf(ctx, p.file)
	return p, nil
}

// copyControl copies redis-server from PATH into work.
func copyControl(ctx context.Context, work string) (program, error) {
	p := program{name: control, file: filepath.Join(work, control)}
	found, err := exec.LookPath(control)
	if err != nil {
		return p, fmt.Errorf("%s is not in PATH", control)
	}
	text, err := os.ReadFile(found)
	if err != nil {
		return p, err
	}
	p.version = versionOf(ctx, found)
	return p, os.WriteFile(p.file, text, 0o755)
}

// link gives p the name redis-server in a folder for one ecosystem, beside its file. The path tells its
// processes from those of other ecosystems, and from other servers on this machine.
func (p program) link(ecosystem string) (path string, err error) {
	dir := filepath.Join(filepath.Dir(p.file), ecosystem+"-"+p.name)
	path = filepath.Join(dir, control)
	return path, errors.Join(os.Mkdir(dir, 0o755), os.Link(p.file, path))
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

// environment is that of an ecosystem that runs with the server at path.
func environment(path, miniredisd string) []string {
	folders := filepath.Dir(path) + string(os.PathListSeparator) + os.Getenv("PATH")
	return append(os.Environ(), "PATH="+folders, "MINIREDISD="+miniredisd)
}

// endLeftovers kills the servers at path that run after their launcher has ended, and returns their command
// lines. It reads /proc, so it finds nothing where that is missing.
func endLeftovers(path string) (lines []string) {
	exes, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, exe := range exes {
		target, err := os.Readlink(exe)
		if err != nil || target != path {
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

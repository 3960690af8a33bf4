package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// suite is how files are run.
type suite struct {
	tclsh   string
	timeout time.Duration
	port    int
}

// results are the tests of one file. A test of one name may run several times.
type results struct {
	name    string
	ok, red map[string]int
	aborts  int    // errors between tests, which end a block of the file
	end     string // "done", or how else the file ended
	hung    string // the test under way when the suite gave up
	took    time.Duration
	output  string
}

// noEnd is how a file ends whose suite has said nothing of an end.
const noEnd = "no end"

// mostHangs bounds how often a file runs again without a test that hangs.
const mostHangs = 3

// file runs one file of the suite. A test that hangs counts as red, and the file runs again without it.
func (s *suite) file(ctx context.Context, t *tree, name string) *results {
	start := time.Now()
	var hung []string
	for {
		r := parseOutput(name, s.output(ctx, t, name, hung))
		for _, test := range hung {
			r.red[test]++
		}
		r.took = time.Since(start)
		if r.hung == "" || len(hung) == mostHangs || ctx.Err() != nil {
			return r
		}
		hung = append(hung, r.hung)
	}
}

// output is what the suite prints when it runs the file without the tests in skip.
func (s *suite) output(ctx context.Context, t *tree, name string, skip []string) string {
	skipFile := filepath.Join(t.dir, "skip")
	if err := os.WriteFile(skipFile, []byte(strings.Join(skip, "\n")), 0o644); err != nil {
		return err.Error()
	}
	cmd := exec.CommandContext(ctx, s.tclsh, "tests/test_helper.tcl", "--single", name, "--clients", "1", "--durable",
		"--tags", "-slow", "--timeout", strconv.Itoa(int(s.timeout.Seconds())),
		"--baseport", strconv.Itoa(s.port), "--portcount", "2000", "--skipfile", skipFile)
	cmd.Dir = t.dir
	cmd.Env = append(cmd.Environ(), "TERM=dumb")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	// The suite and its servers are one group: none of them outlives the file.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second // such a server holds the pipe
	_ = cmd.Run()                   // a red test is no news: what the output says counts
	if cmd.Process != nil {
		_ = cmd.Cancel()
	}
	return out.String()
}

// parseOutput reads what test_helper.tcl prints.
func parseOutput(name, output string) *results {
	r := &results{name: name, ok: map[string]int{}, red: map[string]int{}, end: noEnd, output: output}
	duration := regexp.MustCompile(` \(\d+ ms\)$`)
	const underWay = "=> (IN PROGRESS) "
	suffix := " in tests/" + name + ".tcl"
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, "[ok]: "):
			r.ok[duration.ReplaceAllString(line[len("[ok]: "):], "")]++
		case strings.HasPrefix(line, "[err]: ") && strings.HasSuffix(line, suffix):
			r.red[strings.TrimSuffix(line[len("[err]: "):], suffix)]++
		case strings.HasPrefix(line, "[err]: "):
			r.aborts++
		case strings.HasPrefix(line, "[TIMEOUT]"):
			r.end = "hang"
		case strings.Contains(line, underWay):
			_, r.hung, _ = strings.Cut(line, underWay)
		case strings.HasPrefix(line, "[exception]"):
			r.end = "exception"
		case strings.HasPrefix(line, "[1/1 done]"):
			r.end = "done"
		}
	}
	return r
}

func (r *results) sum(tests map[string]int) (n int) {
	for _, times := range tests {
		n += times
	}
	return n
}

// tail is the end of the output, for a file that is not as it has to be.
func (r *results) tail() string {
	const most = 4000
	return r.output[max(len(r.output)-most, 0):]
}

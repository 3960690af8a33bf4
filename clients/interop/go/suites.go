package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// suite is the test suite of a library. prepare builds it from the module cache.
type suite struct {
	client string
	file   string
	// server is the server on 127.0.0.1:6379, where these tests expect one. Without it they start
	// redis-server themselves, on fixed ports.
	server bool
	// spread runs each test in its own process with its own server, several at a time, because the
	// tests mostly sleep.
	spread bool
	// hangs is a test that waits without end if one of its locks takes longer than 400 ms. It runs
	// alone, and again until it passes.
	hangs string
}

// suiteLimit allows for redsync's 15 tests with six drivers, 48 servers and many pauses, on a
// machine that runs the other suites at the same time.
const (
	suiteLimit = 4 * time.Minute
	testsLimit = "80s" // one run of the binary
	hangLimit  = "15s" // one run of a test that hangs; it takes a second
	chances    = 6
)

// quickSuites have pauses of milliseconds and need the machine for themselves.
func quickSuites() []cell {
	return []cell{
		suite{client: "redislock " + version("github.com/bsm/redislock"), file: "redislock.test", server: true}.cell(),
	}
}

// sleepySuites can run at the same time.
func sleepySuites() []cell {
	return []cell{
		suite{client: "redsync " + version("github.com/go-redsync/redsync/v4"), file: "redsync.test",
			hangs: "TestTryLock"}.cell(),
		suite{client: "rueidislock " + version("github.com/redis/rueidis"), file: "rueidislock.test", server: true,
			spread: true}.cell(),
	}
}

func (s suite) cell() cell {
	return cell{client: s.client, scenario: "suite", limit: suiteLimit, do: s.run}
}

// run gives tests that have failed two more chances, alone. Some tests sleep for milliseconds, and
// on a busy machine they fail with any server.
func (s suite) run(ctx context.Context, env *env) error {
	if env.binary == "" {
		return errors.New("REDIS_BINARY is not set")
	}
	passed, err := s.alone(ctx, env)
	if err != nil {
		return err
	}
	more, err := s.all(ctx, env, passed)
	passed = append(passed, more...)
	for again := 0; again < 2 && err != nil && ctx.Err() == nil; again++ {
		more, err = s.process(ctx, env, but(passed)...)
		passed = append(passed, more...)
	}
	if err == nil && len(passed) == 0 {
		err = errors.New("no test ran")
	}
	return err
}

// alone runs the test that hangs.
func (s suite) alone(ctx context.Context, env *env) (passed []string, err error) {
	if s.hangs == "" {
		return nil, nil
	}
	for chance := 0; chance < chances && len(passed) == 0 && ctx.Err() == nil; chance++ {
		passed, err = s.process(ctx, env, "-test.run", "^"+s.hangs+"$", "-test.timeout", hangLimit)
	}
	if err == nil && len(passed) == 0 {
		err = fmt.Errorf("there is no test %s", s.hangs)
	}
	return passed, err
}

// but selects all tests except these.
func but(passed []string) []string {
	return []string{"-test.skip", "^(" + strings.Join(passed, "|") + ")$"}
}

// all runs every test that has not passed yet, and returns the tests that have passed now.
func (s suite) all(ctx context.Context, env *env, before []string) (passed []string, err error) {
	if !s.spread {
		return s.process(ctx, env, but(before)...)
	}
	list, err := exec.CommandContext(ctx, s.path(), "-test.list", ".").Output()
	if err != nil {
		return nil, err
	}
	tests := strings.Fields(string(list))
	type result struct {
		passed []string
		err    error
	}
	results := make(chan result, len(tests))
	slots := make(chan struct{}, 4)
	for _, test := range tests {
		go func() {
			slots <- struct{}{}
			p, err := s.process(ctx, env, "-test.run", "^"+test+"$")
			results <- result{p, err}
			<-slots
		}()
	}
	for range tests {
		r := <-results
		passed = append(passed, r.passed...)
		err = errors.Join(err, r.err)
	}
	return passed, err
}

func (s suite) path() string {
	self, _ := os.Executable()
	return filepath.Join(filepath.Dir(self), s.file)
}

// process starts this program again in its own namespaces. There the fixed ports of the tests are
// free, and everything that the tests leave running ends with the namespace.
func (s suite) process(ctx context.Context, env *env, which ...string) (passed []string, err error) {
	work, err := os.MkdirTemp("", "suite")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	if err := os.Symlink(env.binary, filepath.Join(work, "redis-server")); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	server := ""
	if s.server {
		server = "redis-server"
	}
	args := append([]string{insideArg, server, s.path(), "-test.v", "-test.timeout", testsLimit}, which...)
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Dir = work
	cmd.Env = append(os.Environ(), "PATH="+work+":"+os.Getenv("PATH"), "TMPDIR="+work)
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET | syscall.CLONE_NEWPID,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	err = cmd.Run()
	passed, failed := outcomes(out.String())
	if err != nil {
		os.Stderr.Write(out.Bytes())
		err = fmt.Errorf("%w: %s", err, failed)
	}
	return passed, err
}

// outcomes reads the results of whole tests. It skips the indented lines of subtests. failed also
// has the text of a panic, which ends all other tests.
func outcomes(out string) (passed []string, failed string) {
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\n")
		name, _, _ := strings.Cut(strings.TrimPrefix(line, "--- PASS: "), " ")
		switch {
		case strings.HasPrefix(line, "--- PASS: "):
			passed = append(passed, name)
		case strings.HasPrefix(line, "--- FAIL: "), strings.HasPrefix(line, "panic: "):
			failed += line + "; "
		}
	}
	return passed, failed
}

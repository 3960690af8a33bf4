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

// suite is a library's own tests, built by prepare from the module cache.
type suite struct {
	client string
	file   string
	// server is on 127.0.0.1:6379, where these tests look for it. Without one they start
	// redis-server by that name, on ports they have fixed as well.
	server bool
	// spread runs each test in a process and with a server of its own, some at a time: they
	// sleep most of their three minutes.
	spread bool
}

// suiteLimit is for redsync's 15 tests with six drivers, 48 servers and many pauses, on a machine
// that runs the other suites at the same time.
const suiteLimit = 3 * time.Minute

// quickSuites pause for milliseconds and want a machine to themselves.
func quickSuites() []cell {
	return []cell{
		suite{client: "redislock " + version("github.com/bsm/redislock"), file: "redislock.test", server: true}.cell(),
	}
}

// sleepySuites can run at the same time.
func sleepySuites() []cell {
	return []cell{
		suite{client: "redsync " + version("github.com/go-redsync/redsync/v4"), file: "redsync.test"}.cell(),
		suite{client: "rueidislock " + version("github.com/redis/rueidis"), file: "rueidislock.test", server: true, spread: true}.cell(),
	}
}

func (s suite) cell() cell {
	return cell{client: s.client, scenario: "suite", limit: suiteLimit, do: s.run}
}

// run gives a test that fails two more chances, alone: some of these tests sleep for milliseconds
// and fail on any server when the machine is busy.
func (s suite) run(ctx context.Context, env *env) error {
	if env.binary == "" {
		return errors.New("REDIS_BINARY is not set")
	}
	failed, err := s.all(ctx, env)
	for range 2 {
		var again []string
		for _, test := range failed {
			if f, err := s.process(ctx, env, only(test)); err != nil || len(f) > 0 {
				again = append(again, test)
			}
		}
		failed = again
	}
	if len(failed) > 0 {
		return fmt.Errorf("failed three times: %s", strings.Join(failed, ", "))
	}
	return err
}

// all runs every test once and returns those that failed; an error is anything else.
func (s suite) all(ctx context.Context, env *env) (failed []string, err error) {
	if !s.spread {
		return s.process(ctx, env, ".")
	}
	list, err := exec.CommandContext(ctx, s.path(), "-test.list", ".").Output()
	if err != nil {
		return nil, err
	}
	tests := strings.Fields(string(list))
	type result struct {
		failed []string
		err    error
	}
	results := make(chan result, len(tests))
	slots := make(chan struct{}, 6)
	for _, test := range tests {
		go func() {
			slots <- struct{}{}
			f, err := s.process(ctx, env, only(test))
			results <- result{f, err}
			<-slots
		}()
	}
	for range tests {
		r := <-results
		failed = append(failed, r.failed...)
		err = errors.Join(err, r.err)
	}
	return failed, err
}

func only(test string) string { return "^" + test + "$" }

func (s suite) path() string {
	self, _ := os.Executable()
	return filepath.Join(filepath.Dir(self), s.file)
}

// process starts this program once more, in namespaces of its own: the ports that the tests have
// fixed are free there, and whatever they leave running ends with it.
func (s suite) process(ctx context.Context, env *env, tests string) (failed []string, err error) {
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
	args := []string{insideArg, s.path(), tests}
	if s.server {
		args = append(args, "redis-server")
	}
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
	failed, passed := outcomes(out.String())
	if err == nil && passed == 0 {
		err = errors.New("no test ran")
	}
	if err != nil {
		os.Stderr.Write(out.Bytes())
	}
	if len(failed) > 0 && ctx.Err() == nil {
		return failed, nil
	}
	return nil, err
}

// outcomes reads the lines of whole tests, not those of their parts, which are indented.
func outcomes(out string) (failed []string, passed int) {
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "--- PASS: ") {
			passed++
		}
		if rest, ok := strings.CutPrefix(line, "--- FAIL: "); ok {
			name, _, _ := strings.Cut(rest, " ")
			failed = append(failed, name)
		}
	}
	return failed, passed
}

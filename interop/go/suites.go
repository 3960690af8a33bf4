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

func suites() []cell {
	var cells []cell
	for _, s := range []suite{
		{client: "redsync " + version("github.com/go-redsync/redsync/v4"), file: "redsync.test"},
		{client: "redislock " + version("github.com/bsm/redislock"), file: "redislock.test", server: true},
		{client: "rueidislock " + version("github.com/redis/rueidis"), file: "rueidislock.test", server: true, spread: true},
	} {
		cells = append(cells, cell{client: s.client, scenario: "suite", limit: suiteLimit, do: s.run})
	}
	return cells
}

func (s suite) run(ctx context.Context, env *env) error {
	if env.binary == "" {
		return errors.New("REDIS_BINARY is not set")
	}
	if !s.spread {
		return s.process(ctx, env, ".")
	}
	list, err := exec.CommandContext(ctx, s.path(), "-test.list", ".").Output()
	if err != nil {
		return err
	}
	tests := strings.Fields(string(list))
	errs := make(chan error, len(tests))
	slots := make(chan struct{}, 6)
	for _, test := range tests {
		go func() {
			slots <- struct{}{}
			errs <- s.process(ctx, env, "^"+test+"$")
			<-slots
		}()
	}
	for range tests {
		err = errors.Join(err, <-errs)
	}
	return err
}

func (s suite) path() string {
	self, _ := os.Executable()
	return filepath.Join(filepath.Dir(self), s.file)
}

// process starts this program once more, in namespaces of its own: the ports that the tests have
// fixed are free there, and whatever they leave running ends with it.
func (s suite) process(ctx context.Context, env *env, tests string) error {
	work, err := os.MkdirTemp("", "suite")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := os.Symlink(env.binary, filepath.Join(work, "redis-server")); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
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
	return suiteError(err, out.String())
}

// suiteError says which tests failed; output that tells of no test is a failure too.
func suiteError(err error, out string) error {
	var failed []string
	passed := 0
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "--- PASS:") {
			passed++
		}
		if name, ok := strings.CutPrefix(line, "--- FAIL: "); ok {
			failed = append(failed, strings.TrimSpace(name))
		}
	}
	switch {
	case err == nil && passed > 0 && len(failed) == 0:
		return nil
	case err == nil:
		err = errors.New("no test ran")
	}
	os.Stderr.WriteString(out)
	if len(failed) == 0 {
		return err
	}
	return fmt.Errorf("%w: %s", err, strings.Join(failed, ", "))
}

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
	"sync"
	"syscall"
	"time"

	"github.com/miniredisd/miniredisd/internal/freeport"
)

// mastersEach is the number of servers of each kind. RedLock needs an odd number of independent
// servers.
const mastersEach = 3

const startLimit = 20 * time.Second

var errMissing = errors.New("is not in PATH")

// kind holds all running servers of one implementation.
type kind struct {
	name    string
	binary  string
	version string
	masters []*server
}

type server struct {
	addr   string
	cmd    *exec.Cmd
	exited chan struct{} // closed after err is set
	err    error
	log    *readyLog
}

// startKind starts the servers of a kind. If it fails, it returns the servers that run, and the
// caller stops them.
func startKind(ctx context.Context, name, work string, extra []string) (*kind, error) {
	k := &kind{name: name}
	args := []string{}
	switch name {
	case ours:
		k.binary = filepath.Join(work, ours)
		build := exec.CommandContext(ctx, "go", "build", "-o", k.binary, "./cmd/miniredisd")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return nil, fmt.Errorf("building %s: %w", ours, err)
		}
		args = extra
	case control:
		path, err := exec.LookPath(control)
		if err != nil {
			return nil, fmt.Errorf("%s %w", control, errMissing)
		}
		k.binary = path
	default:
		return nil, fmt.Errorf("%q is no server: -servers takes %s and %s", name, ours, control)
	}
	k.version = versionOf(k.binary)
	for i := range mastersEach {
		dir := filepath.Join(work, fmt.Sprintf("%s-%d", name, i+1))
		if err := os.Mkdir(dir, 0o755); err != nil {
			return k, err
		}
		s, err := startServer(k.binary, dir, args)
		if err != nil {
			return k, err
		}
		k.masters = append(k.masters, s)
	}
	return k, nil
}

// versionOf reads v= in the output of --version. Both servers print it.
func versionOf(binary string) string {
	out, _ := exec.Command(binary, "--version").Output()
	for _, word := range strings.Fields(string(out)) {
		if v, ok := strings.CutPrefix(word, "v="); ok {
			return v
		}
	}
	return "?"
}

func startServer(binary, dir string, extra []string) (*server, error) {
	// Another program may take the free port before the server binds it.
	for range 5 {
		port, err := freeport.Choose()
		if err != nil {
			return nil, err
		}
		s := &server{addr: "127.0.0.1:" + port, exited: make(chan struct{}), log: &readyLog{ready: make(chan struct{})}}
		args := []string{"--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", dir, "--enable-debug-command",
			"yes"}
		s.cmd = exec.Command(binary, append(args, extra...)...)
		s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
		if err := s.cmd.Start(); err != nil {
			return nil, err
		}
		go s.wait()
		select {
		case <-s.log.ready:
			return s, nil
		case <-s.exited:
		case <-time.After(startLimit):
			s.stop()
		}
		if !strings.Contains(s.log.String(), "in use") {
			return nil, fmt.Errorf("%s did not get ready:\n%s", filepath.Base(binary), s.log)
		}
	}
	return nil, errors.New("found no free port in 5 attempts")
}

func (s *server) wait() {
	s.err = s.cmd.Wait()
	close(s.exited)
}

func (s *server) stop() {
	s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.exited:
	case <-time.After(5 * time.Second):
		s.cmd.Process.Kill()
		<-s.exited
	}
}

func (k *kind) stop() {
	for _, s := range k.masters {
		s.stop()
	}
}

// dead describes a server that has ended before it was stopped.
func (k *kind) dead() error {
	for _, s := range k.masters {
		select {
		case <-s.exited:
			return fmt.Errorf("%s on %s has ended (%v):\n%s", k.name, s.addr, s.err, s.log)
		default:
		}
	}
	return nil
}

func (k *kind) env() []string {
	addrs := make([]string, len(k.masters))
	for i, s := range k.masters {
		addrs[i] = s.addr
	}
	return []string{"REDIS_ADDR=" + addrs[0], "REDIS_MASTERS=" + strings.Join(addrs, ","), "REDIS_BINARY=" + k.binary}
}

// readyLog keeps the end of a server's log. It closes ready when the log says that the server
// listens.
type readyLog struct {
	mu    sync.Mutex
	tail  bytes.Buffer
	seen  bool
	ready chan struct{}
}

const keptLog = 64 << 10

func (l *readyLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tail.Write(p)
	if over := l.tail.Len() - keptLog; over > 0 {
		l.tail.Next(over)
	}
	if !l.seen && bytes.Contains(l.tail.Bytes(), []byte("Ready to accept connections")) {
		l.seen = true
		close(l.ready)
	}
	return len(p), nil
}

func (l *readyLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tail.String()
}

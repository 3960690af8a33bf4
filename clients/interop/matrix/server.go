package main

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/miniredisd/miniredisd/internal/freeport"
)

const startLimit = 20 * time.Second

// server is a process that listens.
type server struct {
	addr   string // of the first port
	cmd    *exec.Cmd
	exited chan struct{} // closed after err is set
	err    error
	log    *readyLog
}

// startServer starts a server on a free port.
func startServer(binary, dir string, extra []string) (*server, error) {
	// Another program may take the free port before the server binds it.
	for range 5 {
		port, err := freeport.Choose()
		if err != nil {
			return nil, err
		}
		args := []string{"--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", dir, "--enable-debug-command",
			"yes"}
		s, err := launch(1, binary, append(args, extra...)...)
		if err == nil {
			s.addr = "127.0.0.1:" + port
			return s, nil
		}
		if !strings.Contains(err.Error(), "in use") {
			return nil, err
		}
	}
	return nil, errors.New("found no free port in 5 attempts")
}

// launch starts a process, and returns when it listens on so many ports. Otherwise the error has what it has printed.
func launch(ports int, binary string, args ...string) (*server, error) {
	s := &server{exited: make(chan struct{}), log: &readyLog{missing: ports, ready: make(chan struct{})}}
	s.cmd = exec.Command(binary, args...)
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
	return nil, fmt.Errorf("%s did not get ready:\n%s", filepath.Base(binary), s.log)
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

// readyLog keeps the end of a server's log. It closes ready when the log says that the server
// listens on all its ports.
type readyLog struct {
	mu      sync.Mutex
	tail    bytes.Buffer
	missing int // ports
	ready   chan struct{}
}

const keptLog = 64 << 10

func (l *readyLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tail.Write(p)
	if over := l.tail.Len() - keptLog; over > 0 {
		l.tail.Next(over)
	}
	if l.missing > 0 && bytes.Count(l.tail.Bytes(), []byte("Ready to accept connections")) >= l.missing {
		l.missing = 0
		close(l.ready)
	}
	return len(p), nil
}

func (l *readyLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tail.String()
}

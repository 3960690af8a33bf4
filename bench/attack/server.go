package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// contender is a server program.
type contender struct {
	name    string
	command []string
	dir     string
}

// server is a running contender, watched from outside: a limit of the address space would stop a Go program
// long before its memory is used.
type server struct {
	addr   string
	cmd    *exec.Cmd
	caps   caps
	peakKB atomic.Int64
	death  atomic.Pointer[string]
	done   chan struct{}
}

const (
	startLimit = 20 * time.Second
	watchEvery = 10 * time.Millisecond
)

// start begins again when another program has taken the port meanwhile.
func (c contender) start(limits caps, options []string) (s *server, err error) {
	for range 3 {
		if s, err = c.startOnce(limits, options); err == nil {
			return s, nil
		}
	}
	return nil, err
}

func (c contender) startOnce(limits caps, options []string) (*server, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	args := append(c.command[1:len(c.command):len(c.command)], "--port", port, "--bind", "127.0.0.1", "--save", "",
		"--dir", c.dir, "--enable-debug-command", "yes", "--tcp-backlog", "4096",
		"--busy-reply-threshold", strconv.FormatInt(limits.busy.Milliseconds(), 10))
	s := &server{addr: "127.0.0.1:" + port, caps: limits, done: make(chan struct{})}
	s.cmd = exec.Command(c.command[0], append(args, options...)...)
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go s.wait()
	for began := time.Now(); time.Since(began) < startLimit && s.ended() == ""; time.Sleep(time.Millisecond) {
		if ask(s.addr, "PING").text == "PONG" {
			go s.watch()
			return s, nil
		}
	}
	s.stop()
	return nil, fmt.Errorf("%s gave no PONG within %s: %s", c.name, startLimit, s.ended())
}

// watch notes the peak of the memory and kills a server that is beyond a cap.
func (s *server) watch() {
	for began := time.Now(); ; {
		select {
		case <-s.done:
			return
		case <-time.After(watchEvery):
		}
		s.note()
		switch {
		case s.peakKB.Load() > int64(s.caps.memoryMB)<<10:
			s.kill(fmt.Sprintf("over %d MB", s.caps.memoryMB))
		case time.Since(began) > s.caps.time:
			s.kill(fmt.Sprintf("over %s", s.caps.time))
		}
	}
}

func (s *server) note() {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	s.peakKB.Store(max(s.peakKB.Load(), statusKB(string(text), "VmHWM")))
}

func (s *server) wait() {
	err := s.cmd.Wait()
	why := "exit"
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) {
		why = ended.String()
	}
	s.death.CompareAndSwap(nil, &why)
	close(s.done)
}

func (s *server) kill(why string) {
	s.death.CompareAndSwap(nil, &why)
	s.cmd.Process.Kill()
}

func (s *server) stop() {
	s.kill("stopped")
	<-s.done
}

// ended returns why the server ended, "" while it runs.
func (s *server) ended() string {
	if why := s.death.Load(); why != nil {
		return *why
	}
	return ""
}

func (s *server) peakMB() float64 {
	if s.ended() == "" {
		s.note()
	}
	return float64(s.peakKB.Load()) / 1024
}

// statusKB returns the figure of one line of /proc/PID/status.
func statusKB(text, name string) int64 {
	for line := range strings.Lines(text) {
		if value, found := strings.CutPrefix(line, name+":"); found {
			kb, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			return kb
		}
	}
	return 0
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port), nil
}

// usedMemory is what the server counts, in MB.
func usedMemory(addr string) float64 {
	_, rest, _ := strings.Cut(ask(addr, "INFO", "memory").text, "used_memory:")
	text, _, _ := strings.Cut(rest, "\r\n")
	bytes, _ := strconv.ParseFloat(text, 64)
	return bytes / (1 << 20)
}

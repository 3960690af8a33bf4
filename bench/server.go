package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/internal/respclient"
)

// contender is a server program.
type contender struct {
	name    string
	command []string
	dir     string
	env     []string // added to this process's environment
	log     string   // a file for standard error, "" for none
}

// server is a running contender.
type server struct {
	name    string
	addr    string
	cmd     *exec.Cmd
	started time.Duration // from exec to the first PONG
}

const startLimit = time.Minute

func (c contender) start(core int) (*server, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	args := make([]string, len(c.command))
	for i, a := range c.command {
		args[i] = strings.ReplaceAll(a, "{port}", port)
	}
	s := &server{name: c.name, addr: "127.0.0.1:" + port, cmd: exec.Command(args[0], args[1:]...)}
	s.cmd.Dir, s.cmd.Env = c.dir, append(os.Environ(), c.env...)
	if c.log != "" {
		log, err := os.Create(c.log)
		if err != nil {
			return nil, err
		}
		defer log.Close() // the server has it open, too
		s.cmd.Stderr = log
	}
	began := time.Now()
	if err := startPinned(s.cmd, core); err != nil {
		return nil, err
	}
	for time.Since(began) < startLimit {
		if ping(s.addr) {
			s.started = time.Since(began)
			return s, nil
		}
		time.Sleep(100 * time.Microsecond)
	}
	s.stop()
	return nil, fmt.Errorf("%s gave no PONG within %s", c.name, startLimit)
}

func (s *server) stop() {
	s.cmd.Process.Kill()
	s.cmd.Wait()
}

func ping(addr string) bool {
	c, err := respclient.Dial(addr)
	if err != nil {
		return false
	}
	defer c.Close()
	c.Limit = startLimit
	if c.Send([]byte("PING\r\n")) != nil { // the floor answers requests with other replies
		return false
	}
	v, err := c.Read()
	return err == nil && v.Str == "PONG"
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port), nil
}

// cpu returns the time that all threads have run so far.
func (s *server) cpu() time.Duration {
	u, _ := s.usage(executor{})
	var sum time.Duration
	for _, ran := range u.threads {
		sum += ran
	}
	return sum
}

// rss returns the resident memory in MiB.
func (s *server) rss() float64 {
	kb, _ := strconv.ParseFloat(procField(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid), "VmRSS"), 64)
	return kb / 1024
}

// procField returns the first word of a "name: value" line.
func procField(path, name string) string {
	text, _ := os.ReadFile(path)
	for line := range strings.Lines(string(text)) {
		k, v, _ := strings.Cut(line, ":")
		if strings.TrimSpace(k) == name {
			return strings.TrimSuffix(strings.TrimSpace(v), " kB")
		}
	}
	return ""
}

// describe returns the name of the server and the versions in its INFO.
func (s *server) describe() string {
	about := s.name
	info, _ := s.info()
	for _, name := range []string{"redis_version", "valkey_version", "miniredisd_version"} {
		if v := info[name]; v != "" {
			about += ", " + name + " " + v
		}
	}
	return about
}

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/miniredisd/miniredisd/internal/freeport"
	"github.com/miniredisd/miniredisd/internal/respclient"
	"github.com/miniredisd/miniredisd/resp"
)

const (
	masterName = "mymaster"
	askLimit   = 5 * time.Second
	startLimit = 60 * time.Second // the machine is busy
	glance     = 20 * time.Millisecond
	downAfter  = "1500" // ms until a node that is silent is down
	outageFor  = 1700 * time.Millisecond
)

// stage has the servers that a client plays with.
type stage struct {
	mode      string
	nodes     []string // addresses: masters, then replicas
	sentinels []string
	end       func(node int) error     // takes a node away for good
	away      func(sentinel int) error // and a Sentinel for outageFor
	processes []*exec.Cmd
	dir       string
	doors     map[string]string // the address of each server at the proxy, nil without one
	lost      time.Time         // since when a master is gone
	named     time.Duration     // so long nobody named another one
}

func (s *stage) stop() {
	for _, p := range s.processes {
		_ = p.Process.Kill() // it may have ended
		_ = p.Wait()
	}
	_ = os.RemoveAll(s.dir)
}

// addresses are what a client is told.
func (s *stage) addresses() string {
	if s.mode == sentinels {
		return s.told(s.sentinels)
	}
	return s.told(s.nodes[:3])
}

// told is a list of servers as a client is told it.
func (s *stage) told(servers []string) string {
	all := make([]string, len(servers))
	for i, addr := range servers {
		all[i] = s.door(addr)
	}
	return strings.Join(all, ",")
}

// start starts a process.
func (s *stage) start(ctx context.Context, program string, args ...string) error {
	p := exec.CommandContext(ctx, program, args...)
	p.Dir = s.dir
	if err := p.Start(); err != nil {
		return err
	}
	s.processes = append(s.processes, p)
	return nil
}

// newStage calls fill, and returns once all is ready.
func newStage(mode string, fill func(s *stage) error) (*stage, error) {
	dir, err := os.MkdirTemp("", "stage")
	if err != nil {
		return nil, err
	}
	s := &stage{mode: mode, dir: dir}
	if err = fill(s); err == nil {
		err = until("all servers are ready", s.ready)
	}
	if err == nil && mode == sentinels {
		err = s.hurry()
	}
	if err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// startOurs starts all servers as one process.
func startOurs(ctx context.Context, o options, mode string) (*stage, error) {
	return newStage(mode, func(s *stage) error {
		args := []string{"--lab", "yes", "--port", "0", "--port-file", "ports", "--bind", "127.0.0.1", "--save", ""}
		if mode == inCluster {
			args = append(args, "--cluster", "yes", "--masters", "3", "--replicas", "1", "--cluster-node-timeout", downAfter)
		} else {
			args = append(args, "--replicas", "2", "--sentinels", "3")
		}
		if err := s.start(ctx, o.ours, args...); err != nil {
			return err
		}
		var text []byte
		err := until("there is a file of ports", func() bool {
			text, _ = os.ReadFile(filepath.Join(s.dir, "ports"))
			return len(text) > 0
		})
		for line := range strings.Lines(string(text)) {
			port, role, _ := strings.Cut(strings.TrimSpace(line), " ")
			if addr := "127.0.0.1:" + port; role == "sentinel" {
				s.sentinels = append(s.sentinels, addr)
			} else {
				s.nodes = append(s.nodes, addr)
			}
		}
		s.end = func(node int) error {
			_, err := ask(s.nodes[(node+1)%len(s.nodes)], "LAB", "MASTER", strconv.Itoa(node+1), "CRASH", "DOWN", "3600000")
			return err
		}
		s.away = func(sentinel int) error {
			_, err := ask(s.sentinels[sentinel], "LAB", "CRASH", "DOWN", strconv.FormatInt(outageFor.Milliseconds(), 10))
			return err
		}
		return err
	})
}

// startReal starts a process for each server.
func startReal(ctx context.Context, o options, mode string) (*stage, error) {
	return newStage(mode, func(s *stage) error {
		s.end = func(node int) error {
			err := s.processes[node].Process.Kill()
			_ = s.processes[node].Wait() // it was killed
			return err
		}
		s.away = func(sentinel int) error {
			p := s.processes[len(s.nodes)+sentinel].Process
			time.AfterFunc(outageFor, func() { _ = p.Signal(syscall.SIGCONT) }) // it may have ended
			return p.Signal(syscall.SIGSTOP)
		}
		if mode == inCluster {
			return s.realCluster(ctx, o.control)
		}
		return s.realGroup(ctx, o.control)
	})
}

// realNode starts a server with a folder of its own.
func (s *stage) realNode(ctx context.Context, program string, lines ...string) (addr string, err error) {
	port, err := freeport.Choose()
	if err != nil {
		return "", err
	}
	home := filepath.Join(s.dir, port)
	file := filepath.Join(home, "node.conf")
	lines = append([]string{"port " + port, "bind 127.0.0.1", "dir " + home, "logfile log"}, lines...)
	err = errors.Join(os.Mkdir(home, 0o755), os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o644))
	if err != nil {
		return "", err
	}
	args := []string{file}
	if strings.Contains(strings.Join(lines, "\n"), "sentinel monitor") {
		args = append(args, "--sentinel")
	}
	return "127.0.0.1:" + port, s.start(ctx, program, args...)
}

func (s *stage) realCluster(ctx context.Context, program string) error {
	for range 6 {
		addr, err := s.realNode(ctx, program, `save ""`, "cluster-enabled yes", "cluster-node-timeout "+downAfter,
			"repl-diskless-sync-delay 0", "cluster-port "+freePort())
		if err != nil {
			return err
		}
		s.nodes = append(s.nodes, addr)
	}
	if err := until("all nodes answer", func() bool { return answers(s.nodes) }); err != nil {
		return err
	}
	args := append([]string{"--cluster", "create"}, s.nodes...)
	out, err := exec.CommandContext(ctx, "redis-cli", append(args, "--cluster-replicas", "1", "--cluster-yes")...).Output()
	if err != nil {
		return fmt.Errorf("redis-cli: %w\n%s", err, out)
	}
	return nil
}

func freePort() string {
	port, _ := freeport.Choose() // without one the server says so
	return port
}

func (s *stage) realGroup(ctx context.Context, program string) error {
	follow := `save ""`
	for i := range 3 {
		addr, err := s.realNode(ctx, program, `save ""`, "repl-diskless-sync-delay 0", follow)
		if err != nil {
			return err
		}
		s.nodes = append(s.nodes, addr)
		if i == 0 {
			follow = "replicaof " + strings.ReplaceAll(addr, ":", " ")
			if err := until("the master answers", func() bool { return answers(s.nodes) }); err != nil {
				return err
			}
		}
	}
	watched := "sentinel monitor " + masterName + " " + strings.ReplaceAll(s.nodes[0], ":", " ") + " 2"
	for range 3 {
		addr, err := s.realNode(ctx, program, watched)
		if err != nil {
			return err
		}
		s.sentinels = append(s.sentinels, addr)
	}
	return nil
}

// hurry shortens the times of the Sentinels.
func (s *stage) hurry() error {
	for _, addr := range s.sentinels {
		_, err := ask(addr, "SENTINEL", "SET", masterName, "down-after-milliseconds", downAfter, "failover-timeout", "10000")
		if err != nil {
			return err
		}
	}
	return nil
}

// ready reports whether the servers know each other, and the replicas have the data of their masters.
func (s *stage) ready() bool {
	if !answers(s.nodes) || !answers(s.sentinels) {
		return false
	}
	for _, addr := range s.nodes {
		if info := infoOf(addr); !strings.Contains(info, "role:master") && !strings.Contains(info, "master_link_status:up") {
			return false
		}
		if s.mode == inCluster {
			v, err := ask(addr, "CLUSTER", "INFO")
			if err != nil || !strings.Contains(v.Str, "cluster_state:ok") || !s.hasReplicas(addr) {
				return false
			}
		}
	}
	for _, addr := range s.sentinels {
		v, err := ask(addr, "SENTINEL", "MASTER", masterName)
		if err != nil || field(v, "num-slaves") != "2" || field(v, "num-other-sentinels") != "2" {
			return false
		}
	}
	return true
}

// hasReplicas reports whether a node knows a replica of each master.
func (s *stage) hasReplicas(addr string) bool {
	v, err := ask(addr, "CLUSTER", "SLOTS")
	for _, r := range v.Elems {
		if len(r.Elems) < 4 {
			return false
		}
	}
	return err == nil && len(v.Elems) == 3
}

func answers(addrs []string) bool {
	for _, addr := range addrs {
		if v, err := ask(addr, "PING"); err != nil || v.Str != "PONG" {
			return false
		}
	}
	return true
}

func infoOf(addr string) string {
	v, _ := ask(addr, "INFO", "replication") // "" from nobody
	return v.Str
}

func field(pairs resp.Value, name string) string { return valueOf(pairs, name).Str }

func valueOf(pairs resp.Value, name string) resp.Value {
	for i := 0; i+1 < len(pairs.Elems); i += 2 {
		if pairs.Elems[i].Str == name {
			return pairs.Elems[i+1]
		}
	}
	return resp.Value{}
}

// ask sends one request over a connection of its own.
func ask(addr string, words ...string) (resp.Value, error) {
	raw, err := net.DialTimeout("tcp", addr, askLimit)
	if err != nil {
		return resp.Value{}, err
	}
	defer raw.Close()
	c := respclient.New(raw, respclient.SmallBuffer)
	c.Limit = askLimit
	v, err := c.Do(words...)
	if err == nil && v.Kind == '-' {
		err = fmt.Errorf("%s at %s: %s", strings.Join(words, " "), addr, v.Str)
	}
	return v, err
}

func until(what string, done func() bool) error {
	for end := time.Now().Add(startLimit); !done(); time.Sleep(glance) {
		if time.Now().After(end) {
			return fmt.Errorf("not within %v: %s", startLimit, what)
		}
	}
	return nil
}

package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/miniredisd/miniredisd/internal/freeport"
	"github.com/miniredisd/miniredisd/internal/respclient"
	"github.com/miniredisd/miniredisd/resp"
)

const (
	startLimit = 20 * time.Second
	askLimit   = 5 * time.Second // an answer may take so long on a busy machine
	glance     = 10 * time.Millisecond
)

// node is a server or a sentinel: a process with a configuration file of its own, which CONFIG REWRITE changes. It may
// be killed and started again.
type node struct {
	binary string
	args   []string // behind the file
	file   string
	addr   string // where it listens
	public string // where others find it: addr, or a proxy
	proxy  *proxy // nil unless it can be cut off
	cmd    *exec.Cmd
	gone   chan struct{} // closed when the process has ended
}

// newNode writes the file of a node. The directives port, bind and dir are added.
func newNode(dir, name, binary string, directives []string, args ...string) (*node, error) {
	port, err := freeport.Choose()
	if err != nil {
		return nil, err
	}
	home := filepath.Join(dir, name)
	if err := os.Mkdir(home, 0o755); err != nil {
		return nil, err
	}
	addr := net.JoinHostPort("127.0.0.1", port)
	n := &node{binary: binary, args: args, file: filepath.Join(home, "node.conf"), addr: addr, public: addr}
	lines := append([]string{"port " + port, "bind 127.0.0.1", "dir " + home}, directives...)
	return n, os.WriteFile(n.file, []byte(strings.Join(lines, "\n")+"\n"), 0o644)
}

// configure adds directives to the file of a node that is not started yet.
func (n *node) configure(directives ...string) error {
	text, err := os.ReadFile(n.file)
	if err != nil {
		return err
	}
	return os.WriteFile(n.file, append(text, strings.Join(directives, "\n")+"\n"...), 0o644)
}

// start starts the process, and returns when it answers.
func (n *node) start() error {
	log, err := os.OpenFile(n.file+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	n.cmd = exec.Command(n.binary, append([]string{n.file}, n.args...)...)
	n.cmd.Stdout, n.cmd.Stderr = log, log
	if err := n.cmd.Start(); err != nil {
		return err
	}
	n.gone = make(chan struct{})
	go n.await(n.cmd, n.gone)
	return until(startLimit, n.binary+" answers", func() bool {
		v, err := n.ask("PING")
		return err == nil && v.Str == "PONG"
	})
}

func (n *node) await(cmd *exec.Cmd, gone chan struct{}) {
	_ = cmd.Wait() // it was killed
	close(gone)
}

// kill ends the process at once.
func (n *node) kill() {
	if n.cmd != nil && n.cmd.Process != nil {
		_ = n.cmd.Process.Kill() // it may have ended
		<-n.gone
	}
}

func (n *node) signal(s syscall.Signal) error { return n.cmd.Process.Signal(s) }

// ask sends one request over a connection of its own, past the proxy.
func (n *node) ask(words ...string) (resp.Value, error) { return askAt(n.addr, words...) }

func askAt(addr string, words ...string) (resp.Value, error) {
	c, err := dial(addr, askLimit)
	if err != nil {
		return resp.Value{}, err
	}
	defer c.Net.Close()
	v, err := c.Do(words...)
	if err == nil && v.Kind == '-' {
		err = fmt.Errorf("%s: %s", words[0], v.Str)
	}
	return v, err
}

// dial connects, and bounds each later request.
func dial(addr string, limit time.Duration) (*respclient.Conn, error) {
	raw, err := net.DialTimeout("tcp", addr, limit)
	if err != nil {
		return nil, err
	}
	c := respclient.New(raw, respclient.SmallBuffer)
	c.Limit = limit
	return c, nil
}

// info returns a field of INFO, "" if the node does not answer.
func (n *node) info(field string) string {
	v, err := n.ask("INFO")
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(v.Str, "\n"+field+":")
	value, _, _ := strings.Cut(rest, "\r\n")
	return value
}

// field returns what SENTINEL MASTER or one entry of SENTINEL REPLICAS says under a name.
func field(pairs []resp.Value, name string) string {
	i := slices.IndexFunc(pairs, func(v resp.Value) bool { return v.Str == name })
	if i < 0 || i+1 >= len(pairs) {
		return ""
	}
	return pairs[i+1].Str
}

// until asks again and again. An error says what has not come true.
func until(limit time.Duration, what string, done func() bool) error {
	for end := time.Now().Add(limit); !done(); time.Sleep(glance) {
		if time.Now().After(end) {
			return fmt.Errorf("not within %v: %s", limit, what)
		}
	}
	return nil
}

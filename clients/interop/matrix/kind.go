package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/miniredisd/miniredisd/internal/respclient"
)

// mastersEach is the number of servers of each kind. RedLock needs an odd number of independent
// servers.
const mastersEach = 3

var errMissing = errors.New("is not in PATH")

// kind holds all running servers of one implementation.
type kind struct {
	name      string
	judged    bool // the other one is the control
	binary    string
	addrs     []string // where clients find the masters
	processes []*server
}

// startKind starts the servers of a kind. If it fails, it returns the servers that run, and the
// caller stops them.
func startKind(ctx context.Context, name, work string, o options) (*kind, error) {
	k := &kind{name: name, judged: name == proxied || name == ours && o.through == ""}
	program := name
	if name == proxied {
		program = o.through
	}
	var args []string
	var err error
	if program == ours {
		k.binary, err = build(ctx, work)
		args = o.extra
	} else if k.binary, err = exec.LookPath(program); err != nil {
		err = fmt.Errorf("%s %w", program, errMissing)
	}
	if err != nil {
		return nil, err
	}
	for range mastersEach {
		dir, err := os.MkdirTemp(work, "server")
		if err != nil {
			return k, err
		}
		s, err := startServer(k.binary, dir, args)
		if err != nil {
			return k, err
		}
		k.processes, k.addrs = append(k.processes, s), append(k.addrs, s.addr)
	}
	if name == proxied {
		err = k.startProxy(ctx, work, o)
	}
	return k, err
}

// build compiles miniredisd, once.
func build(ctx context.Context, work string) (binary string, err error) {
	binary = filepath.Join(work, ours)
	if _, err := os.Stat(binary); err == nil {
		return binary, nil
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/miniredisd")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("building %s: %w", ours, err)
	}
	return binary, nil
}

// startProxy puts a proxy before the servers. Clients find its ports alone.
func (k *kind) startProxy(ctx context.Context, work string, o options) error {
	binary, err := build(ctx, work)
	if err != nil {
		return err
	}
	args := []string{"proxy", "--order", "exact", "--port", "0"}
	for _, addr := range k.addrs {
		args = append(args, "--upstream", addr)
	}
	p, err := launch(len(k.addrs), binary, args...)
	if err != nil {
		return err
	}
	k.processes, k.addrs = append(k.processes, p), nil
	for _, port := range regexp.MustCompile(`port (\d+) leads to`).FindAllStringSubmatch(p.log.String(), -1) {
		k.addrs = append(k.addrs, "127.0.0.1:"+port[1])
	}
	if !o.doctor {
		return nil
	}
	for _, addr := range k.addrs {
		if err := tell(addr, "LAB", "LOG", "WATCH", "*"); err != nil {
			return err
		}
	}
	return nil
}

// tell sends a request whose reply is OK.
func tell(addr string, words ...string) error {
	c, err := respclient.Dial(addr)
	if err != nil {
		return err
	}
	defer c.Close()
	c.Limit = startLimit
	v, err := c.Do(words...)
	if err == nil && v.Str != "OK" {
		err = fmt.Errorf("%s: %s", strings.Join(words, " "), v)
	}
	return err
}

func (k *kind) stop() {
	for _, s := range k.processes {
		s.stop()
	}
}

// dead describes a server that has ended before it was stopped.
func (k *kind) dead() error {
	for _, s := range k.processes {
		select {
		case <-s.exited:
			return fmt.Errorf("a server of %s has ended (%v): %s\n%s", k.name, s.err, s.cmd, s.log)
		default:
		}
	}
	return nil
}

func (k *kind) env() []string {
	return []string{"REDIS_ADDR=" + k.addrs[0], "REDIS_MASTERS=" + strings.Join(k.addrs, ","), "REDIS_BINARY=" + k.binary}
}

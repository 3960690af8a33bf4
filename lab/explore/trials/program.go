package trials

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/miniredisd/miniredisd/internal/orphans"
)

// program is a process of the program, with all that it starts, or a test that Play runs.
type program struct {
	cmd    *exec.Cmd // nil for a test
	mark   string    // a variable in the environment of the program and of its children
	output tail
	over   chan struct{} // closed when the program has ended; failed is set then
	failed string        // how it ended, "" for well

	giveUp context.CancelFunc // of a test
	unsafe string             // what a test says about a promise that is broken
	err    error              // why a test could not be played
}

// environment tells a program where the servers are.
func environment(addrs []string) []string {
	host, port, _ := net.SplitHostPort(addrs[0]) // the address of a listener
	urls := make([]string, len(addrs))
	for i, addr := range addrs {
		urls[i] = "redis://" + addr
	}
	return []string{
		"REDIS_URL=" + urls[0], "REDIS_URLS=" + strings.Join(urls, ","),
		"REDIS_HOST=" + host, "REDIS_PORT=" + port, "MINIREDISD_PORT=" + port,
	}
}

// start starts a command. The driver waits for it through over.
func (d *driver) start(command, env []string) (*program, error) {
	p := &program{over: make(chan struct{})}
	p.cmd = exec.Command(command[0], command[1:]...)
	p.mark = fmt.Sprintf("MINIREDISD_EXPLORE=%d.%p", os.Getpid(), p)
	p.cmd.Env = append(append(os.Environ(), env...), p.mark)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.cmd.Stdout, p.cmd.Stderr = &p.output, &p.output
	p.cmd.WaitDelay = time.Second // a child of the program may keep its output open
	begin := (*exec.Cmd).Start
	if d.orphans != nil {
		begin = func(cmd *exec.Cmd) error { return d.orphans.Start(cmd) }
	}
	if err := begin(p.cmd); err != nil {
		return nil, fmt.Errorf("the program cannot be started: %w", err)
	}
	go func() {
		err := p.cmd.Wait()
		if exit := new(exec.ExitError); errors.As(err, &exit) {
			p.failed = exit.ProcessState.String()
		}
		if d.orphans != nil {
			d.orphans.Over(p.cmd.Process.Pid)
		}
		close(p.over)
	}()
	return p, nil
}

// end kills the program and all that it has started.
func (d *driver) end(p *program) error {
	if p.cmd == nil {
		p.giveUp()
		<-p.over
		return p.err
	}
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // it may have ended
	<-p.over
	if state := p.cmd.ProcessState; state != nil { // Wait knows it
		d.mu.Lock()
		d.cpu += state.UserTime() + state.SystemTime()
		d.mu.Unlock()
	}
	for left := orphans.Marked(p.mark); len(left) > 0; left = orphans.Marked(p.mark) { // one may be just being made
		for _, pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	if d.Jobs > 1 {
		return nil // an orphan may be one of another trial: they end with the run
	}
	return d.endOrphans()
}

// endOrphans ends what programs have left behind, whatever group, session or environment it has.
func (d *driver) endOrphans() error {
	if d.orphans == nil {
		return nil
	}
	_, alive, err := d.orphans.End(nil, endLimit)
	if err == nil && len(alive) > 0 {
		err = fmt.Errorf("the program has left processes that cannot be ended: %v", alive)
	}
	return err
}

// endLimit is how long the driver tries to end what a program leaves behind.
const endLimit = 5 * time.Second

// tail keeps the last bytes that a program writes.
type tail struct {
	mu   sync.Mutex // the goroutine of os/exec writes
	text []byte
}

const tailBytes = 4096

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b[max(0, len(b)-tailBytes):]...)
	if len(t.text) > tailBytes {
		t.text = append(t.text[:0], t.text[len(t.text)-tailBytes:]...)
	}
	return len(b), nil
}

// lines returns the last lines, as text.
func (t *tail) lines() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	const most = 20
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(t.text), "?")), "\n")
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}

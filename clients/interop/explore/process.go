package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/miniredisd/miniredisd/lab/explore/trials"
)

// process is the program of a client. One goroutine uses it. A trial that hangs ends it, and the next one starts it
// again.
type process struct {
	command []string
	dir     string

	cmd     *exec.Cmd // nil if it does not run
	in      io.WriteCloser
	answers chan answer // closed at the end of its output
	errs    *tail
}

// answer is a line of the program: how a scenario ended.
type answer struct {
	Failed string `json:"failed"` // "" if it did not fail
}

func (p *process) start() (err error) {
	cmd := exec.Command(p.command[0], p.command[1:]...)
	p.errs = &tail{}
	cmd.Dir, cmd.Stderr = p.dir, p.errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second // a child of it may keep its output open
	if p.in, err = cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	p.cmd, p.answers = cmd, make(chan answer)
	answers := p.answers
	go func() {
		defer close(answers)
		lines := json.NewDecoder(bufio.NewReader(out))
		for {
			var a answer
			if lines.Decode(&a) != nil {
				return
			}
			answers <- a
		}
	}()
	return nil
}

// end ends the program and all that it has started.
func (p *process) end() {
	if p.cmd == nil {
		return
	}
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // it may have ended
	for range p.answers {                                 // until nobody reads its output any more
		continue
	}
	_ = p.cmd.Wait() // it was killed
	p.cmd = nil
}

// play runs the scenario once. It is the Play of package trials.
func (p *process) play(ctx context.Context, t trials.Task) (trials.Answer, error) {
	if p.cmd == nil {
		if err := p.start(); err != nil {
			return trials.Answer{}, err
		}
	}
	_, gone := fmt.Fprintln(p.in, t.Addrs[0])
	select {
	case a, more := <-p.answers:
		if more && gone == nil {
			return trials.Answer{Failed: a.Failed}, nil
		}
		p.end()
		return trials.Answer{Failed: "the process ended", Output: p.errs.text()}, nil
	case <-ctx.Done():
		p.end()
		return trials.Answer{Failed: "the scenario did not end", Output: p.errs.text()}, nil
	}
}

// tail keeps the last bytes of an output.
type tail struct {
	mu   sync.Mutex // the goroutine of os/exec writes
	last []byte
}

const tailBytes = 2048

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, b...)
	t.last = t.last[max(0, len(t.last)-tailBytes):]
	return len(b), nil
}

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return cmp.Or(string(t.last), "no output")
}

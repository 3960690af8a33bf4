package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// orderLimit bounds one order. A client that waits for masters that are gone takes seconds.
const orderLimit = 30 * time.Second

// owners is a client's program with two owners, a and b. It reads one order a line and answers each
// order with a line.
type owners struct {
	client  string // its name and exact version
	cmd     *exec.Cmd
	orders  io.WriteCloser
	answers *bufio.Reader
}

func startOwners(ctx context.Context, dir, kind string) (*owners, error) {
	o := &owners{cmd: exec.CommandContext(ctx, "./holders", kind)}
	o.cmd.Dir, o.cmd.Stderr = dir, os.Stderr
	o.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	o.cmd.Cancel = func() error { return syscall.Kill(-o.cmd.Process.Pid, syscall.SIGKILL) }
	o.cmd.WaitDelay = 5 * time.Second
	answers, err := o.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if o.orders, err = o.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := o.cmd.Start(); err != nil {
		return nil, err
	}
	o.answers = bufio.NewReader(answers)
	if o.client, err = o.line(); err != nil {
		o.cmd.Cancel()
		o.cmd.Wait()
		return nil, err
	}
	return o, nil
}

// line reads an answer. It ends a program that does not answer.
func (o *owners) line() (string, error) {
	limit := time.AfterFunc(orderLimit, func() { o.cmd.Cancel() })
	defer limit.Stop()
	line, err := o.answers.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("no answer: %w", err)
	}
	return strings.TrimSpace(line), nil
}

// obey sends an order. The answer is a word and a reason.
func (o *owners) obey(order string) (word, why string, err error) {
	if _, err := io.WriteString(o.orders, order+"\n"); err != nil {
		return "", "", err
	}
	line, err := o.line()
	if err != nil {
		return "", "", fmt.Errorf("%s: %w", order, err)
	}
	word, why, _ = strings.Cut(line, " ")
	return word, why, nil
}

// stop closes the input of the program, which then ends.
func (o *owners) stop() {
	o.orders.Close()
	kill := time.AfterFunc(5*time.Second, func() { o.cmd.Cancel() })
	o.cmd.Wait()
	kill.Stop()
}

package grade

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/miniredisd/miniredisd/internal/orphans"
)

// program is a process of the student's program.
type program struct {
	s       *story
	cmd     *exec.Cmd
	mark    string // a variable in the environment of the program and of its children
	orders  *os.File
	out     *os.File // answers come from here
	answers *bufio.Reader
	errors  tail
	over    chan struct{} // closed when the process has ended; state is set then
	state   string
	keep    func() bool // from now on, the end of ctx does not end the program
}

// start starts the program and does not wait for it. more are further variables of its environment.
func (s *story) start(more ...string) *program {
	p := &program{s: s, over: make(chan struct{})}
	p.cmd = exec.Command(s.run.Command[0], s.run.Command[1:]...)
	p.mark = fmt.Sprintf("MINIREDISD_GRADE=%d.%p", os.Getpid(), p)
	p.cmd.Env = slices.Concat(os.Environ(), s.run.Env, s.environment(), more, []string{p.mark})
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // a group of its own, and no way to the grader's terminal
	p.cmd.Stderr = &p.errors
	p.cmd.WaitDelay = time.Second
	stdin, orders, err := os.Pipe()
	s.check(err)
	defer stdin.Close()
	out, stdout, err := os.Pipe()
	s.check(err)
	defer stdout.Close()
	p.cmd.Stdin, p.cmd.Stdout, p.orders, p.out = stdin, stdout, orders, out
	p.answers = bufio.NewReaderSize(out, longestAnswer)
	if err := p.begin(); err != nil {
		p.orders.Close()
		p.out.Close()
		panic(&failure{kind: noStart, args: []any{err},
			why: say{"Your program cannot be started: %v.", "程序无法启动：%v。"}})
	}
	s.programs = append(s.programs, p)
	p.keep = context.AfterFunc(s.ctx, func() {
		if errors.Is(s.ctx.Err(), context.Canceled) { // nobody waits for the grade any more
			p.kill()
		}
	})
	go func() {
		err := p.cmd.Wait()
		p.state = "exit status 0"
		if exit := new(exec.ExitError); errors.As(err, &exit) {
			p.state = exit.ProcessState.String()
		}
		if s.run.orphans != nil {
			s.run.orphans.Over(p.cmd.Process.Pid)
		}
		close(p.over)
	}()
	return p
}

func (p *program) begin() error {
	if p.s.run.orphans != nil {
		return p.s.run.orphans.Start(p.cmd)
	}
	return p.cmd.Start()
}

// longestAnswer is in bytes.
const longestAnswer = 4096

// environment tells the program where the servers are.
func (s *story) environment() []string {
	if s.servers == nil {
		return nil
	}
	var urls []string
	for _, addr := range s.servers.Addrs {
		urls = append(urls, "redis://"+addr)
	}
	return []string{"REDIS_URL=" + urls[0], "REDIS_URLS=" + strings.Join(urls, ",")}
}

// client starts the program as a lock client and waits for its name.
func (s *story) client() *program {
	p := s.start()
	p.line("", s.run.StartLimit)
	return p
}

// send sends an order and does not wait for the answer.
func (p *program) send(order string) {
	// A program that has ended answers nothing: the reason comes from there.
	_, _ = io.WriteString(p.orders, order+"\n")
}

// order sends an order and returns the answer: its first word, and the rest.
func (p *program) order(order string) (word, why string) {
	p.send(order)
	return p.answer(order)
}

// answer waits for the answer to an order.
func (p *program) answer(order string) (word, why string) {
	word, why, _ = strings.Cut(p.line(order, p.s.run.AnswerLimit), " ")
	allowed := answersTo(order)
	if !slices.Contains(allowed, word) {
		p.s.fail(say{
			"Your program answered %q to the order `%s`. Expected: %s. " +
				"Print nothing else to standard output: use standard error.",
			"程序对命令 `%[2]s` 的回答是 %[1]q，应为 %[3]s。标准输出只能写回答，其他内容请写到标准错误。",
		}, cut(word+" "+why), order, strings.Join(allowed, " | "))
	}
	return word, why
}

// answersTo returns the first words that an answer may have.
func answersTo(order string) []string {
	switch verb, _, _ := strings.Cut(order, " "); verb {
	case "take":
		return []string{"held", "refused"}
	case "release":
		return []string{"released", "failed"}
	case "count":
		return []string{"found", "failed"}
	case "purge":
		return []string{"deleted", "failed"}
	}
	return []string{"ok"}
}

// answered waits for at most a moment for the answer to an order, and reports whether it has come.
func (p *program) answered() bool {
	if err := p.out.SetReadDeadline(time.Now().Add(moment)); err != nil {
		p.s.check(err)
	}
	_, err := p.answers.Peek(1)
	return err == nil || !errors.Is(err, os.ErrDeadlineExceeded)
}

// moment is how long the grader looks at one thing when it waits for the first of two.
const moment = 2 * time.Millisecond

// line reads a line of standard output. A program that ends, hangs or does not end its line fails.
func (p *program) line(order string, limit time.Duration) string {
	deadline := time.Now().Add(limit)
	if whole, ok := p.s.ctx.Deadline(); ok && whole.Before(deadline) {
		deadline = whole
	}
	p.s.check(p.out.SetReadDeadline(deadline))
	line, err := p.answers.ReadSlice('\n')
	switch {
	case err == nil:
		return strings.TrimSpace(string(line))
	case errors.Is(err, bufio.ErrBufferFull):
		p.s.fail(say{"Your program wrote %d bytes without the end of a line. Each answer is one line.",
			"程序输出了 %d 字节却没有换行。每个回答占一行。"}, longestAnswer)
	case errors.Is(err, os.ErrDeadlineExceeded):
		p.hung(order, limit)
	}
	p.ended(order)
	return ""
}

// hung ends the test of a program that is silent.
func (p *program) hung(order string, limit time.Duration) {
	f := &failure{kind: hang, args: []any{order, limit}, tail: p.errors.lines(),
		why: say{"Your program gave no answer to the order `%s` within %v. Does it flush standard output after each line?",
			"程序在 %[2]v 内没有回答命令 `%[1]s`。每行之后是否刷新了标准输出？"}}
	if order == "" {
		f.args = []any{limit}
		f.why = say{"Your program printed nothing within %v. Its first line must be its name. Does it flush standard output?",
			"程序在 %v 内没有任何输出。第一行应是程序的名字。是否刷新了标准输出？"}
	}
	select {
	case <-p.over:
		f.args = []any{p.state}
		f.why = say{
			"Your program has ended (%s). A process that it has started holds its standard output, and does not answer.",
			"程序已经结束（%s）。它启动的一个进程还占着它的标准输出，但不回答。"}
	default:
	}
	panic(f)
}

// ended ends the test of a program that has ended, or has closed its output.
func (p *program) ended(order string) {
	state := "standard output closed"
	select {
	case <-p.over:
		state = p.state
	case <-time.After(time.Second):
	}
	f := &failure{args: []any{order, state}, tail: p.errors.lines(),
		why: say{"Your program ended after the order `%s` (%s).", "程序在命令 `%s` 之后结束了（%s）。"}}
	if order == "" {
		f.kind, f.args = noStart, []any{state}
		f.why = say{"Your program ended before it was ready (%s).", "程序还没准备好就结束了（%s）。"}
	}
	panic(f)
}

// end ends the process, its group, and everything else with its mark. It returns how many processes had left
// the group.
func (p *program) end() (strays int) {
	p.keep()
	p.orders.Close()
	p.kill()
	<-p.over
	p.out.Close()
	for left := orphans.Marked(p.mark); len(left) > 0; left = orphans.Marked(p.mark) { // one may be just being made
		for _, pid := range left {
			if group, err := syscall.Getpgid(pid); err == nil && group != p.cmd.Process.Pid {
				strays++
			}
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	return strays
}

// kill ends the process and its group. They may have ended.
func (p *program) kill() { _ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) }

// processes returns the ids of all processes of the program: those with its mark, and those that come from its first
// one, which may have thrown the mark away.
func (p *program) processes() []int {
	all := orphans.Marked(p.mark)
	for _, pid := range orphans.Below(p.cmd.Process.Pid) {
		if !slices.Contains(all, pid) {
			all = append(all, pid)
		}
	}
	return all
}

// tail keeps the first and the last bytes that a program writes.
type tail struct {
	mu         sync.Mutex // the goroutine of os/exec writes
	head, text []byte
}

const tailBytes = 4096

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	first := min(len(b), tailBytes-len(t.head))
	t.head = append(t.head, b[:first]...)
	t.text = append(t.text, b[first:]...)
	if len(t.text) > tailBytes {
		t.text = append(t.text[:0], t.text[len(t.text)-tailBytes:]...)
	}
	return len(b), nil
}

// lines returns the last three lines that say something, each marked as the program's. Frames of stacks do not.
func (t *tail) lines() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var said []string
	frame := regexp.MustCompile(`^(\s|goroutine |created by |[\w./*()-]+\(.*\)$)`)
	for line := range strings.Lines(string(t.head) + string(t.text)) {
		if line = strings.ToValidUTF8(strings.TrimRight(line, "\r\n"), "?"); line != "" && !frame.MatchString(line) {
			said = append(said, "| "+cut(line))
		}
	}
	return strings.Join(said[max(0, len(said)-3):], "\n")
}

// has reports whether the program wrote this.
func (t *tail) has(text string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Contains(string(t.head)+string(t.text), text)
}

// cut shortens what a program has written.
func cut(text string) string {
	const most = 200
	if len(text) > most {
		return text[:most] + "..."
	}
	return text
}

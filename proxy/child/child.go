// Package child runs a server as a child of this process: the server of a proxy, which may be killed and started again.
//
//	Start ──> keep ── exec ──────────> the server, in a process group of its own
//	  │        │ waits for its end <──── SIGKILL of Kill, SIGTERM of Close, or an end of its own
//	  └──> PING until it answers
//
// No shell runs the command. A shell would be the child, and the signals would reach it in place of the server. The
// words are cut as redis-cli cuts a line, so quotes work: --save "" is an empty word.
//
// A child does not outlive this process. Linux kills it when the thread ends that has started it (prctl(2),
// PR_SET_PDEATHSIG), so a goroutine keeps that thread as long as the child lives. Other systems do so only if this
// process ends in an orderly way.
//
// Any goroutine may call the methods.
package child

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/miniredisd/miniredisd/internal/freeport"
	"github.com/miniredisd/miniredisd/internal/respclient"
	"github.com/miniredisd/miniredisd/resp"
)

// Child is a server, with an address that stays the same.
type Child struct {
	Addr string // host:port

	words []string
	log   func(line string) // gets what it prints, a line at a time; goroutines of os/exec call it
	ended func(how string)  // runs when it has ended without being told to

	mu     sync.Mutex // Start, Kill and Close come one at a time
	run    *run       // nil before Start
	folder string     // for {dir}, "" if the command does not have it
	closed bool
}

// run is one process.
type run struct {
	cmd    *exec.Cmd
	over   chan struct{} // closed at its end
	asked  bool          // this process ends it; mu of the Child protects it
	output output
}

const (
	startLimit = 30 * time.Second // until a server has to answer
	endLimit   = 5 * time.Second  // until one is killed that was asked to end
	retryEvery = 2 * time.Millisecond
)

// New reads a command, such as 'redis-server --port {port}', and chooses a port for it. {dir} is a new folder that goes
// with the child. log gets each line that the server prints, and ended is told of an end that nobody has asked for.
func New(command string, log, ended func(string)) (*Child, error) {
	words, whole := resp.Words([]byte(command))
	switch {
	case !whole:
		return nil, fmt.Errorf("the quotes in '%s' are unbalanced", command)
	case !strings.Contains(command, "{port}"):
		return nil, fmt.Errorf("'%s' lacks {port}, the place of the port on which the server has to listen", command)
	}
	port, err := freeport.Choose()
	if err != nil {
		return nil, err
	}
	c := &Child{Addr: net.JoinHostPort("127.0.0.1", port), log: log, ended: ended}
	if strings.Contains(command, "{dir}") {
		if c.folder, err = os.MkdirTemp("", "miniredisd-server-"); err != nil {
			return nil, err
		}
	}
	for _, word := range words {
		c.words = append(c.words, strings.NewReplacer("{port}", port, "{dir}", c.folder).Replace(string(word)))
	}
	return c, nil
}

// Start starts the server unless it runs, and waits until it answers PING. The error has the last lines of its output.
func (c *Child) Start() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return errors.New("the server is closed")
	}
	if c.run != nil {
		select {
		case <-c.run.over:
		default:
			return nil // somebody has started it meanwhile
		}
	}
	r := &run{cmd: exec.Command(c.words[0], c.words[1:]...), over: make(chan struct{})}
	r.output.each = c.log
	r.cmd.Stdout, r.cmd.Stderr = &r.output, &r.output
	r.cmd.SysProcAttr = attributes() // with a group of its own: Ctrl-C in a terminal is for this process alone
	r.cmd.WaitDelay = time.Second    // a child of the server may keep its output open
	started := make(chan error)
	go c.keep(r, started)
	if err := <-started; err != nil {
		return fmt.Errorf("the server cannot be started: %w", err)
	}
	c.run = r
	if err := c.await(r); err != nil {
		c.kill()
		return err
	}
	return nil
}

// keep starts the process, and waits for its end on the same thread.
func (c *Child) keep(r *run, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := r.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	_ = r.cmd.Wait() // the state of the process says more
	close(r.over)
	c.mu.Lock()
	stranger := !r.asked
	c.mu.Unlock()
	if stranger {
		c.ended(r.cmd.ProcessState.String())
	}
}

// await waits until the server answers.
func (c *Child) await(r *run) error {
	late := time.After(startLimit)
	for !c.Answers() {
		select {
		case <-r.over:
			r.asked = true
			return fmt.Errorf("the server has ended before it answered (%s)%s", r.cmd.ProcessState, r.output.said())
		case <-late:
			return fmt.Errorf("the server does not answer PING at %s within %v%s", c.Addr, startLimit, r.output.said())
		case <-time.After(retryEvery):
		}
	}
	return nil
}

// Answers reports whether the server takes requests. One that wants a password does.
func (c *Child) Answers() bool {
	conn, err := respclient.Dial(c.Addr)
	if err != nil {
		return false
	}
	defer conn.Close()
	conn.Limit = startLimit
	v, err := conn.Do("PING")
	return err == nil && (v.Kind != '-' || strings.HasPrefix(v.Str, "NOAUTH"))
}

// IsKilled reports whether Kill or Close has ended the server, and nobody has started it since.
func (c *Child) IsKilled() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.run == nil || c.run.asked
}

// Kill kills the server as kill -9 does, with all that is in its process group, and waits for its end.
func (c *Child) Kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kill()
}

func (c *Child) kill() {
	if c.run != nil {
		c.run.asked = true
		_ = syscall.Kill(-c.run.cmd.Process.Pid, syscall.SIGKILL) // it may have ended
		<-c.run.over
	}
}

// Close asks the server to end, and kills it if it takes long. It cannot be started again.
func (c *Child) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.run != nil {
		c.run.asked = true
		_ = syscall.Kill(-c.run.cmd.Process.Pid, syscall.SIGTERM)
		select {
		case <-c.run.over:
		case <-time.After(endLimit):
		}
		c.kill()
	}
	if c.folder != "" {
		_ = os.RemoveAll(c.folder) // it is below the system's folder for such things
	}
}

// Identity returns the name and the version of a server, from the text of its INFO: "redis 7.2.6".
func Identity(info string) string {
	fields := map[string]string{}
	for line := range strings.Lines(info) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		fields[name] = value
	}
	for _, name := range []string{fields["server_name"], "valkey", "dragonfly", "keydb"} { // newest spelling first
		if version := fields[name+"_version"]; version != "" {
			return name + " " + version
		}
	}
	return "redis " + fields["redis_version"]
}

// output cuts what a server prints into lines, and keeps the last ones. One goroutine of os/exec writes.
type output struct {
	each func(line string)
	part []byte

	mu   sync.Mutex
	last []string
}

const (
	mostLines   = 10
	longestLine = 4096
)

func (o *output) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		line, rest, whole := bytes.Cut(b, []byte("\n"))
		b = rest
		if o.part = append(o.part, line[:min(len(line), longestLine-len(o.part))]...); !whole {
			break
		}
		o.line(string(bytes.TrimRight(o.part, "\r")))
		o.part = o.part[:0]
	}
	return n, nil
}

func (o *output) line(text string) {
	o.mu.Lock()
	o.last = append(o.last[max(0, len(o.last)+1-mostLines):], text)
	o.mu.Unlock()
	o.each(text)
}

// said returns the last lines, for an error.
func (o *output) said() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.last) == 0 {
		return ""
	}
	return "; it printed:\n" + strings.Join(o.last, "\n")
}

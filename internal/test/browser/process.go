package browser

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

// process is a chromium that runs, or has run.
type process struct {
	in   io.Writer     // to chromium
	log  *os.File      // what it writes to standard error; the file has no name any more when it has ended
	done chan struct{} // closed at its end
	err  error         // why nothing can be read any more; read it after done

	mu    sync.Mutex // guards what follows
	next  int        // the number of the next call
	calls map[int]chan answer
	pages map[string]*Page // by session
}

// answer is chromium's reply to a call.
type answer struct {
	Result json.RawMessage
	Error  *struct{ Message string }
}

// message is an answer or an event.
type message struct {
	ID        int
	SessionID string
	Method    string
	Params    json.RawMessage
	answer
}

// run starts chromium. A shell waits for its end and removes the profile, because a test binary that
// panics or is killed cannot do that.
func run(t testing.TB, path string) *process {
	t.Helper()
	profile, err := os.MkdirTemp("", "miniredisd-chromium-")
	fatal(t, err)
	log, err := os.Create(filepath.Join(profile, "stderr"))
	fatal(t, err)
	toBrowser, in, err := os.Pipe()
	fatal(t, err)
	out, fromBrowser, err := os.Pipe()
	fatal(t, err)
	// After a crash, chromium's children may still write into the profile. They are a group, which ends first.
	cmd := exec.Command("sh", "-c", `setsid "$@" & wait $!; kill -9 -$!; rm -rf "$0" || rm -rf "$0"`, profile,
		path, "--headless", "--remote-debugging-pipe", "--no-sandbox", "--user-data-dir="+profile, "--no-first-run",
		"--disable-gpu", "--disable-extensions", "--disable-background-networking", "--disable-component-update",
		"--disable-dev-shm-usage", "--force-color-profile=srgb", "--no-startup-window")
	cmd.ExtraFiles = []*os.File{toBrowser, fromBrowser}
	cmd.Stderr = log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a signal to the test's group does not reach the shell
	fatal(t, cmd.Start())
	toBrowser.Close()
	fromBrowser.Close()
	c := &process{in: in, log: log, done: make(chan struct{}), calls: map[int]chan answer{}, pages: map[string]*Page{}}
	go func() {
		c.err = c.read(out)
		in.Close()
		c.err = errors.Join(c.err, cmd.Wait())
		close(c.done)
	}()
	return c
}

func fatal(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("starting chromium: %v", err)
	}
}

// ended returns why chromium has ended, or nil.
func (c *process) ended() error {
	select {
	case <-c.done:
		return c.err
	default:
		return nil
	}
}

// wrote returns what chromium has written to standard error.
func (c *process) wrote() string {
	text, err := io.ReadAll(io.NewSectionReader(c.log, 0, 1<<20))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// subscribe gives a page the events of its session from now on.
func (c *process) subscribe(p *Page) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pages[p.session] = p
}

func (c *process) unsubscribe(p *Page) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pages, p.session)
}

// call calls a method of the protocol, in a session or in none, and waits for the answer.
func (c *process) call(session, method string, params object, result any) error {
	request := object{"method": method, "params": params}
	if session != "" {
		request["sessionId"] = session
	}
	reply := make(chan answer, 1)
	c.mu.Lock()
	c.next++
	request["id"] = c.next
	c.calls[c.next] = reply
	c.mu.Unlock()
	text, err := json.Marshal(request)
	if err != nil {
		return err
	}
	if _, err := c.in.Write(append(text, 0)); err != nil {
		return err
	}
	select {
	case a := <-reply:
		switch {
		case a.Error != nil:
			return fmt.Errorf("%s", a.Error.Message)
		case result != nil:
			return json.Unmarshal(a.Result, result)
		}
		return nil
	case <-c.done:
		return fmt.Errorf("the browser has ended: %w", c.err)
	case <-time.After(Limit):
		return fmt.Errorf("no answer within %v", Limit)
	}
}

// read takes answers to their callers and events to their pages. It returns why it cannot read on.
func (c *process) read(out *os.File) error {
	defer out.Close()
	r := bufio.NewReader(out)
	for {
		text, err := r.ReadBytes(0)
		if err != nil {
			return err
		}
		var m message
		if err := json.Unmarshal(bytes.TrimSuffix(text, []byte{0}), &m); err != nil {
			return err
		}
		c.mu.Lock()
		reply, page := c.calls[m.ID], c.pages[m.SessionID]
		delete(c.calls, m.ID)
		c.mu.Unlock()
		switch {
		case reply != nil:
			reply <- m.answer
		case page != nil:
			page.keep(m)
		}
	}
}

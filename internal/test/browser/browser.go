// Package browser drives a headless Chromium for tests of the page in glass/glasshttp.
//
//	test ──> Start ──> chromium, a child process
//	    └──> Page.Do, Eval, Wait, Click ...
//	             │ write                       ^ reply: to the caller, by its number
//	             v                             │
//	         descriptor 3 ──> chromium ──> descriptor 4 ──> the goroutine of Page.read
//	                                                            │ event
//	                                                            v
//	                                               requests, problems: kept for the test
//
// The two pipes carry the Chrome DevTools Protocol: JSON objects, each with a zero byte behind it.
// No port is open, so no other program can reach this browser. The browser keeps its profile in a
// temporary directory and ends with the test.
//
// If chromium is not installed, the test is skipped. With CI=true in the environment it fails.
//
// A Page belongs to the goroutine of its test. Nothing here sleeps: Wait is a promise that the page
// resolves itself, when a change of the document makes its expression true.
package browser

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Limit is how long a test waits for the browser. A page that never gets there fails the test
// instead of hanging it.
const Limit = 5 * time.Minute

// Page is the only tab of a browser.
type Page struct {
	t       testing.TB
	in      io.WriteCloser // to chromium
	session string         // of the tab
	log     bytes.Buffer   // what chromium wrote to standard error; read it after its end
	next    int            // the number of the next call

	mu       sync.Mutex // guards what follows; the goroutine of read writes it
	calls    map[int]chan answer
	loaded   chan struct{} // closed by the load event of the document
	requests []string
	problems []string
	ended    error // why nothing can be read any more
}

// answer is chromium's reply to a call.
type answer struct {
	Result json.RawMessage
	Error  *struct{ Message string }
}

// message is an answer or an event.
type message struct {
	ID     int
	Method string
	Params json.RawMessage
	answer
}

// Path returns the path of Chromium. It skips the test if there is none. With CI=true it fails the
// test. With -short it skips the test anyway.
func Path(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("-short leaves out what needs a browser")
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("chromium is not in PATH, and CI=true requires it")
	}
	t.Skip("chromium is not in PATH: no browser to look at the page with")
	return ""
}

// Start starts a browser with one empty tab of 1280 by 800 points. It ends with the test.
func Start(t testing.TB) *Page {
	t.Helper()
	path := Path(t)
	toBrowser, in := pipe(t)
	out, fromBrowser := pipe(t)
	p := &Page{t: t, in: in, calls: map[int]chan answer{}, loaded: make(chan struct{})}
	cmd := exec.Command(path, "--headless", "--remote-debugging-pipe", "--no-sandbox", "--user-data-dir="+t.TempDir(),
		"--no-first-run", "--disable-gpu", "--disable-extensions", "--disable-background-networking",
		"--disable-component-update", "--disable-dev-shm-usage", "--force-color-profile=srgb", "about:blank")
	cmd.ExtraFiles = []*os.File{toBrowser, fromBrowser}
	cmd.Stderr = &p.log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatalf("starting %s: %v", path, err)
	}
	toBrowser.Close()
	fromBrowser.Close()
	go p.read(out)
	t.Cleanup(func() {
		p.mu.Lock()
		died := p.ended != nil
		p.mu.Unlock()
		// Chromium is a group of processes. All of them end, and so does the goroutine of read.
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
		in.Close()
		if died {
			t.Logf("chromium ended by itself and wrote:\n%s", p.log.String())
		}
	})
	p.attach()
	p.Size(1280, 800)
	return p
}

func pipe(t testing.TB) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return r, w
}

// attach opens a session with the tab and asks for the events that the test reads.
func (p *Page) attach() {
	p.t.Helper()
	var targets struct {
		TargetInfos []struct{ TargetID, Type string }
	}
	p.call("Target.getTargets", nil, &targets)
	for _, target := range targets.TargetInfos {
		if target.Type == "page" {
			var s struct{ SessionID string }
			p.call("Target.attachToTarget", object{"targetId": target.TargetID, "flatten": true}, &s)
			p.session = s.SessionID
			break
		}
	}
	if p.session == "" {
		p.t.Fatal("the browser has no tab")
	}
	for _, domain := range []string{"Page", "Runtime", "Network", "Log"} {
		p.Do(domain + ".enable")
	}
}

type object = map[string]any

// Do calls a method of the protocol with names and values of its parameters. It ignores the result.
func (p *Page) Do(method string, namesAndValues ...any) {
	p.t.Helper()
	params := object{}
	for i := 0; i+1 < len(namesAndValues); i += 2 {
		params[namesAndValues[i].(string)] = namesAndValues[i+1]
	}
	p.call(method, params, nil)
}

// call fails the test if the browser answers with an error, or not at all.
func (p *Page) call(method string, params object, result any) {
	p.t.Helper()
	if err := p.try(method, params, result); err != nil {
		p.t.Fatalf("browser: %s: %v", method, err)
	}
}

func (p *Page) try(method string, params object, result any) error {
	p.next++
	request := object{"id": p.next, "method": method, "params": params}
	if p.session != "" {
		request["sessionId"] = p.session
	}
	text, err := json.Marshal(request)
	if err != nil {
		return err
	}
	reply := make(chan answer, 1)
	p.mu.Lock()
	err = p.ended
	p.calls[p.next] = reply
	p.mu.Unlock()
	if err != nil {
		return err
	}
	if _, err := p.in.Write(append(text, 0)); err != nil {
		return err
	}
	select {
	case a, ok := <-reply:
		switch {
		case !ok:
			return fmt.Errorf("the browser has ended: %w", p.ended)
		case a.Error != nil:
			return fmt.Errorf("%s", a.Error.Message)
		case result != nil:
			return json.Unmarshal(a.Result, result)
		}
		return nil
	case <-time.After(Limit):
		return fmt.Errorf("no answer within %v", Limit)
	}
}

// read takes answers to their callers and keeps events, until the browser ends.
func (p *Page) read(out *os.File) {
	defer out.Close()
	r := bufio.NewReader(out)
	for {
		text, err := r.ReadBytes(0)
		var m message
		if err == nil {
			err = json.Unmarshal(bytes.TrimSuffix(text, []byte{0}), &m)
		}
		p.mu.Lock()
		switch {
		case err != nil:
			p.ended = err
			for _, reply := range p.calls {
				close(reply)
			}
			p.calls = nil
			p.mu.Unlock()
			return
		case m.ID != 0 && p.calls[m.ID] != nil:
			p.calls[m.ID] <- m.answer
			delete(p.calls, m.ID)
		default:
			p.keep(m)
		}
		p.mu.Unlock()
	}
}

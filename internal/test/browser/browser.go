// Package browser drives a headless Chromium for tests of the page in lab/glass/glasshttp.
//
//	test ──> Browser.Start ──> chromium, one child process for all tests of a package
//	    └──> Page.Do, Eval, Wait, Click ...
//	             │ write                       ^ reply: to the caller, by its number
//	             v                             │
//	         descriptor 3 ──> chromium ──> descriptor 4 ──> the goroutine of process.read
//	                                                            │ event: to its page, by the session
//	                                                            v
//	                                               requests, problems: kept for the test
//
// The two pipes carry the Chrome DevTools Protocol: JSON objects, each with a zero byte behind it.
// No port is open, so no other program can reach this browser.
//
// Each page has a browser context of its own, so it shares no cookies, no storage, no cache and no
// preferences with another page. The context ends with the test. Chromium ends when its pipe closes:
// with the test binary, however that ends. A shell then removes the profile.
//
// If chromium is not installed, the test is skipped. With CI=true in the environment it fails. If
// chromium ends by itself, the test fails, and the next test starts another one.
//
// A Page belongs to the goroutine of its test. Nothing here sleeps: Wait is a promise that the page
// resolves itself, when a change of the document makes its expression true.
package browser

import (
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// Limit is how long a test waits for the browser. A page that never gets there fails the test
// instead of hanging it.
const Limit = 5 * time.Minute

// Browser is a Chromium that tests share. The zero value is ready: the first Start starts chromium.
type Browser struct {
	mu      sync.Mutex
	started *process
}

// Page is the only tab of a browser context.
type Page struct {
	t        testing.TB
	chromium *process
	context  string
	session  string // of the tab

	mu       sync.Mutex    // guards what follows; the goroutine of read writes it
	loaded   chan struct{} // closed by the load event of the document
	requests []string
	problems []string
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

// Start opens one empty tab of 1280 by 800 points. It is closed when the test ends.
func (b *Browser) Start(t testing.TB) *Page {
	t.Helper()
	path := Path(t)
	p := &Page{t: t, loaded: make(chan struct{})}
	b.mu.Lock()
	if b.started == nil || b.started.ended() != nil {
		b.started = run(t, path)
	}
	p.chromium = b.started
	b.mu.Unlock()
	t.Cleanup(p.close)
	p.attach()
	p.Size(1280, 800)
	return p
}

// attach opens a tab, opens a session with it, and asks for the events that the test reads.
func (p *Page) attach() {
	p.t.Helper()
	var of struct{ BrowserContextID, TargetID, SessionID string }
	p.call("Target.createBrowserContext", nil, &of)
	p.context = of.BrowserContextID
	p.call("Target.createTarget",
		object{"url": "about:blank", "browserContextId": p.context, "newWindow": true}, &of)
	p.call("Target.attachToTarget", object{"targetId": of.TargetID, "flatten": true}, &of)
	p.session = of.SessionID
	p.chromium.subscribe(p)
	for _, domain := range []string{"Page", "Runtime", "Network", "Log"} {
		p.Do(domain + ".enable")
	}
}

// close closes the tab and forgets what its context kept. A test whose chromium has ended fails.
func (p *Page) close() {
	p.t.Helper()
	p.chromium.unsubscribe(p)
	if p.context != "" {
		_ = p.chromium.call("", "Target.disposeBrowserContext", object{"browserContextId": p.context}, nil)
	}
	if err := p.chromium.ended(); err != nil {
		p.t.Errorf("chromium ended by itself: %v. It wrote:\n%s", err, p.chromium.wrote())
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
	if err := p.chromium.call(p.session, method, params, result); err != nil {
		p.t.Fatalf("browser: %s: %v", method, err)
	}
}

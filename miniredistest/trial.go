package miniredistest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// Trial is one run of a test that Explore repeats. It is a testing.TB, so assertions of other packages take
// it. A failed assertion does not fail the test: it is what Explore looks for.
//
// All methods may be called from any goroutine of the trial.
type Trial struct {
	testing.TB // for what a trial does as its test does, such as TempDir

	masters Masters
	ctx     context.Context
	links   *links

	mu       sync.Mutex
	out      bytes.Buffer // what was logged, the newest mostOutput bytes or more
	failures []string     // of assertions, and panics
	errors   []string     // that workers returned
	skipped  bool
	over     bool // the trial has ended, and what comes now does not count
	cleanups []func()
	workers  int
	idle     chan struct{} // closed when no worker is left; nil while none waits
	working  map[string]int
}

// mostOutput is how many bytes of a trial's log a finding shows.
const mostOutput = 4 << 10

// Server returns the server of the trial, the first one of several masters.
func (t *Trial) Server() *Server { return t.masters[0] }

// Masters returns all servers of the trial. OnMasters says how many there are.
func (t *Trial) Masters() Masters { return t.masters }

// Context returns a context that ends with the trial.
func (t *Trial) Context() context.Context { return t.ctx }

// Failed reports whether an assertion of this trial has failed.
func (t *Trial) Failed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.failures) > 0
}

func (t *Trial) fail(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.over {
		t.failures = append(t.failures, strings.TrimSpace(text))
	}
}

// Fail breaks the invariant without a text.
func (t *Trial) Fail() { t.fail("the test failed") }

// FailNow is Fail, and ends the goroutine.
func (t *Trial) FailNow() {
	if !t.Failed() {
		t.Fail()
	}
	runtime.Goexit()
}

// Error breaks the invariant: it says what is wrong, and the trial continues.
func (t *Trial) Error(args ...any) { t.fail(fmt.Sprintln(args...)) }

// Errorf is Error with a format.
func (t *Trial) Errorf(format string, args ...any) { t.fail(fmt.Sprintf(format, args...)) }

// Fatal is Error, and ends the goroutine. Other goroutines of the trial go on.
func (t *Trial) Fatal(args ...any) {
	t.Error(args...)
	runtime.Goexit()
}

// Fatalf is Fatal with a format.
func (t *Trial) Fatalf(format string, args ...any) {
	t.Errorf(format, args...)
	runtime.Goexit()
}

// Log adds to the output, which is shown if the trial breaks a lock.
func (t *Trial) Log(args ...any) { t.log(fmt.Sprintln(args...)) }

// Logf is Log with a format.
func (t *Trial) Logf(format string, args ...any) { t.log(fmt.Sprintf(format, args...) + "\n") }

// Output returns a writer that adds to the output.
func (t *Trial) Output() io.Writer { return output{t} }

type output struct{ t *Trial }

func (o output) Write(p []byte) (int, error) {
	o.t.log(string(p))
	return len(p), nil
}

func (t *Trial) log(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return
	}
	t.out.WriteString(text)
	if more := t.out.Len() - 2*mostOutput; more > 0 {
		t.out.Next(more + mostOutput)
	}
}

// Skip ends the goroutine and the test with it: Explore skips the test if its first run does.
func (t *Trial) Skip(args ...any) {
	t.Log(args...)
	t.SkipNow()
}

// Skipf is Skip with a format.
func (t *Trial) Skipf(format string, args ...any) {
	t.Logf(format, args...)
	t.SkipNow()
}

// SkipNow is Skip without a text.
func (t *Trial) SkipNow() {
	t.mu.Lock()
	t.skipped = true
	t.mu.Unlock()
	runtime.Goexit()
}

// Skipped reports whether the trial was skipped.
func (t *Trial) Skipped() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.skipped
}

// Cleanup calls f when the workers of the trial have ended, before its servers do.
func (t *Trial) Cleanup(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cleanups = append(t.cleanups, f)
}

// Go runs a part of the test in a goroutine. It is a client of its own: its connections by Dial have its name,
// and so the report can name its requests. The trial ends when all workers have ended.
//
// An error that work returns is an error that the program has noticed, such as a lock that it could not get.
// That breaks nothing. A panic does.
func (t *Trial) Go(name string, work func(w *Worker) error) {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) {
		t.Fatalf("Go(%q): a name has printable characters without spaces, because CLIENT SETNAME takes no others", name)
	}
	t.begin(name)
	dice := t.links.dice(name)
	w, start := &Worker{Trial: t, Name: name, Rand: dice}, t.links.pause(dice)
	go func() {
		defer t.done(name)
		time.Sleep(start)
		t.guard(name, func() error { return work(w) })
	}()
}

func (t *Trial) begin(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.workers == 0 {
		t.idle = make(chan struct{})
	}
	t.workers++
	t.working[name]++
}

func (t *Trial) done(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.workers--
	if t.working[name]--; t.working[name] == 0 {
		delete(t.working, name)
	}
	if t.workers == 0 {
		close(t.idle)
	}
}

// guard calls work and keeps its error or its panic.
func (t *Trial) guard(name string, work func() error) {
	defer func() {
		if p := recover(); p != nil {
			t.fail(fmt.Sprintf("%s panics: %v", name, p))
			t.log(string(stack()))
		}
	}()
	if err := work(); err != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		if !t.over {
			t.errors = append(t.errors, fmt.Sprintf("%s: %v", name, err))
		}
	}
}

// stack returns the stack of a panic, without addresses, so that it is the same in each run.
func stack() []byte {
	var text [mostOutput]byte
	lines := strings.Split(string(text[:runtime.Stack(text[:], false)]), "\n")
	var calls strings.Builder
	for _, line := range lines[1:] {
		if place, _, is := strings.Cut(line, " +0x"); is && !isOfGo(strings.TrimSpace(place), "runtime") {
			calls.WriteString(strings.TrimSpace(place) + "\n")
		}
	}
	return []byte(calls.String())
}

// Wait waits until all workers have ended. Then the test can look at what they left.
func (t *Trial) Wait() {
	t.mu.Lock()
	workers, idle := t.workers, t.idle
	t.mu.Unlock()
	if workers == 0 {
		return
	}
	select {
	case <-idle:
	case <-t.ctx.Done():
	}
}

// Worker is a client that Go has started.
type Worker struct {
	*Trial
	Name string     // also the name of its connections
	Rand *rand.Rand // chance that is the same in each trial, for the goroutine of the worker
}

// Addr returns the address of the server as host:port. In a bubble only Dial knows it.
func (t *Trial) Addr() string { return t.Addrs()[0] }

// Addrs returns the addresses of all masters.
func (t *Trial) Addrs() []string { return t.masters.Addrs() }

// Dial connects to the server of the trial with that address: a master, a replica or a Sentinel. Without one it
// connects to the first master. It has the type that options of clients ask for. The connection has no name, so its
// point is named by a number.
func (t *Trial) Dial(ctx context.Context, _, addr string) (net.Conn, error) {
	return t.links.dial(ctx, addr, "")
}

// Dial is Dial of a Trial, and gives the connection the worker's name.
func (w *Worker) Dial(ctx context.Context, _, addr string) (net.Conn, error) {
	return w.links.dial(ctx, addr, w.Name)
}

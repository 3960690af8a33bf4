// Package redistest starts a real redis-server for tests and has a small RESP client.
//
//	test ──> Start ──> redis-server, a child process: the oracle
//	    └──> Dial ───> Conn.Do, to the oracle or to the server under test
//
// redis-server listens on a free port of 127.0.0.1, keeps its files in a temporary directory, and ends
// with the test. If redis-server is not installed, the test is skipped. With CI=true in the environment
// it fails, so that CI never passes without a comparison.
//
// The client blocks. A Conn belongs to one goroutine.
package redistest

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miniredisd/miniredisd/internal/freeport"
)

// Server is a running redis-server.
type Server struct {
	Addr string
	// Version is redis_version in INFO, such as "7.0.15".
	Version string

	out *readyWriter
}

// Log returns the end of the server's log.
func (s *Server) Log() string { return s.out.String() }

// Installed reports whether redis-server is in PATH.
func Installed() bool {
	_, err := exec.LookPath("redis-server")
	return err == nil
}

// Require skips the test if redis-server is not in PATH. With CI=true it fails the test.
func Require(t testing.TB) {
	t.Helper()
	Need(t, "redis-server")
}

// Need is Require for any program.
func Need(t testing.TB, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err == nil {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is not in PATH, and CI=true requires it", program)
	}
	t.Skipf("%s is not in PATH", program)
}

// NeedTLS is Require for a redis-server that was built with TLS.
func NeedTLS(t testing.TB) {
	t.Helper()
	Require(t)
	// Without a certificate it ends at once, and says what it lacks first.
	out, _ := exec.Command("redis-server", "--port", "0", "--tls-port", "1").CombinedOutput()
	switch lacks := !strings.Contains(string(out), "Failed to configure TLS"); {
	case lacks && os.Getenv("CI") == "true":
		t.Fatalf("redis-server has no TLS, and CI=true requires it:\n%s", out)
	case lacks:
		t.Skip("redis-server was built without TLS")
	}
}

// Start starts redis-server with args, such as "--maxmemory", "1mb". It returns when the server accepts
// connections. The server saves nothing to disk unless args say so.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	Require(t)
	return start(t, "redis-server", "redis_version:", args)
}

// StartValkey is Start for valkey-server. Version is valkey_version.
func StartValkey(t testing.TB, args ...string) *Server {
	t.Helper()
	Need(t, "valkey-server")
	return start(t, "valkey-server", "valkey_version:", args)
}

// StartProgram is Start for a server that was built for the test.
func StartProgram(t testing.TB, path string, args ...string) *Server {
	t.Helper()
	return start(t, path, "redis_version:", args)
}

// start starts a program. field is that of INFO with its version.
func start(t testing.TB, program, field string, args []string) *Server {
	t.Helper()
	// Another program may take the free port before redis-server binds it.
	for range 5 {
		port := freePort(t)
		out, ready := run(t, program, port, args)
		if ready {
			s := &Server{Addr: net.JoinHostPort("127.0.0.1", port), out: out}
			s.Version = version(t, s.Addr, field)
			return s
		}
		if !strings.Contains(out.String(), "Address already in use") {
			t.Fatalf("%s %v did not get ready:\n%s", program, args, out)
		}
	}
	t.Fatalf("%s found no free port in 5 attempts", program)
	return nil
}

func run(t testing.TB, program, port string, args []string) (out *readyWriter, ready bool) {
	t.Helper()
	all := []string{"--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", t.TempDir(),
		"--enable-debug-command", "yes"}
	cmd := exec.Command(program, append(all, args...)...)
	out = &readyWriter{ready: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() {
		cmd.Wait()
		close(exited)
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-exited
	})
	select {
	case <-out.ready:
		return out, true
	case <-exited:
	case <-time.After(Limit):
	}
	return out, false
}

// readyWriter collects the server's log. It closes ready when the log says that the server listens. Later it keeps
// only the end.
type readyWriter struct {
	mu    sync.Mutex
	log   []byte
	seen  bool
	ready chan struct{}
}

func (w *readyWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = append(w.log, p...)
	if !w.seen && bytes.Contains(w.log, []byte("Ready to accept connections")) {
		w.seen = true
		close(w.ready)
	}
	if most := 1 << 19; w.seen && len(w.log) > most {
		w.log = slices.Clone(w.log[most/2:])
	}
	return len(p), nil
}

func (w *readyWriter) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.log)
}

func freePort(t testing.TB) string {
	t.Helper()
	port, err := freeport.Choose()
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// version leaves no connection: a test that counts clients finds none but its own.
func version(t testing.TB, addr, field string) string {
	t.Helper()
	c := Dial(t, addr)
	_, rest, _ := strings.Cut(c.Do("INFO", "server").Str, field)
	v, _, _ := strings.Cut(rest, "\r\n")
	c.Do("QUIT")
	if _, err := c.TryRead(); !errors.Is(err, io.EOF) {
		t.Fatalf("the server closes the connection after QUIT: %v", err)
	}
	return v
}

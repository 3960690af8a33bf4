package redistest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// StartSentinels starts a redis-server as master, two replicas, and n Sentinels that know each other. It returns the
// Sentinels, and the master with its replicas.
func StartSentinels(t testing.TB, n int) (sentinels, nodes []*Server) {
	t.Helper()
	master := Start(t)
	host, port, _ := net.SplitHostPort(master.Addr)
	nodes = []*Server{master}
	for range 2 {
		nodes = append(nodes, Start(t, "--replicaof", host+" "+port, "--repl-diskless-sync-delay", "0"))
	}
	c := Dial(t, master.Addr)
	Until(t, func() bool { return c.Do("WAIT", "2", "0").Int == 2 })
	for range n {
		sentinels = append(sentinels, startSentinel(t, port, n/2+1))
	}
	for _, s := range sentinels {
		s.Version = master.Version
		c := Dial(t, s.Addr)
		want := fmt.Sprintf("slaves=2,sentinels=%d\r\n", n)
		Until(t, func() bool {
			text := c.Do("INFO", "sentinel").Str
			known := strings.HasSuffix(text, want)
			for _, other := range c.Do("SENTINEL", "SENTINELS", "mymaster").Elems {
				known = known && !strings.Contains(other.Elems[9].Str, "disconnected")
			}
			return known
		})
	}
	return sentinels, nodes
}

func startSentinel(t testing.TB, master string, quorum int) *Server {
	t.Helper()
	port := freePort(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "sentinel.conf")
	text := fmt.Sprintf("port %s\nbind 127.0.0.1\ndir %s\nsentinel monitor mymaster 127.0.0.1 %s %d\n", port, dir, master,
		quorum)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out := &readyWriter{ready: make(chan struct{})}
	cmd := exec.Command("redis-server", file, "--sentinel")
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	s := &Server{Addr: net.JoinHostPort("127.0.0.1", port), out: out}
	Until(t, func() bool {
		c, err := Connect(s.Addr)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	return s
}

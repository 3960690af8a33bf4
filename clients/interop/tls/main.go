// Command tls lets released clients take and release one lock over TLS, at miniredisd and at redis-server.
//
//	clients/interop/run tls [-only ECO,...]
//
// It starts a miniredisd with lab-tls, and a redis-server with the same certificates, which ask each client
// for one too. The program "tls" of each ecosystem prints a line of JSON for each client. The run fails if a
// client fails at miniredisd, unless it fails at redis-server as well.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/miniredisd/miniredisd/clients/interop/folders"
	"github.com/miniredisd/miniredisd/clients/interop/labserver"
	"github.com/miniredisd/miniredisd/clients/interop/signals"
	"github.com/miniredisd/miniredisd/internal/freeport"
)

const (
	control = "redis-server"

	startLimit   = 20 * time.Second
	programLimit = 3 * time.Minute
)

func main() {
	ctx, stop := signals.Context(os.Stdout)
	only := flag.String("only", "", "run these `ecosystems` only (their folders' names, separated by commas)")
	flag.Parse()
	err := run(ctx, strings.FieldsFunc(*only, func(r rune) bool { return r == ',' }), os.Getenv("CI") == "true")
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "tls:", err)
		os.Exit(1)
	}
}

// run prints the table. In strict mode an ecosystem without its toolchain is a failure.
func run(ctx context.Context, only []string, strict bool) error {
	names, err := folders.With("tls", "clients/interop", only)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "tls")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	servers, err := startServers(ctx, work, strict)
	for _, s := range servers {
		defer s.stop()
	}
	if err != nil {
		return err
	}
	failed := 0
	for _, name := range names {
		dir := filepath.Join("clients", "interop", name)
		if why, err := exec.CommandContext(ctx, filepath.Join(dir, "prepare")).CombinedOutput(); err != nil {
			if strict {
				return fmt.Errorf("%s: %w\n%s", dir, err, why)
			}
			fmt.Printf("skipped: %s: %v\n", name, err)
			continue
		}
		n, err := compare(ctx, dir, servers)
		if err != nil {
			return err
		}
		failed += n
	}
	if failed > 0 {
		return fmt.Errorf("%d clients fail over TLS", failed)
	}
	return nil
}

// compare runs an ecosystem against all servers at once and prints a row for each client. It returns how
// many clients are worse at miniredisd.
func compare(ctx context.Context, dir string, servers []*server) (failed int, err error) {
	found, errs := make([]map[string]string, len(servers)), make([]error, len(servers))
	var wait sync.WaitGroup
	for i, s := range servers {
		wait.Go(func() { found[i], errs[i] = s.ask(ctx, dir) })
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		return 0, fmt.Errorf("%s: %w", dir, err)
	}
	clients := map[string]bool{}
	for _, saw := range found {
		for client := range saw {
			clients[client] = true
		}
	}
	for _, client := range slices.Sorted(maps.Keys(clients)) {
		fmt.Printf("%-40s", client)
		for i, s := range servers {
			fmt.Printf("  %s: %s", s.name, found[i][client])
		}
		fmt.Println()
		if mine := found[0][client]; mine != "ok" && (len(found) == 1 || found[1][client] == "ok") {
			failed++
		}
	}
	if len(clients) == 0 {
		return 0, fmt.Errorf("%s: no client was measured", dir)
	}
	return failed, nil
}

// server is one of the two servers. Both use the certificates in dir.
type server struct {
	name, addr, dir string
	cmd             *exec.Cmd
	log             bytes.Buffer // to be read when the process has ended
}

func startServers(ctx context.Context, work string, strict bool) (servers []*server, err error) {
	binary, err := labserver.Build(ctx, work)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(work, "certs")
	mine, err := start(ctx, dir, binary, "--lab", "yes", "--lab-tls", dir)
	if err != nil {
		return nil, err
	}
	servers = append(servers, mine)
	path, err := exec.LookPath(control)
	if err != nil && !strict {
		fmt.Printf("skipped: %s: %v\n", control, err)
		return servers, nil
	}
	if err != nil {
		return servers, err
	}
	theirs, err := start(ctx, dir, path, "--tls-cert-file", filepath.Join(dir, "server.crt"),
		"--tls-key-file", filepath.Join(dir, "server.key"), "--tls-ca-cert-file", filepath.Join(dir, "ca.crt"))
	if err != nil {
		return servers, err
	}
	return append(servers, theirs), nil
}

// start runs a server that listens for TLS alone. It returns when the log says that the server is ready.
func start(ctx context.Context, dir, binary string, args ...string) (*server, error) {
	port, err := freeport.Choose()
	if err != nil {
		return nil, err
	}
	s := &server{name: filepath.Base(binary), addr: "127.0.0.1:" + port, dir: dir}
	s.cmd = exec.CommandContext(ctx, binary, append([]string{"--port", "0", "--tls-port", port, "--bind", "127.0.0.1",
		"--save", ""}, args...)...)
	out, err := s.cmd.StdoutPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	late := time.AfterFunc(startLimit, func() { s.cmd.Process.Kill() })
	defer late.Stop()
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		s.log.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), "Ready to accept connections") {
			go io.Copy(io.Discard, out)
			return s, nil
		}
	}
	s.cmd.Wait()
	return nil, fmt.Errorf("%s did not get ready:\n%s", s.name, &s.log)
}

func (s *server) stop() {
	s.cmd.Process.Signal(syscall.SIGTERM)
	kill := time.AfterFunc(5*time.Second, func() { s.cmd.Process.Kill() })
	s.cmd.Wait()
	kill.Stop()
}

// ask runs the program of an ecosystem and returns what it says of each client: ok, or an error.
func (s *server) ask(ctx context.Context, dir string) (saw map[string]string, err error) {
	ctx, cancel := context.WithTimeout(ctx, programLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "./tls")
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	cmd.Env = append(os.Environ(), "REDIS_ADDR="+s.addr, "REDIS_TLS="+s.dir)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	saw = map[string]string{}
	for lines := json.NewDecoder(bytes.NewReader(out)); ; {
		var line struct{ Client, Saw string }
		if err := lines.Decode(&line); err == io.EOF {
			return saw, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		saw[line.Client] = line.Saw
	}
}

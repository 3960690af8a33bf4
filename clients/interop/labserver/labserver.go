// Package labserver starts a miniredisd with a lab for the programs of this folder, and controls its lab
// over HTTP. HTTP works while a master is down, a crash does not cut it, and no rule of the lab acts on it.
// One goroutine at a time may use a Server.
package labserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	startLimit = 20 * time.Second
	labLimit   = 20 * time.Second
)

// Server is a process with one master or several.
type Server struct {
	Addrs []string // of the masters

	cmd *exec.Cmd
	log bytes.Buffer // to be read when the process has ended
	lab string       // where LAB is
}

// Build compiles miniredisd into dir and returns its path. The working directory is the project's.
func Build(ctx context.Context, dir string) (binary string, err error) {
	binary = filepath.Join(dir, "miniredisd")
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/miniredisd")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return "", fmt.Errorf("building miniredisd: %w", err)
	}
	return binary, nil
}

// Start starts masters on free ports, and returns when they listen. Files go to dir.
func Start(ctx context.Context, binary, dir string, masters int) (*Server, error) {
	s := &Server{}
	ports, lab := filepath.Join(dir, "ports"), filepath.Join(dir, "lab")
	s.cmd = exec.CommandContext(ctx, binary, "--masters", strconv.Itoa(masters), "--port", "0", "--port-file", ports,
		"--bind", "127.0.0.1", "--save", "", "--dir", dir, "--seed", "1",
		"--lab", "yes", "--lab-http", "127.0.0.1:0", "--lab-http-file", lab)
	s.cmd.Stdout, s.cmd.Stderr = &s.log, &s.log
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	found, err := awaitLines(ports, masters)
	if err == nil {
		for _, port := range found {
			s.Addrs = append(s.Addrs, "127.0.0.1:"+port)
		}
		found, err = awaitLines(lab, 1)
	}
	if err != nil {
		s.Stop()
		return nil, fmt.Errorf("miniredisd did not get ready: %w\n%s", err, &s.log)
	}
	s.lab = found[0]
	return s, nil
}

// awaitLines waits for a file that the server writes when it listens.
func awaitLines(path string, want int) ([]string, error) {
	for began := time.Now(); time.Since(began) < startLimit; time.Sleep(5 * time.Millisecond) {
		text, err := os.ReadFile(path)
		if lines := strings.Fields(string(text)); err == nil && len(lines) == want {
			return lines, nil
		}
	}
	return nil, fmt.Errorf("no %s after %v", filepath.Base(path), startLimit)
}

// Stop ends the process.
func (s *Server) Stop() {
	s.cmd.Process.Signal(syscall.SIGTERM)
	kill := time.AfterFunc(5*time.Second, func() { s.cmd.Process.Kill() })
	s.cmd.Wait()
	kill.Stop()
}

// Ask sends a LAB command to the first master, and returns the result as JSON.
func (s *Server) Ask(ctx context.Context, words ...string) (json.RawMessage, error) {
	body, err := json.Marshal(map[string]any{"args": words})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, labLimit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.lab, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Result json.RawMessage `json:"result"`
		Error  string          `json:"error"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, fmt.Errorf("%s: %q: %w", response.Status, text, err)
	}
	// LAB ALL succeeds even if a master has refused.
	if answer.Error != "" || bytes.Contains(answer.Result, []byte(`{"error":`)) {
		return nil, fmt.Errorf("%s%s", answer.Error, answer.Result)
	}
	return answer.Result, nil
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const startLimit = 20 * time.Second

// server is a miniredisd with a lab. The program talks to the lab over HTTP, on which no rule acts.
type server struct {
	cmd       *exec.Cmd
	log       bytes.Buffer // to be read when the process has ended
	addr, lab string
}

func startServer(ctx context.Context, work string) (*server, error) {
	binary := filepath.Join(work, "miniredisd")
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/miniredisd")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return nil, fmt.Errorf("building miniredisd: %w", err)
	}
	port, lab := filepath.Join(work, "port"), filepath.Join(work, "lab")
	s := &server{cmd: exec.CommandContext(ctx, binary, "--port", "0", "--port-file", port, "--bind", "127.0.0.1",
		"--save", "", "--dir", work, "--lab", "yes", "--lab-http", "127.0.0.1:0", "--lab-http-file", lab)}
	s.cmd.Stdout, s.cmd.Stderr = &s.log, &s.log
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	var err error
	if s.addr, err = await(port); err == nil {
		s.addr = "127.0.0.1:" + s.addr
		s.lab, err = await(lab)
	}
	if err != nil {
		s.stop()
		return nil, fmt.Errorf("the server did not get ready: %w\n%s", err, &s.log)
	}
	return s, nil
}

// await waits for a file that the server writes when it listens.
func await(path string) (string, error) {
	for began := time.Now(); time.Since(began) < startLimit; time.Sleep(5 * time.Millisecond) {
		if text, err := os.ReadFile(path); err == nil && len(text) > 0 {
			return strings.TrimSpace(string(text)), nil
		}
	}
	return "", fmt.Errorf("no %s after %v", filepath.Base(path), startLimit)
}

func (s *server) stop() {
	s.cmd.Process.Signal(syscall.SIGTERM)
	kill := time.AfterFunc(5*time.Second, func() { s.cmd.Process.Kill() })
	s.cmd.Wait()
	kill.Stop()
}

// say sends a LAB command, and stores its result in v unless v is nil.
func (s *server) say(ctx context.Context, v any, words ...string) error {
	body, err := json.Marshal(map[string]any{"args": words})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.lab, bytes.NewReader(body))
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var answer struct {
		Result json.RawMessage `json:"result"`
		Error  string          `json:"error"`
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return fmt.Errorf("LAB %s: %s: %w", strings.Join(words, " "), response.Status, err)
	}
	if answer.Error != "" {
		return fmt.Errorf("LAB %s: %s", strings.Join(words, " "), answer.Error)
	}
	if v == nil {
		return nil
	}
	return json.Unmarshal(answer.Result, v)
}

// faults are the two ways in which the first reply does not come. A client waits for 300 ms.
func faults() map[string][]string {
	return map[string][]string{
		"lost": {"ACTION", "DROP-REPLY"},
		"late": {"ACTION", "DELAY-REPLY", "2000"},
	}
}

// prepare makes a rule for the first request with that key.
func (s *server) prepare(ctx context.Context, key, fault string) error {
	action, known := faults()[fault]
	if !known {
		return fmt.Errorf("no such fault: %q", fault)
	}
	for _, words := range [][]string{
		{"RESET"},
		{"LOG", "WATCH", key},
		append([]string{"FAULT", "ADD", "first", "KEY", key, "NTH", "1"}, action...),
	} {
		if err := s.say(ctx, nil, words...); err != nil {
			return err
		}
	}
	return nil
}

// executed is how often the server executed a request with that key.
func (s *server) executed(ctx context.Context, key string) (n int, err error) {
	var entries []struct{ Cmd, Key, By string }
	err = s.say(ctx, &entries, "LOG")
	for _, e := range entries {
		if e.Key == key && e.Cmd != "" && e.By == "" {
			n++
		}
	}
	return n, err
}

package main

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
	"strings"
	"syscall"
	"time"
)

const (
	masterCount = 5
	startLimit  = 20 * time.Second
	labLimit    = 20 * time.Second
)

// masters are five servers in one process. The program controls their lab over HTTP. HTTP works
// while a master is down, and a crash does not cut it.
type masters struct {
	cmd   *exec.Cmd
	log   bytes.Buffer // to be read when the process has ended
	lab   string       // where LAB is
	addrs []string
}

func startMasters(ctx context.Context, binary, dir string) (*masters, error) {
	m := &masters{}
	ports, lab := filepath.Join(dir, "ports"), filepath.Join(dir, "lab")
	m.cmd = exec.CommandContext(ctx, binary, "--masters", fmt.Sprint(masterCount), "--port", "0", "--port-file", ports,
		"--bind", "127.0.0.1", "--save", "", "--dir", dir, "--seed", "1",
		"--lab", "yes", "--lab-http", "127.0.0.1:0", "--lab-http-file", lab)
	m.cmd.Stdout, m.cmd.Stderr = &m.log, &m.log
	if err := m.cmd.Start(); err != nil {
		return nil, err
	}
	for _, file := range []struct {
		path  string
		lines *[]string
		want  int
	}{{ports, &m.addrs, masterCount}, {lab, nil, 1}} {
		lines, err := awaitLines(file.path, file.want)
		if err != nil {
			m.stop()
			return nil, fmt.Errorf("the masters did not get ready: %w\n%s", err, &m.log)
		}
		if file.lines == nil {
			m.lab = lines[0]
			continue
		}
		for _, port := range lines {
			*file.lines = append(*file.lines, "127.0.0.1:"+port)
		}
	}
	return m, nil
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

// stop ends the process. The log is complete afterwards.
func (m *masters) stop() {
	m.cmd.Process.Signal(syscall.SIGTERM)
	kill := time.AfterFunc(5*time.Second, func() { m.cmd.Process.Kill() })
	m.cmd.Wait()
	kill.Stop()
}

// ask sends a LAB command to the first master, and returns the result as JSON.
func (m *masters) ask(ctx context.Context, words []string) (json.RawMessage, error) {
	body, err := json.Marshal(map[string]any{"args": words})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, labLimit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, m.lab, bytes.NewReader(body))
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

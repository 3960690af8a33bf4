package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// programLimit bounds the program of an ecosystem, with the start of several JVMs.
const programLimit = 3 * time.Minute

// row is a client with its defaults, or with a setting after which it sends a request only once.
type row struct {
	client, setting string
	seen            map[string]seen // by fault
}

// seen is what happened to one request: how often the server executed it, and what the caller saw in the
// end.
type seen struct {
	sent int
	saw  string // OK, nil or error
}

// line is a line of a sender's program. Saw is empty before the request.
type line struct{ Client, Setting, Fault, Saw string }

// turns is how often an ecosystem is measured while its rows differ from the document. These clients wait for
// a second of real time: on a busy machine, one may give up before its request has left.
const turns = 3

// measureAgain measures an ecosystem until its rows agree with the document.
func (s server) measureAgain(ctx context.Context, dir string, update bool) (rows []row, err error) {
	text, err := os.ReadFile(document)
	if err != nil {
		return nil, err
	}
	for turn := 1; ; turn++ {
		rows, err = s.measure(ctx, dir)
		if err != nil || update || turn == turns {
			return rows, err
		}
		missing := table(rows).missing(strings.Split(string(text), "\n"))
		if len(missing) == 0 {
			return rows, nil
		}
		fmt.Printf("again, because %s has other rows:\n%s\n", document, strings.Join(missing, "\n"))
	}
}

// measure runs the program of an ecosystem. Before each request the program prints a line and waits for
// the key to use. After the request it prints what the caller saw.
func (s server) measure(ctx context.Context, dir string) ([]row, error) {
	ctx, cancel := context.WithTimeout(ctx, programLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "./resend")
	cmd.Dir, cmd.Stderr, cmd.Env = dir, os.Stderr, append(os.Environ(), "REDIS_ADDR="+s.Addrs[0])
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	output, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	rows, err := s.follow(ctx, json.NewDecoder(bufio.NewReader(output)), input, filepath.Base(dir))
	if err != nil {
		cmd.Cancel()
		cmd.Wait()
		return rows, err
	}
	return rows, cmd.Wait()
}

func (s server) follow(ctx context.Context, lines *json.Decoder, input io.Writer, name string) ([]row, error) {
	var rows []row
	for request := 0; ; request++ {
		var before, after line
		if err := lines.Decode(&before); err == io.EOF {
			return rows, nil
		} else if err != nil {
			return rows, err
		}
		key := fmt.Sprintf("resend:%s:%d", name, request)
		if err := s.prepare(ctx, key, before.Fault); err != nil {
			return rows, err
		}
		if _, err := fmt.Fprintln(input, key); err != nil {
			return rows, err
		}
		if err := lines.Decode(&after); err != nil {
			return rows, fmt.Errorf("%s %s: %w", before.Client, before.Fault, err)
		}
		sent, err := s.executed(ctx, key)
		if err != nil {
			return rows, err
		}
		fmt.Printf("%s %s %s: executed %d times, then %s\n", after.Client, after.Setting, after.Fault, sent, after.Saw)
		rows = add(rows, after, sent)
	}
}

func add(rows []row, l line, sent int) []row {
	if n := len(rows); n == 0 || rows[n-1].client != l.Client || rows[n-1].setting != l.Setting {
		rows = append(rows, row{l.Client, l.Setting, map[string]seen{}})
	}
	rows[len(rows)-1].seen[l.Fault] = seen{sent, brief(l.Saw)}
	return rows
}

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/clients/interop/folders"
)

// playLimit is how long a client may take for all scenes.
const playLimit = 3 * time.Minute

// program is a client of an ecosystem.
type program struct{ dir, name string }

// line is what a program prints: a request to this command, or what it has seen.
type line struct{ Ask, Key, Client, Scene, Saw string }

// seen is what a client has seen, by scene.
type seen struct {
	client string
	saw    map[string]string
	times  string // of the failover
}

// findPrograms prepares the ecosystems and lists their clients. In strict mode an ecosystem without its toolchain is an
// error.
func findPrograms(ctx context.Context, o options) (all []program, err error) {
	names, err := folders.With("topology", "clients/interop", o.only)
	if err != nil {
		return nil, err
	}
	for _, eco := range names {
		dir := filepath.Join("clients", "interop", eco)
		if why, err := exec.CommandContext(ctx, filepath.Join(dir, "prepare")).CombinedOutput(); err != nil {
			if o.strict || ctx.Err() != nil {
				return nil, fmt.Errorf("%s: %w\n%s", dir, err, why)
			}
			fmt.Printf("skipped: %s: %v\n", eco, err)
			continue
		}
		list := exec.CommandContext(ctx, "./topology")
		list.Dir, list.Stderr = dir, os.Stderr
		out, err := list.Output()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		for _, name := range strings.Fields(string(out)) {
			chosen := func(text string) bool { return strings.Contains(name, text) }
			if len(o.clients) == 0 || slices.ContainsFunc(o.clients, chosen) {
				all = append(all, program{dir, name})
			}
		}
	}
	if len(all) == 0 {
		return nil, errors.New("no ecosystem has its toolchain here, or no client has this name")
	}
	return all, nil
}

// playOn lets a client play all scenes on servers of its own.
func playOn(ctx context.Context, o options, mode string, p program,
	start func(context.Context, options, string) (*stage, error),
) (*seen, error) {
	s, err := start(ctx, o, mode)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	ctx, cancel := context.WithTimeout(ctx, playLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "./topology", p.name)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "MODE="+mode, "ADDRESSES="+s.addresses(), "MASTER="+masterName,
		"NODES="+s.told(s.nodes))
	var said strings.Builder
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	found, err := s.listen(out, in)
	_ = in.Close()
	if ended := cmd.Wait(); err == nil {
		err = ended
	}
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, said.String())
	}
	return found, err
}

// listen does what the program asks for, until it ends.
func (s *stage) listen(out io.Reader, in io.Writer) (*seen, error) {
	found := &seen{saw: map[string]string{}}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var l line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return found, fmt.Errorf("it prints %q", lines.Text())
		}
		if s.doors != nil && (l.Ask != "" || l.Saw == "ok") {
			past, err := s.past()
			if err != nil {
				return found, err
			}
			if past != "" {
				return found, fmt.Errorf("a connection past the proxy: %s", past)
			}
		}
		if l.Ask == "" {
			found.client, found.saw[l.Scene] = l.Client, l.Saw
			if l.Scene == "failover" && l.Saw == "ok" {
				found.times = fmt.Sprintf("%.1f s, %.1f s", s.named.Seconds(), time.Since(s.lost).Seconds())
			}
			continue
		}
		if err := s.act(l.Ask, l.Key); err != nil {
			return found, fmt.Errorf("%s: %w", l.Ask, err)
		}
		if _, err := io.WriteString(in, "ok\n"); err != nil {
			return found, err
		}
	}
	return found, nil
}

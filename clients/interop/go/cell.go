package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"
)

// cellLimit is the time limit of a cell. A cell that reaches it has failed, and the next one
// begins.
const cellLimit = 10 * time.Second

type cell struct {
	client, scenario string
	limit            time.Duration // 0 means cellLimit
	do               func(ctx context.Context, env *env) error
}

// line is the line of JSON for one cell, which clients/interop/matrix reads.
type line struct {
	Client   string `json:"client"`
	Scenario string `json:"scenario"`
	Outcome  string `json:"outcome"`
	MS       int64  `json:"ms"`
	Detail   string `json:"detail"`
}

func (l line) print() { json.NewEncoder(os.Stdout).Encode(l) }

func (c cell) run(env *env) line {
	limit := c.limit
	if limit == 0 {
		limit = cellLimit
	}
	began := time.Now()
	err := within(limit, func(ctx context.Context) error { return c.do(ctx, env) })
	l := line{Client: c.client, Scenario: c.scenario, Outcome: "pass", MS: time.Since(began).Milliseconds()}
	if err != nil {
		l.Outcome = "fail"
		l.Detail, _, _ = strings.Cut(err.Error(), "\n")
	}
	return l
}

// within runs a function for at most limit, even if the function ignores its context.
func within(limit time.Duration, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- fmt.Errorf("panic: %v", p)
			}
		}()
		done <- do(ctx)
	}()
	select {
	case err := <-done:
		return err
	case <-time.After(limit + time.Second):
		return fmt.Errorf("not done after %v", limit)
	}
}

// version returns the release of a module in this binary.
func version(module string) string {
	info, _ := debug.ReadBuildInfo()
	for _, dep := range info.Deps {
		if dep.Path == module {
			return strings.TrimPrefix(dep.Version, "v")
		}
	}
	return "?"
}

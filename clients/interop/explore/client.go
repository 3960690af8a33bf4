package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// client is a lock client of an ecosystem, as its program explore lists it.
type client struct {
	Name      string   `json:"name"`      // a word
	Version   string   `json:"version"`   // of the library, and of the one below it
	Arguments []string `json:"arguments"` // as its program passes them
	ecosystem string
	company
}

var errPrepare = errors.New("prepare failed")

const prepareLimit = 30 * time.Minute // a cold cache and two cores that others use too

// folder is that of an ecosystem. The working directory is the project's.
func folder(ecosystem string) string { return filepath.Join("clients", "interop", ecosystem) }

// clientsOf returns the clients of an ecosystem.
func clientsOf(ctx context.Context, ecosystem string) (all []client, err error) {
	dir := folder(ecosystem)
	ctx, cancel := context.WithTimeout(ctx, prepareLimit)
	defer cancel()
	if why, err := exec.CommandContext(ctx, filepath.Join(dir, "prepare")).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s: %w\n%s", errPrepare, ecosystem, err, why)
	}
	list := exec.CommandContext(ctx, "./explore")
	list.Dir, list.Stderr = dir, os.Stderr
	text, err := list.Output()
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	for i := range all {
		all[i].ecosystem = ecosystem
	}
	if err != nil {
		return nil, fmt.Errorf("the clients of %s: %w", ecosystem, err)
	}
	return all, nil
}

// String names the client and the company of its server.
func (c client) String() string { return c.Name + c.title }

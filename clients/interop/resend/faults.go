package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/miniredisd/miniredisd/clients/interop/labserver"
)

// server is the one that all clients talk to.
type server struct{ *labserver.Server }

// faults are the two ways in which the first reply does not come. A client waits for a second.
func faults() map[string][]string {
	return map[string][]string{
		"lost": {"ACTION", "DROP-REPLY"},
		"late": {"ACTION", "DELAY-REPLY", "4000"},
	}
}

// prepare makes a rule for the first request with that key.
func (s server) prepare(ctx context.Context, key, fault string) error {
	action, known := faults()[fault]
	if !known {
		return fmt.Errorf("no such fault: %q", fault)
	}
	for _, words := range [][]string{
		{"RESET"},
		{"LOG", "WATCH", key},
		append([]string{"FAULT", "ADD", "first", "KEY", key, "NTH", "1"}, action...),
	} {
		if _, err := s.Ask(ctx, words...); err != nil {
			return err
		}
	}
	return nil
}

// executed is how often the server executed a request with that key.
func (s server) executed(ctx context.Context, key string) (n int, err error) {
	log, err := s.Ask(ctx, "LOG")
	if err != nil {
		return 0, err
	}
	var entries []struct{ Cmd, Key, By string }
	err = json.Unmarshal(log, &entries)
	for _, e := range entries {
		if e.Key == key && e.Cmd != "" && e.By == "" {
			n++
		}
	}
	return n, err
}

package main

import (
	"encoding/json"
	"fmt"
	"slices"
)

// cell is the result of one client in one scenario on one server.
type cell struct {
	Client   string `json:"client"`
	Scenario string `json:"scenario"`
	Outcome  string `json:"outcome"` // "pass" or "fail"
	MS       int64  `json:"ms"`
	Detail   string `json:"detail"`
}

// basics are the scenarios of a plain lock, in the order of the table's columns.
func basics() []string {
	return []string{
		"acquire-release", "contention", "reentrancy", "expiry", "watchdog", "stranger", "wakeup",
		"try-timeout", "script-lost", "reconnect", "resp2", "resp3",
	}
}

// objects are the scenarios of everything else that lock libraries build, their own test suites, locks in the commands
// of newer servers, and replicas that are no servers.
func objects() []string {
	return []string{
		"fair", "read-write", "multi", "moved", "redlock", "semaphore", "permits", "latch", "fenced", "fencing", "spin",
		"rate-limiter", "compare", "suite", "full-sync", "stream", "partial-sync",
	}
}

// parseCell refuses names that are not in the table. A misspelled scenario would otherwise become a
// column that nobody misses.
func parseCell(line []byte) (cell, error) {
	var c cell
	if err := json.Unmarshal(line, &c); err != nil {
		return c, fmt.Errorf("not a cell: %q: %w", line, err)
	}
	switch {
	case c.Client == "":
		return c, fmt.Errorf("a cell without a client: %s", line)
	case c.Outcome != "pass" && c.Outcome != "fail":
		return c, fmt.Errorf("outcome has to be pass or fail: %s", line)
	case !slices.Contains(basics(), c.Scenario) && !slices.Contains(objects(), c.Scenario):
		return c, fmt.Errorf("no such scenario: %s", line)
	}
	return c, nil
}

// name is the name of the cell for -cell and in the list of failures.
func (c cell) name() string { return c.Client + "/" + c.Scenario }

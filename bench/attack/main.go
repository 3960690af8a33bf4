// Command attack runs a table of attacks, each in a fresh miniredisd and in a fresh redis-server beside it.
//
//	go run ./bench/attack [-short] [-only REGEXP] [-list] [-ours COMMAND] [-redis PATH] [-slack N] [-o FILE.md]
//
// An attack is what one client, or a few, can send to stop a server or to fill its memory. For each
// attack and server the program prints the time, the peak of the resident memory, and the longest wait
// of a pinger on a connection of its own. A rule judges the two outcomes: see verdict.go.
//
// The table is in the files rows*.go. A row is a name, a sentence, a size for the short and for the full
// form, and a function that sends commands:
//
//	{name: "data: union", does: "ZUNIONSTORE of n times one sorted set.", short: 100, full: 10_000,
//		prepare: fill("ZADD", "z", 1_000, "{i} m{i}"),
//		run: func(x *attacker) { x.do(slices.Concat(words("ZUNIONSTORE d {n}", x.n), repeat("z", x.n))...) }},
//
// The exit code is 1 when a row has a finding that is not marked as known, and 2 when the program fails.
// All traffic goes to 127.0.0.1.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

type options struct {
	short, list       bool
	only, ours, redis string
	memoryMB          int
	limit, busy       time.Duration
	report            string
	slack             float64
}

func parseOptions(args []string) (options, error) {
	var o options
	f := flag.NewFlagSet("attack", flag.ContinueOnError)
	f.BoolVar(&o.short, "short", false, "the short form: small sizes, for CI")
	f.BoolVar(&o.list, "list", false, "list the attacks and run none")
	f.StringVar(&o.only, "only", "", "run the attacks whose name matches this `regexp`")
	f.StringVar(&o.ours, "ours", "", "`command` that starts miniredisd; without it one is built")
	f.StringVar(&o.redis, "redis", "redis-server", "`path` of the redis-server to compare with")
	f.IntVar(&o.memoryMB, "memory", 0, "kill a server above this many `MB` (1500 in the short form, 4096 in the "+
		"full one)")
	f.DurationVar(&o.limit, "time", 0, "kill a server after this `time` (5s in the short form, 60s in the full one)")
	f.DurationVar(&o.busy, "busy", 0, "busy-reply-threshold of both servers (100ms in the short form, 500ms in the "+
		"full one)")
	f.Float64Var(&o.slack, "slack", 1, "bounds on time and memory are so many `times` as large: for a busy machine")
	f.StringVar(&o.report, "o", "", "write a report in Markdown to this `file`")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if o.memoryMB == 0 {
		o.memoryMB = choose(o.short, 1500, 4096)
	}
	if o.limit == 0 {
		o.limit = choose(o.short, 5*time.Second, time.Minute)
	}
	if o.busy == 0 {
		o.busy = choose(o.short, 100*time.Millisecond, 500*time.Millisecond)
	}
	return o, nil
}

func choose[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

func main() {
	o, err := parseOptions(os.Args[1:])
	if err != nil {
		os.Exit(2)
	}
	bad, err := attackBoth(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "attack:", err)
		os.Exit(2)
	}
	if bad > 0 {
		os.Exit(1)
	}
}

// attackBoth returns how many rows have a finding that is not known.
func attackBoth(o options) (bad int, err error) {
	rows, err := selected(o)
	if err != nil {
		return 0, err
	}
	if o.list {
		for _, a := range rows {
			fmt.Printf("%-36s n = %-10d %s\n", a.name, a.size(o.short), a.does)
		}
		return 0, nil
	}
	dir, err := os.MkdirTemp("", "attack")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	ours, err := build(o.ours, dir)
	if err != nil {
		return 0, err
	}
	b := bench{
		ours:  contender{"miniredisd", ours, dir},
		redis: contender{"redis-server", strings.Fields(o.redis), dir},
		caps:  caps{memoryMB: o.memoryMB, time: o.limit, busy: o.busy},
		short: o.short,
		slack: o.slack,
	}
	results, err := b.all(rows)
	if err != nil {
		return 0, err
	}
	if o.report != "" {
		err = os.WriteFile(o.report, []byte(markdown(results, b)), 0o644)
	}
	return summary(results), err
}

// selected returns the rows that the form has and -only matches.
func selected(o options) ([]attack, error) {
	only, err := regexp.Compile(o.only)
	if err != nil {
		return nil, err
	}
	var rows []attack
	for _, a := range table() {
		if a.size(o.short) > 0 && only.MatchString(a.name) {
			rows = append(rows, a)
		}
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("no attack is called %q", o.only)
	}
	return rows, nil
}

// build returns the command that starts our server.
func build(command, dir string) ([]string, error) {
	if command != "" {
		return strings.Fields(command), nil
	}
	program := filepath.Join(dir, "miniredisd")
	cmd := exec.Command("go", "build", "-o", program, "./cmd/miniredisd")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w: %s", err, out)
	}
	return []string{program}, nil
}

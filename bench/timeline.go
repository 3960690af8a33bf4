package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"

	"github.com/miniredisd/miniredisd/bench/chart"
)

// happened is an event of a trace, with the fields that the drawing needs.
type happened struct {
	Phase   string  `json:"ph"`
	Name    string  `json:"name"`
	Process int     `json:"pid"` // 1 has the threads, 2 has the clients
	Thread  int     `json:"tid"` // main has none
	At      float64 `json:"ts"`  // us
	For     float64 `json:"dur"` // us
	Args    struct {
		Name string `json:"name"`
	} `json:"args"`
}

// kind is what the thread did: "execute" for a command, which has its own name.
func (h *happened) kind() string {
	switch h.Name {
	case "sleep", "accept", "gather", "read phase", "read", "parse", "expire", "write phase", "write", "wait":
		return h.Name
	}
	return "execute"
}

func (h *happened) end() float64 { return h.At + h.For }

// recording holds a trace that was read from a file.
type recording struct {
	threads []int // main first
	names   map[int]string
	spans   map[int][]happened // of each thread, in the order they began
}

// timeline draws one pass of a trace.
func timeline(args []string) error {
	flags := flag.NewFlagSet("bench timeline", flag.ExitOnError)
	out := flags.String("o", "timeline.svg", "the drawing")
	requests := flags.Int("n", 0, "draws a pass with about so many commands; 0 for an ordinary one")
	title := flags.String("title", "one pass", "what to write above it")
	_ = flags.Parse(args)
	if flags.NArg() != 1 {
		return errors.New("timeline wants one trace, as miniredisd --trace writes it")
	}
	rec, err := readRecording(flags.Arg(0))
	if err != nil {
		return err
	}
	from, to, err := rec.choose(*requests)
	if err != nil {
		return err
	}
	return rec.draw(*title, from, to).Write(*out)
}

func readRecording(path string) (*recording, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var file struct {
		TraceEvents []happened `json:"traceEvents"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("%s is no trace: %w", path, err)
	}
	rec := &recording{names: map[int]string{}, spans: map[int][]happened{}}
	for _, h := range file.TraceEvents {
		switch {
		case h.Process != 1:
		case h.Phase == "M" && h.Name == "thread_name":
			rec.threads = append(rec.threads, h.Thread)
			rec.names[h.Thread] = h.Args.Name
		case h.Phase == "X":
			rec.spans[h.Thread] = append(rec.spans[h.Thread], h)
		}
	}
	if len(rec.threads) == 0 {
		return nil, fmt.Errorf("%s is no trace: it names no thread", path)
	}
	for _, spans := range rec.spans {
		slices.SortStableFunc(spans, func(a, b happened) int { return cmp.Compare(a.At, b.At) })
	}
	return rec, nil
}

// pass is the time between two sleeps of main.
type pass struct {
	from, to float64
	commands int
	threads  int // that worked in it
}

// passes returns the passes that executed a command. It leaves out passes that accepted clients,
// because these are not typical.
func (rec *recording) passes() (all []pass) {
	awake, commands, accepted := 0.0, 0, false
	for _, h := range rec.spans[rec.threads[0]] {
		switch h.kind() {
		case "execute":
			commands++
		case "accept":
			accepted = true
		case "sleep":
			if commands > 0 && !accepted {
				all = append(all, pass{from: awake, to: h.At, commands: commands})
			}
			awake, commands, accepted = h.end(), 0, false
		}
	}
	for i := range all {
		for _, id := range rec.threads {
			if len(within(rec.spans[id], all[i].from, all[i].to)) > 0 {
				all[i].threads++
			}
		}
	}
	return all
}

// within returns the spans that begin between from and to. spans is in the order of time.
func within(spans []happened, from, to float64) []happened {
	at := func(t float64) int {
		i, _ := slices.BinarySearchFunc(spans, t, func(h happened, t float64) int { return cmp.Compare(h.At, t) })
		return i
	}
	return spans[at(from):at(to)]
}

// choose finds a pass in which most threads work and which has about the wanted number of commands.
// Among several it takes one of median length.
func (rec *recording) choose(commands int) (from, to float64, err error) {
	all := rec.passes()
	if len(all) == 0 {
		return 0, 0, errors.New("the trace has no pass in which a command was executed")
	}
	most := slices.MaxFunc(all, func(a, b pass) int { return cmp.Compare(a.threads, b.threads) }).threads
	all = slices.DeleteFunc(all, func(p pass) bool { return p.threads < most })
	if commands == 0 {
		slices.SortFunc(all, func(a, b pass) int { return cmp.Compare(a.commands, b.commands) })
		commands = all[len(all)/2].commands
	}
	off := func(p pass) int { return max(p.commands-commands, commands-p.commands) }
	nearest := off(slices.MinFunc(all, func(a, b pass) int { return cmp.Compare(off(a), off(b)) }))
	all = slices.DeleteFunc(all, func(p pass) bool { return off(p) > nearest })
	slices.SortFunc(all, func(a, b pass) int { return cmp.Compare(a.to-a.from, b.to-b.from) })
	p := all[len(all)/2]
	return p.from, p.to, nil
}

// draw draws main and the threads that work between from and to.
func (rec *recording) draw(title string, from, to float64) *chart.Timeline {
	phases := []string{"gather", "read phase", "write phase"} // what the others are parts of
	t := &chart.Timeline{
		Title: title, Begin: from, End: to,
		Kinds: append(phases, "read", "parse", "execute", "expire", "write", "wait"),
	}
	seen := map[string]bool{}
	for _, id := range rec.threads {
		row := chart.Row{Name: rec.names[id]}
		for _, h := range within(rec.spans[id], from, to) {
			inside := !slices.Contains(phases, h.kind())
			row.Spans = append(row.Spans, chart.Span{Kind: h.kind(), Name: h.Name, Begin: h.At, End: h.end(),
				Inside: inside})
			seen[h.kind()] = true
		}
		if len(row.Spans) > 0 {
			t.Rows = append(t.Rows, row)
		}
	}
	t.Kinds = slices.DeleteFunc(t.Kinds, func(kind string) bool { return !seen[kind] })
	return t
}

package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// table is what all rows mean together.
type table struct {
	servers  []string // the columns
	beside   string   // the version of the control; empty without one
	lines    []line
	ran      []string // the ecosystems that have lines
	skipped  []string
	problems []string
}

// line is one launcher or application with its outcome on each server.
type line struct {
	row
	ecosystem string
	outcomes  []string // ok, FAIL or MISSING, in the order of table.servers
}

// judge puts the rows of all servers beside each other. Every row has to be ok on every server: a row that
// fails on redis-server too proves nothing.
func judge(results []result, programs []program, strict bool) *table {
	t := &table{}
	for _, p := range programs {
		t.servers = append(t.servers, p.name)
		if p.name == control {
			t.beside = p.version
		}
	}
	for _, r := range results {
		if r.skipped != nil {
			t.skipped = append(t.skipped, fmt.Sprintf("%s: %v", r.ecosystem, r.skipped))
			continue
		}
		t.ran = append(t.ran, r.ecosystem)
		t.add(r)
	}
	if strict {
		t.problems = append(t.problems, t.skipped...)
	}
	return t
}

func (t *table) add(r result) {
	places := map[string]int{}
	for i, server := range t.servers {
		if err := r.broken[server]; err != nil {
			t.problems = append(t.problems, fmt.Sprintf("%s, %s: %v", r.ecosystem, server, err))
		}
		for _, row := range r.rows[server] {
			at, known := places[row.Name]
			if !known {
				at = len(t.lines)
				places[row.Name] = at
				t.lines = append(t.lines, line{row: row, ecosystem: r.ecosystem, outcomes: t.missing()})
			}
			t.lines[at].outcomes[i] = "ok"
			if !row.OK {
				t.lines[at].outcomes[i] = "FAIL"
				t.problems = append(t.problems, fmt.Sprintf("%s, %s, %s: %s", r.ecosystem, row.Name, server, row.Detail))
			}
		}
	}
	for name, at := range places {
		for i, outcome := range t.lines[at].outcomes {
			if outcome == "MISSING" {
				t.problems = append(t.problems, fmt.Sprintf("%s, %s: no row from %s", r.ecosystem, name, t.servers[i]))
			}
		}
	}
	if len(places) == 0 {
		t.problems = append(t.problems, r.ecosystem+": no rows")
	}
}

func (t *table) missing() []string {
	outcomes := make([]string, len(t.servers))
	for i := range outcomes {
		outcomes[i] = "MISSING"
	}
	return outcomes
}

// print prints the table and, on the last line, the counts, as test runners do.
func (t *table) print(w io.Writer) {
	fmt.Fprintln(w)
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(columns, "\tkind\tname\tversion\t%s\n", strings.Join(t.servers, "\t"))
	passed := 0
	for _, l := range t.lines {
		fmt.Fprintf(columns, "%s\t%s\t%s\t%s\t%s\n", l.ecosystem, l.Kind, l.Name, l.Version,
			strings.Join(l.outcomes, "\t"))
		for _, outcome := range l.outcomes {
			if outcome == "ok" {
				passed++
			}
		}
	}
	_ = columns.Flush() // standard output
	section(w, "Skipped", t.skipped)
	section(w, "Failures", t.problems)
	fmt.Fprintf(w, "\n%d passed, %d failed, %d skipped\n", passed, len(t.problems), len(t.skipped))
}

func section(w io.Writer, title string, lines []string) {
	if len(lines) > 0 {
		fmt.Fprintf(w, "\n%s:\n  %s\n", title, strings.Join(lines, "\n  "))
	}
}

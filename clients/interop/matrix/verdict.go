package main

import (
	"fmt"
	"maps"
	"slices"
)

// mark is the content of a cell of the table: the results on both servers together.
type mark string

const (
	green       mark = "ok"      // on every server that ran
	red         mark = "FAIL"    // on the server that is judged, or on the only one that ran
	missing     mark = "MISSING" // ran on the control and left no line on the server that is judged
	redOnBoth   mark = "both"    // the scenario is wrong, not the server
	controlOnly mark = "control" // red on the control alone
	none        mark = "-"       // the client has no such thing
)

func (m mark) fails() bool { return m == red || m == missing }

// verdict holds the matrix and a list of everything that is wrong.
type verdict struct {
	servers  []string
	tables   []table // one for each ecosystem that ran
	skipped  []string
	problems []string // each makes the run fail
	remarks  []string // worth a line, no failure
	passed   int
}

// table has the rows of one ecosystem: marks[client][scenario].
type table struct {
	ecosystem string
	clients   []string // in the order they came
	marks     map[string]map[string]mark
	took      string
}

func (v *verdict) failed() bool { return len(v.problems) > 0 }

func judge(results []result, servers []string, o options) *verdict {
	v := &verdict{servers: servers}
	for _, r := range results {
		if r.skipped != nil {
			line := fmt.Sprintf("%s: skipped: %v", r.ecosystem, r.skipped)
			v.skipped = append(v.skipped, line)
			if o.strict {
				v.problems = append(v.problems, line)
			}
			continue
		}
		if r.broken != nil {
			v.problems = append(v.problems, fmt.Sprintf("%s: %v", r.ecosystem, r.broken))
		}
		for _, f := range r.wrong {
			v.problems = append(v.problems, r.ecosystem+": "+f)
		}
		for _, f := range slices.Concat(r.excused, r.again) {
			v.remarks = append(v.remarks, r.ecosystem+": "+f)
		}
		v.judgeCells(r, o)
	}
	if len(v.tables) == 0 && len(v.skipped) == 0 {
		v.problems = append(v.problems, "there was nothing to run")
	}
	return v
}

func (v *verdict) judgeCells(r result, o options) {
	t := table{ecosystem: r.ecosystem, marks: map[string]map[string]mark{}, took: r.times(v.servers)}
	byName := map[string]map[string]cell{} // name, server
	var names []string
	for _, s := range v.servers {
		for _, c := range r.cells[s] {
			if byName[c.name()] == nil {
				byName[c.name()] = map[string]cell{}
				names = append(names, c.name())
			}
			byName[c.name()][s] = c
		}
	}
	for _, name := range names {
		on := byName[name]
		m := markOf(on, v.servers)
		if !m.fails() {
			v.passed++
		}
		v.explain(r.ecosystem, name, m, on)
		for _, c := range on {
			if t.marks[c.Client] == nil {
				t.marks[c.Client] = map[string]mark{}
				t.clients = append(t.clients, c.Client)
			}
			t.marks[c.Client][c.Scenario] = m
			break
		}
	}
	if len(names) == 0 && o.cell == "" && r.broken == nil {
		v.problems = append(v.problems, r.ecosystem+": ran and printed no cell")
	}
	if len(names) > 0 {
		v.tables = append(v.tables, t)
	}
}

// markOf judges one cell by its outcomes on the servers that ran: the one that is judged, and the control.
func markOf(on map[string]cell, servers []string) mark {
	passed := func(server string) bool { return on[server].Outcome == "pass" }
	if len(servers) == 1 {
		if passed(servers[0]) {
			return green
		}
		return red
	}
	judged, other := servers[0], servers[1]
	_, here := on[judged]
	switch {
	case passed(judged) && passed(other):
		return green
	case passed(other) && !here:
		return missing
	case passed(other):
		return red
	case passed(judged):
		return controlOnly
	}
	return redOnBoth
}

// explain records why a cell is not green, for both servers.
func (v *verdict) explain(ecosystem, name string, m mark, on map[string]cell) {
	if m == green {
		return
	}
	line := fmt.Sprintf("%s: %s: %s", ecosystem, m, name)
	for _, s := range slices.Sorted(maps.Keys(on)) {
		if c := on[s]; c.Outcome != "pass" {
			line += fmt.Sprintf("\n    on %s after %d ms: %s", s, c.MS, c.Detail)
		}
	}
	if m.fails() {
		v.problems = append(v.problems, line)
	} else {
		v.remarks = append(v.remarks, line)
	}
}

package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// document is docs/redis-suite.md: an introduction that is kept as it is, a table of the files, and a table of tests
// for each file that has tests that are not ok.
type document struct {
	intro string
	order []string
	files map[string]*entry
}

// entry is a file of the suite. There and here count the tests that are ok on redis-server and on miniredisd.
type entry struct {
	there, here int
	end         string // "done", or how the file ends here
	red         map[string]*redTest
}

// redTest is a test that is ok on redis-server and not here. One name may stand for several runs.
type redTest struct {
	times  int
	reason string
}

const (
	filesHead = "| file | ok on redis-server | ok here | ends |\n|---|---|---|---|\n"
	testsHead = "| test | runs | reason |\n|---|---|---|\n"
	unknown   = "?" // a reason that somebody still has to find
)

func parseDocument(text string) (*document, error) {
	intro, tables, found := strings.Cut(text, filesHead)
	if !found {
		return nil, fmt.Errorf("%s has no table of files", documentPath)
	}
	d := &document{intro: intro, files: map[string]*entry{}}
	var in *entry
	for line := range strings.Lines(tables) {
		line = strings.TrimSpace(line)
		cells := splitRow(line)
		switch {
		case strings.HasPrefix(line, "### "):
			in = d.files[line[len("### "):]]
			if in == nil {
				return nil, fmt.Errorf("%s: %s is not in the table of files", documentPath, line)
			}
		case len(cells) < 3 || cells[0] == "test" || cells[0] == "---" || cells[0] == "**sum**":
		case in == nil && len(cells) == 4:
			there, _ := strconv.Atoi(cells[1])
			here, err := strconv.Atoi(cells[2])
			if err != nil {
				return nil, fmt.Errorf("%s: %q: %w", documentPath, line, err)
			}
			d.order = append(d.order, cells[0])
			d.files[cells[0]] = &entry{there: there, here: here, end: cells[3], red: map[string]*redTest{}}
		case in != nil:
			times, err := strconv.Atoi(cells[1])
			if err != nil {
				return nil, fmt.Errorf("%s: %q: %w", documentPath, line, err)
			}
			in.red[cells[0]] = &redTest{times: times, reason: cells[2]}
		}
	}
	return d, nil
}

// splitRow takes a row of a table apart. A bar inside a cell has a backslash before it.
func splitRow(line string) []string {
	if !strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "|-") {
		return nil
	}
	line = strings.ReplaceAll(line, `\|`, "\x00")
	cells := strings.Split(strings.Trim(line, "|"), "|")
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(strings.TrimSpace(c), "\x00", "|")
	}
	return cells
}

// findings are the ways in which a run differs from the document for the worse.
func (d *document) findings(r *results) []string {
	e := d.files[r.name]
	if e == nil {
		return []string{"the document does not know this file"}
	}
	var list []string
	if r.end != "done" && r.end != e.end {
		list = append(list, "the file did not come to its end: "+r.end)
	}
	for _, name := range slices.Sorted(maps.Keys(r.red)) {
		if listed := e.red[name]; listed == nil || listed.times < r.red[name] {
			list = append(list, "not ok, and not listed: "+name)
		}
	}
	if ok := r.sum(r.ok); ok < e.here {
		list = append(list, fmt.Sprintf("%d tests are ok, and the document says %d", ok, e.here))
	} else if ok > e.here {
		fmt.Printf("%-28s %d tests are ok, more than the %d of the document\n", r.name, ok, e.here)
	}
	return list
}

// take replaces what the document says of a file. Reasons of tests that were listed before stay.
func (d *document) take(theirs, here *results) {
	old := d.files[here.name]
	if old == nil {
		old = &entry{}
		d.order = append(d.order, here.name)
	}
	e := &entry{there: theirs.sum(theirs.ok), here: here.sum(here.ok), end: here.end, red: map[string]*redTest{}}
	for name, times := range theirs.ok {
		if missing := times - here.ok[name]; missing > 0 {
			e.red[name] = &redTest{times: missing, reason: unknown}
		}
	}
	for name, times := range here.red {
		if e.red[name] == nil { // ok there only sometimes
			e.red[name] = &redTest{times: times, reason: unknown}
		}
	}
	for name, test := range e.red {
		if before := old.red[name]; before != nil {
			test.reason = before.reason
		}
	}
	d.files[here.name] = e
}

func (d *document) String() string {
	var b strings.Builder
	b.WriteString(d.intro + filesHead)
	there, here := 0, 0
	for _, name := range d.order {
		e := d.files[name]
		there, here = there+e.there, here+e.here
		fmt.Fprintf(&b, "| %s | %d | %d | %s |\n", name, e.there, e.here, e.end)
	}
	fmt.Fprintf(&b, "| **sum** | %d | %d | |\n", there, here)
	for _, name := range d.order {
		red := d.files[name].red
		if len(red) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n### %s\n\n%s", name, testsHead)
		for _, test := range slices.Sorted(maps.Keys(red)) {
			fmt.Fprintf(&b, "| %s | %d | %s |\n", strings.ReplaceAll(test, "|", `\|`), red[test].times,
				red[test].reason)
		}
	}
	return b.String()
}

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/lab/explore"
)

// The generated parts of a document stand between two lines. What is between them and the next part is written by hand.
const (
	opens  = "<!-- explored: %s -->"
	closes = "<!-- end of explored -->"
)

// summary is the part with the table of all clients.
const summary = "all clients"

// write puts the records of a folder into a document.
func write(document, dir string) error {
	text, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	all, err := readAll(dir)
	if err != nil {
		return err
	}
	return os.WriteFile(document, []byte(filled(string(text), all)), 0o644)
}

// readAll returns a record of each client, in the order of the document. It has the marks of all companies.
func readAll(dir string) (all []record, err error) {
	paths, err := filepath.Glob(filepath.Join(dir, alone, "*.json"))
	for _, path := range paths {
		r, err := read(path)
		if err != nil {
			return nil, err
		}
		for _, c := range companies()[1:] {
			other, err := read(filepath.Join(dir, c.name, filepath.Base(path)))
			switch {
			case os.IsNotExist(err):
			case err != nil:
				return nil, err
			default:
				r = r.with(other)
			}
		}
		all = append(all, r)
	}
	slices.SortStableFunc(all, func(a, b record) int { return strings.Compare(a.Ecosystem, b.Ecosystem) })
	return all, err
}

// filled returns a document with its generated parts made anew. A client that it does not have gets a section at its
// end.
func filled(text string, all []record) string {
	text = replaced(text, summary, overview(all))
	for _, r := range all {
		if start := fmt.Sprintf(opens, r.Name); !strings.Contains(text, start) {
			text = strings.TrimRight(text, "\n") + "\n\n## " + r.Name + "\n\n" + start + "\n" + closes + "\n"
		}
		text = replaced(text, r.Name, r.section())
	}
	return text
}

// replaced puts lines in the place of a generated part.
func replaced(text, name string, lines []string) string {
	before, rest, found := strings.Cut(text, fmt.Sprintf(opens, name)+"\n")
	_, after, ends := strings.Cut(rest, closes)
	if !found || !ends {
		return text
	}
	return before + fmt.Sprintf(opens, name) + "\n" + strings.Join(lines, "\n") + "\n" + closes + after
}

// counted are the marks in the table of all clients.
func counted() []string {
	return []string{broken, hangs, "undecided", "left behind", noticed, "fine", varies}
}

// overview is the table of all clients. It counts the marks of a lone server, and what breaks in the other companies.
func overview(all []record) []string {
	companies := companies()
	head := slices.Concat([]string{"client", "version"}, counted())
	for _, c := range companies[1:] {
		head = append(head, broken+c.title)
	}
	head = append(head, "same on another server", "trials", "seconds")
	lines := []string{"| " + strings.Join(head, " | ") + " |", "|" + strings.Repeat("---|", len(head))}
	trials, seconds := 0, 0
	for _, r := range all {
		row := []string{fmt.Sprintf("[%s](#%s)", r.Name, r.Name), r.Version}
		for _, mark := range counted() {
			row = append(row, r.number(mark, companies[0]))
		}
		for _, c := range companies[1:] {
			row = append(row, r.number(broken, c))
		}
		trials, seconds = trials+r.Trials, seconds+r.Seconds
		lines = append(lines, "| "+strings.Join(row, " | ")+
			fmt.Sprintf(" | %s | %d | %d |", r.steadied().number(), r.Trials, r.Seconds))
	}
	return append(lines, "", fmt.Sprintf("%s, %d trials, %s if one client runs after another.",
		plural(len(all), "client", "clients"), trials, plural((seconds+59)/60, "minute", "minutes")))
}

// number is how often a client has a mark in a company. It is bold if the lock breaks.
func (r record) number(mark string, in company) string {
	n := r.count(mark, in.has)
	if mark == broken && n > 0 {
		return fmt.Sprintf("**%d**", n)
	}
	return fmt.Sprint(n)
}

// count returns how often a client has a mark after one of these faults.
func (r record) count(mark string, of func(fault string) bool) (n int) {
	for _, p := range r.Points {
		for fault, m := range p.Marks {
			if m == mark && of(fault) {
				n++
			}
		}
	}
	return n
}

// section is the part of one client: its arguments, its marks and its findings.
func (r record) section() []string {
	var head, rule strings.Builder
	for _, p := range r.Points {
		head.WriteString(" " + p.title() + " |")
		rule.WriteString("---|")
	}
	lines := []string{
		fmt.Sprintf("%s %s, `%s`. %s, %d trials in %s.", r.Name, r.Version, strings.Join(r.Arguments, "`, `"),
			plural(len(r.Points), "request or message", "requests and messages"), r.Trials, plural(r.Runs, "run", "runs")),
		"", "| failure |" + head.String(), "|---|" + rule.String(),
	}
	for _, row := range r.rows() {
		lines = append(lines, "| "+strings.Join(row.faults, ", ")+" | "+strings.Join(row.marks, " | ")+" |")
	}
	shown := r.steadied()
	if len(r.Findings) > 0 {
		lines = append(lines, "")
	}
	for _, f := range r.Findings {
		if r.at(f.At)[f.Fault] == f.Mark {
			line := fmt.Sprintf("* %s (%s): %s", f.Mark, f.Fault, f.Sentence)
			if shown.has(f) {
				line += " It is shown on " + shown.Server + ", too."
			}
			lines = append(lines, line)
		}
	}
	lines = append(lines, shown.lines()...)
	if len(r.Unsteady) > 0 {
		var names []string
		for _, p := range r.Unsteady {
			names = append(names, p.title())
		}
		lines = append(lines, "", "Not in each run, and so not in the table: "+strings.Join(names, ", ")+".")
	}
	return lines
}

// title is a point in the head of a table.
func (p point) title() string {
	if p.Message {
		return fmt.Sprintf("message %d to %s", p.N, p.Client)
	}
	return p.String()
}

func plural(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}

// row has the faults whose marks are the same at each point.
type row struct{ faults, marks []string }

func (r record) rows() (rows []row) {
	for _, fault := range explore.FaultNames() {
		var marks []string
		tried := false
		for _, p := range r.Points {
			mark := p.Marks[fault]
			tried = tried || mark != ""
			if mark == "" {
				mark = "–"
			}
			if mark == broken {
				mark = "**broken**"
			}
			marks = append(marks, mark)
		}
		i := slices.IndexFunc(rows, func(o row) bool { return slices.Equal(o.marks, marks) })
		switch {
		case !tried:
		case i >= 0:
			rows[i].faults = append(rows[i].faults, fault)
		default:
			rows = append(rows, row{[]string{fault}, marks})
		}
	}
	return rows
}

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

func (r *result) times(servers []string) string {
	parts := make([]string, len(servers))
	for i, s := range servers {
		parts[i] = fmt.Sprintf("%.1f s on %s", r.took[s].Seconds(), s)
	}
	return strings.Join(parts, ", ")
}

// print prints the tables and, on the last line, the counts, as test runners do.
func (v *verdict) print(w io.Writer) {
	fmt.Fprintf(w, "\nLocks over real clients, on %s\n", strings.Join(v.servers, " and "))
	fmt.Fprintf(w, "(%s: as it should be; %s: wrong on the first server; %s: it has no such line; %s: red on both;\n"+
		" %s: red on the second server alone; %s: not in this client)\n",
		green, red, missing, redOnBoth, controlOnly, none)
	for _, t := range v.tables {
		fmt.Fprintf(w, "\n%s (%s)\n", t.ecosystem, t.took)
		t.print(w, basics())
		fmt.Fprintln(w)
		t.print(w, objects())
	}
	section(w, "Skipped", v.skipped)
	section(w, "Remarks", v.remarks)
	section(w, "Failures", v.problems)
	fmt.Fprintf(w, "\n%d passed, %d failed, %d skipped\n", v.passed, len(v.problems), len(v.skipped))
}

func section(w io.Writer, title string, lines []string) {
	if len(lines) > 0 {
		fmt.Fprintf(w, "\n%s:\n  %s\n", title, strings.Join(lines, "\n  "))
	}
}

// print prints a table without empty columns, and then the clients that have no cell.
func (t *table) print(w io.Writer, scenarios []string) {
	columns := slices.DeleteFunc(slices.Clone(scenarios), func(s string) bool {
		return !slices.ContainsFunc(t.clients, func(c string) bool { return t.marks[c][s] != "" })
	})
	rows := [][]string{headline(columns, 0), headline(columns, 1)}
	for _, client := range t.clients {
		row, any := []string{client}, false
		for _, s := range columns {
			m := t.marks[client][s]
			any = any || m != ""
			row = append(row, string(orNone(m)))
		}
		if any {
			rows = append(rows, row)
		}
	}
	if len(rows) > 2 {
		printRows(w, rows)
	}
}

func orNone(m mark) mark {
	if m == "" {
		return none
	}
	return m
}

// headline breaks a long name at its hyphen, so that a column is narrow.
func headline(columns []string, line int) []string {
	row := []string{""}
	for _, s := range columns {
		first, second, broken := strings.Cut(s, "-")
		switch {
		case broken && line == 0:
			row = append(row, first+"-")
		case broken:
			row = append(row, second)
		case line == 0:
			row = append(row, "")
		default:
			row = append(row, s)
		}
	}
	return row
}

func printRows(w io.Writer, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, text := range row {
			widths[i] = max(widths[i], len(text))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, text := range row {
			fmt.Fprintf(&line, "  %-*s", widths[i], text)
		}
		if text := strings.TrimRight(line.String(), " "); text != "" {
			fmt.Fprintln(w, text)
		}
	}
}

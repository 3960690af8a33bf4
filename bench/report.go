package main

import (
	"fmt"
	"math"
	"strings"
)

// report adds r to the Markdown file and prints it at once, because people watch a long run.
func (b *bench) report(r result) {
	b.results = append(b.results, r)
	fmt.Printf("\n%s\n", r.workload)
	printTable(b.rows(r))
	if r.note != "" {
		fmt.Println(r.note)
	}
}

func printTable(rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len(cell))
		}
	}
	for _, row := range rows {
		fmt.Printf("%-*s", widths[0], row[0])
		for i, cell := range row[1:] {
			fmt.Printf("  %*s", widths[i+1], cell)
		}
		fmt.Println()
	}
}

// rows returns the table of one result: a line for each contender, and for each contender but the
// base a line of ratios to the base.
func (b *bench) rows(r result) [][]string {
	head := []string{"server"}
	for _, c := range r.columns {
		head = append(head, c.name)
	}
	rows := [][]string{head}
	for i, c := range b.contenders {
		row := []string{c.name}
		for j, v := range r.figures[i] {
			row = append(row, r.columns[j].show(v))
		}
		rows = append(rows, row)
	}
	for i, c := range b.contenders {
		if b.base < 0 || i == b.base {
			continue
		}
		row := []string{c.name + " x"}
		for j := range r.columns {
			row = append(row, b.ratio(r, i, j))
		}
		rows = append(rows, row)
	}
	return rows
}

// show formats a figure. NaN means that the server does not have it.
func (c column) show(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return fmt.Sprintf(c.format, v)
}

func (b *bench) ratio(r result, i, col int) string {
	base := r.figures[b.base][col]
	if base <= 0 {
		return "-"
	}
	return column{format: "%.2f"}.show(r.figures[i][col] / base)
}

// summary returns a line for each bound and contender.
func (b *bench) summary() [][]string {
	rows := [][]string{{"measure", "server", "value", "redis-server", "ratio", "bound", "holds"}}
	for _, r := range b.results {
		for _, bd := range r.bounds {
			for i, c := range b.contenders {
				if i != b.base && !math.IsNaN(r.figures[i][bd.column]) {
					rows = append(rows, b.summarize(r, bd, i, c.name))
				}
			}
		}
	}
	return rows
}

func (b *bench) summarize(r result, bd bound, i int, name string) []string {
	col := r.columns[bd.column]
	v := r.figures[i][bd.column]
	row := []string{r.workload + ", " + col.name, name, col.show(v), "-", "-"}
	most := bd.most
	if b.base >= 0 {
		base := r.figures[b.base][bd.column]
		row[3], row[4] = col.show(base), b.ratio(r, i, bd.column)
		if !bd.absolute {
			most *= base
		}
	}
	unit := " x"
	if bd.absolute {
		unit = ""
	}
	holds := "NO"
	switch {
	case b.base < 0 && !bd.absolute:
		holds = "-"
	case v <= most:
		holds = "yes"
	}
	return append(row, fmt.Sprintf("%.2f%s", bd.most, unit), holds)
}

func (b *bench) markdown() string {
	var s strings.Builder
	s.WriteString("# Measured side by side\n\n")
	for _, l := range b.about {
		s.WriteString("- " + l + "\n")
	}
	s.WriteString("\n## Bounds\n\nRatios are to redis-server, medians of all rounds.\n\n")
	writeTable(&s, b.summary())
	s.WriteString("\n## Figures\n\nLines marked x are ratios to redis-server.\n")
	for _, r := range b.results {
		s.WriteString("\n### " + r.workload + "\n\n")
		writeTable(&s, b.rows(r))
		if r.note != "" {
			s.WriteString("\n" + r.note + "\n")
		}
	}
	return s.String()
}

func writeTable(s *strings.Builder, rows [][]string) {
	for i, row := range rows {
		s.WriteString("| " + strings.Join(row, " | ") + " |\n")
		if i == 0 {
			s.WriteString("|---" + strings.Repeat("|---:", len(row)-1) + "|\n")
		}
	}
}

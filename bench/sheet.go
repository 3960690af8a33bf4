package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// sheet is a table of many rows: each row is one thing that was measured on every server. Ratios
// are to the first server.
type sheet struct {
	servers []string
	columns []column // what a row has for each server
	ranked  int      // the column whose ratio sorts the rows
	rows    []row
}

// row has for each server the median of each column.
type row struct {
	name, group string
	figures     [][]float64
}

// ratio is a figure of a server divided by the first server's. It is not a number where the first
// server's figure is not above 0.
func (s *sheet) ratio(r row, server, column int) float64 {
	base := r.figures[0][column]
	if base <= 0 {
		return math.NaN()
	}
	return r.figures[server][column] / base
}

// worstFirst sorts the rows by the ratio of miniredisd, the largest first. Rows without a ratio
// come last. Nothing is sorted where there is no server to compare with.
func (s *sheet) worstFirst() {
	server := slices.Index(s.servers, ours)
	if server < 1 {
		return
	}
	slices.SortStableFunc(s.rows, func(a, b row) int {
		x, y := s.ratio(a, server, s.ranked), s.ratio(b, server, s.ranked)
		switch {
		case math.IsNaN(x) && math.IsNaN(y):
			return 0
		case math.IsNaN(x):
			return 1
		case math.IsNaN(y) || x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
}

// table has a line for each row: the ratios column by column, then the figures.
func (s *sheet) table() [][]string {
	head := append([]string{"row"}, s.ratioNames()...)
	for _, c := range s.columns {
		for _, name := range s.servers {
			head = append(head, c.name+", "+short(name))
		}
	}
	lines := [][]string{head}
	for _, r := range s.rows {
		lines = append(lines, append([]string{r.name}, s.cells(r)...))
	}
	return lines
}

// ratioNames are the heads of the columns of ratios.
func (s *sheet) ratioNames() (names []string) {
	for _, c := range s.columns {
		for _, name := range s.servers[1:] {
			names = append(names, c.name+" x, "+short(name))
		}
	}
	return names
}

func short(server string) string { return strings.TrimSuffix(server, "-server") }

func (s *sheet) cells(r row) (cells []string) {
	for i := range s.columns {
		for j := range s.servers[1:] {
			cells = append(cells, showRatio(s.ratio(r, j+1, i)))
		}
	}
	for i, c := range s.columns {
		for j := range s.servers {
			cells = append(cells, c.show(r.figures[j][i]))
		}
	}
	return cells
}

func showRatio(v float64) string { return column{format: "%.2f"}.show(v) }

// means has a line for each group of rows, and one for all: the geometric means of the ratios.
func (s *sheet) means() [][]string {
	if len(s.servers) < 2 {
		return nil
	}
	lines := [][]string{append([]string{"geometric mean", "rows"}, s.ratioNames()...)}
	groups := s.groups()
	if len(groups) > 1 {
		groups = append([]string{"all"}, groups...)
	}
	for _, group := range groups {
		lines = append(lines, s.mean(group))
	}
	return lines
}

func (s *sheet) mean(group string) []string {
	var rows []row
	for _, r := range s.rows {
		if group == "all" || r.group == group {
			rows = append(rows, r)
		}
	}
	line := []string{group, fmt.Sprint(len(rows))}
	for i := range s.columns {
		for j := range s.servers[1:] {
			var ratios []float64
			for _, r := range rows {
				ratios = append(ratios, s.ratio(r, j+1, i))
			}
			line = append(line, showRatio(geometricMean(ratios)))
		}
	}
	return line
}

// groups are the names of the groups, in alphabetical order.
func (s *sheet) groups() (names []string) {
	for _, r := range s.rows {
		names = append(names, r.group)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// geometricMean leaves out values without a logarithm. It is not a number where none is left.
func geometricMean(values []float64) float64 {
	sum, n := 0.0, 0
	for _, v := range values {
		if v > 0 {
			sum += math.Log(v)
			n++
		}
	}
	if n == 0 {
		return math.NaN()
	}
	return math.Exp(sum / float64(n))
}

func (s *sheet) print() {
	fmt.Println()
	printTable(s.table())
	if means := s.means(); means != nil {
		fmt.Println()
		printTable(means)
	}
}

// byServer is another layout, for a sheet with one row: a line for each server.
func (s *sheet) byServer() [][]string {
	head := []string{"server"}
	for _, c := range s.columns {
		head = append(head, c.name)
	}
	lines := [][]string{head}
	for i, name := range s.servers {
		line := []string{name}
		for j, c := range s.columns {
			line = append(line, c.show(s.rows[0].figures[i][j]))
		}
		lines = append(lines, line)
	}
	return lines
}

// markdown is the report of a sheet: what was run, the means, and every row.
func (s *sheet) markdown(title string, about []string) string {
	var text strings.Builder
	text.WriteString("# " + title + "\n\n")
	for _, line := range about {
		text.WriteString("- " + line + "\n")
	}
	if means := s.means(); means != nil {
		text.WriteString("\n## Geometric means\n\n")
		writeTable(&text, means)
	}
	text.WriteString("\n## Rows\n\n")
	writeTable(&text, s.table())
	return text.String()
}

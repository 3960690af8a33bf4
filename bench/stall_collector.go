package main

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// collections sums up the lines that Go's runtime writes for GODEBUG=gctrace=1. A collection stops
// the program twice. Between the stops it marks, while the program runs.
type collections struct {
	count   int
	stop    float64 // the longest stop, in ms
	marking float64 // all time between the stops, in ms
	cpu     float64 // CPU time, in ms
}

// figures are the columns of the collector's table, in the order of collectorColumns.
func (c collections) figures() []float64 {
	return []float64{float64(c.count), c.stop, c.marking, c.cpu}
}

func collectorColumns() []column {
	return []column{
		{"longest gap ms", "%.1f"}, {"collections", "%.0f"}, {"longest stop ms", "%.2f"}, {"marking ms", "%.0f"},
		{"collector's CPU ms", "%.0f"},
	}
}

// collector is a table of miniredisd's rows: the longest gap, and the collector's figures.
func (w *watch) collector() [][]string {
	columns := collectorColumns()
	head := []string{"row"}
	for _, c := range columns {
		head = append(head, c.name)
	}
	lines, server := [][]string{head}, slices.Index(w.sheet.servers, ours)
	for _, r := range w.sheet.rows {
		line := []string{r.name}
		for i, c := range columns {
			line = append(line, c.show(r.figures[server][i]))
		}
		lines = append(lines, line)
	}
	return lines
}

// parseCollections reads lines like
//
//	gc 9 @3.2s 1%: 0.02+16+0.01 ms clock, 0.02+0.5/4.1/0+0.01 ms cpu, 46->47->24 MB, ...
//
// The three times of the clock are stop, marking and stop. The times of the CPU are the same, with those
// of marking split up.
func parseCollections(trace string) (c collections) {
	times := regexp.MustCompile(`(?m)^gc \d+ .*: ([\d.+]+) ms clock, ([\d.+/]+) ms cpu`)
	for _, m := range times.FindAllStringSubmatch(trace, -1) {
		clock := numbers(m[1])
		if len(clock) != 3 {
			continue
		}
		c.count++
		c.stop = max(c.stop, clock[0], clock[2])
		c.marking += clock[1]
		for _, ms := range numbers(m[2]) {
			c.cpu += ms
		}
	}
	return c
}

func numbers(text string) (list []float64) {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == '+' || r == '/' }) {
		n, _ := strconv.ParseFloat(word, 64)
		list = append(list, n)
	}
	return list
}

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/bench/chart"
)

// table returns the figures of one cell, with a line for each model.
func (m *matrix) table(at int) [][]string {
	rows := [][]string{{"model", "req/s", "CPU us/req", "executing us/req", "ceiling req/s", "p50 ms", "p99 ms",
		"p99.9 ms"}}
	for i, f := range m.figures[at] {
		rows = append(rows, []string{
			m.models[i].name, fmt.Sprintf("%.0f", f.rate), fmt.Sprintf("%.2f", f.cpu),
			fmt.Sprintf("%.2f", f.executing), f.ceiling(),
			fmt.Sprintf("%.3f", f.p50), fmt.Sprintf("%.3f", f.p99), fmt.Sprintf("%.3f", f.p999),
		})
	}
	return rows
}

// ceiling returns the requests per second of an executing thread that never waits.
func (f figures) ceiling() string {
	if f.executing <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f", 1e6/f.executing)
}

// write writes the report, models.md, and its drawings into dir.
func (m *matrix) write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	drawings, err := m.draw(dir)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "models.md"), []byte(m.markdown(drawings)), 0o644)
}

// drawing is a file beside the report.
type drawing struct{ file, title string }

// measures returns the figures that are drawn over the number of connections.
type measure struct {
	name, title, unit string
	of                func(figures) float64
}

func measures() []measure {
	return []measure{
		{"executing", "CPU of the executing thread per request", "µs", func(f figures) float64 { return f.executing }},
		{"cpu", "CPU of all threads per request", "µs", func(f figures) float64 { return f.cpu }},
		{"rate", "requests per second", "1000/s", func(f figures) float64 { return f.rate / 1e3 }},
		{"p50", "median latency", "ms", func(f figures) float64 { return f.p50 }},
		{"p99", "99th percentile of latency", "ms", func(f figures) float64 { return f.p99 }},
	}
}

func (m *matrix) draw(dir string) ([]drawing, error) {
	var all []drawing
	for _, command := range m.distinct(func(c cell) string { return c.command }) {
		c := m.typical(command)
		d := drawing{"models-" + command + "-bars.svg",
			fmt.Sprintf("%s: CPU time per request, %s", strings.ToUpper(command), c.words())}
		if err := m.bars(c, d.title).Write(filepath.Join(dir, d.file)); err != nil {
			return nil, err
		}
		all = append(all, d)
		for _, what := range measures() {
			d := drawing{"models-" + command + "-" + what.name + ".svg", strings.ToUpper(command) + ": " + what.title}
			if err := m.grid(command, what, d.title).Write(filepath.Join(dir, d.file)); err != nil {
				return nil, err
			}
			all = append(all, d)
		}
	}
	return all, nil
}

func (c cell) words() string {
	return fmt.Sprintf("%d connections, pipeline %d, values of %s", c.clients, c.pipeline, bytesOf(c.size))
}

func bytesOf(n int) string {
	if n >= 1024 && n%1024 == 0 {
		return fmt.Sprintf("%d KB", n/1024)
	}
	return fmt.Sprintf("%d B", n)
}

// typical returns the cell that represents a command: 50 connections, pipeline 1 and values of 1 KB, or
// the nearest cell that was measured.
func (m *matrix) typical(command string) cell {
	distance := func(c cell) int {
		d := 0
		for i, is := range []bool{c.command == command, c.clients == 50, c.pipeline == 1, c.size == 1024} {
			if !is {
				d += 8 >> i
			}
		}
		return d
	}
	return slices.MinFunc(m.cells, func(a, b cell) int { return distance(a) - distance(b) })
}

func (m *matrix) bars(c cell, title string) chart.Bars {
	b := chart.Bars{Title: title, X: "µs per request", Parts: []string{"executing thread", "other threads"}}
	for i, f := range m.figures[slices.Index(m.cells, c)] {
		b.Bars = append(b.Bars, chart.Bar{Name: m.models[i].name,
			Parts: []float64{f.executing, max(f.cpu-f.executing, 0)}})
	}
	return b
}

// grid draws one measure, with a panel for each length of the pipeline and size of values.
func (m *matrix) grid(command string, what measure, title string) chart.Grid {
	g := chart.Grid{Title: title, X: "connections", Y: what.unit}
	sizes := m.distinct(func(c cell) string { return bytesOf(c.size) })
	g.Ticks = m.distinct(func(c cell) string { return fmt.Sprint(c.clients) })
	for _, p := range m.distinct(func(c cell) string { return fmt.Sprint(c.pipeline) }) {
		var row []chart.Panel
		for _, size := range sizes {
			panel := chart.Panel{Title: "pipeline " + p + ", " + size}
			for i, model := range m.models {
				line := chart.Line{Name: model.name, Color: model.kind, Dash: model.dash}
				for at, c := range m.cells {
					if c.command == command && bytesOf(c.size) == size && fmt.Sprint(c.pipeline) == p {
						line.Y = append(line.Y, what.of(m.figures[at][i]))
					}
				}
				panel.Lines = append(panel.Lines, line)
			}
			row = append(row, panel)
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

// distinct lists the different values of a property of the cells, in their order.
func (m *matrix) distinct(of func(cell) string) (values []string) {
	for _, c := range m.cells {
		if v := of(c); !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	return values
}

// quiet is the share of the cores that other programs may want.
const quiet = 0.1

const reading = `- **CPU** is the time that the server's threads ran, as the kernel counts it, divided by the requests.
- **Executing** is the part of it on the thread that executes commands, with all other work of that thread. No second
  thread can take that part over.
- **Ceiling** is the inverse of *executing*: the requests per second of a machine with cores to spare. It leaves out the
  time in which the executing thread waits for other threads, the work of these threads, the network, and whatever gets
  slower when more cores share memory. So a ceiling is a bound, not a promise.
- For **goroutines**, *executing* is the time under the mutex. It leaves out waiting for the mutex and waking others.
- **Requests per second** are what server and load reach together on these cores. A thread that spins while it waits
  pays for that in CPU.
- A **bar** with two white strokes is cut: it is longer than the drawing.
`

func (m *matrix) markdown(drawings []drawing) string {
	var s strings.Builder
	s.WriteString("# One load, several threading models\n\n")
	if m.busy > quiet*float64(runtime.NumCPU()) {
		fmt.Fprintf(&s, "**The machine was busy**: it had a load of %.2f before the run. The figures show that the "+
			"programs work, and no more.\nRepeat the run on a quiet machine: `go run ./bench models`.\n\n", m.busy)
	}
	for i, sentence := range m.conclusions() {
		fmt.Fprintf(&s, "%d. %s\n", i+1, sentence)
	}
	s.WriteString("\n## The run\n\n`go run ./bench models` writes this report.\n\n")
	for _, l := range m.about {
		s.WriteString("- " + l + "\n")
	}
	s.WriteString("\n## The models\n\n")
	for i, model := range m.models {
		fmt.Fprintf(&s, "- **%s**: %s. Executes on %s. `%s`\n", model.name, model.about, m.how[i], model.commandLine())
	}
	s.WriteString("\n## The figures\n\n" + reading)
	if rows := m.bounds(); len(rows) > 1 {
		s.WriteString("\n## Bounds\n\nI/O threads should take at least half of the executing thread's work, and more than " +
			"redis-server's threads\ntake. The figures are the CPU time of the executing thread per request, in " +
			"microseconds.\n\n")
		writeTable(&s, rows)
	}
	s.WriteString("\n## Drawings\n")
	for _, d := range drawings {
		fmt.Fprintf(&s, "\n![%s](%s)\n", d.title, d.file)
	}
	s.WriteString("\n## All figures\n")
	for i, c := range m.cells {
		fmt.Fprintf(&s, "\n### %s, %s\n\n", strings.ToUpper(c.command), c.words())
		writeTable(&s, m.table(i))
	}
	return s.String()
}

func (m model) commandLine() string {
	line := slices.Clone(m.command)
	line[0] = filepath.Base(line[0])
	for i, a := range line {
		line[i] = strings.ReplaceAll(a, "{port}", "PORT")
		if a == "" {
			line[i] = `""`
		}
	}
	return strings.Join(line, " ")
}

// bounds returns what I/O threads have to reach with 50 connections, pipeline 1 and values of 1 KB: the
// executing thread keeps at most half of its work, and less than redis-server's keeps with threads.
func (m *matrix) bounds() [][]string {
	rows := [][]string{{"load", "io-threads-4", "at most", "holds"}}
	at := func(c cell, name string) (figures, bool) {
		i := slices.IndexFunc(m.models, func(m model) bool { return m.name == name })
		if i < 0 {
			return figures{}, false
		}
		return m.figures[slices.Index(m.cells, c)][i], true
	}
	for _, c := range m.cells {
		if c.clients != 50 || c.pipeline != 1 || c.size != 1024 {
			continue
		}
		threads, ok := at(c, "io-threads-4")
		if !ok {
			continue
		}
		for _, b := range []struct {
			than  string
			share float64
		}{{"reactor", 0.5}, {"redis-server-io-4", 1}} {
			if other, ok := at(c, b.than); ok {
				most, holds := b.share*other.executing, "NO"
				if threads.executing <= most {
					holds = "yes"
				}
				rows = append(rows, []string{strings.ToUpper(c.command) + ", " + c.words(),
					fmt.Sprintf("%.2f", threads.executing),
					fmt.Sprintf("%.2f = %g x %s", most, b.share, b.than), holds})
			}
		}
	}
	return rows
}

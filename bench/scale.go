package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/bench/chart"
)

// scaleOptions are the flags of `bench scale`.
type scaleOptions struct {
	programs
	only   string
	rounds int
	short  bool
	out    string
}

// scale is the command scale: how cost grows with what there is more of.
func scale(args []string) error {
	var o scaleOptions
	f := flag.NewFlagSet("scale", flag.ExitOnError)
	o.programs.register(f)
	f.StringVar(&o.only, "only", "", "run the curves whose name matches this `regexp`")
	f.IntVar(&o.rounds, "rounds", 3, "turns of each server per point, of which the median counts")
	f.BoolVar(&o.short, "short", false, "leave out the largest points, and send a tenth of the requests")
	f.StringVar(&o.out, "o", "", "write a report with drawings into this `folder`")
	f.Parse(args)

	only, err := regexp.Compile(o.only)
	if err != nil {
		return err
	}
	bed, err := o.testbed()
	if err != nil {
		return err
	}
	defer os.RemoveAll(bed.tmp)
	g := &growth{contenders: bed.contenders, cores: bed.cores, rounds: o.rounds, share: 1}
	if o.short {
		g.share = 0.1
	}
	if err := g.run(chosenCurves(only, o.short)); err != nil {
		return err
	}
	if o.out == "" {
		return nil
	}
	return g.write(o.out)
}

func chosenCurves(only *regexp.Regexp, short bool) (chosen []curve) {
	for _, c := range curves() {
		if !only.MatchString(c.name) {
			continue
		}
		if short {
			c.points = below(c.points, c.short)
		}
		chosen = append(chosen, c)
	}
	return chosen
}

// below leaves out the points above most.
func below(points []int, most int) (kept []int) {
	for _, x := range points {
		if x <= most {
			kept = append(kept, x)
		}
	}
	return kept
}

// growth is a run of several curves.
type growth struct {
	contenders []contender
	cores      cores
	rounds     int
	share      float64 // of the usual requests
	about      []string
	drawn      []drawnCurve
}

// drawnCurve is a curve with its figures: by line, then server, then point.
type drawnCurve struct {
	curve
	servers []string
	figures [][][]float64
}

func (g *growth) run(chosen []curve) error {
	g.about = []string{
		time.Now().UTC().Format("2006-01-02") + ", " + machine() + ", " + runtime.Version(),
		g.cores.String(),
		fmt.Sprintf("load: own generator, %g of the usual requests, median of %d rounds", g.share, g.rounds),
	}
	fmt.Println(strings.Join(g.about, "\n"))
	most := 0
	for _, c := range chosen {
		if c.sockets {
			most = max(most, c.points[len(c.points)-1])
		}
	}
	files, err := mostFiles(uint64(most + spare))
	if err != nil {
		return err
	}
	for _, c := range chosen {
		if c.sockets {
			c = g.fit(c, int(files)-spare)
		}
		drawn, err := g.draw(c)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		g.drawn = append(g.drawn, drawn)
		for i := range c.lines {
			fmt.Printf("\n%s: %s\n", c.name, c.lines[i])
			printTable(drawn.table(i))
		}
	}
	return nil
}

// fit leaves out points that need more open files than the system allows, and says so.
func (g *growth) fit(c curve, most int) curve {
	kept := below(c.points, most)
	for _, x := range c.points[len(kept):] {
		g.leaveOut(fmt.Sprintf("%s %d: more open files than the system allows", c.name, x))
	}
	c.points = kept
	return c
}

func (g *growth) leaveOut(what string) {
	line := "left out: " + what
	g.about = append(g.about, line)
	fmt.Println(line)
}

// draw measures a curve on fresh servers, which take turns at each point.
func (g *growth) draw(c curve) (drawnCurve, error) {
	d := drawnCurve{curve: c, figures: make([][][]float64, len(c.lines))}
	var servers []*server
	defer func() { stopAll(servers) }()
	for _, contender := range g.contenders {
		s, err := contender.start(g.cores.server)
		if err != nil {
			return d, err
		}
		servers = append(servers, s)
		d.servers = append(d.servers, s.name)
		if err := s.admit(c.points[len(c.points)-1] + spare); c.sockets && err != nil {
			return d, err
		}
		for i := range d.figures {
			d.figures[i] = append(d.figures[i], nil)
		}
	}
	for at, x := range c.points {
		point, err := g.point(c, x, servers)
		switch {
		case err != nil && at == 0:
			return d, fmt.Errorf("%d: %w", x, err)
		case err != nil: // one server that gives up must not cost the report
			g.leaveOut(fmt.Sprintf("%s from %d on: %v", c.name, x, err))
			d.points = c.points[:at]
			return d, nil
		}
		for server, lines := range point {
			for line, v := range lines {
				d.figures[line][server] = append(d.figures[line][server], v)
			}
		}
	}
	return d, nil
}

// point returns the medians at one point: by server, then line.
func (g *growth) point(c curve, x int, servers []*server) ([][]float64, error) {
	samples := make([][][]float64, len(servers))
	for range g.rounds {
		for i, s := range servers {
			v, err := c.measure(s, x, g.share)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
			samples[i] = append(samples[i], v)
		}
	}
	return medians(samples), nil
}

// bend is how much a ratio to the first server may grow above its lowest value at smaller points.
const bend = 1.25

// table has a line for each point. It marks the points where a server's curve bends away from the
// first server's: the ratio has grown, and is above 1.
func (d *drawnCurve) table(line int) [][]string {
	head := []string{d.quantity}
	for _, name := range d.servers {
		head = append(head, "CPU us, "+short(name))
	}
	for _, name := range d.servers[1:] {
		head = append(head, "x, "+short(name))
	}
	rows := [][]string{head}
	lowest := make([]float64, len(d.servers))
	for at, x := range d.points {
		row := []string{strconv.Itoa(x)}
		for _, figures := range d.figures[line] {
			row = append(row, fmt.Sprintf("%.2f", figures[at]))
		}
		base := d.figures[line][0][at]
		for i, figures := range d.figures[line][1:] {
			ratio := figures[at] / base
			cell := showRatio(ratio)
			if at > 0 && ratio > 1 && ratio > bend*lowest[i] {
				cell += " bends"
			}
			if at == 0 || ratio < lowest[i] {
				lowest[i] = ratio
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	return rows
}

// write makes the folder of the report: scale.md and its drawings.
func (g *growth) write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var text strings.Builder
	text.WriteString("# How cost grows\n\n")
	for _, line := range g.about {
		text.WriteString("- " + line + "\n")
	}
	fmt.Fprintf(&text, "\nCPU is user and system time of the server per request. A ratio is to the first server. "+
		"A curve bends where its ratio is above 1 and more than %g times the lowest ratio at smaller points.\n", bend)
	for _, d := range g.drawn {
		file := "scale-" + d.name + ".svg"
		if err := d.grid().Write(filepath.Join(dir, file)); err != nil {
			return err
		}
		fmt.Fprintf(&text, "\n## %s\n\n%s\n\n![%s](%s)\n", d.name, d.note, d.name, file)
		for i, line := range d.lines {
			fmt.Fprintf(&text, "\n### %s: %s\n\n", d.name, line)
			writeTable(&text, d.table(i))
		}
	}
	return os.WriteFile(filepath.Join(dir, "scale.md"), []byte(text.String()), 0o644)
}

// grid is the drawing: a panel for each line. The points are powers, so that an axis with equal
// steps between them is logarithmic.
func (d *drawnCurve) grid() chart.Grid {
	grid := chart.Grid{Title: "CPU time per request", X: d.quantity, Y: "µs", Rows: make([][]chart.Panel, 1)}
	grid.Ticks = labels(d.points)
	for i, line := range d.lines {
		panel := chart.Panel{Title: line}
		for j, name := range d.servers {
			panel.Lines = append(panel.Lines, chart.Line{Name: name, Color: j, Y: d.figures[i][j]})
		}
		grid.Rows[0] = append(grid.Rows[0], panel)
	}
	return grid
}

// widestAxis is how many characters fit below a panel.
const widestAxis = 24

// labels are the ticks of the points. Where all of them would not fit, every second one is empty.
func labels(points []int) (all []string) {
	wide := 0
	for _, x := range points {
		all = append(all, tick(x))
		wide += len(tick(x))
	}
	for i := 1; i < len(all) && wide > widestAxis; i += 2 {
		all[i] = ""
	}
	return all
}

// tick is a short form of a number: powers of two are written with K and M, powers of ten with k
// and m.
func tick(x int) string {
	for _, unit := range []struct {
		size int
		name string
	}{{1 << 20, "Mi"}, {1_000_000, "M"}, {1 << 10, "Ki"}, {1_000, "k"}} {
		if x >= unit.size && x%unit.size == 0 {
			return strconv.Itoa(x/unit.size) + unit.name
		}
	}
	return strconv.Itoa(x)
}

package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// footprint is the command memory: what one element of each shape of data costs.
func footprint(args []string) error {
	var o rowOptions
	f := flag.NewFlagSet("memory", flag.ExitOnError)
	o.register(f, 1, "servers that each row starts", "elements, as a `share` of the usual number")
	f.Parse(args)

	only, err := regexp.Compile(o.only)
	if err != nil {
		return err
	}
	if o.list {
		for _, s := range shapes(o.scale) {
			fmt.Println(s.name)
		}
		fmt.Println(flushRow)
		return nil
	}
	bed, err := o.testbed()
	if err != nil {
		return err
	}
	defer os.RemoveAll(bed.tmp)
	w := &weighing{
		contenders: bed.contenders, cores: bed.cores, rounds: o.rounds, settle: 5 * time.Second, share: o.scale,
		flushed: 600, watch: []time.Duration{5 * time.Second, 10 * time.Second},
	}
	if err := w.run(only); err != nil {
		return err
	}
	return w.publish(o.out)
}

// shape is one way to fill a server. A row of the table divides the memory by its elements.
type shape struct {
	name     string
	elements int
	data     data
}

// weighing starts a fresh server for every shape: memory that was freed before would count, too.
type weighing struct {
	contenders []contender
	cores      cores
	rounds     int
	share      float64         // of the usual elements
	settle     time.Duration   // between the last reply and the look at the memory
	flushed    float64         // MiB that are there before FLUSHALL
	watch      []time.Duration // after FLUSHALL
	sheet      sheet
	flushes    *sheet // nil where -only leaves the row out
	about      []string
}

const flushRow = "FLUSHALL"

func (w *weighing) run(only *regexp.Regexp) error {
	if err := w.describe(); err != nil {
		return err
	}
	for _, s := range shapes(w.share) {
		if !only.MatchString(s.name) {
			continue
		}
		figures, err := w.each(func(server *server) ([]float64, error) { return w.weigh(server, s) })
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		measured := row{s.name, "all", figures}
		w.sheet.rows = append(w.sheet.rows, measured)
		fmt.Printf("%-24s %s\n", s.name, strings.Join(w.sheet.cells(measured), "  "))
	}
	if !only.MatchString(flushRow) {
		return nil
	}
	figures, err := w.each(w.flush)
	if err != nil {
		return fmt.Errorf("%s: %w", flushRow, err)
	}
	w.flushes = &sheet{servers: w.sheet.servers, columns: []column{{"MiB before", "%.0f"}}}
	for _, d := range w.watch {
		w.flushes.columns = append(w.flushes.columns, column{"MiB after " + d.String(), "%.0f"})
	}
	w.flushes.rows = []row{{flushRow, "all", figures}}
	return nil
}

func (w *weighing) describe() error {
	w.about = []string{
		time.Now().UTC().Format("2006-01-02") + ", " + machine() + ", " + runtime.Version(),
		fmt.Sprintf("VmRSS %s after the last reply, median of %d servers, %g of the usual elements",
			w.settle, w.rounds, w.share),
	}
	w.sheet = sheet{columns: []column{
		{"bytes/element", "%.1f"}, {"counted/element", "%.1f"}, {"RSS MiB", "%.1f"}, {"RSS MiB at once", "%.1f"},
	}}
	for _, c := range w.contenders {
		s, err := c.start(w.cores.server)
		if err != nil {
			return err
		}
		w.about = append(w.about, fmt.Sprintf("%s, empty: %.1f MiB", s.describe(), s.rss()))
		w.sheet.servers = append(w.sheet.servers, c.name)
		s.stop()
	}
	for _, line := range w.about {
		fmt.Println(line)
	}
	return nil
}

func (w *weighing) each(measure func(*server) ([]float64, error)) ([][]float64, error) {
	b := &bench{contenders: w.contenders, cores: w.cores}
	return b.each(w.rounds, measure)
}

// weigh returns the bytes per element above the empty server, as the kernel sees them and as the
// server counts them, and all resident memory in MiB: when the server has been idle, and before that.
func (w *weighing) weigh(server *server, s shape) ([]float64, error) {
	c, err := dial(server.addr)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	empty := server.rss()
	counted, err := server.counted()
	if err != nil {
		return nil, err
	}
	if err := c.stream(s.data); err != nil {
		return nil, err
	}
	atOnce := server.rss()
	time.Sleep(w.settle)
	full := server.rss()
	countedFull, err := server.counted()
	n := float64(s.elements)
	return []float64{(full - empty) * (1 << 20) / n, (countedFull - counted) / n, full, atOnce}, err
}

// counted is what the server itself says that it uses, in bytes.
func (s *server) counted() (float64, error) {
	info, err := s.info()
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(info["used_memory"], 64)
}

// flush fills a server, empties it, and returns its memory before and at each time of w.watch.
func (w *weighing) flush(s *server) ([]float64, error) {
	c, err := dial(s.addr)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	const step = 20_000
	full := s.rss()
	for filled := 0; full < w.flushed; filled += step {
		err := c.stream(each(step, func(i int) []string {
			return []string{"SET", "key:" + padded(filled+i),
				flushValue()}
		}))
		if err != nil {
			return nil, err
		}
		full = s.rss()
	}
	figures := []float64{full}
	if err := c.pipe([][]string{{"FLUSHALL"}}); err != nil {
		return nil, err
	}
	began := time.Now()
	for _, d := range w.watch {
		time.Sleep(d - time.Since(began))
		figures = append(figures, s.rss())
	}
	return figures, nil
}

// flushValue is a value of 200 bytes: many small blocks, which are hard to give back.
func flushValue() string { return strings.Repeat("x", 200) }

func (w *weighing) publish(out string) error {
	w.sheet.worstFirst()
	w.sheet.print()
	text := w.sheet.markdown("Memory, shape by shape", w.about)
	if w.flushes != nil {
		fmt.Println()
		printTable(w.flushes.byServer())
		var section strings.Builder
		fmt.Fprintf(&section, "\n## FLUSHALL of %.0f MiB\n\n", w.flushed)
		writeTable(&section, w.flushes.byServer())
		text += section.String()
	}
	if out == "" {
		return nil
	}
	return os.WriteFile(out, []byte(text), 0o644)
}

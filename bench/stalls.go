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
)

// stalls is the command stalls: how long one client's work holds up another client.
func stalls(args []string) error {
	var o rowOptions
	f := flag.NewFlagSet("stalls", flag.ExitOnError)
	o.register(f, 3, "servers that each row starts", "sizes and times, as a `share` of the usual ones")
	f.Parse(args)

	only, err := regexp.Compile(o.only)
	if err != nil {
		return err
	}
	if o.list {
		for _, r := range stallRows(o.scale) {
			fmt.Printf("%-28s needs %.0f MiB\n", r.name, r.memory)
		}
		return nil
	}
	bed, err := o.testbed()
	if err != nil {
		return err
	}
	defer os.RemoveAll(bed.tmp)
	w := &watch{contenders: bed.contenders, cores: bed.cores, rounds: o.rounds, share: o.scale, log: logIn(bed.tmp)}
	if err := w.run(only, available()); err != nil {
		return err
	}
	return w.publish(o.out)
}

// stallRow is work for a server, beside which another client pings.
type stallRow struct {
	name   string
	memory float64             // MiB that must be free
	fill   func(c *conn) error // before the pings
	work   func(c *conn) error // beside the pings
}

// watch measures rows. Each row has a fresh server: what was freed before would change its figures.
type watch struct {
	contenders []contender
	cores      cores
	rounds     int
	share      float64
	log        string // where miniredisd writes its collections
	sheet      sheet
	about      []string
}

func logIn(tmp string) string { return filepath.Join(tmp, "collections") }

// available is the memory in MiB that programs can still take.
func available() float64 {
	kb, _ := strconv.ParseFloat(procField("/proc/meminfo", "MemAvailable"), 64)
	return kb / 1024
}

// run measures the rows that only matches, and that need at most free MiB.
func (w *watch) run(only *regexp.Regexp, free float64) error {
	for i, c := range w.contenders {
		w.sheet.servers = append(w.sheet.servers, c.name)
		if c.name == ours {
			w.contenders[i].log, w.contenders[i].env = w.log, []string{"GODEBUG=gctrace=1"}
		}
	}
	w.sheet.columns = []column{{"longest gap ms", "%.1f"}}
	w.about = []string{
		time.Now().UTC().Format("2006-01-02") + ", " + machine() + ", " + runtime.Version(),
		w.cores.String(),
		fmt.Sprintf("a PING every %s, median of %d servers, %g of the usual sizes", pingEvery, w.rounds, w.share),
	}
	fmt.Println(strings.Join(w.about, "\n"))
	b := &bench{contenders: w.contenders, cores: w.cores}
	for _, r := range stallRows(w.share) {
		if !only.MatchString(r.name) {
			continue
		}
		if r.memory > free {
			w.skip(r, free)
			continue
		}
		figures, err := b.each(w.rounds, func(s *server) ([]float64, error) { return w.measure(s, r) })
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		measured := row{r.name, "all", figures}
		w.sheet.rows = append(w.sheet.rows, measured)
		fmt.Printf("%-28s %s\n", r.name, strings.Join(w.sheet.cells(measured), "  "))
	}
	return nil
}

func (w *watch) skip(r stallRow, free float64) {
	line := fmt.Sprintf("skipped: %s: it needs %.0f MiB, and %.0f are available", r.name, r.memory, free)
	w.about = append(w.about, line)
	fmt.Println(line)
}

// measure returns the longest gap in ms, and after it the collector's figures.
func (w *watch) measure(s *server, r stallRow) ([]float64, error) {
	c, err := dial(s.addr)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if err := r.fill(c); err != nil {
		return nil, err
	}
	before, err := w.collected(s)
	if err != nil {
		return nil, err
	}
	p, err := startPinger(s.addr)
	if err != nil {
		return nil, err
	}
	worked := r.work(c)
	time.Sleep(afterWork)
	gap, err := p.stop()
	if worked != nil {
		return nil, worked
	}
	if err != nil {
		return nil, err
	}
	all, err := w.collected(s)
	if err != nil {
		return nil, err
	}
	during := parseCollections(strings.TrimPrefix(all, before))
	return append([]float64{milliseconds(gap)}, during.figures()...), nil
}

// collected is what s has written about its collections so far.
func (w *watch) collected(s *server) (string, error) {
	if s.name != ours {
		return "", nil
	}
	text, err := os.ReadFile(w.log)
	return string(text), err
}

// afterWork is for what a server does when the work is over: it frees memory, for example.
const afterWork = 50 * time.Millisecond

func milliseconds(d time.Duration) float64 { return float64(d) / 1e6 }

func (w *watch) publish(out string) error {
	w.sheet.worstFirst()
	w.sheet.print()
	collector := w.collector()
	fmt.Println()
	printTable(collector)
	if out == "" {
		return nil
	}
	text := strings.Builder{}
	text.WriteString(w.sheet.markdown("What holds other clients up", w.about))
	text.WriteString("\n## The collector of miniredisd in these rows\n\n")
	writeTable(&text, collector)
	return os.WriteFile(out, []byte(text.String()), 0o644)
}

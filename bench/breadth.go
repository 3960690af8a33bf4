package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// breadthOptions are the flags of `bench breadth` and `bench tails`.
type breadthOptions struct {
	rowOptions
	own bool
}

// rowOptions are the flags that the commands with rows have in common.
type rowOptions struct {
	programs
	only   string
	rounds int
	scale  float64
	out    string
	list   bool
}

// register adds the flags to f. turns and amounts say what rounds and scale are about.
func (o *rowOptions) register(f *flag.FlagSet, rounds int, turns, amounts string) {
	o.programs.register(f)
	f.StringVar(&o.only, "only", "", "run the rows whose name matches this `regexp`")
	f.IntVar(&o.rounds, "rounds", rounds, turns+", of which the median counts")
	f.Float64Var(&o.scale, "scale", 1, amounts)
	f.StringVar(&o.out, "o", "", "write a report in Markdown to this `file`")
	f.BoolVar(&o.list, "list", false, "list the rows and run none")
}

// parse reads the flags of a command that sends requests in turns.
func (o *breadthOptions) parse(name string, rounds int, args []string) {
	f := flag.NewFlagSet(name, flag.ExitOnError)
	o.register(f, rounds, "turns of each server per row", "requests of a turn, as a `share` of the usual number")
	f.BoolVar(&o.own, "own", false, "use the generator of this program although redis-benchmark is installed")
	f.Parse(args)
}

// breadth is the command breadth: the CPU time per request of many commands.
func breadth(args []string) error {
	var o breadthOptions
	o.parse("breadth", 3, args)
	rows, err := selectRows(breadthRows(), o.only)
	if err != nil {
		return err
	}
	if o.list {
		printRows(rows)
		return nil
	}
	bed, err := o.testbed()
	if err != nil {
		return err
	}
	defer os.RemoveAll(bed.tmp)
	program, err := build(bed.tmp, "bench/floor") // before the rows: a failure after them would cost the report
	if err != nil {
		return err
	}
	b := &turns{contenders: bed.contenders, cores: bed.cores, load: findLoad(o.own), rounds: o.rounds, scale: o.scale}
	if err := b.runRows(rows); err != nil {
		return err
	}
	if err := b.addFloor(program, bed.tmp); err != nil {
		return err
	}
	return b.publish("CPU per request, row by row", o.out)
}

// breadthRow is a command with the load that measures it.
type breadthRow struct {
	workload
	group    string
	n        int // requests of a turn
	pipeline int
	clients  int    // 20 where it is 0
	keys     int    // different numbers in place of __rand_int__; 100,000 where it is 0
	data     []data // sent before each turn
}

func selectRows(all []breadthRow, only string) (rows []breadthRow, err error) {
	match, err := regexp.Compile(only)
	if err != nil {
		return nil, err
	}
	for _, r := range all {
		if match.MatchString(r.name) {
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("-only %s: no row has such a name", only)
	}
	return rows, nil
}

func printRows(rows []breadthRow) {
	for _, r := range rows {
		fmt.Printf("%-24s %-24s %7d requests, pipeline %d\n", r.group, r.name, r.n, r.pipeline)
	}
}

// prepare empties the server and sends the data of the row.
func (r breadthRow) prepare(addr string, n int) error {
	if err := r.workload.prepare(addr, r.keys, n); err != nil {
		return err
	}
	c, err := dial(addr)
	if err != nil {
		return err
	}
	defer c.Close()
	for _, d := range r.data {
		if err := c.stream(d); err != nil {
			return err
		}
	}
	return nil
}

// turns is a run in which the servers take turns at each row. All servers run from its beginning to
// its end.
type turns struct {
	contenders []contender
	cores      cores
	load       load
	rounds     int
	scale      float64
	latencies  bool // measure latencies in place of CPU time and rate
	quiet      bool // print nothing
	sheet      sheet
	about      []string
}

func (t *turns) say(format string, args ...any) {
	if !t.quiet {
		fmt.Printf(format+"\n", args...)
	}
}

// columns are the columns of breadth and floor, or of tails.
func (t *turns) columns() []column {
	if t.latencies {
		return []column{{"p50 ms", "%.3f"}, {"p99 ms", "%.3f"}, {"p99.9 ms", "%.3f"}}
	}
	return []column{{"CPU us/req", "%.2f"}, {"req/s", "%.0f"}}
}

func (t *turns) runRows(rows []breadthRow) error {
	t.sheet = sheet{columns: t.columns(), ranked: t.sheet.ranked}
	t.about = []string{
		time.Now().UTC().Format("2006-01-02") + ", " + machine() + ", " + runtime.Version(),
		t.cores.String(),
		fmt.Sprintf("load: %s, %g of the usual requests, median of %d rounds", t.load.name, t.scale, t.rounds),
	}
	var servers []*server
	defer func() { stopAll(servers) }()
	for _, c := range t.contenders {
		s, err := c.start(t.cores.server)
		if err != nil {
			return err
		}
		servers = append(servers, s)
		t.sheet.servers = append(t.sheet.servers, c.name)
		t.about = append(t.about, s.describe())
	}
	t.say("%s", strings.Join(t.about, "\n"))
	for i, r := range rows {
		measured, err := t.measure(r, servers)
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		t.sheet.rows = append(t.sheet.rows, measured)
		t.say("%3d/%d  %-26s %s", i+1, len(rows), r.name, strings.Join(t.sheet.cells(measured), "  "))
	}
	return nil
}

func (t *turns) measure(r breadthRow, servers []*server) (row, error) {
	if r.clients == 0 {
		r.clients = 20
	}
	if r.keys == 0 {
		r.keys = 100_000
	}
	n := max(int(float64(r.n)*t.scale), r.clients*r.pipeline)
	samples := make([][][]float64, len(servers))
	for range t.rounds {
		for i, s := range servers {
			if err := r.prepare(s.addr, n); err != nil {
				return row{}, fmt.Errorf("preparing %s: %w", s.name, err)
			}
			before := s.cpu()
			got, err := t.load.run(s.addr, job{args: r.args, n: n, clients: r.clients, pipeline: r.pipeline,
				keys: r.keys})
			if err != nil {
				return row{}, fmt.Errorf("%s: %w", s.name, err)
			}
			used := float64((s.cpu() - before).Nanoseconds()) / 1e3
			figures := []float64{used / float64(got.requests), got.rate}
			if t.latencies {
				figures = []float64{got.p50, got.p99, got.p999}
			}
			samples[i] = append(samples[i], figures)
		}
	}
	return row{r.name, r.group, medians(samples)}, nil
}

// publish prints the sheet and writes the report, with the worst rows of miniredisd first.
func (t *turns) publish(title, out string) error {
	t.sheet.worstFirst()
	t.sheet.print()
	if out == "" {
		return nil
	}
	return os.WriteFile(out, []byte(t.sheet.markdown(title, t.about)), 0o644)
}

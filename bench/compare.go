package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

type options struct {
	workloads string
	pipelines string
	n         int
	rounds    int
	clients   int
	keys      int
	out       string
	idle      time.Duration
	own       bool
}

func compare(args []string) error {
	var o options
	f := flag.NewFlagSet("compare", flag.ExitOnError)
	f.StringVar(&o.workloads, "w", "all", "workloads, comma-separated: "+strings.Join(workloadNames(), " "))
	f.StringVar(&o.pipelines, "P", "16,1", "pipeline lengths, comma-separated")
	f.IntVar(&o.n, "n", 400000, "requests per turn at a pipeline above 1; a quarter of them without pipeline")
	f.IntVar(&o.rounds, "r", 3, "rounds: turns of each server per workload")
	f.IntVar(&o.clients, "c", 50, "connections")
	f.IntVar(&o.keys, "keys", 100000, "different keys (or fields, or members)")
	f.StringVar(&o.out, "o", "", "write the results to this file as Markdown")
	f.DurationVar(&o.idle, "idle", 10*time.Second, "how long the idle workload watches")
	f.BoolVar(&o.own, "own", false, "use the generator of this program although redis-benchmark is installed")
	f.Parse(args)

	tmp, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	contenders, err := contend(tmp, f.Args())
	if err != nil {
		return err
	}
	cores, err := pinLoad()
	if err != nil {
		return err
	}
	b := &bench{options: o, contenders: contenders, cores: cores, load: findLoad(o.own),
		base: slices.IndexFunc(contenders, isRedis)}
	b.describe(os.Stdout)
	if err := b.run(); err != nil {
		return err
	}
	fmt.Println("\nbounds")
	printTable(b.summary())
	if o.out == "" {
		return nil
	}
	return os.WriteFile(o.out, []byte(b.markdown()), 0o644)
}

// contend lists the contenders: miniredisd built from this module, redis-server if it is installed,
// and the named ones.
func contend(tmp string, named []string) ([]contender, error) {
	bin, err := build(tmp, "cmd/miniredisd")
	if err != nil {
		return nil, err
	}
	list := []contender{{name: ours, command: []string{bin, "--port", "{port}", "--save", ""}, dir: tmp}}
	if path, err := exec.LookPath("redis-server"); err == nil {
		list = slices.Insert(list, 0, contender{name: "redis-server", dir: tmp,
			command: []string{path, "--port", "{port}", "--save", "", "--bind", "127.0.0.1"}})
	} else {
		fmt.Println("redis-server is not installed: no ratios to it")
	}
	for _, s := range named {
		name, command, ok := strings.Cut(s, "=")
		if !ok {
			return nil, fmt.Errorf("%q is not NAME=COMMAND", s)
		}
		list = append(list, contender{name: name, command: strings.Fields(command), dir: tmp})
	}
	return list, nil
}

// ours is the contender that is built from this module.
const ours = "miniredisd"

func isRedis(c contender) bool { return c.name == "redis-server" }

type bench struct {
	options
	contenders []contender
	base       int // index of the contender the ratios refer to, -1 if none
	cores      cores
	load       load
	results    []result
	about      []string
}

// result holds the results of one workload: for each contender the median of every figure.
type result struct {
	workload string
	columns  []column
	figures  [][]float64 // by contender, then column
	bounds   []bound
	note     string
}

type column struct {
	name   string
	format string
}

// bound is the highest allowed value of a figure: a ratio to the base, or an absolute value.
type bound struct {
	column   int
	most     float64
	absolute bool
}

func (b *bench) run() error {
	loads, specials, err := b.selected()
	if err != nil {
		return err
	}
	if len(loads) > 0 {
		if err := b.runLoads(loads); err != nil {
			return err
		}
	}
	for _, s := range specials {
		fmt.Printf("%s ...\n", s.name)
		r, err := s.run(b)
		var why skipped
		if errors.As(err, &why) {
			b.skip(s.name, why)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		b.report(r)
	}
	return nil
}

// skipped returns why a workload cannot run here, or "".
type skipped string

func (s skipped) Error() string { return string(s) }

func (b *bench) skip(workload string, why skipped) {
	line := "skipped: " + workload + ": " + why.Error()
	b.about = append(b.about, line)
	fmt.Println(line)
}

func (b *bench) runLoads(loads []workload) error {
	servers, err := b.startAll()
	defer stopAll(servers)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%d workloads at pipelines %s in %d rounds, and a line for each when it is done\n",
		len(loads), b.pipelines, b.rounds)
	for _, p := range strings.Split(b.pipelines, ",") {
		pipeline, err := strconv.Atoi(p)
		if err != nil || pipeline < 1 {
			return fmt.Errorf("-P %s: not a pipeline length", p)
		}
		for _, w := range loads {
			r, err := b.measure(w, pipeline, servers)
			if err != nil {
				return fmt.Errorf("%s P%d: %w", w.name, pipeline, err)
			}
			b.report(r)
		}
	}
	return nil
}

func (b *bench) startAll() ([]*server, error) {
	var servers []*server
	for _, c := range b.contenders {
		s, err := c.start(b.cores.server)
		if err != nil {
			return servers, err
		}
		servers = append(servers, s)
		b.about = append(b.about, s.describe())
		fmt.Println(s.describe())
	}
	return servers, nil
}

func stopAll(servers []*server) {
	for _, s := range servers {
		s.stop()
	}
}

var loadColumns = []column{
	{"req/s", "%.0f"}, {"CPU us/req", "%.3f"}, {"p50 ms", "%.3f"}, {"p99 ms", "%.3f"}, {"p99.9 ms", "%.3f"},
}

func (b *bench) measure(w workload, pipeline int, servers []*server) (result, error) {
	r := result{workload: fmt.Sprintf("%s P%d", w.name, pipeline), columns: loadColumns, bounds: w.bounds(pipeline)}
	n := b.n
	if pipeline == 1 {
		n /= 4
	}
	n /= max(w.weight, 1)
	samples := make([][][]float64, len(servers))
	for range b.rounds {
		for i, s := range servers {
			if err := w.prepare(s.addr, b.keys, n); err != nil {
				return r, fmt.Errorf("preparing %s: %w", b.contenders[i].name, err)
			}
			before := s.cpu()
			run := b.load.run
			if w.own() {
				run = ownLoad
			}
			got, err := run(s.addr, job{args: w.args, batch: w.batch, once: w.once, n: n, clients: b.clients,
				pipeline: pipeline, keys: b.keys})
			if err != nil {
				return r, fmt.Errorf("%s: %w", b.contenders[i].name, err)
			}
			used := s.cpu() - before
			samples[i] = append(samples[i], []float64{got.rate,
				float64(used.Nanoseconds()) / 1e3 / float64(got.requests), got.p50, got.p99, got.p999})
		}
	}
	r.figures = medians(samples)
	return r, nil
}

// medians reduces [contender][round][column] to [contender][column].
func medians(samples [][][]float64) [][]float64 {
	out := make([][]float64, len(samples))
	for i, rounds := range samples {
		for col := range rounds[0] {
			var v []float64
			for _, r := range rounds {
				v = append(v, r[col])
			}
			slices.Sort(v)
			out[i] = append(out[i], (v[len(v)/2]+v[(len(v)-1)/2])/2)
		}
	}
	return out
}

func (b *bench) describe(w io.Writer) {
	b.about = append(b.about,
		time.Now().UTC().Format("2006-01-02")+", "+machine()+", "+runtime.Version(),
		b.cores.String(),
		fmt.Sprintf("load: %s, %d connections, %d keys, %d requests a turn (P1: a quarter), median of %d rounds",
			b.load.name, b.clients, b.keys, b.n, b.rounds))
	for _, l := range b.about {
		fmt.Fprintln(w, l)
	}
}

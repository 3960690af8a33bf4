package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// model is a way to spread a server's work over threads.
type model struct {
	name  string
	about string // for the report
	kind  int    // the colour: models of one kind are the same idea in several programs
	dash  int    // the dashes: one for each program
	// program and arguments; {port} stands for the port
	command []string
}

// modelOptions are the flags of `bench models`.
type modelOptions struct {
	models, commands          string
	clients, pipelines, sizes string
	n, rounds, keys           int
	turn                      time.Duration
	out                       string
	own                       bool
}

func models(args []string) error {
	var o modelOptions
	f := flag.NewFlagSet("models", flag.ExitOnError)
	f.StringVar(&o.models, "models", "all", "models, separated by commas; the report names them")
	f.StringVar(&o.commands, "w", "get,set", "commands, separated by commas: get set")
	f.StringVar(&o.clients, "c", "1,10,50,500", "numbers of connections, separated by commas")
	f.StringVar(&o.pipelines, "P", "1,16", "lengths of the pipeline, separated by commas")
	f.StringVar(&o.sizes, "d", "32,1024,16384", "sizes of values in bytes, separated by commas")
	f.IntVar(&o.n, "n", 0, "requests of a turn; 0 means as many as fit into -t")
	f.DurationVar(&o.turn, "t", 700*time.Millisecond, "the approximate length of a turn")
	f.IntVar(&o.rounds, "r", 3, "rounds: turns of each model in each cell; the report has their median")
	f.IntVar(&o.keys, "keys", 1000, "different keys")
	f.StringVar(&o.out, "o", "bench/report", "folder for the report; empty means no report")
	f.BoolVar(&o.own, "own", false, "use this program's own load even if redis-benchmark is installed")
	f.Parse(args)

	cells, err := o.cells()
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	lineup, err := o.lineup(tmp)
	if err != nil {
		return err
	}
	m := &matrix{modelOptions: o, models: lineup, cells: cells, load: findLoad(o.own)}
	if err := m.run(tmp); err != nil {
		return err
	}
	if o.out == "" {
		return nil
	}
	return m.write(o.out)
}

// cell is one load.
type cell struct {
	command                 string
	clients, pipeline, size int
}

func (c cell) String() string {
	return fmt.Sprintf("%s c%d P%d d%d", c.command, c.clients, c.pipeline, c.size)
}

// job returns a job of n requests. The value is an argument of redis-benchmark, and 16 KB fit there.
func (c cell) job(n, keys int) job {
	args := []string{"GET", "key:__rand_int__"}
	if c.command == "set" {
		args = c.fill()
	}
	return job{args: args, n: n, clients: c.clients, pipeline: c.pipeline, keys: keys}
}

func (c cell) fill() []string {
	return []string{"SET", "key:__rand_int__", strings.Repeat("x", c.size)}
}

func (o *modelOptions) cells() (cells []cell, err error) {
	var clients, pipelines, sizes []int
	for _, l := range []struct {
		flag, text string
		to         *[]int
	}{{"c", o.clients, &clients}, {"P", o.pipelines, &pipelines}, {"d", o.sizes, &sizes}} {
		for _, word := range strings.Split(l.text, ",") {
			n, err := strconv.Atoi(word)
			if err != nil || n < 1 {
				return nil, fmt.Errorf("-%s %s: not a list of numbers", l.flag, l.text)
			}
			*l.to = append(*l.to, n)
		}
	}
	for _, command := range strings.Split(o.commands, ",") {
		if command != "get" && command != "set" {
			return nil, fmt.Errorf("-w %s: not of get and set", o.commands)
		}
		for _, size := range sizes {
			for _, p := range pipelines {
				for _, c := range clients {
					cells = append(cells, cell{command, c, p, size})
				}
			}
		}
	}
	return cells, nil
}

// allModels returns the models that this machine can run. server and others are the paths of miniredisd
// and of bench/models.
func allModels(server, others string) []model {
	list := []model{
		{"reactor", "miniredisd: one goroutine reads, executes and writes", 0, 0,
			[]string{server, "--port", "{port}", "--save", ""}},
	}
	redisLike := func(prefix, program string, dash int, plain []string) {
		for i, n := range []string{"2", "4"} {
			about := fmt.Sprintf("%s: %s threads read, parse and write; one of them executes", program, n)
			list = append(list, model{prefix + n, about, 1 + i, dash,
				slices.Concat(plain, []string{"--io-threads", n, "--io-threads-do-reads", "yes"})})
		}
	}
	redisLike("io-threads-", "miniredisd", 0, list[0].command)
	list = append(list,
		model{"goroutines", "a goroutine per connection (redcon), the executor behind a mutex", 3, 0,
			[]string{others, "goroutines", "127.0.0.1:{port}"}},
		model{"queue", "a reactor goroutine that feeds an executor goroutine through a channel", 4, 0,
			[]string{others, "queue", "127.0.0.1:{port}"}},
		model{"owners", "3 threads own clients, as in Redis 8; main executes what they hand over in a list", 5, 0,
			[]string{others, "owners", "127.0.0.1:{port}"}},
		model{"rings", "main owns all clients, as in Valkey 8, and gives single jobs to 3 threads", 6, 0,
			[]string{others, "rings", "127.0.0.1:{port}"}})
	for i, name := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(name); err == nil {
			plain := []string{path, "--port", "{port}", "--save", "", "--bind", "127.0.0.1"}
			list = append(list, model{name, name + ": one thread reads, executes and writes", 0, 1 + i, plain})
			redisLike(name+"-io-", name, 1+i, plain)
		}
	}
	return list
}

// lineup builds miniredisd and bench/models, and returns the models that -models names.
func (o *modelOptions) lineup(tmp string) ([]model, error) {
	for _, program := range []string{"cmd/miniredisd", "bench/models"} {
		if _, err := build(tmp, program); err != nil {
			return nil, err
		}
	}
	list := allModels(filepath.Join(tmp, "miniredisd"), filepath.Join(tmp, "models"))
	if o.models == "all" {
		return list, nil
	}
	var names []string
	for _, m := range list {
		names = append(names, m.name)
	}
	var chosen []model
	for _, name := range strings.Split(o.models, ",") {
		i := slices.Index(names, name)
		if i < 0 {
			return nil, fmt.Errorf("-models %s: not one of %s", name, strings.Join(names, " "))
		}
		chosen = append(chosen, list[i])
	}
	return chosen, nil
}

// figures has the results of one model in one cell. CPU time is in microseconds for a request, latency
// in milliseconds, rate in requests per second.
type figures struct {
	rate, cpu, executing, p50, p99, p999 float64
}

// matrix holds the results of every model in every cell.
type matrix struct {
	modelOptions
	models  []model
	cells   []cell
	load    load
	about   []string
	busy    float64 // what other programs wanted before the run, in cores
	tmp     string
	how     []string    // how the executing thread of each model is found
	figures [][]figures // by cell, then model
}

func (m *matrix) run(tmp string) error {
	m.tmp, m.busy = tmp, loadAverage()
	m.about = append(m.about,
		time.Now().UTC().Format("2006-01-02 15:04 MST"), machine(), runtime.Version(),
		fmt.Sprintf("the machine before the run: a load of %.2f in the last minute", m.busy),
		fmt.Sprintf("load: %s, %d keys, turns of %s, median of %d; server and load share all cores", m.load.name,
			m.keys, m.length(), m.rounds))
	var servers []*server
	defer func() { stopAll(servers) }()
	var executors []executor
	for _, model := range m.models {
		s, err := contender{name: model.name, command: model.command, dir: tmp}.start(anyCore)
		if err != nil {
			return err
		}
		servers = append(servers, s)
		e, err := s.findExecutor()
		if err != nil {
			return err
		}
		executors = append(executors, e)
		m.how = append(m.how, e.String())
		m.about = append(m.about, s.describe())
	}
	fmt.Println(strings.Join(m.about, "\n"))
	for i, c := range m.cells {
		fmt.Printf("\n%s (%d of %d)\n", c, i+1, len(m.cells))
		row, err := m.measure(c, servers, executors)
		if err != nil {
			return fmt.Errorf("%s: %w", c, err)
		}
		m.figures = append(m.figures, row)
		printTable(m.table(i))
	}
	return nil
}

func (m *matrix) length() string {
	if m.n > 0 {
		return strconv.Itoa(m.n) + " requests"
	}
	return m.turn.String()
}

// measure measures one cell: the models take turns, and the median of the rounds counts.
func (m *matrix) measure(c cell, servers []*server, executors []executor) ([]figures, error) {
	samples := make([][][]float64, len(servers))
	for range m.rounds {
		for i, s := range servers {
			f, err := m.takeTurn(c, s, executors[i])
			if err != nil {
				f, err = m.startAgain(c, servers, executors, i, err)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
			samples[i] = append(samples[i], []float64{f.rate, f.cpu, f.executing, f.p50, f.p99, f.p999})
		}
	}
	var row []figures
	for _, v := range medians(samples) {
		row = append(row, figures{v[0], v[1], v[2], v[3], v[4], v[5]})
	}
	return row, nil
}

// startAgain replaces a server that has failed in a turn by a new process and repeats the turn. The
// report mentions it. redis-server with spinning threads on too few cores sometimes drops its clients.
func (m *matrix) startAgain(c cell, servers []*server, executors []executor, i int, why error) (f figures, err error) {
	s := servers[i]
	m.about = append(m.about, fmt.Sprintf("%s was started again for %s, because its clients failed", s.name, c))
	fmt.Printf("%s is started again: %v\n", s.name, why)
	again, err := contender{name: s.name, command: m.models[i].command, dir: m.tmp}.start(anyCore)
	if err != nil {
		return f, err
	}
	s.stop()
	servers[i] = again
	if executors[i], err = again.findExecutor(); err != nil {
		return f, err
	}
	return m.takeTurn(c, again, executors[i])
}

func (m *matrix) takeTurn(c cell, s *server, e executor) (figures, error) {
	w := workload{args: c.fill(), fill: c.fill()}
	if err := w.prepare(s.addr, m.keys, 0); err != nil {
		return figures{}, err
	}
	n, err := m.requests(c, s)
	if err != nil {
		return figures{}, err
	}
	before, err := s.usage(e)
	if err != nil {
		return figures{}, err
	}
	got, err := m.load.run(s.addr, c.job(n, m.keys))
	if err != nil {
		return figures{}, err
	}
	after, err := s.usage(e)
	if err != nil {
		return figures{}, err
	}
	total, executing := after.since(before, e)
	each := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 / float64(got.requests) }
	return figures{got.rate, each(total), each(executing), got.p50, got.p99, got.p999}, nil
}

// requests returns how many requests fill a turn. It starts with few, because the models differ by a
// factor of a hundred when spinning threads wait for a core.
func (m *matrix) requests(c cell, s *server) (int, error) {
	if m.n > 0 {
		return m.n, nil
	}
	least := c.clients * c.pipeline
	for n := max(least, 500); ; n *= 8 {
		got, err := m.load.run(s.addr, c.job(n, m.keys))
		if err != nil {
			return 0, err
		}
		if fit := got.rate * m.turn.Seconds(); fit < float64(8*n) {
			return max(int(fit), least), nil
		}
	}
}

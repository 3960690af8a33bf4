package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
)

// floorOptions are the flags of `bench floor`.
type floorOptions struct {
	programs
	rounds int
	scale  float64
	out    string
	own    bool
	ways   string
}

// floor is the command floor: how far each server is from what the kernel takes.
func floor(args []string) error {
	var o floorOptions
	f := flag.NewFlagSet("floor", flag.ExitOnError)
	o.programs.register(f)
	f.IntVar(&o.rounds, "rounds", 5, "turns of each server per row, of which the median counts")
	f.Float64Var(&o.scale, "scale", 1, "requests of a turn, as a `share` of the usual number")
	f.StringVar(&o.out, "o", "", "write a report in Markdown to this `file`")
	f.BoolVar(&o.own, "own", false, "use the generator of this program although redis-benchmark is installed")
	f.StringVar(&o.ways, "ways", "epoll", "`ways` of the floor: epoll, bounded, spin, zerocopy, uring, with commas")
	f.Parse(args)

	bed, err := o.testbed()
	if err != nil {
		return err
	}
	defer os.RemoveAll(bed.tmp)
	t := &turns{contenders: bed.contenders, cores: bed.cores, load: findLoad(o.own), rounds: o.rounds, scale: o.scale}
	if err := t.runFloor(bed.tmp, strings.Split(o.ways, ",")); err != nil {
		return err
	}
	t.sheet.print()
	if o.out == "" {
		return nil
	}
	text := t.sheet.markdown("How far from the kernel's limit", t.about)
	return os.WriteFile(o.out, []byte(text), 0o644)
}

// floorName is the name of the program in bench/floor among the servers.
const floorName = "floor"

// floorRow is a command, and the reply that the floor gives to it.
type floorRow struct {
	workload
	reply string
	data  []data // of a large reply
}

func floorRows() []floorRow {
	rows := []floorRow{{workload: workload{name: "ping", args: []string{"PING"}}, reply: "+PONG\r\n"}}
	for _, w := range loadWorkloads() {
		switch w.name {
		case "set":
			rows = append(rows, floorRow{workload: w, reply: "+OK\r\n"})
		case "get":
			rows = append(rows, floorRow{workload: w, reply: bulk(value)}, largeFloorRow())
		}
	}
	return rows
}

func bulk(s string) string { return fmt.Sprintf("$%d\r\n%s\r\n", len(s), s) }

// largeFloorRow is a GET whose cost is mostly that of moving bytes.
func largeFloorRow() floorRow {
	text := strings.Repeat("x", 64<<10)
	set := filled("SET", "key", 1, func(int) []string { return []string{text} })
	get := workload{name: "get 64 KB", args: []string{"GET", "key"}}
	return floorRow{workload: get, reply: bulk(text), data: []data{set}}
}

// pipelines are the rows of the command, without pipeline and with it. A large reply has no row with it.
func (r floorRow) pipelines() []breadthRow {
	if r.data != nil {
		return []breadthRow{r.at(1, 20_000)}
	}
	return []breadthRow{r.at(1, 100_000), r.at(16, 400_000)}
}

func (r floorRow) at(pipeline, n int) breadthRow {
	w := r.workload
	w.name = fmt.Sprintf("%s P%d", strings.ToUpper(w.name), pipeline)
	group := fmt.Sprintf("P%d", pipeline)
	return breadthRow{workload: w, group: group, n: n, pipeline: pipeline, clients: 50, data: r.data}
}

// runFloor measures the floor beside the contenders. Ratios are to the floor's first way. It knows
// one reply only, so each command has a floor of its own.
func (t *turns) runFloor(tmp string, ways []string) error {
	program, err := build(tmp, "bench/floor")
	if err != nil {
		return err
	}
	var rows []row
	for i, r := range floorRows() {
		one := *t
		one.quiet = i > 0
		one.contenders = nil
		for _, way := range ways {
			one.contenders = append(one.contenders, floorBy(way, program, tmp, r.reply))
		}
		one.contenders = append(one.contenders, t.contenders...)
		if err := one.runRows(r.pipelines()); err != nil {
			return err
		}
		rows = append(rows, one.sheet.rows...)
		t.sheet, t.about = one.sheet, one.about
	}
	t.sheet.rows = rows
	return nil
}

// addFloor measures SET on the floor alone, and notes it among what the report is about. program is the
// path of the floor.
func (t *turns) addFloor(program, tmp string) error {
	rows := floorRows()
	set := rows[slices.IndexFunc(rows, func(r floorRow) bool { return r.name == "set" })]
	one := *t
	one.quiet = true
	one.contenders = []contender{floorBy("epoll", program, tmp, set.reply)}
	if err := one.runRows(set.pipelines()); err != nil {
		return err
	}
	const line = "the kernel's share of SET (bench floor): %.2f us/req at pipeline 1, %.2f at pipeline 16"
	t.about = append(t.about, fmt.Sprintf(line,
		one.sheet.rows[0].figures[0][0], one.sheet.rows[1].figures[0][0]))
	return nil
}

func floorBy(way, program, tmp, reply string) contender {
	name := floorName
	if way != "epoll" {
		name += " " + way
	}
	return contender{name: name, command: []string{program, "-by", way, "127.0.0.1:{port}", reply}, dir: tmp}
}

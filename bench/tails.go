package main

import "os"

// tails is the command tails: the latencies of many commands, each alone at pipeline 1.
func tails(args []string) error {
	var o breadthOptions
	o.parse("tails", 7, args)
	rows, err := selectRows(tailRows(), o.only)
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
	t := &turns{
		contenders: bed.contenders, cores: bed.cores, load: findLoad(o.own), rounds: o.rounds, scale: o.scale,
		latencies: true,
	}
	if err := t.runRows(rows); err != nil {
		return err
	}
	t.sheet.ranked = 1 // p99
	return t.publish("Latency, row by row", o.out)
}

const (
	tailClients = 50
	rareRow     = 1_000 // a row of breadth with fewer requests is too slow to be sent often
	fewestTail  = 2_000 // requests, two of which are above p99.9
)

// tailRows are the commands of breadth, except rows that need a pipeline, only compute, or are too slow.
func tailRows() (rows []breadthRow) {
	for _, r := range breadthRows() {
		switch r.group {
		case "pipeline 16", "16 KB, pipeline 16", "scripts that compute", "4 million keys":
			continue
		}
		if r.n < rareRow {
			continue
		}
		if r.pipeline > 1 {
			r.n /= 4
		}
		r.n, r.pipeline, r.clients = max(r.n, fewestTail), 1, tailClients
		rows = append(rows, r)
	}
	return rows
}

package explore

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/command"
)

// Explorer decides what to run next, and what the runs have shown. It is a state machine: it starts no
// program, has no clock, and talks to no server. A driver calls Next until it returns false, and Done for
// each trial. One goroutine may call it at a time.
type Explorer struct {
	opt    Options
	report Report
	faults []fault
	points []point
	locks  []string                    // their globs; the first one that matches a key is its lock
	names  map[string]bool             // of clients: those that come in each baseline
	rows   map[string]*command.Command // by their names, without subcommands
	unmet  map[int]bool                // points whose pause no other client has met
	polls  time.Duration               // the longest time between two polls of a client in the baselines
	err    error

	next    int // ID of the next trial
	ready   []Trial
	running map[int]Trial
	passed  map[heldAt]int64   // ms that Held has let pass
	acted   map[heldAt][]Order // what Held has done to a topology
	over    bool               // no further trials but those that confirm something

	base  baselines
	plan  []Strike       // single faults, in order
	tries map[Strike]int // in which the request did not come
	looks map[Strike]int // in which a lock ended with another value
	reach []reach        // by point
	pairs []Pair         // planned
	open  []*proof

	unsettled map[int][]Order // by trial: see Settle

	halves map[int]int  // by trial: the pair whose half it is, as an index into Report.Pairs
	alone  map[int]bool // pairs one of whose faults breaks the lock alone

	itself

	planned bool // the pairs are planned
}

// reach is how often the request of a point has come, and how often it has not.
type reach struct{ hits, misses int }

// heldAt is where a trial holds a client.
type heldAt struct {
	trial, strike int
}

// New returns an Explorer.
func New(opt Options) *Explorer {
	opt.Masters = max(opt.Masters, 1)
	e := &Explorer{opt: opt, faults: faults(), running: map[int]Trial{}, tries: map[Strike]int{}, looks: map[Strike]int{},
		unsettled: map[int][]Order{}, acted: map[heldAt][]Order{},
		halves: map[int]int{}, alone: map[int]bool{}, passed: map[heldAt]int64{}}
	e.report = Report{Program: opt.Program, InTest: opt.InTest, Seed: opt.Seed, Masters: opt.Masters,
		Server: opt.Server(), On: opt.On, Cluster: opt.Cluster, Sentinels: opt.Sentinels}
	if opt.Foreign != "" && len(opt.Only) == 0 {
		e.noteInside()
	}
	e.faults = slices.DeleteFunc(e.faults, func(f fault) bool {
		return opt.lacks(&f) != "" || len(opt.Only) > 0 && !slices.Contains(opt.Only, f.Name)
	})
	for _, f := range e.faults {
		e.report.Faults = append(e.report.Faults, f.Fault)
	}
	e.rows = map[string]*command.Command{}
	for _, cmd := range command.NewCommands().All() {
		e.rows[cmd.Name] = cmd
	}
	e.base.left, e.unmet = map[string]bool{}, map[int]bool{}
	e.add(Baseline)
	return e
}

// FaultNames returns the names of all faults.
func FaultNames() (names []string) {
	for _, f := range faults() {
		names = append(names, f.Name)
	}
	return names
}

// Lacks returns what a fault needs and the options do not give, "" if there is nothing.
func (o *Options) Lacks(name string) string {
	for _, f := range faults() {
		if f.Name == name {
			return o.lacks(&f)
		}
	}
	return ""
}

// noteInside says which faults are left out because the servers are foreign.
func (e *Explorer) noteInside() {
	var names []string
	for _, f := range e.faults {
		if f.inside() {
			names = append(names, f.Name)
		}
	}
	e.report.Notes = append(e.report.Notes,
		"left out, because only miniredisd itself has them: "+strings.Join(names, ", "))
}

// Next returns the next trial. Without one it returns false: then all is tried, or the trials that run
// decide what comes next. A driver with several jobs calls it again after each Done.
func (e *Explorer) Next() (Trial, bool) {
	if len(e.ready) == 0 {
		e.refill()
	}
	if len(e.ready) == 0 {
		return Trial{}, false
	}
	t := e.ready[0]
	e.ready = e.ready[1:]
	e.running[t.ID] = t
	return t, true
}

// TimeIsOver ends the search. Findings that are not confirmed yet still get their trials.
func (e *Explorer) TimeIsOver() {
	e.over = true
	if len(e.points) == 0 && e.err == nil {
		e.err = fmt.Errorf("the time was over before %s had run three times without a fault", e.opt.explored())
	}
	e.ready = slices.DeleteFunc(e.ready, func(t Trial) bool {
		return t.Kind == Baseline || t.Kind == Single || t.Kind == Double
	})
}

// Err returns why the program could not be explored, or nil.
func (e *Explorer) Err() error { return e.err }

// Left returns how many trials are planned, without confirmations. It grows when points become known.
func (e *Explorer) Left() int { return len(e.ready) + len(e.running) + len(e.plan) + len(e.pairs) }

// Title says what a trial tries.
func (e *Explorer) Title(t Trial) string {
	switch t.Kind {
	case Baseline:
		return "without a fault"
	case Without:
		return "confirming, without the fault"
	}
	var parts []string
	for _, s := range t.Strikes {
		parts = append(parts, e.faults[s.Fault].Title+" at "+e.requestOf(s.Point))
	}
	text := strings.Join(parts, " and ")
	if t.Kind == With || t.Kind == Half {
		text = "confirming, " + text
	}
	return text
}

// Report returns what has been found so far. It is complete when Next returns false and no trial runs.
func (e *Explorer) Report() *Report {
	r := e.report
	r.Pairs = nil
	for i, p := range e.report.Pairs {
		if !e.alone[i] {
			r.Pairs = append(r.Pairs, p)
		}
	}
	if e.base.broke > 0 { // what is broken then proves nothing about its fault
		for i := range r.Cells {
			for j := range r.Cells[i] {
				byItself(&r.Cells[i][j], e.base)
			}
		}
		for i := range r.Pairs { // they are a copy
			byItself(&r.Pairs[i].Cell, e.base)
		}
	}
	e.noteUnmet(&r)
	r.Untried = e.untried()
	r.OutOfTime = e.over && r.Untried > 0
	return &r
}

// byItself lowers a cell of a program that has broken without a fault.
func byItself(c *Cell, b baselines) {
	if c.Mark == Broken {
		c.Mark, c.Why = ByItself, fmt.Sprintf("it breaks by itself, %d of %d", b.broke, b.broke+b.clean)
	}
}

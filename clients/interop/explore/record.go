package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/miniredisd/miniredisd/lab/explore"
)

// record is what is known of a client in a company.
type record struct {
	Ecosystem string `json:"ecosystem"`
	client
	Points   []pointRecord `json:"points"`
	Findings []finding     `json:"findings"`
	Unsteady []point       `json:"unsteady"` // points that do not come in each run
	Shown    *shown        `json:"shown,omitempty"`
	Trials   int           `json:"trials"` // in all runs, with the confirmations
	Runs     int           `json:"runs"`
	Seconds  int           `json:"seconds"`
}

// point names a request or a message.
type point struct {
	Client  string `json:"client"`
	N       int    `json:"n"`
	Command string `json:"command"`
	Key     string `json:"key"`
	Message bool   `json:"message,omitempty"`
}

func pointOf(p explore.Point) point { return point{p.Client, p.N, p.Command, p.Key, p.Message} }

func (p point) String() string { return fmt.Sprintf("%s %d %s", p.Client, p.N, p.Command) }

// cell is a fault at a point.
type cell struct {
	point
	fault string
}

// pointRecord has the marks of a point, by fault. A fault that was not tried has none.
type pointRecord struct {
	point
	Marks map[string]string `json:"marks"`
}

// finding is why a cell is broken, or hangs.
type finding struct {
	Fault    string `json:"fault"`
	At       point  `json:"at"`
	Mark     string `json:"mark"`
	Sentence string `json:"sentence"`
}

// The marks. One more than explore has: of a cell that is not the same in each run.
const (
	broken  = "broken"
	noticed = "noticed"
	hangs   = "hangs"
	varies  = "varies"
)

func word(m explore.Mark) string {
	return map[explore.Mark]string{explore.Fine: "fine", explore.Noticed: noticed, explore.LeftBehind: "left behind",
		explore.Stopped: "stopped", explore.NotReached: "not reached", explore.NotJudged: "not judged",
		explore.Undecided: "undecided", explore.Hangs: hangs, explore.ByItself: "breaks by itself",
		explore.Broken: broken}[m]
}

// recordOf returns what one run has shown. Took is its real time.
func recordOf(c client, r *explore.Report, took time.Duration) record {
	rec := record{Ecosystem: c.ecosystem, client: c, Runs: 1, Trials: r.Baselines + r.Trials + r.Confirms,
		Seconds: int(math.Ceil(took.Seconds()))}
	for i, p := range r.Points {
		if p.Unstable {
			rec.Unsteady = append(rec.Unsteady, pointOf(p))
			continue
		}
		at := pointRecord{pointOf(p), map[string]string{}}
		for j, f := range r.Faults {
			c := r.Cells[i][j]
			if c.Mark == explore.NotTried {
				continue
			}
			at.Marks[f.Name] = word(c.Mark)
			if c.Finding != nil && c.Mark >= explore.Hangs {
				rec.Findings = append(rec.Findings, finding{f.Name, at.point, word(c.Mark), c.Finding.Sentence})
			}
		}
		rec.Points = append(rec.Points, at)
	}
	return rec
}

// joined returns what two runs have in common. Marks that differ vary.
func joined(a, b record) record {
	all := a
	all.Runs, all.Trials, all.Seconds = a.Runs+b.Runs, a.Trials+b.Trials, a.Seconds+b.Seconds
	all.Arguments = b.Arguments
	all.Points, all.Unsteady, all.Findings = nil, slices.Clone(a.Unsteady), nil
	unsteady := func(p point) {
		if !slices.Contains(all.Unsteady, p) {
			all.Unsteady = append(all.Unsteady, p)
		}
	}
	for _, p := range b.Unsteady {
		unsteady(p)
	}
	for _, p := range b.Points {
		if a.at(p.point) == nil {
			unsteady(p.point)
		}
	}
	for _, p := range a.Points {
		other := b.at(p.point)
		if other == nil {
			unsteady(p.point)
			continue
		}
		all.Points = append(all.Points, pointRecord{p.point, common(p.Marks, other)})
	}
	for _, f := range slices.Concat(a.Findings, b.Findings) {
		same := func(g finding) bool { return g.At == f.At && g.Fault == f.Fault }
		if all.at(f.At)[f.Fault] == f.Mark && !slices.ContainsFunc(all.Findings, same) {
			all.Findings = append(all.Findings, f)
		}
	}
	return all
}

// common returns the marks that two runs share, and varies for the others.
func common(a, b map[string]string) map[string]string {
	all := map[string]string{}
	for fault, mark := range a {
		all[fault] = mark
		if b[fault] != mark {
			all[fault] = varies
		}
	}
	for fault := range b {
		if all[fault] == "" {
			all[fault] = varies
		}
	}
	return all
}

// with returns a record that has the marks of another company, too. Points that only one company knows come last.
func (r record) with(other record) record {
	all := r
	all.Points, all.Unsteady = nil, nil
	for _, p := range r.Points {
		marks := maps.Clone(p.Marks)
		maps.Copy(marks, other.at(p.point))
		all.Points = append(all.Points, pointRecord{p.point, marks})
	}
	for _, p := range other.Points {
		if r.at(p.point) == nil {
			all.Points = append(all.Points, p)
		}
	}
	for _, p := range slices.Concat(r.Unsteady, other.Unsteady) {
		if all.at(p) == nil && !slices.Contains(all.Unsteady, p) {
			all.Unsteady = append(all.Unsteady, p)
		}
	}
	all.Findings = slices.Concat(r.Findings, other.Findings)
	all.Trials, all.Seconds = r.Trials+other.Trials, r.Seconds+other.Seconds
	return all
}

// at returns the marks of a point, nil if there is no such point.
func (r record) at(p point) map[string]string {
	for _, q := range r.Points {
		if q.point == p {
			return q.Marks
		}
	}
	return nil
}

// keep makes a cell vary that has done so before: a few runs that agree do not prove that it is steady.
func (r record) keep(old record) {
	for _, p := range old.Points {
		for fault, mark := range p.Marks {
			if marks := r.at(p.point); mark == varies && marks[fault] != "" {
				marks[fault] = varies
			}
		}
	}
}

// update explores a client and writes its record.
func (c client) update(ctx context.Context, o options) error {
	old, err := read(c.path())
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	known := err == nil && old.Version == c.Version
	var all record
	for n := range max(o.runs, 1) {
		began := time.Now()
		r, err := c.measure(ctx, o, nil)
		for turn := 1; err != nil && turn < turns && ctx.Err() == nil; turn++ {
			fmt.Println("again:", err)
			r, err = c.measure(ctx, o, nil)
		}
		if err != nil {
			return err
		}
		one := recordOf(c, r, time.Since(began))
		fmt.Printf("%s: run %d: %d trials, %d s\n", c, n+1, one.Trials, one.Seconds)
		switch {
		case n > 0:
			all = joined(all, one)
		case known && o.join:
			all = joined(old, one)
		default:
			all = one
		}
	}
	if known {
		all.keep(old)
		all.Shown = old.Shown
	}
	return c.save(all)
}

// save writes the record of a client in its company.
func (c client) save(r record) error {
	r.client = c
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(c.path()), 0o755); err != nil {
		return err
	}
	return os.WriteFile(c.path(), append(text, '\n'), 0o644)
}

func (c client) path() string { return filepath.Join(records, c.company.name, c.Name+".json") }

func read(path string) (r record, err error) {
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	r.ecosystem = r.Ecosystem
	return r, err
}

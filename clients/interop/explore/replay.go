package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/lab/explore"
)

// others is how many cells a replay tries that are neither broken nor noticed, of all clients together.
const others = 20

// turns is how often a changed cell is tried before it counts. These clients live in real time: on a busy machine one
// of their timeouts may end too early.
const turns = 3

// plan is what to try of a client.
type plan struct {
	client
	cells map[cell]string // the recorded marks
}

// plans chooses what to try: everything, or what a replay tries. Beside a replica and on a disk many clients notice, so
// there a replay tries what breaks. A client without a record is an error, and so is one of another version.
func (o options) plans(all []client) (plans []plan, err error) {
	type candidate struct {
		plan int
		cell cell
		mark string
	}
	var more []candidate
	for i, c := range all {
		r, err := read(c.path())
		if err != nil {
			return nil, fmt.Errorf("%w: -update makes it", err)
		}
		if r.Version != c.Version {
			return nil, fmt.Errorf("%s is %s, and its record is of %s: -update makes another", c, c.Version, r.Version)
		}
		p := plan{c, map[cell]string{}}
		for _, at := range r.steady() {
			switch {
			case !o.plays(at.fault):
			case !o.replay || at.mark == broken || at.mark == noticed && at.fault != silent && c.name == alone:
				p.cells[at.cell] = at.mark
			case at.mark != hangs && at.fault != silent: // these take long
				more = append(more, candidate{i, at.cell, at.mark})
			}
		}
		plans = append(plans, p)
	}
	dice := rand.New(rand.NewPCG(o.seed, 0))
	dice.Shuffle(len(more), func(i, j int) { more[i], more[j] = more[j], more[i] })
	for _, m := range more[:min(others, len(more))] {
		plans[m.plan].cells[m.cell] = m.mark
	}
	return plans, nil
}

// marked is a cell and its mark.
type marked struct {
	cell
	mark string
}

// steady returns the cells that do not vary, in order.
func (r record) steady() (all []marked) {
	for _, p := range r.Points {
		for fault, mark := range p.Marks {
			if mark != varies {
				all = append(all, marked{cell{p.point, fault}, mark})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b marked) int {
		return strings.Compare(fmt.Sprint(a.point, a.Key, a.fault), fmt.Sprint(b.point, b.Key, b.fault))
	})
	return all
}

// check tries the cells of a plan. Those that have changed are tried again.
func (p plan) check(ctx context.Context, o options) error {
	if len(p.cells) == 0 {
		return nil
	}
	began, tried, left, on := time.Now(), 0, p.cells, ""
	var now, why map[cell]string
	for turn := 1; turn <= turns && len(left) > 0; turn++ {
		r, err := p.measure(ctx, o, func(c cell) bool { return left[c] != "" })
		if err != nil && (turn == turns || ctx.Err() != nil) {
			return err
		}
		if err != nil {
			fmt.Println("again:", err)
			continue
		}
		rec := recordOf(p.client, r, 0)
		on = r.On
		tried += rec.Trials
		now, why = map[cell]string{}, reasons(r)
		for c, before := range left {
			if mark := rec.at(c.point)[c.fault]; differ(c.fault, before, mark) {
				now[c] = mark
			}
		}
		left = pick(left, now)
	}
	fmt.Printf("%s: %d cells, %d trials, %.1f s, %d changed\n", p, len(p.cells), tried, time.Since(began).Seconds(),
		len(left))
	if err := p.changes(left, now, why); !o.update || err != nil && ctx.Err() != nil {
		return err
	} else if err != nil {
		fmt.Println(err)
	}
	return p.note(o.server, on, now)
}

const silent = "silent"

// differ reports whether a mark has changed. What a client does while it waits, for a reply, for the end of a pause or
// for a message, depends on its time limits in real time. There only broken is a mark of its own.
func differ(fault, before, now string) bool {
	if now != "" && (fault == silent || fault == "paused" || fault == "message-late") {
		return (before == broken) != (now == broken)
	}
	return before != now
}

// pick returns the cells that are in both.
func pick(cells, of map[cell]string) map[cell]string {
	all := map[cell]string{}
	for c := range of {
		all[c] = cells[c]
	}
	return all
}

// reasons says of each cell why it has its mark.
func reasons(r *explore.Report) map[cell]string {
	all := map[cell]string{}
	for i, p := range r.Points {
		for j, f := range r.Faults {
			all[cell{pointOf(p), f.Name}] = r.Cells[i][j].Why
		}
	}
	return all
}

// changes returns an error that names the cells that have changed, nil for none.
func (p plan) changes(before, now, why map[cell]string) error {
	var lines []string
	for c, mark := range before {
		after := now[c]
		if after == "" {
			after = "not tried"
		}
		if reason, is := why[c]; !is {
			after += ": there is no such request"
		} else if reason != "" {
			after += ": " + reason
		}
		lines = append(lines, fmt.Sprintf("  %s at %s: before %s, now %s", c.fault, c.point, mark, after))
	}
	if len(lines) == 0 {
		return nil
	}
	slices.Sort(lines)
	return fmt.Errorf("%s %s has changed:\n%s", p, p.Version, strings.Join(lines, "\n"))
}

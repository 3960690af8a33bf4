package explore

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// tally is what a worker has sent in one run. A poll counts once, however often it came: its number is chance.
type tally struct {
	requests int // without repetitions of a request that changed nothing
	writes   int // requests that changed a key, and the last one
	turns    int // changes from one command to another
	last     string
}

// less reports whether a worker has certainly sent less than another time.
func (t tally) less(than tally) bool {
	return t.requests < than.requests && t.writes < than.writes && (t.turns < than.turns || 2*t.requests < than.requests)
}

// unnamed is the worker that stands for all clients without names. When one connects again it gets a new number, and
// only their sum tells whether something is missing.
const unnamed = ""

// tallies counts the requests of each worker in a run. last says which request was the last one of all.
func (e *Explorer) tallies(o Outcome) (all map[string]tally, last string) {
	_, steps := e.look(o.Histories)
	all = map[string]tally{}
	newest, times := map[string]step{}, map[string]int{}
	count := func(worker string, s step) {
		t, before := all[worker], newest[worker]
		if before.command != s.command {
			t.turns++
		}
		if before.command != s.command || before.wrote {
			t.requests++
		}
		if before.command == "" || before.wrote {
			t.writes++ // the one before was the last until now
		}
		times[worker+" "+s.command]++
		t.last = worker + "'s " + ordinal(times[worker+" "+s.command]) + " " + s.shown
		all[worker], newest[worker] = t, s
	}
	for _, s := range steps {
		if e.names[s.name] {
			count(s.name, s)
			last = all[s.name].last
			continue
		}
		count(unnamed, s)
		count(s.who, s)
		last = all[s.who].last
	}
	return all, last
}

// keepLeast notes the least that each worker has sent without a fault.
func (e *Explorer) keepLeast(o Outcome) {
	now, _ := e.tallies(o)
	if e.base.least == nil {
		e.base.least = now
	}
	for worker, least := range e.base.least {
		t := now[worker]
		e.base.least[worker] = tally{min(t.requests, least.requests), min(t.writes, least.writes),
			min(t.turns, least.turns), ""}
	}
}

// stopped looks for a worker that has sent less than in every run without a fault.
func (j *judgement) stopped() bool {
	now, last := j.e.tallies(j.o)
	fresh := false // a client without a name has connected again: nobody knows which one
	for worker := range now {
		_, known := j.e.base.least[worker]
		fresh = fresh || !known && !j.e.names[worker]
	}
	for _, worker := range slices.Sorted(maps.Keys(j.e.base.least)) {
		numbered := !j.e.names[worker]
		switch {
		case worker == unnamed, !now[worker].less(j.e.base.least[worker]),
			numbered && !now[unnamed].less(j.e.base.least[unnamed]):
			continue
		case now[worker].last != "" && !(numbered && fresh):
			last = now[worker].last
		}
		j.r.mark, j.r.why = Stopped, "nothing comes after "+last
		if last == "" {
			j.r.why = "nothing comes at all"
		}
		return true
	}
	return false
}

// End says what a key holds: its type, and an integer or the number of its parts. It does not say which token: which
// client comes last is chance. ask sends a request, and returns the text or the integer of its reply.
func End(ask func(words ...string) (string, int64, error), key string) (string, error) {
	kind, _, err := ask("TYPE", key)
	if err != nil {
		return "", err
	}
	sizes := map[string]string{"list": "LLEN", "set": "SCARD", "zset": "ZCARD", "hash": "HLEN", "stream": "XLEN"}
	text, n, err := ask(cmp.Or(sizes[kind], "GET"), key)
	if _, notInteger := strconv.ParseInt(text, 10, 64); notInteger == nil {
		return kind + ":" + text, err
	}
	return kind + ":" + strconv.FormatInt(n, 10), err
}

// end is what a run has left under the globs of the locks: for each glob its keys and values, in one text.
func (e *Explorer) end(o Outcome) map[string]string {
	parts := map[string][]string{}
	for key, value := range o.Ends {
		if glob := e.lockOf(key); glob != "" {
			parts[glob] = append(parts[glob], value) // the name of a key may differ in each run
		}
	}
	all := map[string]string{}
	for _, glob := range e.locks {
		slices.Sort(parts[glob])
		all[glob] = strings.Join(parts[glob], " ")
	}
	return all
}

// differs looks for a lock that ends otherwise than in every run without a fault. If those differ themselves, only the
// number of its keys is compared.
func (j *judgement) differs() bool {
	if j.o.Ends == nil || len(j.e.base.ends) == 0 {
		return false
	}
	now := j.e.end(j.o)
	for _, glob := range j.e.locks {
		agree := !slices.ContainsFunc(j.e.base.ends, func(end map[string]string) bool {
			return end[glob] != j.e.base.ends[0][glob]
		})
		same := slices.ContainsFunc(j.e.base.ends, func(end map[string]string) bool {
			return end[glob] == now[glob] || !agree && len(strings.Fields(end[glob])) == len(strings.Fields(now[glob]))
		})
		if !same {
			j.r.mark, j.r.chance, j.r.why = NotJudged, true, shown(glob)+" ends with another value than without the failure"
			return true
		}
	}
	return false
}

// noteLeases says which leases were never in danger. A program lives in real time, and its work in a trial is short. In
// the servers' time a driver lets the work be as long as it is.
func (e *Explorer) noteLeases() {
	if e.opt.Exact {
		return
	}
	ended, least := map[string]bool{}, map[string]int64{}
	for _, run := range e.base.runs {
		grants, _ := e.grants(run.Histories) // findLocks has reported the error
		for _, g := range grants {
			glob := e.lockOf(g.Key)
			ended[glob] = ended[glob] || g.Lease == 0 || g.Renewed > 0 || g.RanOut != 0
			least[glob] = min(cmp.Or(least[glob], g.Lease), g.Lease)
		}
	}
	for _, glob := range slices.Sorted(maps.Keys(least)) {
		if glob != "" && !ended[glob] {
			lease := strconv.FormatFloat(float64(least[glob])/1000, 'f', -1, 64)
			e.report.Notes = append(e.report.Notes, "no lease of "+shown(glob)+" ended by itself: it is "+lease+
				" s long, nobody renewed it, and the work was shorter; the lab's clock does not run with the work, "+
				"so work that takes longer than the lease was not tried")
		}
	}
}

package explore

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// planSingles lists all single faults: first those that have found most, at the requests that change something.
func (e *Explorer) planSingles() {
	e.reach = make([]reach, len(e.points))
	for i := range e.points {
		for j := range e.faults {
			c := &e.report.Cells[i][j]
			c.Why = e.excuse(&e.faults[j], &e.points[i])
			if c.Why == "" && !e.same(i, j) {
				e.plan = append(e.plan, Strike{i, j})
			}
		}
	}
	slices.SortStableFunc(e.plan, func(a, b Strike) int { return cmp.Or(e.rank(a)-e.rank(b), a.Fault-b.Fault) })
}

// rank orders strikes: requests that come in each run first, then those that repeat the one before. Among them the
// fault counts more than what the request does.
func (e *Explorer) rank(s Strike) int {
	const repeats, unstable = 10, 20
	p := &e.points[s.Point]
	rank := 2 * e.faults[s.Fault].tier
	switch {
	case p.Unstable:
		rank += unstable
	case p.repeats:
		rank += repeats
	case !p.Writes && !p.Message:
		rank++
	}
	return rank
}

// mostPairs bounds the pairs. Nobody waits for more.
const mostPairs = 1 << 16

// planPairs lists the pairs, once. Those come first whose faults left something behind or were noticed alone.
func (e *Explorer) planPairs() {
	if e.planned {
		return
	}
	e.planned = true
	var known []Strike
	for i, row := range e.report.Cells {
		for j, c := range row {
			if (c.Mark == Fine || c.Mark == Noticed || c.Mark == LeftBehind) && !e.same(i, j) {
				known = append(known, Strike{i, j})
			}
		}
	}
	dice := rand.New(rand.NewPCG(e.opt.Seed, 0))
	dice.Shuffle(len(known), func(i, j int) { known[i], known[j] = known[j], known[i] })
	slices.SortStableFunc(known, func(a, b Strike) int { return e.promise(a) - e.promise(b) })
	for _, first := range known {
		for _, second := range known {
			if first.Point < second.Point && len(e.pairs) < mostPairs {
				e.pairs = append(e.pairs, Pair{Strikes: [2]Strike{first, second}})
			}
		}
	}
	slices.SortStableFunc(e.pairs, func(a, b Pair) int {
		return e.promise(a.Strikes[0]) + e.promise(a.Strikes[1]) - e.promise(b.Strikes[0]) - e.promise(b.Strikes[1])
	})
}

// promise is how little a single fault has shown: 0 if it left something behind.
func (e *Explorer) promise(s Strike) int {
	n := 3 * e.faults[s.Fault].tier
	switch e.report.Cells[s.Point][s.Fault].Mark {
	case LeftBehind:
		return n
	case Noticed, Stopped:
		return n + 1
	}
	return n + 2
}

// again plans a trial once more if it shows too little: its request did not come, or a lock ended with another value,
// which may be chance.
func (e *Explorer) again(s Strike, r ruling) bool {
	at, tries := &e.reach[s.Point], e.tries
	if r.struck {
		at.hits++
	} else {
		at.misses++
	}
	switch {
	case !r.struck && tries[s]+1 < mostTries && !e.neverCame(s.Point):
	case r.chance && e.looks[s] < mostLooks:
		tries = e.looks
	default:
		return false
	}
	tries[s]++
	e.plan = slices.Insert(e.plan, 0, s) // so that neverCame counts all orders
	return true
}

// neverCame reports whether enough trials have waited for a request in vain.
func (e *Explorer) neverCame(point int) bool {
	return e.reach[point].hits == 0 && e.reach[point].misses >= mostMisses
}

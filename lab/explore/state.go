package explore

import (
	"fmt"
	"slices"
	"time"
)

// Several numbers of trials.
const (
	baselineRuns = 3
	confirmRuns  = 5             // with the failure, and at least as many without in all
	hangRuns     = 1             // the same for a program that hangs: that takes long
	mostTries    = 3             // of a trial whose point did not come, each in another order of the workers
	mostMisses   = 2 * mostTries // of a point that has never come
	mostLooks    = 2             // more, at a lock that ends with another value
)

const notCome = "the request did not come: the program did something else"

// baselines are what the runs without a fault have shown.
type baselines struct {
	runs    []Outcome
	longest time.Duration
	left    map[string]bool     // globs of locks that exist after a run
	least   map[string]tally    // of each worker
	ends    []map[string]string // what is left under each glob
	clean   int                 // runs without a fault that broke nothing, of all kinds
	broke   int
}

// itself is what breaks without a fault.
type itself struct {
	finding *Finding
	enough  bool // the baselines have shown it, so no fault is tried
}

// proof is a finding that is being confirmed.
type proof struct {
	mark    Mark
	finding *Finding
	of      int
	clean   int // runs without the fault that are needed: all that are over count
	with    int // trials that are over
	without int
	missed  int          // trials in which the request did not come
	ids     map[int]bool // its trials
	settle  func(mark Mark, why string, f *Finding)
}

// add plans a trial.
func (e *Explorer) add(kind Kind, strikes ...Strike) int {
	e.next++
	t := Trial{ID: e.next, Kind: kind, Strikes: strikes, Master: 1}
	if len(strikes) > 0 {
		t.Master = e.points[strikes[0].Point].Master
	}
	if len(e.points) > 0 {
		t.Usual, t.Limit = e.base.longest, e.limit()
	}
	t.Orders, t.Holds = e.orders(strikes)
	e.ready = append(e.ready, t)
	return t.ID
}

// Again returns a trial that plays a finding once more, for a recording. Nobody calls Done for it.
func (e *Explorer) Again(f *Finding) Trial {
	e.add(With, f.Strikes...)
	t := e.ready[len(e.ready)-1]
	e.ready = e.ready[:len(e.ready)-1]
	return t
}

// limit is how long a trial may take.
func (e *Explorer) limit() time.Duration { return 3*e.base.longest + e.opt.Patience }

// refill plans what comes after the trials that are done.
func (e *Explorer) refill() {
	switch {
	case e.err != nil || len(e.base.runs) < baselineRuns || e.over || e.enough:
		return
	case len(e.plan) > 0:
		s := e.plan[0]
		e.plan = e.plan[1:]
		if e.neverCame(s.Point) {
			e.settle([]Strike{s}, Cell{Mark: NotReached, Why: notCome})
			e.refill()
			return
		}
		e.add(Single, s)
	case !e.opt.Pairs || !e.planned && len(e.running) > 0:
		return // the pairs depend on what runs
	default:
		e.planPairs()
		if len(e.pairs) > 0 {
			p := e.pairs[0]
			e.pairs = e.pairs[1:]
			e.add(Double, p.Strikes[:]...)
		}
	}
}

// Done tells what a trial has shown.
func (e *Explorer) Done(t Trial, o Outcome) {
	delete(e.running, t.ID)
	if e.err != nil {
		return
	}
	e.report.Took += o.Took
	switch t.Kind {
	case Baseline:
		e.baseline(t, o)
	case Without:
		e.report.Confirms++
		e.without(t, o)
	case With:
		e.report.Confirms++
		e.confirm(t, e.judge(t, o))
	case Half:
		e.report.Confirms++
		e.half(t, e.judge(t, o))
	default:
		e.tried(t, e.judge(t, o))
	}
}

// baseline takes a run without a fault. After the last one the points are known.
func (e *Explorer) baseline(t Trial, o Outcome) {
	if e.err = e.unfit(o); e.err != nil {
		e.ready = nil
		return
	}
	e.report.Baselines++
	e.base.runs = append(e.base.runs, o)
	e.base.longest = max(e.base.longest, o.Took)
	if n := len(e.base.runs); n < baselineRuns {
		if !e.over {
			e.add(Baseline)
		}
		return
	}
	if e.err = e.findPoints(); e.err != nil {
		return
	}
	e.noteLeases()
	for _, run := range e.base.runs {
		e.keepLeft(run)
		e.plain(t, run)
	}
	e.base.runs = slices.Clone(e.base.runs) // their histories are needed no more
	for i := range e.base.runs {
		e.base.runs[i] = Outcome{Took: e.base.runs[i].Took}
	}
	if e.finding != nil {
		e.breaksItself()
		return
	}
	e.planSingles()
}

// unfit returns why a program cannot be explored.
func (e *Explorer) unfit(o Outcome) error {
	said := ""
	if o.Output != "" {
		said = "; it printed: " + lastLine(o.Output)
	}
	switch {
	case o.Hung:
		return fmt.Errorf("%s does not end without a fault either%s", e.opt.explored(), said)
	case o.Failed != "" && o.Unsafe == "":
		return fmt.Errorf("%s fails without a fault (%s)%s", e.opt.explored(), o.Failed, said)
	}
	return nil
}

// plain judges a run without a fault.
func (e *Explorer) plain(t Trial, o Outcome) {
	r := e.judge(t, o)
	e.keepLeast(o)
	if o.Ends != nil {
		e.base.ends = append(e.base.ends, e.end(o))
	}
	if r.mark < Broken {
		e.base.clean++
		e.showItself()
		return
	}
	e.base.broke++
	e.keepItself(r.finding)
}

// keepItself keeps the first finding without a fault.
func (e *Explorer) keepItself(f *Finding) {
	if e.finding == nil {
		f.Sentence = e.sentence(f)
		e.finding = f
	}
	e.showItself()
}

// breaksItself confirms that the program needs no fault to break.
func (e *Explorer) breaksItself() {
	e.enough = true
	const why = "the program breaks without a fault"
	for i := range e.report.Cells {
		for j := range e.report.Cells[i] {
			if c := &e.report.Cells[i][j]; c.Why == "" {
				c.Why = why
			}
		}
	}
	if !e.over {
		for range confirmRuns {
			e.add(Without)
		}
	}
}

func (e *Explorer) showItself() {
	if e.finding == nil {
		return
	}
	e.finding.Without, e.finding.Of = e.base.broke, e.base.broke+e.base.clean
	e.report.Itself = e.finding
}

// without takes a run without a fault that confirms a finding.
func (e *Explorer) without(t Trial, o Outcome) {
	before := e.base.broke
	e.plain(t, o)
	for _, p := range slices.Clone(e.open) {
		if p.ids[t.ID] {
			p.without++
			p.finding.Without += e.base.broke - before
			e.close(p)
		}
	}
}

// confirm takes a run with a fault that confirms a finding.
func (e *Explorer) confirm(t Trial, r ruling) {
	for _, p := range slices.Clone(e.open) {
		if !p.ids[t.ID] {
			continue
		}
		if !r.struck && p.missed < p.of { // it shows nothing
			p.missed++
			p.ids[e.add(With, p.finding.Strikes...)] = true
			continue
		}
		p.with++
		if r.mark == Broken || r.mark == Hangs && p.mark == Hangs {
			p.finding.With++
		}
		e.close(p)
	}
}

// prove plans the trials that confirm a finding. They come before all others.
func (e *Explorer) prove(r ruling, settle func(Mark, string, *Finding)) {
	p := &proof{mark: r.mark, finding: r.finding, of: confirmRuns, ids: map[int]bool{}, settle: settle}
	if r.mark == Hangs {
		p.of = hangRuns
	}
	p.finding.Of, p.clean = p.of, max(p.of-e.base.clean, 1)
	later := e.ready
	e.ready = nil
	for range p.of {
		p.ids[e.add(With, p.finding.Strikes...)] = true
	}
	for range p.clean {
		p.ids[e.add(Without)] = true
	}
	e.ready = append(e.ready, later...)
	e.open = append(e.open, p)
}

// close settles a finding whose trials are over.
func (e *Explorer) close(p *proof) {
	if p.with < p.of || p.without < p.clean {
		return
	}
	e.open = slices.DeleteFunc(e.open, func(other *proof) bool { return other == p })
	f := p.finding
	switch {
	case e.base.broke > 0:
		p.settle(ByItself, fmt.Sprintf("it breaks by itself, %d of %d", e.base.broke, e.base.broke+e.base.clean), f)
	case 2*f.With < f.Of:
		p.settle(Undecided, fmt.Sprintf("it happened again in only %d of %d runs with the fault, and in none without: %s",
			f.With, f.Of, f.Sentence), nil)
	default:
		p.settle(p.mark, "", f)
	}
}

// tried takes a trial of one or two faults.
func (e *Explorer) tried(t Trial, r ruling) {
	e.report.Trials++
	if !r.fired && r.finding != nil { // a run without a fault
		e.base.broke++
		r.finding.Strikes = nil
		e.keepItself(r.finding)
	}
	if !r.struck { // another request got the fault
		r.mark, r.why, r.finding = NotReached, notCome, nil
	}
	if t.Kind == Single && e.again(t.Strikes[0], r) {
		return
	}
	settle := func(mark Mark, why string, f *Finding) { e.settle(t.Strikes, Cell{mark, why, f}) }
	if r.finding != nil {
		e.prove(r, settle)
		return
	}
	settle(r.mark, r.why, nil)
}

// settle writes a cell, and those that are the same, or a pair.
func (e *Explorer) settle(strikes []Strike, c Cell) {
	if len(strikes) == 2 {
		e.report.Pairs = append(e.report.Pairs, Pair{[2]Strike(strikes), c})
		if c.Mark == Broken {
			for _, s := range strikes {
				e.halves[e.add(Half, s)] = len(e.report.Pairs) - 1
			}
		}
		return
	}
	s := strikes[0]
	e.report.Cells[s.Point][s.Fault] = c
	for j, f := range e.faults {
		if e.same(s.Point, j) && f.merges == e.faults[s.Fault].Name {
			twin := c
			twin.Why = "it is the same as " + e.faults[s.Fault].Title + ": the request changes nothing"
			twin.Finding = nil
			if c.Mark >= Undecided {
				twin.Finding = c.Finding
			}
			e.report.Cells[s.Point][j] = twin
		}
	}
}

// half takes a trial of one of the faults of a pair that broke. If it breaks alone this time, the pair is none.
func (e *Explorer) half(t Trial, r ruling) {
	pair := e.halves[t.ID]
	delete(e.halves, t.ID)
	if r.mark == Broken && r.struck {
		e.alone[pair] = true
		e.prove(r, func(mark Mark, why string, f *Finding) { e.settle(t.Strikes, Cell{mark, why, f}) })
	}
}

// same reports whether a fault after a request is the same as the one before it, which is tried as well.
func (e *Explorer) same(point, at int) bool {
	before, p := e.faults[at].merges, &e.points[point]
	tried := slices.ContainsFunc(e.faults, func(f fault) bool { return f.Name == before && e.asked(&f, p) })
	return tried && !p.Writes
}

// untried counts the cells and pairs for which there was no time.
func (e *Explorer) untried() (n int) {
	if e.err != nil {
		return 0
	}
	for i, row := range e.report.Cells {
		for j, c := range row {
			if c.Mark == NotTried && c.Why == "" && !e.same(i, j) {
				n++
			}
		}
	}
	return n + len(e.pairs)
}

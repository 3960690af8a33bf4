package report

import (
	"cmp"
	"slices"

	"github.com/miniredisd/miniredisd/lab/explore"
	"github.com/miniredisd/miniredisd/lab/explore/report/clean"
	"github.com/miniredisd/miniredisd/lab/holders"
)

// fact is a finding with the mark of its cell or pair.
type fact struct {
	*explore.Finding
	mark explore.Mark
}

// mistake is what several findings have in common: why they happen, and the lock that they are about.
type mistake struct {
	mark        explore.Mark
	name        string // the doctor's name of it, or the harm in a word
	lock        string
	reason, fix string // of the finding that says most
	facts       []fact // the one that is easiest to make again comes first
}

// mistakes groups the findings of a report: first what breaks without a failure, then the worst. Several cells may have
// the same finding. A finding of a program that also breaks by itself proves nothing, and neither does one that never
// came back.
func mistakes(r *explore.Report) (all []mistake) {
	at := map[string]int{}
	seen := map[*explore.Finding]bool{}
	add := func(c explore.Cell) {
		f := c.Finding
		never := f != nil && f != r.Itself && (c.Mark == explore.ByItself || f.Of > 0 && f.With+f.Without == 0)
		if f == nil || seen[f] || never {
			return
		}
		seen[f] = true
		id := word(c.Mark) + " " + causeOf(f) + " " + holders.Class(f.Lock)
		if _, known := at[id]; !known {
			at[id] = len(all)
			all = append(all, mistake{mark: c.Mark})
		}
		m := &all[at[id]]
		m.facts = append(m.facts, fact{f, c.Mark})
	}
	if r.Itself != nil {
		add(explore.Cell{Mark: explore.ByItself, Finding: r.Itself})
	}
	for i := range r.Points {
		for j := range r.Faults {
			add(cellOf(r, i, j))
		}
	}
	for _, p := range r.Pairs {
		add(p.Cell)
	}
	for i := range all {
		all[i].sum()
	}
	order := marks()
	slices.SortStableFunc(all, func(a, b mistake) int {
		itself := func(m mistake) int { return min(len(m.facts[0].Strikes), 1) }
		return cmp.Or(itself(a)-itself(b), slices.Index(order, a.mark)-slices.Index(order, b.mark),
			len(b.facts)-len(a.facts))
	})
	return all
}

// withoutTTL returns the doctor's names of a lock that has no TTL for a while, the one that says most first. Which of
// them he sees depends on where the failure struck.
func withoutTTL() []string { return []string{"setnx-then-expire", "lock-without-ttl", "owner-gone"} }

// causeOf names what the findings of a mistake have in common, beside the lock.
func causeOf(f *explore.Finding) string {
	switch {
	case len(f.Strikes) == 0:
		return "itself"
	case f.Harm == explore.ForEver && (f.Mistake == "" || slices.Contains(withoutTTL(), f.Mistake)):
		return harm(f.Harm)
	case f.Mistake != "":
		return f.Mistake
	}
	return harm(f.Harm) + " " + holders.Class(f.Reason)
}

// sum sorts the findings of a mistake, and takes its words from the one that says most.
func (m *mistake) sum() {
	slices.SortStableFunc(m.facts, func(a, b fact) int {
		rare := func(f fact) int { return f.Of - f.With }
		return cmp.Or(len(a.Strikes)-len(b.Strikes), rare(a)-rare(b), len(a.Commands)-len(b.Commands))
	})
	rank := func(f fact) int { return max(slices.Index(append(withoutTTL(), ""), f.Mistake), 0) }
	first := slices.MinFunc(m.facts, func(a, b fact) int { return rank(a) - rank(b) })
	m.name, m.lock = cmp.Or(first.Mistake, harm(first.Harm)), m.facts[0].Lock
	m.reason, m.fix = first.Reason, first.Fix
	if len(first.Strikes) == 0 {
		m.name = word(explore.ByItself)
	}
}

// Mistakes returns the findings of a report, those of one mistake together: first what breaks without a failure, then
// the worst. Of each mistake the finding that takes least to make again comes first.
func Mistakes(r *explore.Report) (all [][]*explore.Finding) {
	for _, m := range mistakes(r) {
		var findings []*explore.Finding
		for _, f := range m.facts {
			findings = append(findings, f.Finding)
		}
		all = append(all, findings)
	}
	return all
}

// factsOf returns the findings of mistakes, in their order.
func factsOf(all []mistake) (facts []fact) {
	for _, m := range all {
		facts = append(facts, m.facts...)
	}
	return facts
}

// facts returns the findings of a report, the worst first.
func facts(r *explore.Report) []fact { return factsOf(mistakes(r)) }

// title says what a mistake is, in a few words.
func (l language) title(m mistake) string {
	key := "mistake." + m.name
	if _, known := l.texts[key]; !known {
		key = "mistake." + harm(m.facts[0].Harm)
	}
	return l.say(key, "lock", clean.Name(m.lock))
}

// shown says how many failures show a mistake, or nothing if there are no several.
func (l language) shown(m mistake) string {
	if len(m.facts) < 2 {
		return ""
	}
	return l.say("shows", "n", len(m.facts))
}

// oneLine says in one line where else a mistake shows itself.
func (l language) oneLine(r *explore.Report, f fact) string {
	s := cmp.Or(l.strikes(r, f.Strikes), l.sentence(r, f.Finding))
	if f.With < f.Of {
		s = l.say("other.rare", "strike", s, "with", f.With, "of", f.Of)
	}
	return s
}

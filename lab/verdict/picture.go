package verdict

import (
	"cmp"
	"slices"

	"github.com/miniredisd/miniredisd/lab/holders"
	"github.com/miniredisd/miniredisd/lab/picture"
)

// mostDrawn and mostColumns bound a picture. Nobody looks at more.
const (
	mostDrawn   = 6   // locks
	mostColumns = 400 // events of a lock
)

// pictureOf returns the locks of the history as a picture, the broken ones first.
func (v *Verdict) pictureOf(r *replay, locks []holdings) picture.Picture {
	p := picture.Picture{Language: v.Language, Title: cmp.Or(v.Title, v.headline())}
	in := v.Language
	p.Text = []string{in.Say("%s, %s, %s, %s. Left to right: the order of the events.",
		in.Many(v.Masters, "1 master", "%d masters"), in.Many(v.Entries, "1 entry", "%d entries"),
		in.Many(v.Locks, "1 lock", "%d locks"), in.Many(v.Grants, "1 grant", "%d grants"))}
	if len(r.entries) > 0 {
		p.Text[0] += in.Say(" Times are those of each master's clock; 0 s is %d.", r.start())
	}
	if v.Missing > 0 {
		p.Text = append(p.Text, in.Say("The log had dropped the first %d entries.", v.Missing))
	}
	broken := func(l Lock) bool { return len(v.why(l)) > 0 }
	intact := slices.DeleteFunc(slices.Clone(locks), func(l holdings) bool { return broken(l.Lock) })
	locks = append(slices.DeleteFunc(slices.Clone(locks), func(l holdings) bool { return !broken(l.Lock) }), intact...)
	if more := len(locks) - mostDrawn; more > 0 {
		p.Text = append(p.Text, in.Say("%s more are not drawn.", in.Many(more, "1 lock", "%d locks")))
		locks = locks[:mostDrawn]
	}
	for _, l := range locks {
		part := sketchOf(r, l, in)
		part.State, part.Title = v.caption(l.Lock)
		part.Text = append(v.why(l.Lock), part.Text...)
		p.Locks = append(p.Locks, part)
	}
	return p
}

// headline is the title of the picture.
func (v *Verdict) headline() string {
	switch v.Result() {
	case TwoHolders:
		return v.Language.Say("Two clients held one lock at the same time")
	case NotLinearizable:
		return v.Language.Say("The operations on a lock have no legal order")
	case Incomplete:
		return v.Language.Say("The log is incomplete")
	case Undecided:
		return v.Language.Say("Whether the locks were safe is undecided")
	case NotJudged:
		return v.Language.Say("Not every watched key is a lock that can be judged")
	case NoLocks:
		return v.Language.Say("Nobody took a lock")
	}
	return v.Language.Say("The locks were safe")
}

// caption returns the state of a lock, and the title of its part.
func (v *Verdict) caption(l Lock) (picture.State, string) {
	switch {
	case slices.ContainsFunc(v.TwoHolders, func(f Violation) bool { return f.of(l) }):
		return picture.Broken, v.Language.Say("TWO HOLDERS of %s", l)
	case slices.Contains(v.NotLinearizable, l):
		return picture.Broken, v.Language.Say("NOT LINEARIZABLE: %s", l)
	case slices.ContainsFunc(v.Undecided, func(q holders.Question) bool { return lockAsked(q) == l }):
		return picture.Unknown, v.Language.Say("UNDECIDED: %s", l)
	}
	return picture.Safe, v.Language.Say("One holder at a time: %s", l)
}

// why returns the reason why a lock is broken, or why that is undecided.
func (v *Verdict) why(l Lock) []string {
	for _, f := range v.Violations() {
		if f.of(l) {
			return []string{v.Language.Say("Why: %s.", v.Language.Reason(f.Why))}
		}
	}
	for _, q := range v.Undecided {
		if lockAsked(q) == l {
			return []string{v.Language.Say("Undecided, because %s.", v.Language.Reason(q.Why))}
		}
	}
	return nil
}

// start returns the earliest time in the history, in unix ms.
func (r *replay) start() int64 {
	first := r.entries[0].Time
	for _, e := range r.entries {
		first = min(first, e.Time)
	}
	return first
}

package verdict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/lab/doctor"
	"github.com/miniredisd/miniredisd/lab/picture"
)

// mostDrawn and mostColumns bound a picture. Nobody looks at more.
const (
	mostDrawn   = 6   // locks
	mostColumns = 400 // events of a lock
)

// pictureOf returns the locks of the history as a picture, the broken ones first.
func (v *Verdict) pictureOf(r *replay, locks []holdings) picture.Picture {
	p := picture.Picture{Title: v.headline()}
	p.Text = []string{fmt.Sprintf("%s, %s, %s, %s. Left to right: the order of the events.", many(v.Masters, "master"),
		many(v.Entries, "entry"), many(v.Locks, "lock"), many(v.Grants, "grant"))}
	if len(r.entries) > 0 {
		p.Text[0] += fmt.Sprintf(" Times are those of each master's clock; 0 s is %d.", r.start())
	}
	if v.Missing > 0 {
		p.Text = append(p.Text, fmt.Sprintf("The log had dropped the first %d entries.", v.Missing))
	}
	broken := func(l Lock) bool { return len(v.why(l)) > 0 }
	intact := slices.DeleteFunc(slices.Clone(locks), func(l holdings) bool { return broken(l.Lock) })
	locks = append(slices.DeleteFunc(slices.Clone(locks), func(l holdings) bool { return !broken(l.Lock) }), intact...)
	if more := len(locks) - mostDrawn; more > 0 {
		p.Text = append(p.Text, fmt.Sprintf("%s more are not drawn.", many(more, "lock")))
		locks = locks[:mostDrawn]
	}
	for _, l := range locks {
		part := sketchOf(r, l)
		part.State, part.Title = v.caption(l.Lock)
		part.Text = append(v.why(l.Lock), part.Text...)
		p.Locks = append(p.Locks, part)
	}
	return p
}

func many(n int, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case strings.HasSuffix(what, "y"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(what, "y"))
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// headline is the title of the picture.
func (v *Verdict) headline() string {
	switch v.Result() {
	case TwoHolders:
		return "Two clients held one lock at the same time"
	case NotLinearizable:
		return "The operations on a lock have no legal order"
	case Incomplete:
		return "The log is incomplete"
	case Undecided:
		return "Whether the locks were safe is undecided"
	case NoLocks:
		return "Nobody took a lock"
	}
	return "The locks were safe"
}

// caption returns the state of a lock, and the title of its part.
func (v *Verdict) caption(l Lock) (picture.State, string) {
	switch {
	case slices.ContainsFunc(v.TwoHolders, func(f Violation) bool { return f.of(l) }):
		return picture.Broken, "TWO HOLDERS of " + l.String()
	case slices.Contains(v.NotLinearizable, l):
		return picture.Broken, "NOT LINEARIZABLE: " + l.String()
	case slices.ContainsFunc(v.Undecided, func(q doctor.Question) bool { return lockAsked(q) == l }):
		return picture.Unknown, "UNDECIDED: " + l.String()
	}
	return picture.Safe, "One holder at a time: " + l.String()
}

// why returns the reason why a lock is broken, or why that is undecided.
func (v *Verdict) why(l Lock) []string {
	for _, f := range v.Violations() {
		if f.of(l) {
			return []string{"Why: " + f.Why + "."}
		}
	}
	for _, q := range v.Undecided {
		if lockAsked(q) == l {
			return []string{"Undecided, because " + q.Why + "."}
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

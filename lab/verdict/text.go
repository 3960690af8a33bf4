package verdict

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/lab/doctor"
	"github.com/miniredisd/miniredisd/lab/holders"
)

// Result is a verdict in one word.
type Result string

// The results, the worst first. A verdict has the first one that fits.
const (
	TwoHolders      Result = "two-holders"
	NotLinearizable Result = "not-linearizable"
	Incomplete      Result = "incomplete" // the logs had already dropped entries
	Undecided       Result = "undecided"
	NotJudged       Result = "not-judged" // a key changed that is no lock of one holder
	NoLocks         Result = "no-locks"   // nobody took a lock
	Safe            Result = "safe"       // every lock is proved safe
)

// Result returns the verdict in one word.
func (v *Verdict) Result() Result {
	switch {
	case len(v.TwoHolders) > 0:
		return TwoHolders
	case len(v.NotLinearizable) > 0:
		return NotLinearizable
	case v.Missing > 0:
		return Incomplete
	case len(v.Undecided) > 0:
		return Undecided
	case len(v.NotJudged) > 0:
		return NotJudged
	case v.Grants == 0:
		return NoLocks
	}
	return Safe
}

// Violations returns what was wrong with each broken lock: first the locks with two holders, then
// those whose operations have no legal order although no two holders were found.
func (v *Verdict) Violations() []Violation {
	all := slices.Clone(v.TwoHolders)
	for _, l := range v.NotLinearizable {
		if slices.ContainsFunc(v.TwoHolders, func(f Violation) bool { return f.of(l) }) {
			continue
		}
		all = append(all, Violation{Finding: doctor.Finding{
			Key: l.Key, DB: l.DB,
			Why: whyNoOrder,
			Fix: "look at the picture for the first operation that fits nowhere: " +
				"it often releases a lock that its client does not hold",
		}})
	}
	return all
}

// Text returns the verdict as lines for people.
func (v *Verdict) Text() string {
	var b strings.Builder
	v.Print(&b)
	return b.String()
}

// Print writes the verdict as lines for people.
func (v *Verdict) Print(w io.Writer) {
	fmt.Fprintf(w, "masters: %d, entries: %d, locks: %d, grants: %d\n", v.Masters, v.Entries, v.Locks, v.Grants)
	for _, f := range v.TwoHolders {
		fmt.Fprintf(w, "\nTWO HOLDERS of %s\n", Lock{f.DB, f.Key})
		for _, s := range f.Steps {
			fmt.Fprintf(w, "  %s\n", Line(s))
		}
		fmt.Fprintf(w, "  Why: %s.\n  Fix: %s.\n  Fencing: %s.\n", f.Why, f.Fix, f.Fencing)
	}
	for _, name := range v.NotLinearizable {
		fmt.Fprintf(w, "\nNOT LINEARIZABLE: %s: no order of the operations makes each of them legal\n", name)
	}
	for _, q := range v.Undecided {
		fmt.Fprintf(w, "\nUNDECIDED: %s\n", lockAsked(q))
		for _, s := range q.Steps {
			fmt.Fprintf(w, "  %s\n", Line(s))
		}
		fmt.Fprintf(w, "  Why: %s.\n  Fix: %s.\n", q.Why, q.Fix)
	}
	for _, n := range v.NotJudged {
		fmt.Fprintf(w, "\nNOT JUDGED: %s\n  Why: %s.\n  Fix: %s.\n", lockAsked(n), n.Why, n.Fix)
	}
	if v.Missing > 0 {
		fmt.Fprintf(w, "\nINCOMPLETE: the log had dropped the first %d entries. "+
			"Watch fewer keys, or use LAB LOG RESET in time\n", v.Missing)
	}
	switch v.Result() {
	case NoLocks:
		fmt.Fprintln(w, v.noLocks())
	case Safe:
		fmt.Fprintln(w, "OK: no two holders at one time, and linearizable")
	}
}

// noLocks says why the history proves nothing.
func (v *Verdict) noLocks() string {
	if len(v.Blind) > 0 {
		return "NO LOCKS: no command took a lock: " + strings.Join(v.Blind, ", ") + "; a lock needs NX"
	}
	return "NO LOCKS: no watched key changed: were the keys of the locks watched (LAB LOG WATCH)?"
}

// Line returns a step of a violation as one line.
func Line(s holders.Step) string {
	line := fmt.Sprint(s.Time)
	switch {
	case s.Node != "":
		line = fmt.Sprintf("%s, %d", s.Node, s.Time)
	case s.Master > 0:
		line = fmt.Sprintf("master %d, %d", s.Master, s.Time)
	}
	if s.Client != 0 {
		line += strings.TrimRight(fmt.Sprintf(", client %d %s", s.Client, s.Name), " ")
	}
	line += ": " + s.Command
	if s.Reply != "" {
		line += " -> " + s.Reply
	}
	return line
}

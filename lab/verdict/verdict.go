// Package verdict judges whether a lock was one, from what the masters have logged.
//
//	LAB LOG EXPORT ──> Read ──> Judge ──┬─ two holders at one time?      package lab/doctor
//	(one or several masters)            └─ linearizable?                 porcupine
//	                                            │
//	                              Print, and a picture of the counter-example
//
// The histories must have watched the lock's keys (LAB LOG WATCH) since before it was
// first taken. What is a lock, who holds it, and until when its holder may believe that, is
// for package doctor to say; its comments tell how. A lock that only one master has ever
// granted is taken for a lock of that master alone, any other for one that needs the majority
// of all masters.
//
// # Mutual exclusion
//
// Two holders are two terms that overlap: the second client was granted the lock while
// the first could still believe that it had it. Where more than two do, each is told of with
// the one before it.
//
// How long that is, the holder's own clock says, which no master can see. What counts for it
// is the time for which the masters' clocks ran, and how far they were moved together: by LAB
// ALL CLOCK, or each by itself, as far as every one of them was. Other moves are clocks that
// jump, be it on one master or on all but one, and end no lease. A clock that was given
// another RATE, or was frozen by itself, is not known for that: more than half of the masters
// that granted a lock have to agree that its lease is over, so that it takes as many such
// clocks to deceive the verdict. Of a lock that only one master grants, that one's clock is
// the time.
//
// Holders are told apart by their tokens, or where they have none, by the names of the
// clients; Redisson's, which have another token for each master, by name and thread. So give
// the clients of different processes different names when they lock on several masters.
//
// # Linearizability
//
// The lock is a register that is free or has a holder. To acquire it is legal when it is
// free, to release it when the caller is its holder; the end of a lease frees it as well.
// An operation reaches from its first to its last vote, one whose reply was lost to the end
// of the history. A refusal is always legal, because Redlock may refuse when votes are split.
package verdict

import (
	"fmt"
	"io"
	"strings"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/doctor"
)

// Verdict is what became of a history.
type Verdict struct {
	Masters, Entries, Locks, Grants int

	Missing int64 // entries that the logs had dropped: they hold the newest ones only

	TwoHolders      []Violation
	NotLinearizable []string // the locks that have no order
	Undecided       []string // those for which the search for one was given up

	picture func(w io.Writer) error
}

// Violation is a lock that two held at the same time.
type Violation struct {
	doctor.Finding
	Fencing string // what fencing tokens could have done about it
}

// OK tells locks that were some: that is known of each.
func (v *Verdict) OK() bool { return !v.Violated() && len(v.Undecided) == 0 }

// Violated tells that one was none, whatever is not known of others.
func (v *Verdict) Violated() bool { return len(v.TwoHolders)+len(v.NotLinearizable) > 0 }

// Judge looks at the histories of the masters of one process, in any order.
func Judge(histories []lab.History) (*Verdict, error) {
	return JudgeLocks(histories, func(string) bool { return true })
}

// JudgeLocks is Judge for the locks whose keys are among those it is asked for.
func JudgeLocks(histories []lab.History, among func(key string) bool) (*Verdict, error) {
	return judge(histories, among, maxEffort)
}

func judge(histories []lab.History, among func(key string) bool, effort int) (*Verdict, error) {
	r, err := play(histories)
	if err != nil {
		return nil, err
	}
	v := &Verdict{Masters: r.masters, Entries: len(r.entries)}
	for _, h := range histories {
		if len(h.Entries) > 0 {
			v.Missing += max(h.Entries[0].Seq-1, 0)
		}
	}
	var all []operation
	for _, tables := range r.locks(among) {
		v.Locks++
		for _, table := range tables {
			v.Grants += len(table)
		}
		for _, both := range doctor.Overlaps(tables) {
			v.TwoHolders = append(v.TwoHolders, Violation{both.Finding(), r.fencing(both)})
		}
		all = append(all, r.operations(tables)...)
	}
	v.search(r, all, effort)
	return v, nil
}

// Picture writes an HTML page that shows the operations in their order, and where they
// cannot be put in one. It may be written once.
func (v *Verdict) Picture(w io.Writer) error { return v.picture(w) }

// Print writes the verdict for people.
func (v *Verdict) Print(w io.Writer) {
	fmt.Fprintf(w, "masters: %d, entries: %d, locks: %d, grants: %d\n", v.Masters, v.Entries, v.Locks, v.Grants)
	for _, f := range v.TwoHolders {
		fmt.Fprintf(w, "\nTWO HOLDERS of %s\n", lock{f.DB, f.Key})
		for _, s := range f.Steps {
			fmt.Fprintf(w, "  %s\n", step(s))
		}
		fmt.Fprintf(w, "  Why: %s.\n  Fix: %s.\n  Fencing: %s.\n", f.Why, f.Fix, f.Fencing)
	}
	for _, name := range v.NotLinearizable {
		fmt.Fprintf(w, "\nNOT LINEARIZABLE: %s: no order of the operations makes each of them legal\n", name)
	}
	for _, name := range v.Undecided {
		fmt.Fprintf(w, "\nUNDECIDED: %s: too many operations were open at once, such as those whose replies were lost, to try all their orders: have the log watch fewer of them, or LAB LOG RESET between\n", name)
	}
	if v.Missing > 0 {
		fmt.Fprintf(w, "\nNOT ALL: the log had dropped the first %d entries: have it watch fewer keys, or LAB LOG RESET in time\n", v.Missing)
	}
	switch {
	case v.OK() && v.Grants == 0:
		fmt.Fprintln(w, "OK, but nobody took a lock: were its keys watched (LAB LOG WATCH)?")
	case v.OK():
		fmt.Fprintln(w, "OK: no two holders at one time, and linearizable")
	}
}

func step(s doctor.Step) string {
	line := fmt.Sprintf("master %d, %d", s.Master, s.Time)
	if s.Client != 0 {
		line += strings.TrimRight(fmt.Sprintf(", client %d %s", s.Client, s.Name), " ")
	}
	line += ": " + s.Command
	if s.Reply != "" {
		line += " -> " + s.Reply
	}
	return line
}

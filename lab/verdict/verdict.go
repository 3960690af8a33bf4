// Package verdict judges from the logs of the masters whether a lock was safe.
//
//	LAB LOG EXPORT ──> Read ──> Judge ──┬─ two holders at one time?      package lab/holders
//	(one or several masters)            └─ linearizable?                 porcupine
//	                                            │
//	                    Print, SVG, and a page with the counter-example
//
// A history must have the commands on the lock's keys (LAB LOG WATCH) from before the lock was
// first taken. Package lab/proof reads what happened to the keys. Old histories do not have that: the commands that
// package lab/doctor knows judge them. Package lab/holders says how long a holder may believe in its
// lock. If only one of several masters ever granted a lock, it counts as a lock of that master alone.
// Any other lock needs a majority of all masters.
//
// # Mutual exclusion
//
// Two holders are two terms that overlap: a master or a majority granted the lock to the second
// client while the first client could still believe in it. A holder that overlaps several others is
// reported once.
//
// A holder believes in its lock until the lease is over by the holder's own clock, which no master
// sees. The verdict derives that clock. Time passes for the holder while the masters' clocks run,
// and when all of them are moved: by LAB ALL CLOCK, or each by itself, as far as all of them went.
// Any other move is a clock that jumps, on however many masters, and ends no lease. The verdict
// does not recognise a clock with another RATE, or one that is frozen alone. Therefore more than
// half of the masters that granted a lock must agree that its lease is over. If only one master
// granted a lock, its clock is the time.
//
// A holder is the pair of a client and a token. A client is known by its name (CLIENT SETNAME), and without a
// name by its connection. The log does not always show which holder a command came from. Then a term
// has an earliest and a latest end. Two terms that overlap even with the earliest end are two holders.
// Two terms that overlap only with the latest end are undecided, and the verdict names the command.
//
// # Linearizability
//
// The lock is a register: it is free, or it has a holder or several readers. Acquire is legal while it is
// free. Release is legal for its holder. The end of a lease frees it, too. A client that competes for the
// lock and deletes another client's lock has an operation that is not legal. A stranger that never tried
// for the lock has none. An operation lasts from its first vote to its last one. If a reply was lost, it
// lasts to the end of the history. A refused acquire is always legal, because Redlock may refuse when the
// votes are split.
package verdict

import (
	"io"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/doctor"
	"github.com/miniredisd/miniredisd/lab/holders"
	"github.com/miniredisd/miniredisd/lab/picture"
	"github.com/miniredisd/miniredisd/lab/words"
)

// Verdict is the judgement of a history.
type Verdict struct {
	Masters, Entries, Locks, Grants int

	Missing int64 // entries that the logs had already dropped, because they keep only the newest

	TwoHolders      []Violation
	NotLinearizable []Lock             // their operations have no legal order
	Undecided       []holders.Question // locks that may have been broken: the log or the search cannot tell

	Language words.Language // of SVG and Picture
	Title    string         // of SVG, if something else than the result says what happened

	NotJudged []holders.Question // keys that changed and are no lock of one holder

	Blind []string // commands that may have taken a lock without NX, for people

	picture func(w io.Writer) error
	svg     func(w io.Writer) error
}

// Violation is a lock that two clients held at the same time.
type Violation struct {
	doctor.Finding
	Fencing string // whether fencing tokens would have helped
}

func (f *Violation) of(l Lock) bool { return (Lock{f.DB, f.Key}) == l }

// OK reports whether every lock is proved safe.
func (v *Verdict) OK() bool { return !v.Violated() && len(v.Undecided)+len(v.NotJudged) == 0 }

// Violated reports whether at least one lock was broken.
func (v *Verdict) Violated() bool { return len(v.TwoHolders)+len(v.NotLinearizable) > 0 }

// Judge judges the histories of the masters of one process. They may be in any order.
func Judge(histories []lab.History) (*Verdict, error) {
	return JudgeLocks(histories, func(string) bool { return true })
}

// JudgeLocks is Judge for the locks whose keys are among the wanted ones.
func JudgeLocks(histories []lab.History, among func(key string) bool) (*Verdict, error) {
	return judge(histories, among, maxEffort)
}

func judge(histories []lab.History, among func(key string) bool, effort int) (*Verdict, error) {
	r, err := play(histories)
	if err != nil {
		return nil, err
	}
	v := &Verdict{Masters: r.servers, Entries: len(r.entries)}
	for _, h := range histories {
		if len(h.Entries) > 0 {
			v.Missing += max(h.Entries[0].Seq-1, 0)
		}
	}
	var all []operation
	locks := r.judged(r.locks(among))
	for _, l := range locks {
		v.Locks++
		for _, table := range l.tables {
			v.Grants += len(table)
		}
		for _, both := range l.overlaps {
			f := r.explain(both)
			for i := range f.Steps {
				if len(l.tables) == 1 { // a table of any master
					f.Steps[i].Master = r.masterOf(l) + 1
				}
			}
			v.TwoHolders = append(v.TwoHolders, Violation{f, r.fencing(both)})
		}
		v.Undecided = append(v.Undecided, r.questions(l)...)
		all = append(all, r.operations(l.tables, len(l.overlaps) > 0)...)
	}
	v.Undecided = append(v.Undecided, r.unseen(locks)...)
	if r.proof != nil {
		v.rulings(r, among)
	} else {
		v.Undecided = append(v.Undecided, r.cutShort(locks)...)
		if v.Grants > 0 {
			v.Undecided = append(v.Undecided, r.unguarded(among, locks)...)
		}
		v.Blind = r.blind(among, locks)
	}
	v.search(r, all, effort)
	v.svg = func(w io.Writer) error { return picture.Draw(w, v.pictureOf(r, locks)) }
	return v, nil
}

// SVG writes a picture of the locks: a row for each client, a bar for each lease, and marks for what
// went wrong. The broken locks come first.
func (v *Verdict) SVG(w io.Writer) error { return v.svg(w) }

// Picture writes an HTML page with the operations in a legal order, or with the place where no legal
// order continues. It may be called once.
func (v *Verdict) Picture(w io.Writer) error { return v.picture(w) }

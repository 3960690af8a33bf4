package verdict

import (
	"slices"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/doctor"
	"github.com/miniredisd/miniredisd/lab/holders"
	"github.com/miniredisd/miniredisd/lab/proof"
)

// NoVerdict is a key that changed, and that the verdict cannot judge: it is no lock of one holder.
type NoVerdict struct {
	Lock
	Why, Fix string
}

// prove lets the changes of the keys decide, if there is one master without replicas and its log has the changes. Then
// the doctors' table of commands decides nothing.
func (r *replay) prove(histories []lab.History) {
	if len(histories) != 1 || r.masters > 1 || r.replicated() || !proof.CanRead(histories[0]) {
		return
	}
	r.proof = proof.Prove(histories[0], func(string) bool { return true })
	r.ledger.Holders, r.at = r.proof.Ledger, r.proof.At
}

// rulings adds what the proof says of the keys that the ledger alone does not decide.
func (v *Verdict) rulings(r *replay, among func(string) bool) {
	for _, ruling := range r.proof.Rulings {
		if !among(ruling.Name) {
			continue
		}
		l := Lock{ruling.DB, ruling.Name}
		v.Locks += min(ruling.Grants, 1)
		v.Grants += ruling.Grants
		switch ruling.Is {
		case proof.NotJudged:
			v.NotJudged = append(v.NotJudged, NoVerdict{l, ruling.Why, ruling.Fix})
		case proof.Unread:
			v.Undecided = append(v.Undecided, holders.Question{
				DB: l.DB, Key: l.Key, Why: ruling.Why, Fix: ruling.Fix, Steps: ruling.Steps,
			})
		case proof.TooMany:
			v.TwoHolders = append(v.TwoHolders, Violation{Finding: doctor.Finding{
				Pattern: doctor.TwoHolders, Key: l.Key, DB: l.DB, Count: 1, Why: ruling.Why, Fix: ruling.Fix, Steps: ruling.Steps,
			}})
		}
	}
}

// explain returns a lock that had two holders as a finding.
func (r *replay) explain(both holders.Overlap) doctor.Finding {
	f := doctor.Explain(both)
	if r.proof != nil {
		f.Why, f.Fix, f.Steps = r.proof.Explain(both)
	}
	return f
}

// judged leaves out the keys that are no lock of one holder.
func (r *replay) judged(locks []holdings) []holdings {
	if r.proof == nil {
		return locks
	}
	return slices.DeleteFunc(locks, func(l holdings) bool { return r.proof.Of(holders.Key{DB: l.DB, Name: l.Key}) != nil })
}

package verdict

import (
	"fmt"
	"slices"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/doctor"
	"github.com/miniredisd/miniredisd/lab/holders"
	"github.com/miniredisd/miniredisd/lab/proof"
)

// prove lets the changes of the keys decide, and reports whether the logs have them. Then the doctors' table of
// commands decides nothing.
func (r *replay) prove(histories []lab.History) bool {
	old := func(h lab.History) bool { return !proof.CanRead(h) }
	if len(histories) == 0 || slices.ContainsFunc(histories, old) {
		return false
	}
	nodes := make([]proof.Node, len(r.nodes))
	for i, n := range r.nodes {
		if nodes[i] = (proof.Node{Master: n.master, Name: n.name}); n.name == "" {
			nodes[i].Name = fmt.Sprintf("node %d", i+1)
		}
	}
	r.proof = proof.Prove(histories, nodes, func(string) bool { return true })
	r.ledger.Holders, r.at = r.proof.Ledger, r.proof.At
	return true
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
		q := holders.Question{DB: l.DB, Key: l.Key, Why: ruling.Why, Fix: ruling.Fix, Steps: ruling.Steps}
		switch ruling.Is {
		case proof.NotJudged:
			v.NotJudged = append(v.NotJudged, q)
		case proof.Unread:
			v.Undecided = append(v.Undecided, q)
		case proof.TooMany:
			v.TwoHolders = append(v.TwoHolders, Violation{doctor.Finding{
				Pattern: doctor.TwoHolders, Key: l.Key, DB: l.DB, Count: 1, Why: q.Why, Fix: q.Fix, Steps: q.Steps,
			}, "a fencing token tells the newest holder, and this lock has several"})
		}
	}
}

// explain returns a lock that had two holders as a finding.
func (r *replay) explain(both holders.Overlap) doctor.Finding {
	f := doctor.Explain(both)
	if r.proof != nil && len(both.First.Votes) == 1 && len(both.Second.Votes) == 1 && !doctor.FailedOver(both) {
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

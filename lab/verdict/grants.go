package verdict

import (
	"slices"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/holders"
)

// Grants returns every grant of a lock in the histories of the masters of one process, in the order in which
// they were made.
func Grants(histories []lab.History) ([]holders.Vote, error) {
	r, err := play(histories)
	if err != nil {
		return nil, err
	}
	var all []holders.Vote
	for master := range r.masters {
		for _, h := range r.ledger.Holders.Table(master) {
			if r.proof != nil && r.proof.Doubted(h.Order) {
				continue
			}
			all = append(all, holders.Vote{Holding: h, Master: r.entries[h.Event].master})
		}
	}
	slices.SortFunc(all, func(a, b holders.Vote) int { return int(a.Order - b.Order) })
	return all, nil
}

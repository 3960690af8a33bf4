package holders_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab/holders"
)

// vote is a grant of a master for 1000 ms.
type vote struct {
	at    int64 // ms
	name  string
	token string
	node  int
}

// votes returns what three masters tell of their grants. Their clocks run with the real time.
func votes(all ...vote) *holders.Ledger {
	l := holders.NewLedger(3, 100)
	for _, v := range all {
		l.At(v.at * 1000)
		for node := range 3 {
			l.Passed(node, v.at)
		}
		order, _, _ := l.Granted(v.node, holders.Grant{Holding: holders.Holding{Key: "k", Token: v.token, Name: v.name,
			Granted: holders.Step{Time: v.at, Name: v.name, Command: "SET k"}, Lease: 1000, Until: v.at + 1000}})
		l.Apart(v.node, holders.Key{Name: "k"}, order) // the clock ends the lease, and not the key
	}
	return l
}

// table returns the holdings of all masters.
func table(l *holders.Ledger) (all [][]holders.Holding) {
	for node := range 3 {
		all = append(all, l.Table(node))
	}
	return all
}

func TestVotesThatCameSlowlyLeaveABeliefOpen(t *testing.T) {
	const slow = "the votes of the masters came so slowly that it matters whether the client looked at its clock: " +
		"the log does not show that"
	for name, test := range map[string]struct {
		second int64 // when the first client gets its second vote
		third  int64 // when the second client gets its votes
		why    string
	}{
		"at once, and the lease is over":       {1, 1002, ""},
		"after the lease of the first vote":    {1100, 1500, slow},
		"in its lease, and the first was over": {900, 1500, slow},
		"in its lease, and all were over":      {900, 1902, ""},
	} {
		l := votes(vote{0, "a", "ta", 0}, vote{test.second, "a", "ta", 1}, vote{test.third, "b", "tb", 0},
			vote{test.third, "b", "tb", 2})
		require.Empty(t, holders.Overlaps(table(l)), name)
		why := ""
		for _, q := range holders.Questions(table(l)) {
			why = q.Why
		}
		require.Equal(t, test.why, why, name)
	}
}

func TestTimePassesAtAMasterThatShowsNothing(t *testing.T) {
	l := votes(vote{0, "a", "ta", 0}, vote{0, "a", "ta", 1})
	l.At(1500 * 1000)
	l.Passed(2, 1500) // the only one that is asked
	for _, h := range append(l.Table(0), l.Table(1)...) {
		require.NotZero(t, h.RanOut)
	}
}

// Clients without names are known by their tokens, and one word of all tells nobody which of them gave its votes up.
func TestAWordOfAllEndsNoOtherClientsVotes(t *testing.T) {
	for token, want := range map[string]int{"held": 1, "5f0c8e1b9a7d4c36": 0} {
		l := votes(vote{0, "", token, 0}, vote{0, "", token, 1}, vote{0, "", token, 2})
		l.GaveUp(2, holders.Key{Name: "k"}, 3, true, holders.Doubt{})
		for node := range 2 {
			_, _, _ = l.Granted(node, holders.Grant{Holding: holders.Holding{Key: "k", Token: "other",
				Granted: holders.Step{Time: 1, Command: "SET k"}, Lease: 1000, Until: 1001}})
		}
		require.Len(t, holders.Questions(table(l)), want, token)
	}
}

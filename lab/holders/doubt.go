package holders

import (
	"cmp"
	"slices"
	"strings"
)

// Doubt is something that the log cannot tell about a grant.
type Doubt struct {
	Order int64 // of the event, in the ledger
	Why   string
	Step  Step
}

// maxDoubts is how many doubts a holding keeps: the first ones.
const maxDoubts = 8

func (h *Holding) doubt(d Doubt) {
	if len(h.Doubts) < maxDoubts {
		h.Doubts = append(h.Doubts, d)
	}
}

// likeness says whether two grants have one holder.
type likeness int

const (
	different likeness = iota
	unclear
	equal
)

// WhyLost is the doubt about a command whose reply was lost.
const WhyLost = "the reply was lost, so the client may not know what the command did"

// The reasons why it is unclear whether two grants have one holder. WhySeveral and WhyLeases are about locks in hashes.
const (
	whyOneName = "clients with one name took the lock with one token, the second before the first gave it up: " +
		"that may be one client, or two"
	whyNoName = "one connection took the lock with one token, twice before it gave it up: " +
		"that may be one client, or two clients that share the connection"
	WhySeveral = "several clients write their own field into the hash of the lock: it may have several holders by design"
	WhyLeases  = "a field of the lock's hash has a lease of its own, or is deleted by a command for such fields: " +
		"it may have several holders, and the key does not tell until when"
	whyClocks = "the log does not show how much time passed between the events of two nodes: " +
		"the lease may have been over"
	whyNoNames = "connections without names use one token on several masters: that may be one client, or several"
	whySlow    = "the votes of the masters came so slowly that it matters whether the client looked at its clock: " +
		"the log does not show that"
	whyPartly = "a renewal reached less than a majority of the masters: its client may have stopped, or gone on"
)

// alike compares the holders of two grants. A token that looks random names one holder. Any other token
// may be used by several clients. several means that the grants may come from several masters, on
// each of which a client has another connection.
func alike(a, b Vote, several bool) (likeness, string) {
	switch {
	case b.Renews != 0 && b.Renews == a.Order:
		return equal, ""
	case several && a.Hash && b.Hash && a.Name != "" && b.Name != "":
		switch {
		case a.Holder != b.Holder:
			return different, ""
		case a.Master == b.Master && a.Token != b.Token:
			return unclear, whyOneName
		}
		return equal, ""
	case a.Hash && b.Hash && a.Name == b.Name && (Within(a.Token, b.Token) || Within(b.Token, a.Token)):
		return equal, ""
	case a.Token != b.Token, a.Name != "" && b.Name != "" && a.Name != b.Name:
		return different, ""
	case LooksRandom(a.Token):
		return equal, ""
	case a.Name != b.Name:
		return different, ""
	case a.Name == "" && (several || a.Node != b.Node):
		return unclear, whyNoNames
	case a.Name == "" && a.Client == b.Client && a.Node == b.Node:
		return unclear, whyNoName
	case a.Name == "":
		return different, ""
	case several && a.Master == b.Master && a.Client == b.Client && a.Node == b.Node:
		return equal, ""
	case a.Master == b.Master && !a.Sole:
		return unclear, whyOneName
	}
	return equal, ""
}

// Within reports whether a token belongs to the same client as one that it begins with: the holder of a write
// lock has the token of its read lock, a colon and a word.
func Within(token, longer string) bool { return strings.HasPrefix(longer, token+":") }

// Question is a lock that may have had two holders: the log cannot tell.
type Question struct {
	DB    int
	Key   string
	Why   string
	Fix   string
	Steps []Step // the grants, and the command that leaves the question open
}

// Questions finds the locks that may have had two holders. Each has its first question only. A lock that
// certainly had two holders may be among them.
func Questions(tables [][]Holding) []Question {
	_, perhaps := overlaps(tables)
	var all []Question
	for _, o := range perhaps {
		asked := slices.ContainsFunc(all, func(q Question) bool { return q.Key == o.First.Key && q.DB == o.First.DB })
		if !asked {
			all = append(all, o.question(len(tables) > 1))
		}
	}
	for master, table := range tables {
		for _, h := range table {
			if !h.Joined {
				continue
			}
			all = append(all, h.severalHolders(master))
			break
		}
	}
	return all
}

// severalHolders is the question about a lock whose hash may have several holders by design.
func (h Holding) severalHolders(master int) Question {
	q := Question{DB: h.DB, Key: h.Key, Why: WhySeveral, Fix: fixSeveral, Steps: []Step{Vote{h, master}.Step()}}
	for _, d := range h.Doubts {
		if d.Why == WhyLeases {
			d.Step.Master = q.Steps[0].Master
			q.Why, q.Fix, q.Steps = WhyLeases, fixLeases, append(q.Steps, d.Step)
			break
		}
	}
	return q
}

const (
	fixLeases = "give the key one TTL, which its holder renews, or let the client say what it believes"
	fixShared = "give each worker a connection and a name of its own (CLIENT SETNAME), " +
		"and let each release and renewal be a script that compares a token of its own"
	fixSeveral = "judge locks with one holder at a time, and read-write locks that keep their mode in the hash"
	fixVotes   = "let the client take the lease from its begin for its votes, compare the time that is left, " +
		"and give the lock back if none is left or if the votes are less than a majority"
	fixLost = "let the client say what it believes: after a lost reply it may GET the key and compare its token"
)

// isLike reports whether two steps are the same command.
func (s Step) isLike(other Step) bool {
	return s.Time == other.Time && s.Client == other.Client && s.Command == other.Command
}

// question returns what is open about two terms that may overlap.
func (o Overlap) question(several bool) Question {
	q := Question{DB: o.First.DB, Key: o.First.Key, Fix: fixShared}
	if _, why := sameTerm(o.First, o.Second, several); why != "" {
		q.Why = why
		q.Steps = []Step{o.First.Votes[0].Step(), o.Second.Votes[0].Step()}
		return q
	}
	var first *Doubt
	master := 0
	for _, t := range []Term{o.First, o.Second} {
		for _, v := range t.Votes {
			for i, d := range v.Doubts {
				if d.Order <= o.Second.From && (first == nil || d.Order < first.Order) {
					first, master = &v.Doubts[i], v.Master
				}
			}
		}
	}
	if first == nil { // or a vote without a reply
		first = &Doubt{Why: cmp.Or(o.First.why, o.Second.why, WhyLost)}
	}
	switch q.Why = first.Why; q.Why {
	case WhyLost:
		q.Fix = fixLost
	case whySlow, whyPartly:
		q.Fix = fixVotes
	}
	for _, v := range o.First.Votes {
		q.Steps = append(q.Steps, v.Step())
	}
	doubtful := len(q.Steps)
	for _, v := range o.Second.Votes {
		q.Steps = append(q.Steps, v.Step())
	}
	if s := first.Step; s.Command != "" && !slices.ContainsFunc(q.Steps, s.isLike) {
		s.Master = master + 1
		q.Steps = slices.Insert(q.Steps, doubtful, s)
	}
	return q
}

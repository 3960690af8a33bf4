package holders

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Term is the time in which a client may believe that it holds a lock. From and To are orders
// (Holding).
type Term struct {
	DB       int
	Key      string
	Holder   string
	Votes    []Vote
	Majority bool
	Sure     bool // the client knows of the majority
	Shared   bool // a read lock: other readers may hold it, too
	late     bool // the majority was complete when the leases of so many votes were over that none was left
	why      string
	From     int64 // the vote that completed the majority, else the last vote
	MayFrom  int64 // where it may have begun already
	To       int64 // 0 if it is not over
	RanOut   bool  // it ended because the lease ended
	Earliest int64 // where it may have ended already, as far as the log can tell; 0 if it is not over
}

// Vote is a grant and its master, from 0.
type Vote struct {
	Holding
	Master int
}

// Terms combines the grants of several masters. Each table has the holdings of one master. The
// terms of a key are in the order in which they began.
//
// A holder is the pair of a client and a token. A client is known by its name. Without a name, its
// connection stands for it, unless the token looks random: connections of a pool use one token. On
// several masters a client without a name has several connections, so the token alone counts.
// Redisson has another token for each master: an id of its connections to the master and the number
// of the thread. The name of the client replaces that id.
//
// A term ends when its client releases the lock anywhere, or when the lease is over by the client's
// own clock. More than half of the masters that granted the lock must agree on that, without the
// jumps of their clocks (time.go). A clock that jumps does not end a term, and neither does a
// master that loses its keys: the client does not notice. This is how Redlock breaks.
func Terms(tables [][]Holding) []Term {
	byKey := map[Key][]Vote{}
	var keys []Key
	for master, table := range tables {
		for _, h := range table {
			k := Key{h.DB, h.Key}
			if h.Joined {
				continue // it may have several holders by design
			}
			if byKey[k] == nil {
				keys = append(keys, k)
			}
			h.Holder = h.holder(len(tables) > 1)
			byKey[k] = append(byKey[k], Vote{h, master})
		}
	}
	var terms []Term
	for _, k := range keys {
		terms = append(terms, termsOf(k, byKey[k], len(tables)/2+1)...)
	}
	return terms
}

// holder returns the pair of client and token. several means that several masters grant the lock.
func (h *Holding) holder(several bool) string {
	switch {
	case several && h.Hash && h.Name != "":
		return h.Name + strings.TrimPrefix(h.Token, Family(h.Token))
	case h.Name != "":
		return h.Name + " (" + h.Token + ")"
	case several || LooksRandom(h.Token):
		return h.Token
	}
	if h.Node != "" { // each node numbers its connections
		return fmt.Sprintf("id=%d of %s (%s)", h.Client, h.Node, h.Token)
	}
	return fmt.Sprintf("id=%d (%s)", h.Client, h.Token)
}

// termsOf groups the votes on one key by holder and attempt.
func termsOf(k Key, votes []Vote, majority int) []Term {
	slices.SortStableFunc(votes, func(a, b Vote) int { return cmp.Compare(a.Order, b.Order) })
	open := map[string]int{} // the newest term of each holder
	var terms []Term
	for _, v := range votes {
		i, known := open[v.Holder]
		if !known || terms[i].closedBefore(v) {
			i = len(terms)
			open[v.Holder] = i
			terms = append(terms, Term{DB: k.DB, Key: k.Name, Holder: v.Holder})
		}
		terms[i].Votes = append(terms[i].Votes, v)
	}
	for i := range terms {
		t := &terms[i]
		t.stands(majority)
		t.From, t.MayFrom = t.begins(majority)
		t.To, t.RanOut = t.over(majority, false)
		t.Earliest, _ = t.over(majority, true)
		t.Sure = t.known() >= majority && (t.Earliest == 0 || t.Earliest >= t.From)
		t.Sure = t.Sure && !t.late && !t.asksLate(majority)
		t.Shared, t.why = t.Votes[0].Shared, t.unclear(majority)
		switch {
		case t.To == 0 || t.To >= t.From:
		case t.To < t.MayFrom:
			t.Majority = false // the client gave up before it had a majority
		default:
			t.From, t.Sure = t.MayFrom, false
		}
	}
	slices.SortStableFunc(terms, func(a, b Term) int { return cmp.Compare(a.From, b.From) })
	return terms
}

// stands finds whether and when the holder had a majority, and drops the votes that were over before: a client that
// looks at its clock does not count them. One that does not look may count them all.
func (t *Term) stands(majority int) {
	t.late = len(t.Votes) >= majority
	t.Majority = t.late
	for n := majority; n <= len(t.Votes); n++ {
		last := t.Votes[n-1].Order
		alive := slices.DeleteFunc(slices.Clone(t.Votes), func(v Vote) bool { return v.RanOut != 0 && v.RanOut < last })
		if over := len(t.Votes) - len(alive); n-over >= majority {
			t.Votes, t.late = alive, false
			return
		}
	}
}

// asksLate reports whether a client went on to ask for votes when the leases of so many were over that no majority was
// left. It may look at its clock only when it has asked all.
func (t *Term) asksLate(majority int) bool {
	last := t.Votes[len(t.Votes)-1].Order
	over := 0
	for _, v := range t.Votes {
		if released := first(v.GaveUp, v.MayGiveUp); released != 0 && released < last { // this is another attempt
			return false
		}
		if v.RanOut != 0 && v.RanOut < last {
			over++
		}
	}
	return len(t.Votes) > majority && len(t.Votes)-over < majority
}

// closedBefore reports whether v belongs to another attempt: the client gave this one up, or asked
// the same master again.
func (t *Term) closedBefore(v Vote) bool {
	return slices.ContainsFunc(t.Votes, func(g Vote) bool {
		return g.Master == v.Master || g.GaveUp != 0 && g.GaveUp <= v.Order
	})
}

// IsInside reports whether t is a read lock that the holder of a write lock took during that term.
func (t *Term) IsInside(write Term) bool {
	return t.Shared && !write.Shared && Within(t.Votes[0].Token, write.Votes[0].Token) &&
		write.From < t.From && (write.To == 0 || write.To > t.From)
}

// known counts the votes that the client knows of, and believes in.
func (t *Term) known() (n int) {
	for _, v := range t.Votes {
		if !v.Unknown && !v.Unconfirmed && (v.MayRunOut == 0 || v.MayRunOut > t.From) {
			n++
		}
	}
	return n
}

// first returns the smaller order. 0 is not yet.
func first(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// over returns the order at which the client knows that it no longer holds the lock, or 0. With earliest,
// what it may have done counts, too. A client that renewed its lease on less than a majority knows that
// the other leases were not renewed. Then the lock ends when fewer than a majority of the leases
// are left.
func (t *Term) over(majority int, earliest bool) (order int64, ranOut bool) {
	var out []int64
	for _, v := range t.Votes {
		gaveUp, over := v.GaveUp, v.RanOut
		if earliest {
			gaveUp, over = first(gaveUp, v.MayGiveUp), first(over, v.MayRunOut)
		}
		switch {
		case earliest || !t.isVague(majority):
			order = first(order, gaveUp)
		default: // another client may have given this vote up
			over = first(over, gaveUp)
		}
		if over != 0 {
			out = append(out, over)
		}
	}
	may := len(t.Votes) / 2
	switch spare, slow := len(t.Votes)-majority, t.isSlow(majority); {
	case slow && earliest:
		may = 0
	case !earliest && (slow || t.late || t.isVague(majority)):
		may = len(t.Votes) - 1
	case spare >= 0 && t.renewedLast(t.mostRenewed()) < majority:
		may = spare
		if earliest { // it may give up at once
			order = first(order, t.lastRenewal())
		}
	}
	if len(out) > may {
		slices.Sort(out)
		if at := out[may]; order == 0 || at < order {
			return at, true
		}
	}
	return order, false
}

// unclear says why the log does not show until when the client of several votes believed in them, "" if it does.
func (t *Term) unclear(majority int) string {
	switch {
	case t.late, t.isSlow(majority):
		return whySlow
	case t.isVague(majority):
		return whyNoNames
	case majority > 1 && t.renewedLast(t.mostRenewed()) < majority:
		return whyPartly
	}
	return ""
}

// isVague reports whether the votes may belong to several clients: their connections have no names, and the token may
// be a word of all.
func (t *Term) isVague(majority int) bool {
	return majority > 1 && t.Votes[0].Name == "" && !LooksRandom(t.Votes[0].Token)
}

// isSlow reports whether the votes came so slowly that it matters whether a client counts its lease from the first of
// them, as it has to, or from the last one. Redlock allows for a drift of a hundredth of the lease, and 2 ms.
func (t *Term) isSlow(majority int) bool {
	if most := t.mostRenewed(); most > 0 && t.renewedLast(most) >= majority {
		return false // these have the lease of one renewal
	}
	first, last := t.Votes[0].begun.passed(), t.Votes[0].begun.passed()
	for _, v := range t.Votes {
		first, last = min(first, v.begun.passed()), max(last, v.begun.passed())
	}
	return last-first > t.Votes[0].Lease/100+2
}

// mostRenewed returns how often the lease of a vote was renewed, at most.
func (t *Term) mostRenewed() int {
	return slices.MaxFunc(t.Votes, func(a, b Vote) int { return cmp.Compare(a.Renewed, b.Renewed) }).Renewed
}

// lastRenewal returns the order of the last renewal of a vote.
func (t *Term) lastRenewal() int64 {
	return slices.MaxFunc(t.Votes, func(a, b Vote) int { return cmp.Compare(a.extended, b.extended) }).extended
}

// renewedLast counts the votes whose leases were renewed most often.
func (t *Term) renewedLast(most int) (n int) {
	for _, v := range t.Votes {
		if v.Renewed == most {
			n++
		}
	}
	return n
}

// Overlap is a lock that a majority of masters granted to Second before the term of First was over.
type Overlap struct{ First, Second Term }

// Overlaps finds the locks that had two holders. A holder that overlaps several others is reported
// once, with the latest of them: the number of all pairs would be quadratic.
func Overlaps(tables [][]Holding) []Overlap {
	sure, _ := overlaps(tables)
	return sure
}

// mostHeld is how many terms that are not over are compared with a new one, once one of them may overlap it.
const mostHeld = 256

// overlaps finds the locks that had two holders, and those that may have had them.
func overlaps(tables [][]Holding) (sure, perhaps []Overlap) {
	terms := slices.DeleteFunc(Terms(tables), func(t Term) bool { return !t.Majority })
	sure, perhaps = overlapping(terms, len(tables) > 1)
	if !slices.ContainsFunc(terms, func(t Term) bool { return t.MayFrom < t.From }) {
		return sure, perhaps
	}
	for i := range terms {
		terms[i].From = terms[i].MayFrom
	}
	slices.SortStableFunc(terms, func(a, b Term) int { return cmp.Compare(a.From, b.From) })
	early, may := overlapping(terms, len(tables) > 1)
	for _, o := range append(early, may...) {
		known := func(other Overlap) bool { return other.First.DB == o.First.DB && other.First.Key == o.First.Key }
		if !slices.ContainsFunc(sure, known) {
			perhaps = append(perhaps, o)
		}
	}
	return sure, perhaps
}

// overlapping compares terms, in the order in which they began.
func overlapping(terms []Term, several bool) (sure, perhaps []Overlap) {
	var held []int // the terms of the same lock that are not over
	for i, second := range terms {
		held = slices.DeleteFunc(held, func(j int) bool {
			first := &terms[j]
			return first.DB != second.DB || first.Key != second.Key || first.To != 0 && first.To <= second.From
		})
		certain, possible := -1, -1
		for n, j := range slices.Backward(held) {
			if certain >= 0 || possible >= 0 && len(held)-n > mostHeld {
				break
			}
			one, _ := sameTerm(terms[j], second, several)
			switch certainly := terms[j].Earliest == 0 || terms[j].Earliest > second.From; {
			case one == equal || terms[j].Shared && second.Shared:
			case one == different && terms[j].Sure && second.Sure && certainly:
				certain = j
			default:
				possible = max(possible, j)
			}
		}
		if certain >= 0 {
			sure = append(sure, Overlap{terms[certain], second})
		} else if possible >= 0 {
			perhaps = append(perhaps, Overlap{terms[possible], second})
		}
		held = append(held, i)
	}
	return sure, perhaps
}

// sameTerm compares the holders of two terms, by the votes of each master that granted both.
func sameTerm(a, b Term, several bool) (likeness, string) {
	for _, v := range a.Votes {
		for _, w := range b.Votes {
			if v.Master == w.Master {
				if is, why := alike(v, w, several); is != equal {
					return is, why
				}
			}
		}
	}
	return alike(a.Votes[0], b.Votes[0], several)
}

// completedBy reports whether this grant completed the second majority. Overlaps finds older
// overlaps again each time.
func (o Overlap) completedBy(master int, order int64) bool {
	last := o.Second.Votes[len(o.Second.Votes)-1]
	return last.Master == master && last.Order == order
}

// Step returns the grant as a step, with its master from 1.
func (v Vote) Step() Step {
	s := v.Granted
	s.Master, s.Node = v.Master+1, v.Node
	return s
}

// Fate returns the step that ended the holding on its master.
func (v Vote) Fate() Step {
	s := v.EndedBy
	switch v.End {
	case EndExpired:
		s.Command = cmp.Or(s.Command, "the lease ended by this master's clock")
	case EndLost:
		s.Command = cmp.Or(s.Command, "this master lost its keys")
	case EndEvicted:
		s.Command = "this master evicted the key for memory"
	case EndOverwritten:
		s.Command = cmp.Or(s.Command, "the lock was gone by now, and no command explains it")
	}
	s.Master, s.Node, s.Time = v.Master+1, v.EndedAt, v.Ended
	return s
}

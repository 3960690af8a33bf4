package doctor

import (
	"cmp"
	"slices"
)

// Term is the time in which a client may believe that it holds a lock.
type Term struct {
	DB       int
	Key      string
	Holder   string
	Votes    []Vote
	Majority bool
	From     int64 // the order of the vote that made the majority, or of the last one
	To       int64 // 0 when it is not over
	RanOut   bool  // it ended because the lease did
}

// Vote is a grant, and the master that has given it, from 0.
type Vote struct {
	Holding
	Master int
}

// Terms puts together what several masters have granted. Tables are the holdings of one
// master each; the terms of a key come in the order in which they began.
//
// A client stops believing in its lock when it releases it anywhere, or when its lease is
// over: by its own clock, which more than half of the masters that granted it have to agree
// on, with what jumped taken out (time.go). Clocks that jump, or a master that loses its
// keys, do not end what the client believes in, and that is just how Redlock breaks.
func Terms(tables [][]Holding) []Term {
	byKey := map[lockKey][]Vote{}
	var keys []lockKey
	for master, table := range tables {
		for _, h := range table {
			k := lockKey{h.DB, h.Key}
			if byKey[k] == nil {
				keys = append(keys, k)
			}
			byKey[k] = append(byKey[k], Vote{h, master})
		}
	}
	var terms []Term
	for _, k := range keys {
		terms = append(terms, termsOf(k, byKey[k], len(tables)/2+1)...)
	}
	return terms
}

// termsOf puts the votes for one holder together.
func termsOf(k lockKey, votes []Vote, majority int) []Term {
	slices.SortStableFunc(votes, func(a, b Vote) int { return cmp.Compare(a.Order, b.Order) })
	open := map[string]int{} // the holder's newest term
	var terms []Term
	for _, v := range votes {
		i, known := open[v.Holder]
		if !known || terms[i].closedBefore(v) {
			i = len(terms)
			open[v.Holder] = i
			terms = append(terms, Term{DB: k.db, Key: k.name, Holder: v.Holder})
		}
		terms[i].Votes = append(terms[i].Votes, v)
	}
	for i := range terms {
		t := &terms[i]
		t.Majority = len(t.Votes) >= majority
		t.From = t.Votes[min(majority, len(t.Votes))-1].Order
		t.To, t.RanOut = t.over(majority)
		if t.To != 0 && t.To < t.From {
			t.Majority = false // it was given up before it was complete
		}
	}
	slices.SortStableFunc(terms, func(a, b Term) int { return cmp.Compare(a.From, b.From) })
	return terms
}

// closedBefore tells that v is part of another attempt: the client has given this one
// up, or has asked the same master again.
func (t *Term) closedBefore(v Vote) bool {
	return slices.ContainsFunc(t.Votes, func(g Vote) bool {
		return g.Master == v.Master || g.GaveUp != 0 && g.GaveUp <= v.Order
	})
}

// over is when the client knows that it does not hold the lock any more. One that could
// renew its lease on less than a majority knows that the others are not renewed: then as
// many leases may end as leave it a majority.
func (t *Term) over(majority int) (order int64, ranOut bool) {
	var out []int64
	for _, v := range t.Votes {
		if v.GaveUp != 0 && (order == 0 || v.GaveUp < order) {
			order = v.GaveUp
		}
		if v.RanOut != 0 {
			out = append(out, v.RanOut)
		}
	}
	may := len(t.Votes) / 2
	if spare := len(t.Votes) - majority; spare >= 0 && t.renewedLast() < majority {
		may = spare
	}
	if len(out) > may {
		slices.Sort(out)
		if at := out[may]; order == 0 || at < order {
			return at, true
		}
	}
	return order, false
}

// renewedLast counts the votes whose leases were renewed as often as any.
func (t *Term) renewedLast() (n int) {
	most := slices.MaxFunc(t.Votes, func(a, b Vote) int { return cmp.Compare(a.Renewed, b.Renewed) }).Renewed
	for _, v := range t.Votes {
		if v.Renewed == most {
			n++
		}
	}
	return n
}

// Overlap is a lock that a majority of masters granted to Second before the term of First
// was over.
type Overlap struct{ First, Second Term }

// Overlaps finds the locks that had two holders. Whoever was let in beside several is told of
// with the last of them: where a lock is none, all pairs would be the square of its users.
func Overlaps(tables [][]Holding) []Overlap {
	terms := slices.DeleteFunc(Terms(tables), func(t Term) bool { return !t.Majority })
	var found []Overlap
	var held []int // of the same lock, whose terms are not over
	for i, second := range terms {
		held = slices.DeleteFunc(held, func(j int) bool {
			first := &terms[j]
			return first.DB != second.DB || first.Key != second.Key || first.To != 0 && first.To <= second.From
		})
		for _, j := range slices.Backward(held) {
			if terms[j].Holder != second.Holder {
				found = append(found, Overlap{terms[j], second})
				break
			}
		}
		held = append(held, i)
	}
	return found
}

// completedBy tells whether it was this grant of a master that made the second majority: older
// overlaps are found again each time.
func (o Overlap) completedBy(master int, order int64) bool {
	last := o.Second.Votes[len(o.Second.Votes)-1]
	return last.Master == master && last.Order == order
}

// Finding is the overlap as a mistake.
func (o Overlap) Finding() Finding {
	first, second := o.First, o.Second
	f := Finding{Pattern: TwoHolders, Key: first.Key, DB: first.DB, Count: 1}
	for _, v := range first.Votes {
		f.Steps = append(f.Steps, v.step())
		if v.EndOrder != 0 && v.EndOrder <= second.From {
			f.Steps = append(f.Steps, v.fate())
		}
	}
	for _, v := range second.Votes {
		f.Steps = append(f.Steps, v.step())
	}
	last := second.Votes[len(second.Votes)-1]
	f.Client, f.Name, f.Time = last.Client, last.Granted.Name, last.Granted.Time
	f.Why, f.Fix = howTwo(first, second, len(first.Votes) > 1)
	return f
}

// howTwo says what has let the second holder in.
func howTwo(first, second Term, several bool) (why, fix string) {
	ends := map[End]bool{}
	for _, v := range first.Votes {
		ends[v.End] = ends[v.End] || v.EndOrder != 0 && v.EndOrder <= second.From
	}
	switch {
	case ends[EndStolen] || ends[EndOverwritten]:
		return "the first holder's lock was taken away by a command of somebody else, and so a second client got it: both believe they hold it", compareAndDelete
	case ends[EndLost] && !several:
		return "the server lost the first holder's lock before its lease was over, and granted it again: both clients believe they hold it",
			"have a server that lost its keys stay away for longer than the longest lease; what the lock guards should check a fencing token"
	}
	return advice(TwoHolders)
}

func (v Vote) step() Step {
	s := v.Granted
	s.Master = v.Master + 1
	return s
}

// fate is what became of the holding on its master.
func (v Vote) fate() Step {
	s := v.EndedBy
	switch v.End {
	case EndExpired:
		s.Command = "by this master's clock the lease has run out"
	case EndLost:
		s.Command = cmp.Or(s.Command, "this master has lost its keys")
	case EndOverwritten:
		s.Command = cmp.Or(s.Command, "the lock was gone by now, by nothing that was seen")
	}
	s.Master, s.Time = v.Master+1, v.Ended
	return s
}

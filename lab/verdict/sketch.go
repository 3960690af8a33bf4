package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/holders"
	"github.com/miniredisd/miniredisd/lab/picture"
	"github.com/miniredisd/miniredisd/lab/words"
)

// sketch is the part of a picture about one lock, while it is made.
type sketch struct {
	*replay
	holdings
	terms   []holders.Term
	entries []int                // the indices of the entries that are columns
	ended   map[int]holders.Vote // by the entry that ended them
	granted map[int]bool         // the entries that granted the lock
	groups  []sketchGroup        // the majority, then the masters, or all nodes
	holders map[connection]string
	begin   int64
	words   words.Language
}

// sketchGroup is a group while it is made. Its rows do not move.
type sketchGroup struct {
	picture.Group
	rows []*picture.Row
}

// place is where a bar is.
type place struct {
	*picture.Row
	at int
}

func (p place) bar() *picture.Bar { return &p.Bars[p.at] }

// connection names a client of a master.
type connection struct {
	master int
	client int64
}

func sketchOf(r *replay, h holdings, in words.Language) picture.Lock {
	s := &sketch{
		replay: r, holdings: h, terms: holders.Terms(h.tables), begin: r.start(), words: in,
		ended: map[int]holders.Vote{}, granted: map[int]bool{}, holders: map[connection]string{},
		groups: make([]sketchGroup, 1+len(r.nodes)),
	}
	text := s.choose()
	places := map[int64]place{} // by the order of the first vote
	for _, t := range s.terms {
		places[t.Votes[0].Order] = s.bars(t)
	}
	for at, i := range s.entries {
		s.mark(at, i)
	}
	s.clocks()
	s.waits()
	for _, o := range s.overlaps {
		both := picture.Span{From: s.after(o.Second.From), To: min(s.after(o.First.To), s.after(o.Second.To))}
		for i, t := range []holders.Term{o.First, o.Second} {
			if g := &s.groups[s.home(t)]; i == 0 || s.home(o.First) != s.home(t) {
				g.Both = append(g.Both, both)
			}
			b := places[t.Votes[0].Order].bar()
			b.Both = append(b.Both, both)
		}
	}
	return s.lock(text)
}

// home is the group of a term: the majority, or the node that granted the lock if its master alone did.
func (s *sketch) home(t holders.Term) int {
	if len(s.tables) > 1 {
		return 0
	}
	return s.granter(t.Votes[0])
}

// granter is the group of the node that granted a vote.
func (s *sketch) granter(v holders.Vote) int { return 1 + s.replay.entries[v.Event].master }

// choose selects the entries that are columns. It returns a line if there are too many.
func (s *sketch) choose() (text []string) {
	chosen := map[int]bool{}
	masters := map[int]bool{}
	for _, t := range s.terms {
		chosen[s.at[t.From]] = true
		if t.To != 0 {
			chosen[s.at[t.To]] = true
		}
		for _, v := range t.Votes {
			e := &s.replay.entries[v.Event]
			chosen[int(v.Event)], s.granted[int(v.Event)] = true, true
			masters[s.replay.nodes[e.master].master] = true
			s.holders[connection{e.master, e.Client}] = v.Holder
			if v.EndOrder != 0 {
				s.ended[s.at[v.EndOrder]] = v
				chosen[s.at[v.EndOrder]] = true
			}
		}
	}
	for i, e := range s.replay.entries {
		switch {
		case e.Event == lab.EventClock, e.Event == lab.EventCrash, e.Event == lab.EventRestore, e.isRole():
			if masters[s.replay.nodes[e.master].master] {
				chosen[i] = true
			}
		case e.Key == s.Key && e.DB == s.DB && e.By == "" && len(e.Cmd) > 0:
			chosen[i] = true
		}
	}
	for i := range chosen {
		s.entries = append(s.entries, i)
	}
	slices.Sort(s.entries)
	if all := len(s.entries); all > mostColumns {
		from := 0
		if len(s.overlaps) > 0 { // a little of what came before the second holder
			from, _ = slices.BinarySearch(s.entries, s.at[s.overlaps[0].Second.From])
			from = min(max(from-mostColumns/4, 0), all-mostColumns)
		}
		s.entries = s.entries[from : from+mostColumns]
		text = append(text, s.words.Say("Only the events %d to %d of %d are drawn.", from+1, from+mostColumns, all))
	}
	return text
}

// column returns the column of an entry. Entries before or after those that are drawn have the first or
// the last one.
func (s *sketch) column(entry int) int {
	i, _ := slices.BinarySearch(s.entries, entry)
	return min(i, len(s.entries)-1)
}

// after returns the column of an order, or the one behind the last for an order that is not yet.
func (s *sketch) after(order int64) int {
	if order == 0 {
		return len(s.entries)
	}
	return s.column(s.at[order])
}

// bars adds a term, and returns where its bar is. A lock of several masters has a bar on each of them, too.
func (s *sketch) bars(t holders.Term) place {
	if len(s.tables) == 1 {
		v := t.Votes[0]
		b := s.lease(v)
		if end := s.after(t.To); v.EndOrder != 0 && v.End != holders.EndReleased && end > b.To {
			b.Belief = end
			b.Title += s.words.Say(" The client believes in it until %s.", s.when(t.To))
		}
		return s.addBar(s.home(t), v, b)
	}
	for _, v := range t.Votes {
		s.addBar(s.granter(v), v, s.lease(v))
	}
	if !t.Majority {
		return place{} // its client never held the lock
	}
	last := t.Votes[len(t.Votes)-1]
	b := picture.Bar{
		Span:  picture.Span{From: s.after(t.From), To: s.after(t.To)},
		Label: s.words.Say("%d of %d masters", len(t.Votes), s.masters),
	}
	b.Title = s.words.Say("%s held the lock on %s, and could believe in it until %s.",
		s.nameOf(last), b.Label, s.when(t.To))
	return s.addBar(0, last, b)
}

// lease returns the bar of a grant.
func (s *sketch) lease(v holders.Vote) picture.Bar {
	b := picture.Bar{
		Span:  picture.Span{From: s.column(int(v.Event)), To: s.after(v.EndOrder)},
		Label: s.seconds(v.Lease),
	}
	if v.Lease == 0 {
		b.Label = s.words.Say("no TTL")
	}
	if s.shows(v.Token) {
		b.Label += ", " + v.Token
	}
	how := s.words.Say(map[holders.End]string{
		"": "not over", holders.EndReleased: "released", holders.EndExpired: "ended by the clock",
		holders.EndStolen: "taken away by another client", holders.EndOverwritten: "overwritten",
		holders.EndLost: "lost with all keys", holders.EndUnclear: "deleted, by whom is unclear",
	}[v.End])
	if v.Lost != nil && v.End == holders.EndLost {
		how = s.words.Say("lost in a failover")
	}
	b.Title = s.words.Say("%s took the lock at %s (lease %s): %s.", s.nameOf(v), s.when(v.Order), b.Label, how)
	return b
}

// shows reports whether a token says more than that somebody holds the lock.
func (s *sketch) shows(token string) bool { return len(token) >= 4 }

// addBar adds a bar to the row of its client. If it would cover another bar, it gets a row of its own.
func (s *sketch) addBar(group int, v holders.Vote, b picture.Bar) place {
	name := s.nameOf(v)
	for n := 2; ; n++ {
		r := s.row(group, name)
		covers := slices.ContainsFunc(r.Bars, func(o picture.Bar) bool {
			return b.From < max(o.To, o.Belief) && o.From < max(b.To, b.Belief)
		})
		if !covers {
			r.Bars = append(r.Bars, b)
			return place{r, len(r.Bars) - 1}
		}
		name = fmt.Sprintf("%s (%d)", s.nameOf(v), n)
	}
}

func (s *sketch) row(group int, name string) *picture.Row {
	g := &s.groups[group]
	for _, r := range g.rows {
		if r.Name == name {
			return r
		}
	}
	r := &picture.Row{Name: name}
	g.rows = append(g.rows, r)
	return r
}

// nameOf returns the name of the client that got a vote.
func (s *sketch) nameOf(v holders.Vote) string { return s.nameBy(s.replay.entries[v.Event]) }

// nameBy returns the name of an entry's client. A client without a name has another number on each
// master. Therefore its token names it, if it has one.
func (s *sketch) nameBy(e entry) string {
	switch {
	case e.Name != "":
		return e.Name
	case len(s.nodes) > 1 && s.holders[connection{e.master, e.Client}] != "":
		return s.holders[connection{e.master, e.Client}]
	case len(s.nodes) > 1 && len(e.Cmd) > 3 && strings.EqualFold(e.Cmd[0], "set"):
		return e.Cmd[2]
	}
	return s.words.Say("client %d", e.Client)
}

// when returns the time of an order by the clock of its master.
func (s *sketch) when(order int64) string {
	if order == 0 {
		return s.words.Say("the end of the history")
	}
	return s.clock(s.replay.entries[s.at[order]].Time)
}

func (s *sketch) clock(unixMS int64) string { return s.seconds(unixMS - s.begin) }

// seconds returns a number of ms as seconds.
func (s *sketch) seconds(ms int64) string {
	text := fmt.Sprintf("%d.%03d", ms/1000, max(ms%1000, -(ms%1000)))
	return s.words.Say("%s s", strings.TrimSuffix(strings.TrimRight(text, "0"), "."))
}

// lock returns what is drawn. The rows of all groups have the same order: by the first event.
func (s *sketch) lock(text []string) picture.Lock {
	l := picture.Lock{Columns: len(s.entries), Text: text}
	first := map[string]int{}
	for _, g := range s.groups {
		for _, r := range g.rows {
			at := len(s.entries)
			for _, b := range r.Bars {
				at = min(at, b.From)
			}
			for _, m := range r.Marks {
				at = min(at, m.At)
			}
			if old, known := first[r.Name]; !known || at < old {
				first[r.Name] = at
			}
		}
	}
	for i, g := range s.groups {
		if len(g.rows) == 0 && len(g.Marks) == 0 {
			continue
		}
		slices.SortStableFunc(g.rows, func(a, b *picture.Row) int {
			return cmp.Or(cmp.Compare(first[a.Name], first[b.Name]), strings.Compare(a.Name, b.Name))
		})
		for _, r := range g.rows {
			g.Rows = append(g.Rows, *r)
		}
		switch {
		case i == 0:
			g.Name = s.words.Say("majority")
		case s.replicated():
			g.Name = s.words.Say("node %s", s.nodes[i-1].name)
		case s.masters > 1:
			g.Name = s.words.Say("master %d", i)
		default:
			g.Name = s.words.Say("server")
		}
		l.Groups = append(l.Groups, g.Group)
	}
	return l
}

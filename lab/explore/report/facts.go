package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/lab/explore"
	"github.com/miniredisd/miniredisd/lab/explore/report/clean"
)

// How much of a text or of a list a report shows.
const (
	mostCommands = 60   // lines that make a failure again
	mostWhys     = 40   // different reasons of one mark
	mostProgram  = 2000 // characters of the program's command line, or of a path
)

// numberOf returns the number of a finding from 1, or 0.
func numberOf(all []fact, f *explore.Finding) int {
	if f == nil {
		return 0
	}
	return 1 + slices.IndexFunc(all, func(x fact) bool { return x.Finding == f })
}

// cellOf returns a cell. A cell that the report lacks was not tried.
func cellOf(r *explore.Report, point, fault int) explore.Cell {
	if point < len(r.Cells) && fault < len(r.Cells[point]) {
		return r.Cells[point][fault]
	}
	return explore.Cell{}
}

// counts returns how many cells and pairs have each mark.
func counts(r *explore.Report) map[explore.Mark]int {
	n := map[explore.Mark]int{}
	for i := range r.Points {
		for j := range r.Faults {
			n[cellOf(r, i, j).Mark]++
		}
	}
	for _, p := range r.Pairs {
		n[p.Mark]++
	}
	return n
}

// The verdicts over a whole report, in one word. A report has the first one that fits.
const (
	verdictBroken    = "broken"
	verdictByItself  = "by-itself"
	verdictHangs     = "hangs"
	verdictOutOfTime = "out-of-time"
	verdictUndecided = "undecided"
	verdictNotJudged = "not-judged"
	verdictMissed    = "not-reached"
	verdictNoTrial   = "nothing-tried"
	verdictNotBroken = "nothing-broken"
)

func verdictOf(r *explore.Report) string {
	n := counts(r)
	all := 0
	for mark, cells := range n {
		if mark != explore.NotTried {
			all += cells
		}
	}
	switch {
	case n[explore.Broken] > 0 && r.Itself == nil:
		return verdictBroken
	case n[explore.ByItself] > 0, r.Itself != nil:
		return verdictByItself
	case n[explore.Hangs] > 0:
		return verdictHangs
	case r.OutOfTime:
		return verdictOutOfTime
	case n[explore.Undecided] > 0:
		return verdictUndecided
	case n[explore.NotJudged] > 0:
		return verdictNotJudged
	case r.Unreached() > 0:
		return verdictMissed
	case all == 0:
		return verdictNoTrial
	}
	return verdictNotBroken
}

// verdict says the verdict in a sentence without its end, and explains it.
func (l language) verdict(r *explore.Report) (short, text string) {
	word := verdictOf(r)
	if word != verdictBroken {
		return l.say("verdict." + word), l.say("verdict." + word + ".text")
	}
	broken, shown, sure := 0, 0, true
	for _, m := range mistakes(r) {
		if m.mark != explore.Broken {
			continue
		}
		broken, shown = broken+1, shown+len(m.facts)
		for _, f := range m.facts {
			sure = sure && f.With == f.Of && len(f.Strikes) == 1
		}
	}
	short = l.count("verdict.broken", broken) + l.say("and") + l.count("verdict.shown", shown)
	if sure {
		return short, l.say("verdict.broken.text")
	}
	return short, l.say("verdict.some.text")
}

// point names a place, as the head of a row does.
func (l language) point(r *explore.Report, p explore.Point) string {
	return l.pointAs(r, p, "request", "message")
}

// pointAs names a place by one of two texts: for a request, and for a message.
func (l language) pointAs(r *explore.Report, p explore.Point, request, message string) string {
	key := request
	if p.Message {
		key = message
	}
	text := l.say(key, "client", clean.Name(p.Client), "nth", l.nth(p.N), "command",
		clean.Name(p.Command), "key", clean.Name(p.Key))
	if r.Masters > 1 {
		text = l.say("on-master", "point", text, "n", p.Master)
	}
	return text
}

// fault returns the title of a failure and its sentence.
func (l language) fault(f explore.Fault) (title, sentence string) {
	if known, found := l.faults[f.Name]; found {
		return known.title, known.sentence
	}
	return clean.Name(f.Title), clean.Sentence(f.Sentence)
}

// with says how often a finding broke, or nothing if nobody knows.
func (l language) with(f *explore.Finding) string {
	switch {
	case f.Of == 0:
		return ""
	case len(f.Strikes) == 0:
		return l.say("without", "without", f.Without, "of", f.Of)
	}
	return l.say("with", "with", f.With, "without", f.Without, "of", f.Of)
}

// known reports whether a report has the place and the failure of a strike.
func known(r *explore.Report, s explore.Strike) bool {
	return s.Point >= 0 && s.Point < len(r.Points) && s.Fault >= 0 && s.Fault < len(r.Faults)
}

// strikes says which failures a finding or a pair has, and where.
func (l language) strikes(r *explore.Report, all []explore.Strike) string {
	text := ""
	for _, s := range all {
		if !known(r, s) {
			continue
		}
		title, _ := l.fault(r.Faults[s.Fault])
		at := l.pointAs(r, r.Points[s.Point], "at.request", "at.message")
		one := l.say("strike", "fault", title, "point", at)
		if text != "" {
			one = l.say("strike.and", "one", text, "two", one)
		}
		text = one
	}
	return text
}

// sentence says what a finding is. If nothing but its English sentence says it, it is in English.
func (l language) sentence(r *explore.Report, f *explore.Finding) string {
	stays := f.Harm == explore.OtherHarm && f.Lock != ""
	if f.Sentence != "" && (l.code == "en" || f.Harm == explore.OtherHarm && !stays) {
		return clean.Sentence(f.Sentence)
	}
	clients, strikes := "", cmp.Or(l.strikes(r, f.Strikes), l.say("strike.none"))
	for i, c := range f.Clients[:min(len(f.Clients), 5)] {
		c = clean.Name(c)
		if i > 0 {
			c = l.say("both", "one", clients, "two", c)
		}
		clients = c
	}
	if len(f.Clients) < 2 && f.Harm == explore.TwoHolders {
		clients = l.say("two-clients")
	}
	key := "harm." + harm(f.Harm)
	switch {
	case f.Harm == explore.OtherHarm && !stays:
		return strikes
	case f.Harm == explore.TwoHolders && f.From > 0:
		key += ".at"
	}
	return l.say(key, "strike", strikes, "clients", cmp.Or(clients, l.say("a-client")), "lock", clean.Name(f.Lock),
		"from", offset(f.From))
}

// offset returns a time since the start of a trial: "+2.5 s".
func offset(d time.Duration) string { return "+" + seconds(d) + " s" }

// time says how long a report took, and how much of that was waiting, or nothing if nobody knows.
func (l language) time(r *explore.Report) string {
	switch {
	case r.Took <= 0:
		return ""
	case r.Wall <= 0:
		return l.say("time.runs", "took", rounded(r.Took))
	case r.CPU <= 0:
		return l.say("time.wall", "wall", rounded(r.Wall), "took", rounded(r.Took))
	}
	return l.say("time.all", "wall", rounded(r.Wall), "took", rounded(r.Took), "cpu", rounded(r.CPU),
		"waited", rounded(max(r.Took-r.CPU, 0)))
}

// rounded returns a time in seconds. Fractions of many seconds say nothing.
func rounded(d time.Duration) string {
	if d >= 10*time.Second {
		d = d.Round(100 * time.Millisecond)
	}
	return seconds(d)
}

// seconds returns a time without zeros at its end.
func seconds(d time.Duration) string {
	return strconv.FormatFloat(float64(d.Milliseconds())/1000, 'f', -1, 64)
}

// program returns the command line, without passwords and on one line.
func program(r *explore.Report) string {
	words := clean.Program(r.Program)
	for i, w := range words {
		if w == "" || strings.ContainsAny(w, " \t\"'$&|;<>()*?`\\") {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return clean.Text(strings.Join(words, " "), mostProgram)
}

// reason is why several cells have their mark.
type reason struct {
	mark  explore.Mark
	why   string
	count int
	where []string // the failures, or the places, each once
}

// reasoned returns the marks whose reasons a report lists.
func reasoned() []explore.Mark {
	return []explore.Mark{explore.NotTried, explore.NotReached, explore.Undecided, explore.NotJudged, explore.Stopped}
}

// rarely stands in the reason of a cell whose failure did harm too seldom to count, before what it did.
const rarely = ", and in none without"

// reasons groups the cells of a mark by why they have it, the most frequent reason first. It is about the
// marks that need a reason.
func (l language) reasons(r *explore.Report, mark explore.Mark) (all []reason) {
	at := map[string]int{}
	add := func(c explore.Cell, strikes ...explore.Strike) {
		if c.Mark != mark || impossible(c.Why) {
			return
		}
		why := c.Why
		if before, _, rare := strings.Cut(why, rarely+": "); rare { // the sentence of each cell is another one
			why = before + rarely
		}
		i, found := at[why]
		if !found {
			i = len(all)
			at[why] = i
			all = append(all, reason{mark: mark, why: why})
		}
		all[i].count++
		for _, s := range strikes {
			if !known(r, s) {
				continue
			}
			where, _ := l.fault(r.Faults[s.Fault])
			if mark != explore.NotTried {
				where = l.point(r, r.Points[s.Point])
			}
			if !slices.Contains(all[i].where, where) {
				all[i].where = append(all[i].where, where)
			}
		}
	}
	for i := range r.Points {
		for j := range r.Faults {
			add(cellOf(r, i, j), explore.Strike{Point: i, Fault: j})
		}
	}
	for _, p := range r.Pairs {
		add(p.Cell, p.Strikes[0], p.Strikes[1])
	}
	slices.SortStableFunc(all, func(a, b reason) int { return b.count - a.count })
	return all
}

// blind returns the keys of what no run can show.
func blind(r *explore.Report) []string {
	all := []string{"blind.work"}
	if r.Masters > 1 {
		all = append(all, "blind.validity")
	}
	return all
}

// impossible reports whether a cell was not tried because its failure does not exist at its place.
func impossible(why string) bool {
	return slices.Contains([]string{"a message is not a request", "a request is not a message",
		"only EVALSHA gets this error", "the request names no key", "servers refuse only writes with this error",
		"just before the request database 0 did not have the lock: there was nothing to evict"}, why)
}

// impossibles counts the cells whose failure does not exist at their place.
func impossibles(r *explore.Report) (n int) {
	for i := range r.Points {
		for j := range r.Faults {
			if impossible(cellOf(r, i, j).Why) {
				n++
			}
		}
	}
	return n
}

// mostWhere is how many failures or places of a reason are named.
const mostWhere = 4

// whereOf names the failures or the places of a reason.
func (l language) whereOf(x reason) string {
	names := x.where[:min(len(x.where), mostWhere)]
	if more := len(x.where) - len(names); more > 0 {
		names = append(slices.Clone(names), l.say("more", "n", more))
	}
	return strings.Join(names, l.say("list"))
}

// noReason is the text for a cell that was not tried, and nobody says why.
func noReason(r *explore.Report) string {
	if r.OutOfTime {
		return "time-over"
	}
	return "no-reason"
}

// commands returns the lines that make a failure again. left is how many more there are.
func commands(f *explore.Finding) (all []string, left int) {
	for _, line := range f.Commands[:min(len(f.Commands), mostCommands)] {
		all = append(all, clean.Command(line))
	}
	return all, len(f.Commands) - len(all)
}

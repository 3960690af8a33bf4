package report

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/miniredisd/miniredisd/lab/explore"
	"github.com/miniredisd/miniredisd/lab/explore/report/clean"
	"github.com/miniredisd/miniredisd/lab/explore/report/paste"
)

// both is a text in the language of the page, and in the one that a reader can switch to. Foreign says that
// nobody has translated it: then it is in English in both.
type both struct {
	Here, There string
	Foreign     bool
}

// named is a text with a head.
type named struct{ Name, Text both }

// view is what the template shows.
type view struct {
	Lang, Other string
	Policy      string
	CSS         template.CSS
	JS          template.JS

	Verdict, Seal, Program  string
	InTest, Nothing         bool
	Short, Long             both
	Worst                   []viewMistake // those that the verdict is about, for the top of the page
	Facts                   []named
	Columns                 []both
	Rows                    []viewRow
	RowsLeft                both
	Legend                  []viewMark
	Failures                []named
	Mistakes                []viewMistake
	FindingsLeft            both
	Remarks                 []viewMark
	RemarksLeft, Impossible both
	Pairs, NoTime           both
	Notes                   []both
	Blind                   []both // what no run can show
	Rerun                   string
}

type viewRow struct {
	Who      both
	What     string
	Unstable bool
	Cells    []viewCell
}

type viewCell struct {
	Mark    string
	Text    both
	Finding int // 0 if it has none
}

type viewMark struct {
	Mark                    string
	Word, Means, Why, Where both
	Count                   int
}

type viewMistake struct {
	Mark                            string
	Word, Title, Reason, Fix, Shown both
	Findings                        []viewFinding
}

type viewFinding struct {
	Number                          int
	Mark                            string
	Sentence, Strikes, With         both
	Picture, OtherPicture, Loop     template.URL
	File                            string
	Alt, NoPicture, NoLoop, LoopHow both
	Commands                        string
	CommandsLeft                    both
	Tests                           []paste.Test
	NoTest                          both
	Masters                         bool
	History                         []viewEntry
	HistoryLeft, OutputLeft         both
	Output                          string
}

type viewEntry struct {
	Master                                int
	Time, Client, Request, Reply, Outcome string
	Struck                                bool // a rule fired
}

// Bounds of the page.
const (
	mostRows     = 300
	mostFindings = 50
	mostEntries  = 200
	mostAlt      = 1500 // characters
	mostPage     = 16 << 20
)

// writer makes the view of a report.
type writer struct {
	r           *explore.Report
	mistakes    []mistake
	facts       []fact // of all mistakes
	here, there language
	budget      int // bytes that pictures and recordings may still take
}

// both makes a text in both languages.
func (p *writer) both(say func(l language) string) both {
	return both{Here: say(p.here), There: say(p.there)}
}

// say is the text of a key in both languages.
func (p *writer) say(key string) both { return p.both(func(l language) string { return l.say(key) }) }

// count says how many of something there are, or nothing for none.
func (p *writer) count(key string, n int) both {
	if n <= 0 {
		return both{}
	}
	return p.both(func(l language) string { return l.count(key, n) })
}

// translated is a sentence of another package in both languages.
func (p *writer) translated(s string) both {
	here, same := p.here.translate(s)
	there, thereSame := p.there.translate(s)
	b := both{clean.Sentence(here), clean.Sentence(there), !same || !thereSame}
	b.Here, b.There = asSentence(b.Here), asSentence(b.There)
	return b
}

// asSentence returns a text with a capital at its beginning and a full stop at its end. Code at the end has none.
func asSentence(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	last, _ := utf8.DecodeLastRuneInString(s)
	switch {
	case s == "" || strings.ContainsRune(".。!?…)", last) || strings.HasSuffix(s, " end"):
	case first < utf8.RuneSelf && last < utf8.RuneSelf:
		s += "."
	default:
		s += "。"
	}
	return strings.ToUpper(s[:size]) + s[size:]
}

func (p *writer) view() view {
	r := p.r
	v := view{
		Lang: p.here.code, Other: p.there.code, Verdict: verdictOf(r), Program: program(r), InTest: r.InTest,
		Short:        p.both(func(l language) string { short, _ := l.verdict(r); return short }),
		Long:         p.both(func(l language) string { _, long := l.verdict(r); return long }),
		RowsLeft:     p.count("rows.left", len(r.Points)-mostRows),
		FindingsLeft: p.count("findings.left", len(p.facts)-mostFindings),
		Pairs:        p.count("pairs.tried", len(r.Pairs)), NoTime: p.count("no-time", r.Untried),
	}
	v.Nothing = v.Verdict == verdictNotBroken
	seals := map[string]string{verdictNotBroken: "fine", verdictOutOfTime: "not-tried", verdictNoTrial: "not-tried"}
	v.Seal = seals[v.Verdict]
	if v.Seal == "" {
		v.Seal = v.Verdict // a mark of the same name
	}
	for _, key := range blind(r) {
		v.Blind = append(v.Blind, p.say(key))
	}
	p.head(&v)
	p.matrix(&v)
	p.marks(&v)
	n := 0
	for _, m := range p.mistakes {
		if n < mostFindings {
			v.Mistakes = append(v.Mistakes, p.mistake(&n, m))
		}
	}
	for _, m := range v.Mistakes {
		if m.Mark == v.Mistakes[0].Mark {
			v.Worst = append(v.Worst, m)
		}
	}
	if !r.InTest && len(r.Program) > 0 {
		v.Rerun = "miniredisd explore --seed " + strconv.FormatUint(r.Seed, 10)
		switch {
		case r.Cluster:
			v.Rerun += " --cluster"
		case r.Sentinels:
			v.Rerun += " --sentinels"
		}
		if r.Masters > 1 && !(r.Cluster && r.Masters == 3) {
			v.Rerun += fmt.Sprintf(" --masters %d", r.Masters)
		}
		v.Rerun += " -- " + v.Program
	}
	return v
}

func (p *writer) head(v *view) {
	r := p.r
	joined := func(parts func(l language) []string) both {
		return p.both(func(l language) string { return strings.Join(parts(l), l.say("and")) })
	}
	v.Facts = []named{
		{p.say("the-tried"), joined(func(l language) []string {
			return []string{l.count("points", len(r.Points)), l.count("faults", len(r.Faults))}
		})},
		{p.say("the-runs"), joined(func(l language) []string {
			return []string{l.count("trials", r.Trials), l.count("baselines", r.Baselines), l.count("confirms", r.Confirms)}
		})},
		{p.say("the-seed"), p.both(func(language) string { return strconv.FormatUint(r.Seed, 10) })},
	}
	if r.Masters > 1 {
		v.Facts = append(v.Facts, named{p.say("the-masters"),
			p.both(func(language) string { return strconv.Itoa(r.Masters) })})
	}
	if r.On != "" {
		v.Facts = append(v.Facts, named{p.say("the-server"),
			p.both(func(language) string { return clean.Text(r.On, mostText) })})
	}
	if r.Took > 0 {
		v.Facts = append(v.Facts, named{p.say("the-time"), p.both(func(l language) string { return l.time(r) })})
	}
}

// matrix makes the columns and the rows.
func (p *writer) matrix(v *view) {
	for _, f := range p.r.Faults {
		title, sentence := p.fault(f)
		v.Columns = append(v.Columns, title)
		v.Failures = append(v.Failures, named{title, sentence})
	}
	for i, point := range p.r.Points[:min(len(p.r.Points), mostRows)] {
		who, what := "row.request", clean.Name(point.Command)+" "+clean.Name(point.Key)
		if point.Message {
			who, what = "row.message", clean.Name(point.Key)
		}
		row := viewRow{What: what, Unstable: point.Unstable, Who: p.both(func(l language) string {
			text := l.say(who, "client", clean.Name(point.Client), "nth", l.nth(point.N))
			if p.r.Masters > 1 {
				text = l.say("on-master", "point", text, "n", point.Master)
			}
			return text
		})}
		for j := range p.r.Faults {
			row.Cells = append(row.Cells, p.cell(cellOf(p.r, i, j)))
		}
		v.Rows = append(v.Rows, row)
	}
}

func (p *writer) fault(f explore.Fault) (title, sentence both) {
	say := func(l language, part int) string {
		title, sentence := l.fault(f)
		return [...]string{title, sentence}[part]
	}
	title = p.both(func(l language) string { return say(l, 0) })
	sentence = p.both(func(l language) string { return say(l, 1) })
	title.Foreign, sentence.Foreign = true, true // if they are the same in both languages
	return title, sentence
}

// cell says in words what a cell is. The page shows them for the cell that a reader selects, and a screen
// reader says them.
func (p *writer) cell(c explore.Cell) viewCell {
	n := numberOf(p.facts, c.Finding)
	if n > mostFindings {
		n = 0
	}
	text := p.both(func(l language) string {
		s := l.say("mark." + word(c.Mark))
		if why, _ := l.translate(c.Why); why != "" {
			s = l.say("cell.why", "mark", s, "why", clean.Line(why))
		}
		if n > 0 {
			s = l.say("cell.finding", "mark", s, "n", n)
		}
		return s
	})
	return viewCell{word(c.Mark), text, n}
}

// marks makes the legend and the remarks.
func (p *writer) marks(v *view) {
	n := counts(p.r)
	left := 0
	for _, m := range marks() {
		if n[m] > 0 {
			v.Legend = append(v.Legend, viewMark{Mark: word(m), Word: p.say("mark." + word(m)),
				Means: p.say("means." + word(m)), Count: n[m]})
		}
	}
	for _, m := range reasoned() {
		all, there := p.here.reasons(p.r, m), p.there.reasons(p.r, m)
		left += max(len(all)-mostWhys, 0)
		for i, reason := range all[:min(len(all), mostWhys)] {
			why := p.translated(reason.why)
			if reason.why == "" {
				why = p.say(noReason(p.r))
			}
			v.Remarks = append(v.Remarks, viewMark{Mark: word(m), Word: p.say("mark." + word(m)), Why: why, Count: reason.count,
				Where: both{Here: p.here.whereOf(reason), There: p.there.whereOf(there[i])}})
		}
	}
	v.RemarksLeft, v.Impossible = p.count("remarks.left", left), p.count("impossible", impossibles(p.r))
	for _, note := range p.r.Notes {
		v.Notes = append(v.Notes, p.translated(note))
	}
}

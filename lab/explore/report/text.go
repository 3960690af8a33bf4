package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/lab/explore"
	"github.com/miniredisd/miniredisd/lab/explore/report/clean"
)

// Sizes of the text.
const (
	terminal     = 120 // columns
	mostLabel    = 46  // columns of a place
	masterLabel  = 12  // more of them if there are several masters
	cellWidth    = 3
	mostTextRows = 500
	mostTextual  = 30 // mistakes, and lines about one of them
)

// Text writes a report for a terminal, at most 120 columns wide. lang is en or zh. files are the paths of
// the other reports, which the text names.
func Text(w io.Writer, r *explore.Report, lang string, files ...string) error {
	l, err := languageOf(lang)
	if err != nil {
		return err
	}
	t := &text{language: l, r: r, mistakes: mistakes(r)}
	t.head()
	told := 0
	if r.Itself != nil { // what follows proves less
		t.mistake(1, t.mistakes[0])
		told = 1
	}
	t.matrix()
	for i, m := range t.mistakes[:min(len(t.mistakes), mostTextual)] {
		if i >= told {
			t.mistake(i+1, m)
		}
	}
	if more := len(t.mistakes) - mostTextual; more > 0 {
		t.line("", "\n"+l.count("mistakes.left", more))
	}
	t.remarks()
	t.blind()
	t.end(files)
	_, err = w.Write(t.b.Bytes())
	return err
}

// text is a report while it is written.
type text struct {
	language
	r        *explore.Report
	mistakes []mistake
	b        bytes.Buffer
}

// line writes a text, broken into lines that begin with indent.
func (t *text) line(indent, s string) {
	for strings.HasPrefix(s, "\n") {
		t.b.WriteByte('\n')
		s = s[1:]
	}
	for _, part := range wrap(s, terminal-columns(indent)) {
		t.b.WriteString(strings.TrimRight(indent+part, " ") + "\n")
	}
}

// labelled writes a word and a text, whose further lines begin below the text.
func (t *text) labelled(label, s string) {
	label = "  " + label + "  "
	for i, part := range wrap(s, terminal-columns(label)) {
		if i > 0 {
			label = strings.Repeat(" ", columns(label))
		}
		t.b.WriteString(label + part + "\n")
	}
}

// label returns a text as the head of another one.
func (t *text) label(key string) string { return t.say("label", "label", t.say(key)) }

func (t *text) head() {
	r := t.r
	t.line("", t.say("name")+": "+program(r))
	parts := []string{t.count("points", len(r.Points)), t.count("faults", len(r.Faults)),
		t.count("baselines", r.Baselines), t.count("trials", r.Trials), t.count("confirms", r.Confirms)}
	if r.Masters > 1 {
		parts = append(parts, t.count("masters", r.Masters))
	}
	parts = append(parts, t.say("seed", "seed", r.Seed))
	if r.On != "" {
		parts = append(parts, t.say("on", "server", clean.Text(r.On, mostText)))
	}
	t.line("", strings.Join(parts, t.say("and")))
}

// tried returns the columns that have at least one trial. The others are in the remarks.
func (t *text) tried() (all []int) {
	for j := range t.r.Faults {
		for i := range t.r.Points {
			if cellOf(t.r, i, j).Mark != explore.NotTried {
				all = append(all, j)
				break
			}
		}
	}
	return all
}

// matrix writes the places as rows and the failures as columns. A matrix that is too wide is written in
// parts, one below the other.
func (t *text) matrix() {
	rows, tried := min(len(t.r.Points), mostTextRows), t.tried()
	if len(tried) == 0 {
		return
	}
	labels, width := make([]string, rows), 0
	for i := range rows {
		labels[i] = t.rowLabel(t.r.Points[i])
		width = max(width, columns(labels[i]))
	}
	most := (terminal - width - 2) / cellWidth
	for part := range slices.Chunk(tried, most) {
		t.b.WriteByte('\n')
		if most < len(tried) {
			t.line("", t.say("columns.of", "from", part[0]+1, "to", part[len(part)-1]+1, "n", len(t.r.Faults)))
		}
		t.b.WriteString(strings.Repeat(" ", width+2))
		for _, j := range part {
			fmt.Fprintf(&t.b, "%*d", cellWidth, j+1)
		}
		t.b.WriteByte('\n')
		for i := range rows {
			t.b.WriteString(pad(labels[i], width+2))
			for _, j := range part {
				fmt.Fprintf(&t.b, "%*s", cellWidth, glyph(cellOf(t.r, i, j).Mark))
			}
			t.b.WriteByte('\n')
		}
	}
	if more := len(t.r.Points) - rows; more > 0 {
		t.line("", t.count("rows.left", more))
	}
	t.legend(tried)
}

// rowLabel is the head of a row. If it is too wide, the client's name and the key are cut, and not the master behind
// them: rows often differ there only.
func (t *text) rowLabel(p explore.Point) string {
	most, end := mostLabel, ""
	if t.r.Masters > 1 {
		most += masterLabel
	}
	if p.Unstable {
		most, end = most-2, " ~"
	}
	const name, key = 16, 14 // the least columns of each
	if columns(t.point(t.r, p)) > most {
		p.Client = cutMiddle(clean.Name(p.Client), name)
	}
	if more := columns(t.point(t.r, p)) - most; more > 0 {
		p.Key = cutMiddle(clean.Name(p.Key), max(columns(clean.Name(p.Key))-more, key))
	}
	return cutMiddle(t.point(t.r, p), most) + end
}

// legend explains the marks that the matrix has, and its columns.
func (t *text) legend(tried []int) {
	n := counts(t.r)
	t.line("", "\n"+t.say("legend"))
	width := 0
	for _, m := range marks() {
		width = max(width, columns(t.say("mark."+word(m))))
	}
	for _, m := range marks() {
		if n[m] > 0 {
			head := fmt.Sprintf("%s %s %4d", glyph(m), pad(t.say("mark."+word(m)), width), n[m])
			t.labelled(head, t.say("means."+word(m)))
		}
	}
	for _, p := range t.r.Points {
		if p.Unstable {
			t.labelled("~", t.say("unstable"))
			break
		}
	}
	t.line("", "\n"+t.say("columns"))
	width = 0
	for _, j := range tried {
		title, _ := t.fault(t.r.Faults[j])
		width = max(width, min(columns(title), mostLabel))
	}
	for _, j := range tried {
		title, sentence := t.fault(t.r.Faults[j])
		t.labelled(fmt.Sprintf("%2d %s", j+1, pad(cut(title, mostLabel), width)), sentence)
	}
}

// mistake writes a mistake: what is wrong, the failure that is easiest to make again as a whole, and the others as a
// line each.
func (t *text) mistake(n int, m mistake) {
	mark := strings.ToUpper(t.say("mark." + word(m.mark)))
	t.line("", "\n"+t.say("mistake", "n", n, "of", len(t.mistakes), "mark", mark, "title", t.title(m)))
	t.advice(m)
	if s := t.shown(m); s != "" {
		t.line("  ", s)
	}
	t.line("  ", t.sentence(t.r, m.facts[0].Finding))
	t.details(m.facts[0])
	others := m.facts[1:]
	if len(others) > 0 {
		t.line("  ", t.label("others"))
	}
	for _, f := range others[:min(len(others), mostTextual)] {
		t.line("    ", t.oneLine(t.r, f))
	}
	if more := len(others) - mostTextual; more > 0 {
		t.line("    ", t.count("findings.left", more))
	}
}

// advice writes why a mistake is one, and what helps.
func (t *text) advice(m mistake) {
	for _, part := range []struct{ key, text string }{{"why", m.reason}, {"fix", m.fix}} {
		if part.text != "" {
			s, _ := t.translate(part.text)
			t.labelled(t.label(part.key), clean.Sentence(s))
		}
	}
}

// details writes what stands below the sentence of a finding.
func (t *text) details(f fact) {
	if s := t.strikes(t.r, f.Strikes); s != "" {
		t.labelled(t.label("failure"), s+t.say("end"))
	}
	if s := t.with(f.Finding); s != "" {
		t.line("  ", s)
	}
	if lines, left := commands(f.Finding); len(lines) > 0 {
		t.line("  ", t.label("again"))
		for _, line := range lines {
			t.line("    ", clean.Line(line))
		}
		if left > 0 {
			t.line("    ", t.count("again.left", left))
		}
	}
	if lines, left := clean.Lines(f.Output); len(lines) > 0 {
		t.line("  ", t.label("output"))
		if left > 0 {
			t.line("    ", t.count("output.left", left))
		}
		for _, line := range lines {
			t.line("    | ", line)
		}
	}
}

// remarks writes what was not tried, and the reasons of other marks.
func (t *text) remarks() {
	t.line("", "\n"+t.say("remarks"))
	none := true
	for _, m := range reasoned() {
		all := t.reasons(t.r, m)
		for _, reason := range all[:min(len(all), mostWhys)] {
			none = false
			why, _ := t.translate(reason.why)
			if why == "" {
				why = t.say(noReason(t.r))
			}
			why = t.say("remarks.why", "why", clean.Sentence(why), "where", t.whereOf(reason))
			head := t.say("remarks.mark", "mark", t.say("mark."+word(m)), "n", reason.count)
			t.labelled(t.say("label", "label", head), why)
		}
		if more := len(all) - mostWhys; more > 0 {
			t.line("  ", t.count("remarks.left", more))
		}
	}
	if none {
		t.line("  ", t.say("all-tried"))
	}
	if n := impossibles(t.r); n > 0 {
		t.line("  ", t.count("impossible", n))
	}
	if len(t.r.Pairs) > 0 {
		t.line("  ", t.count("pairs.tried", len(t.r.Pairs)))
	}
	for _, note := range t.r.Notes {
		said, _ := t.translate(note)
		t.labelled(t.label("note"), clean.Sentence(said))
	}
	if t.r.Untried > 0 {
		t.line("  ", t.count("no-time", t.r.Untried))
	}
}

// blind writes what no run can show.
func (t *text) blind() {
	t.line("", "\n"+t.say("blind"))
	for _, key := range blind(t.r) {
		t.line("  ", t.say(key))
	}
}

// end writes where the files are, and the verdict as the last line.
func (t *text) end(files []string) {
	if len(files) > 0 {
		t.b.WriteByte('\n')
	}
	for _, path := range files {
		t.line("", t.say("files", "path", clean.Text(path, mostProgram)))
	}
	short, explanation := t.verdict(t.r)
	t.line("", "\n"+explanation)
	if verdictOf(t.r) == verdictNotBroken {
		t.line("", t.say("nothing-means"))
	}
	if s := t.time(t.r); s != "" {
		t.line("", s)
	}
	t.line("", short+t.say("end"))
}

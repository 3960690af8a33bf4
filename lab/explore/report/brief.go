package report

import (
	"io"
	"strconv"

	"github.com/miniredisd/miniredisd/lab/explore"
)

const mostBrief = 5 // mistakes, and other findings of one

// Brief writes what a failed test shows: for each mistake the sentence of a finding, what helps, how to see it again,
// and the sentences of the others; then the paths of the other reports. The first line is about the worst finding.
func Brief(w io.Writer, r *explore.Report, lang string, files ...string) error {
	l, err := languageOf(lang)
	if err != nil {
		return err
	}
	t := &text{language: l, r: r, mistakes: mistakes(r)}
	for i, m := range t.mistakes[:min(len(t.mistakes), mostBrief)] {
		if i > 0 {
			t.b.WriteByte('\n')
		}
		t.line("", t.sentence(r, m.facts[0].Finding))
		t.advice(m)
		t.details(m.facts[0])
		t.rest(m.facts[1:])
	}
	if more := len(t.mistakes) - mostBrief; more > 0 {
		t.line("", "\n"+l.count("mistakes.left", more))
	}
	t.end(files)
	_, err = w.Write(t.b.Bytes())
	return err
}

// rest writes the sentences of the other findings of a mistake.
func (t *text) rest(others []fact) {
	if len(others) > 0 {
		t.line("  ", t.label("others"))
	}
	for _, f := range others[:min(len(others), mostBrief)] {
		t.line("    ", t.sentence(t.r, f.Finding))
	}
	if more := len(others) - mostBrief; more > 0 {
		t.line("  ", t.count("shows.more", more))
	}
}

// Summary says in one line what has come of a report.
func Summary(r *explore.Report, lang string) (string, error) {
	l, err := languageOf(lang)
	if err != nil {
		return "", err
	}
	short, _ := l.verdict(r)
	switch verdictOf(r) {
	case verdictOutOfTime:
		return short + l.say("end") + " " + l.count("no-time", r.Untried), nil
	case verdictUndecided:
		short = l.say("label", "label", short) + " " + strconv.Itoa(counts(r)[explore.Undecided])
	}
	return short, nil
}

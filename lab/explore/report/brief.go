package report

import (
	"io"
	"strconv"

	"github.com/miniredisd/miniredisd/lab/explore"
)

const mostBrief = 5 // findings

// Brief writes what a failed test shows: the sentence of each finding, how to see it again, and the paths of the
// other reports. The sentence of the worst finding is the first line. It is Text without the matrix.
func Brief(w io.Writer, r *explore.Report, lang string, files ...string) error {
	l, err := languageOf(lang)
	if err != nil {
		return err
	}
	t := &text{language: l, r: r, facts: facts(r)}
	for i, f := range t.facts[:min(len(t.facts), mostBrief)] {
		if i > 0 {
			t.b.WriteByte('\n')
		}
		t.line("", t.sentence(r, f.Finding))
		t.details(f)
	}
	if more := len(t.facts) - mostBrief; more > 0 {
		t.line("", "\n"+l.count("findings.left", more))
	}
	t.end(files)
	_, err = w.Write(t.b.Bytes())
	return err
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

package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/lab/explore"
	"github.com/miniredisd/miniredisd/lab/explore/report/clean"
)

// junitSignature begins each report, so that WriteJUnit knows its own files.
const junitSignature = xml.Header + "<!-- a report of miniredisd explore -->\n"

// junitSuites is a report as CI systems read it, in the shape of Jenkins's junit-10.xsd. A place is a test case: its
// name is the same in each run, so that a CI system can compare runs.
type junitSuites struct {
	XMLName  xml.Name `xml:"testsuites"`
	Name     string   `xml:"name,attr"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Errors   int      `xml:"errors,attr"`
	Suite    junitSuite
}

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"` // the program
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"time,attr,omitempty"` // in seconds
	Cases    []junitCase `xml:"testcase"`
}

// junitCase is a place, or what is about no place alone. It has one of the three results, or it has passed.
type junitCase struct {
	Class   string       `xml:"classname,attr"` // the program: GitLab shows it, and not the name of the suite
	Name    string       `xml:"name,attr"`
	Skipped *junitResult `xml:"skipped"`
	Error   *junitResult `xml:"error"`
	Failure *junitResult `xml:"failure"`
	Output  *junitOutput `xml:"system-out"`
}

type junitResult struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",cdata"` // some CI systems show nothing else
}

type junitOutput struct {
	Text string `xml:",cdata"`
}

// says is what a mark says about its place, from nothing to the worst.
type says uint8

const (
	nothing says = iota
	passes
	skips
	errs
	fails
)

// saysOf returns what a mark says about its place. A place that hangs passes, as in the exit code: no lock is broken.
func saysOf(m explore.Mark) says {
	switch word(m) {
	case "not-tried", "not-reached":
		return nothing
	case "not-judged", "by-itself":
		return skips
	case "undecided":
		return errs
	case "broken":
		return fails
	}
	return passes
}

// JUnit writes a report as XML for CI systems.
func JUnit(w io.Writer, r *explore.Report, lang string) error {
	l, err := languageOf(lang)
	if err != nil {
		return err
	}
	j := &junit{language: l, r: r, all: mistakes(r)}
	cases := []junitCase{j.itself()}
	for i := range r.Points {
		cases = append(cases, j.place(i))
	}
	if len(r.Pairs) > 0 {
		cases = append(cases, j.pairs())
	}
	time := ""
	if r.Wall > 0 {
		time = fmt.Sprintf("%.3f", r.Wall.Seconds())
	}
	return writeJUnit(w, program(r), time, cases)
}

// JUnitError writes why a program could not be explored, as XML for CI systems.
func JUnitError(w io.Writer, words []string, why error, lang string) error {
	l, err := languageOf(lang)
	if err != nil {
		return err
	}
	message := clean.Text(why.Error(), mostText)
	return writeJUnit(w, program(&explore.Report{Program: words}), "", []junitCase{
		{Name: l.say("junit.itself"), Error: &junitResult{"error", message, message}},
	})
}

func writeJUnit(w io.Writer, program, time string, cases []junitCase) error {
	s := junitSuite{Name: program, Time: time, Cases: cases, Tests: len(cases)}
	for i := range cases {
		c := &cases[i]
		c.Class = "miniredisd explore " + program
		switch {
		case c.Failure != nil:
			s.Failures++
		case c.Error != nil:
			s.Errors++
		case c.Skipped != nil:
			s.Skipped++
		}
	}
	if _, err := io.WriteString(w, junitSignature); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	all := junitSuites{Name: "miniredisd explore", Tests: s.Tests, Failures: s.Failures, Errors: s.Errors, Suite: s}
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// junit makes the test cases of a report.
type junit struct {
	language
	r   *explore.Report
	all []mistake
}

// itself is the program without a failure.
func (j *junit) itself() junitCase {
	c := junitCase{Name: j.say("junit.itself")}
	j.fail(&c, func(f fact) bool { return len(f.Strikes) == 0 })
	return c
}

// place is a place with all its failures.
func (j *junit) place(i int) junitCase {
	c := junitCase{Name: j.point(j.r, j.r.Points[i])}
	worst, why, late := nothing, "", false // why the worst cell has its mark
	var remarks, left []string
	for k := range j.r.Faults {
		cell := cellOf(j.r, i, k)
		late = late || cell.Mark == explore.NotTried && cell.Why == "" && j.r.OutOfTime
		line := j.remark(k, cell)
		if saysOf(cell.Mark) > worst {
			worst, why = saysOf(cell.Mark), line
		}
		switch {
		case saysOf(cell.Mark) == nothing && !impossible(cell.Why):
			left = append(left, line)
		case saysOf(cell.Mark) != nothing && cell.Mark != explore.Fine:
			remarks = append(remarks, line)
		}
	}
	text := strings.Join(append(slices.Clone(remarks), left...), "\n")
	switch {
	case worst == fails:
		j.fail(&c, func(f fact) bool {
			return f.mark == explore.Broken && len(f.Strikes) == 1 && f.Strikes[0].Point == i
		})
		if c.Failure == nil { // nobody kept its finding
			c.Failure = &junitResult{"broken", j.say("mark.broken"), text}
		}
	case worst == errs:
		c.Error = &junitResult{"undecided", why, text}
	case worst == skips:
		c.Skipped = &junitResult{"skipped", why, text}
	case late:
		c.Skipped = &junitResult{"skipped", j.say("time-over"), text}
	case worst == nothing && len(left) > 0:
		c.Skipped = &junitResult{"skipped", left[0], text}
	case worst == nothing:
		c.Skipped = &junitResult{"skipped", j.count("impossible", len(j.r.Faults)), ""}
	case len(remarks) > 0:
		c.Output = &junitOutput{strings.Join(remarks, "\n")}
	}
	return c
}

// remark says in a line what a failure did at a place.
func (j *junit) remark(fault int, c explore.Cell) string {
	title, _ := j.fault(j.r.Faults[fault])
	line := j.say("cell.why", "mark", title, "why", j.say("mark."+word(c.Mark)))
	why, _ := j.translate(c.Why)
	if why == "" && c.Mark == explore.NotTried {
		why = j.say(noReason(j.r))
	}
	if why == "" {
		return line
	}
	return j.say("remarks.why", "why", line, "where", clean.Sentence(why))
}

// pairs is the program with two failures at a time.
func (j *junit) pairs() junitCase {
	c := junitCase{Name: j.say("pairs"), Output: &junitOutput{j.count("pairs.tried", len(j.r.Pairs))}}
	j.fail(&c, func(f fact) bool { return f.mark == explore.Broken && len(f.Strikes) > 1 })
	if c.Failure == nil && slices.ContainsFunc(j.r.Pairs, func(p explore.Pair) bool { return saysOf(p.Mark) == errs }) {
		c.Error = &junitResult{"undecided", j.say("mark.undecided"), j.say("means.undecided")}
	}
	return c
}

// fail fails a test case with the findings that are its own, if there are any.
func (j *junit) fail(c *junitCase, own func(fact) bool) {
	t := &text{language: j.language, r: j.r}
	for _, m := range j.all {
		m.facts = slices.DeleteFunc(slices.Clone(m.facts), func(f fact) bool { return !own(f) })
		if len(m.facts) > 0 {
			t.mistakes = append(t.mistakes, m)
		}
	}
	if len(t.mistakes) == 0 {
		return
	}
	for i, m := range t.mistakes {
		t.mistake(i+1, m)
	}
	first := t.mistakes[0]
	c.Failure = &junitResult{clean.Text(first.name, mostText), j.sentence(j.r, first.facts[0].Finding),
		strings.TrimSpace(t.b.String())}
}

// WriteJUnit writes the XML of JUnit, or of JUnitError, to a file that only its owner may read. It replaces an older
// report, and refuses to replace any other file.
func WriteJUnit(path string, write func(w io.Writer) error) error {
	var text bytes.Buffer
	if err := write(&text); err != nil {
		return err
	}
	return replace(path, junitSignature, text.Bytes())
}

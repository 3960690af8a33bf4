// Package paste writes what lab/explore has found as tests that a person pastes into a project.
//
//	*explore.Finding ──> steps   what a person would type, line by line
//	                        └──> dialect   the same in one language, with the fixtures of clients/fixtures
//
// Its functions have no state, and any goroutine may call them.
package paste

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/lab/explore"
	"github.com/miniredisd/miniredisd/lab/explore/report/clean"
)

// dialect writes a test in one language. Each function returns one or several lines of code.
type dialect struct {
	name    string // for people
	file    string // a name for the file
	comment string // begins a comment
	indent  string // of the steps
	quote   func(s string) string
	server  func(masters, master int) string // master 0 is all of them
	rule    func(d *dialect, server, variable string, s step) string
	wait    func(variable string) string
	letGo   func(variable string) string
	advance func(server string, ms int64) string
	crash   func(server string, keep bool, ms int64) string
	settle  func(server string) string
	send    func(d *dialect, server string, s step) string
	harmed  func(d *dialect, t *draft) string // the assertions
	frame   func(d *dialect, t *draft) string // all of it
}

// draft is a test while it is written.
type draft struct {
	report  *explore.Report
	finding *explore.Finding
	name    []string // words
	about   string   // comments
	before  string   // lines of code before the program starts
	during  string   // while it runs
	after   string   // the assertions
	masters int
	program []string
}

// dialects returns the languages, in the order in which reports show them.
func dialects() []*dialect {
	return []*dialect{pytest(), gotest(), junit(), vitest()}
}

// Test is a finding as a test in one language.
type Test struct {
	Name string // of the language, for people: "go test"
	File string // a name for the file: "explored_test.go"
	Code string // the whole file
}

// Tests writes a finding of r as pytest, go test, JUnit and Vitest, in the order in which reports show them. A test
// sets up the failure, runs the program of the report, and fails as long as the failure breaks the lock. A program
// that is itself a test has to be pasted into it: until then the test fails, and says so. about has the lines of the
// comment above the test. It is an error if a command of the finding is no code, or too long for it.
func Tests(r *explore.Report, f *explore.Finding, about []string) (all []Test, err error) {
	for _, d := range dialects() {
		code, err := d.test(r, f, about)
		if err != nil {
			return nil, err
		}
		all = append(all, Test{d.name, d.file, code})
	}
	return all, nil
}

func (d *dialect) test(r *explore.Report, f *explore.Finding, about []string) (string, error) {
	before, during, err := steps(f)
	if err != nil {
		return "", err
	}
	t := &draft{report: r, finding: f, masters: max(r.Masters, 1), program: clean.Program(r.Program), name: title(r, f)}
	for i, word := range t.program {
		if len(word) > longestTestLine {
			return "", fmt.Errorf("word %d of the program has %d bytes", i+1, len(word))
		}
	}
	for _, line := range about {
		t.about += d.comment + " " + d.escape(line) + "\n"
	}
	variables := map[string]string{}
	t.before = d.lines(t, before, variables)
	t.during = d.lines(t, during, variables)
	t.after = d.indented(d.harmed(d, t))
	return d.frame(d, t), nil
}

// escape returns a text for a comment. Java reads \u in comments too.
func (d *dialect) escape(s string) string { return strings.ReplaceAll(s, `\`, `\\`) }

// lines returns the code of steps.
func (d *dialect) lines(t *draft, all []step, variables map[string]string) string {
	var b bytes.Buffer
	for _, s := range all {
		if s.master > t.masters && s.verb == sendWords { // a replica
			s.words, s.master = append([]string{"MASTER", strconv.Itoa(s.master)}, s.words...), 1
		}
		s.master = min(s.master, t.masters)
		server := d.server(t.masters, s.master)
		line := ""
		switch s.verb {
		case addRule:
			variable := ""
			if s.used {
				variable = fmt.Sprintf("hold%d", len(variables)+1)
				variables[s.name] = variable
			}
			line = d.rule(d, server, variable, s)
		case waitHold:
			line = d.wait(variables[s.name])
		case letGo:
			line = d.letGo(variables[s.name])
		case advance:
			line = d.advance(server, s.ms)
		case crash:
			line = d.crash(server, s.keep, s.ms)
		case settle:
			line = d.settle(d.server(t.masters, 0))
		case remark:
			line = d.comment + " " + d.escape(s.words[0])
		default:
			line = d.send(d, server, s)
		}
		b.WriteString(d.indented(line))
	}
	return b.String()
}

// indented returns lines with the indent of the steps, each with its end.
func (d *dialect) indented(code string) string {
	if code == "" {
		return ""
	}
	var b strings.Builder
	for _, line := range strings.Split(strings.TrimSuffix(code, "\n"), "\n") {
		b.WriteString(strings.TrimRight(d.indent+line, " \t") + "\n")
	}
	return b.String()
}

// quoted returns words as literals, between commas.
func (d *dialect) quoted(words []string) string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = d.quote(strings.ToValidUTF8(w, "?"))
	}
	return strings.Join(all, ", ")
}

// literal returns a literal of a text between double quotes. The languages differ in how they escape a character that
// is not printable.
func literal(s string, escape func(r rune) string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case strconv.IsPrint(r):
			b.WriteRune(r)
		default:
			b.WriteString(escape(r))
		}
	}
	b.WriteByte('"')
	return b.String()
}

// fill replaces the names of a frame, such as <server>.
func fill(frame string, namesAndTexts ...string) string {
	return strings.NewReplacer(namesAndTexts...).Replace(frame)
}

// isAbout reports whether the finding has one of these harms.
func (t *draft) isAbout(all ...explore.Harm) bool {
	for _, h := range all {
		if t.finding.Harm == h {
			return true
		}
	}
	return false
}

// staysTaken reports whether the finding is about a lock that nobody holds and nobody can take.
func (t *draft) staysTaken() bool {
	return t.finding.Lock != "" && t.isAbout(explore.ForEver, explore.OtherHarm)
}

// paste says what a person has to paste into a test whose program is itself a test.
func (t *draft) paste() string {
	return "paste here what " + clean.Name(strings.Join(t.program, " ")) + " does with the lock"
}

// deeper returns lines with a further indent.
func deeper(code, indent string) string {
	var b strings.Builder
	for _, line := range strings.SplitAfter(code, "\n") {
		if line != "" {
			b.WriteString(indent + line)
		}
	}
	return b.String()
}

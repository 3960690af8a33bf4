package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab/explore"
)

func junitOf(t *testing.T, r *explore.Report, lang string) (text string, suite junitSuite) {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, JUnit(&b, r, lang))
	fits(t, b.String())
	var all junitSuites
	require.NoError(t, xml.Unmarshal(b.Bytes(), &all))
	s := all.Suite
	require.Equal(t, []int{s.Tests, s.Failures, s.Errors}, []int{all.Tests, all.Failures, all.Errors})
	return b.String(), s
}

// element is a row of a schema: attributes, with * before those that have to be there, and elements inside.
type element struct{ attributes, inside []string }

// schema is what Jenkins accepts (junit-10.xsd of its xunit plugin), as far as it is used, and narrower where other
// readers are: Apache Ant wants the type of a result and the class of a test case.
func schema() map[string]element {
	words := strings.Fields
	result := element{words("*type message"), nil}
	return map[string]element{
		"":           {nil, words("testsuites")},
		"testsuites": {words("name time tests failures errors"), words("testsuite")},
		"testsuite": {words("*name *tests *failures *errors skipped time timestamp hostname id package file"),
			words("properties testcase system-out system-err")},
		"testcase": {words("*name *classname time"), words("skipped error failure system-out system-err")},
		"skipped":  result, "error": result, "failure": result, "system-out": {}, "system-err": {},
	}
}

// fits requires that a text fits the schema, and that no two test cases have one name: GitLab drops the second one.
func fits(t *testing.T, text string) {
	t.Helper()
	rows, names := schema(), map[string]bool{}
	path := []string{""}
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			name := token.Name.Local
			require.Contains(t, rows[path[len(path)-1]].inside, name)
			path = append(path, name)
			var has []string
			for _, a := range token.Attr {
				has = append(has, a.Name.Local)
				require.True(t, slices.Contains(rows[name].attributes, a.Name.Local) ||
					slices.Contains(rows[name].attributes, "*"+a.Name.Local), "%s has %s", name, a.Name.Local)
				if name == "testcase" && a.Name.Local == "name" {
					require.False(t, names[a.Value], a.Value)
					names[a.Value] = true
				}
			}
			for _, a := range rows[name].attributes {
				if needed, ok := strings.CutPrefix(a, "*"); ok {
					require.Contains(t, has, needed, name)
				}
			}
		case xml.EndElement:
			path = path[:len(path)-1]
		}
	}
}

func TestTheXMLIsAsBefore(t *testing.T) {
	for _, lang := range []string{"en", "zh"} {
		text, _ := junitOf(t, sample(t), lang)
		sameAsBefore(t, "junit-"+lang+".xml", text)
	}
	require.Error(t, JUnit(new(bytes.Buffer), sample(t), "xx"))
}

func TestEachPlaceIsATestCase(t *testing.T) {
	fine := explore.Cell{Mark: explore.Fine}
	because := func(m explore.Mark, why string) explore.Cell { return explore.Cell{Mark: m, Why: why} }
	broken := explore.Cell{Mark: explore.Broken, Finding: &explore.Finding{
		Harm: explore.ForEver, Mistake: "setnx-then-expire", Sentence: "If it is lost, all is lost.", Of: 5, With: 5,
		Strikes: []explore.Strike{{Point: 0, Fault: 1}}, Commands: []string{"LAB FAULT ADD x"}, Reason: "why", Fix: "fix",
	}}
	for _, c := range []struct {
		what   string
		row    []explore.Cell
		result string // and a part of its text
		text   string
	}{
		{"all is fine", []explore.Cell{fine, fine}, "passed", ""},
		{"an error that the program noticed", []explore.Cell{fine, because(explore.Noticed, "exit status 1")}, "passed",
			"reply lost: noticed (exit status 1)"},
		{"a hang breaks no lock", []explore.Cell{fine, because(explore.Hangs, "")}, "passed", "reply lost: hangs"},
		{"one is broken", []explore.Cell{because(explore.Undecided, "x"), broken}, "failure setnx-then-expire",
			"LAB FAULT ADD x"},
		{"one is broken, and its finding is gone", []explore.Cell{fine, because(explore.Broken, "")}, "failure broken",
			"reply lost: broken"},
		{"one is undecided", []explore.Cell{because(explore.NotTried, "nobody asked for it"),
			because(explore.Undecided, "the log had no room for all commands")}, "error undecided",
			"reply lost: undecided (the log"},
		{"none was tried", []explore.Cell{because(explore.NotTried, "nobody asked for it"),
			because(explore.NotTried, "a message is not a request")}, "skipped skipped",
			"request lost: not tried (nobody asked"},
		{"none exists there", []explore.Cell{because(explore.NotTried, "a message is not a request"),
			because(explore.NotTried, "a message is not a request")}, "skipped skipped", ""},
		{"one was tried", []explore.Cell{fine, because(explore.NotTried, "nobody asked for it")}, "passed", ""},
		{"the time was over", []explore.Cell{fine, {}}, "skipped skipped", "reply lost: not tried (the time was over)"},
		{"the program breaks by itself", []explore.Cell{fine, because(explore.ByItself, "it breaks by itself, 1 of 8")},
			"skipped skipped", "reply lost: breaks by itself (it breaks by itself, 1 of 8)"},
	} {
		r := &explore.Report{Points: samplePoints()[:1], Faults: sampleFaults()[:2], Cells: [][]explore.Cell{c.row},
			OutOfTime: true}
		_, s := junitOf(t, r, "en")
		require.Len(t, s.Cases, 2, c.what)
		got, text := resultOf(s.Cases[1])
		require.Equal(t, c.result, got, c.what)
		require.Contains(t, text, c.text, c.what)
		require.Equal(t, []int{2, has(s.Cases[1].Failure), has(s.Cases[1].Error), has(s.Cases[1].Skipped)},
			[]int{s.Tests, s.Failures, s.Errors, s.Skipped}, c.what)
	}
}

func has(r *junitResult) int {
	if r == nil {
		return 0
	}
	return 1
}

// resultOf returns the result of a test case with its type, and its text.
func resultOf(c junitCase) (result, text string) {
	switch {
	case c.Failure != nil:
		return "failure " + c.Failure.Type, c.Failure.Text
	case c.Error != nil:
		return "error " + c.Error.Type, c.Error.Text
	case c.Skipped != nil:
		return "skipped " + c.Skipped.Type, c.Skipped.Text
	}
	if c.Output != nil {
		text = c.Output.Text
	}
	return "passed", text
}

func TestWhatIsAboutNoPlaceAloneIsATestCase(t *testing.T) {
	r := sample(t)
	_, s := junitOf(t, r, "en")
	require.Len(t, s.Cases, 1+len(r.Points))
	require.Equal(t, "44.120", s.Time)
	pair := explore.Pair{Strikes: [2]explore.Strike{{Point: 0}, {Point: 1}}}
	r.Pairs = []explore.Pair{pair}
	_, s = junitOf(t, r, "en")
	last := func() string { text, _ := resultOf(s.Cases[len(s.Cases)-1]); return text }
	require.Equal(t, "passed", last())
	pair.Mark = explore.Undecided
	r.Pairs = append(r.Pairs, pair)
	_, s = junitOf(t, r, "en")
	require.Equal(t, "error undecided", last())
	pair.Mark = explore.Broken
	pair.Finding = &explore.Finding{Harm: explore.TwoHolders, Strikes: pair.Strikes[:], With: 5, Of: 5}
	r.Pairs = append(r.Pairs, pair)
	r.Itself = &explore.Finding{Harm: explore.TwoHolders, Sentence: "Without any fault, two hold it.", Without: 1, Of: 3}
	_, s = junitOf(t, r, "en")
	require.Equal(t, "failure two-holders", last())
	result, text := resultOf(s.Cases[0])
	require.Equal(t, "failure by-itself", result)
	require.Contains(t, text, "Without any fault, two hold it.")
}

func TestAProgramThatCannotBeExploredIsAnError(t *testing.T) {
	var b bytes.Buffer
	why := errors.New("the program fails without a fault")
	require.NoError(t, JUnitError(&b, []string{"sh", "-c", "exit 4"}, why, "en"))
	fits(t, b.String())
	require.Contains(t, b.String(), `<error type="error" message="the program fails without a fault">`)
	require.Contains(t, b.String(), `errors="1"`)
}

func TestStrangersCannotWriteIntoTheXML(t *testing.T) {
	text, _ := junitOf(t, hostile(), "zh")
	absent(t, "[\x00-\x08\x0b-\x1f\x7f\u2028\u202e]", text)
	absent(t, "secret", text)
}

func TestTheXMLReplacesOnlyReports(t *testing.T) {
	path := filepath.Join(t.TempDir(), "explore.xml")
	r := sample(t)
	write := func(w io.Writer) error { return JUnit(w, r, "en") }
	require.NoError(t, WriteJUnit(path, write))
	r.Wall = time.Hour
	require.NoError(t, WriteJUnit(path, write))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(text), `time="3600.000"`)
	require.NoError(t, os.WriteFile(path, []byte("<testsuites/>"), 0o644))
	require.ErrorContains(t, WriteJUnit(path, write), "is no report of miniredisd explore")
	r = hostile()
	require.Error(t, WriteJUnit(path, func(w io.Writer) error { return JUnit(w, r, "xx") }))
}

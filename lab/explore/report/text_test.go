package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/lab/explore"
)

var update = flag.Bool("update", false, "write the reports of testdata again: look at them")

// sameAsBefore compares a text with a file of testdata.
func sameAsBefore(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), text, name)
}

func textOf(t *testing.T, r *explore.Report, lang string, files ...string) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, Text(&b, r, lang, files...))
	return b.String()
}

func TestTheTextIsAsBefore(t *testing.T) {
	for _, lang := range []string{"en", "zh"} {
		sameAsBefore(t, "report-"+lang+".txt", textOf(t, sample(t), lang, "explored/report.html"))
	}
}

func TestNoLineOfTheTextIsWiderThanATerminal(t *testing.T) {
	r := sample(t)
	for len(r.Faults) < 90 { // three parts
		r.Faults = append(r.Faults, r.Faults[0])
	}
	r.Points[3].Client = strings.Repeat("锁", 200)
	r.Points[4].Key = strings.Repeat("k", 1<<20)
	for _, lang := range []string{"en", "zh"} {
		text := textOf(t, r, lang)
		for _, line := range strings.Split(text, "\n") {
			require.LessOrEqual(t, columns(line), terminal, line)
		}
		require.Less(t, len(text), 100_000)
	}
}

// The rows of several masters differ at their ends.
func TestRowsOfMastersAreNotTheSame(t *testing.T) {
	r := &explore.Report{Masters: 12, Faults: sampleFaults()[:1]}
	for _, client := range []string{"worker-1", strings.Repeat("a-long-name-", 5)} {
		for _, key := range []string{"lock:stock:eu-central", "lock:stock:eu-west", strings.Repeat("锁", 40)} {
			for n := 1; n <= 12; n++ {
				for _, unstable := range []bool{false, true} {
					r.Points = append(r.Points, explore.Point{Client: client, N: 1, Command: "EVALSHA", Key: key, Master: n,
						Unstable: unstable})
					r.Cells = append(r.Cells, []explore.Cell{{Mark: explore.Fine}})
				}
			}
		}
	}
	for _, lang := range []string{"en", "zh"} {
		matrix, _, _ := strings.Cut(strings.SplitN(textOf(t, r, lang), "\n\n", 2)[1], "\n\n")
		rows := map[string]bool{}
		for _, row := range strings.Split(matrix, "\n")[1:] {
			rows[row] = true
		}
		require.Len(t, rows, len(r.Points), matrix)
	}
}

func TestTheTextSaysWhichTimeIsMeant(t *testing.T) {
	for _, c := range []struct {
		took, wall, cpu time.Duration
		said            string
	}{
		{},
		{299_700 * time.Millisecond, 0, 0, "The runs add up to 299.7 s."},
		{299_700 * time.Millisecond, 84 * time.Second, 0, "It took 84 s. The runs add up to 299.7 s."},
		{299_700 * time.Millisecond, 84 * time.Second, 16 * time.Second, "It took 84 s. The runs of the program " +
			"add up to 299.7 s: it computed for 16 s of them, and waited for 283.7 s."},
		{time.Second, time.Second, 2500 * time.Millisecond, "It took 1 s. The runs of the program add up to 1 s: " +
			"it computed for 2.5 s of them, and waited for 0 s."},
	} {
		l, err := languageOf("en")
		require.NoError(t, err)
		require.Equal(t, c.said, l.time(&explore.Report{Took: c.took, Wall: c.wall, CPU: c.cpu}))
	}
	require.Contains(t, textOf(t, sample(t), "en"), "\nIt took 44.1 s. The runs of the program add up to 42.5 s: it comp")
}

func TestWhatHappensSeldomIsOneReason(t *testing.T) {
	r := sample(t)
	for i, harm := range []string{"nobody can take it", "two hold it"} {
		r.Cells[i][3] = explore.Cell{Mark: explore.Undecided,
			Why: "it happened again in only 1 of 5 runs with the fault, and in none without: " + harm}
	}
	require.Contains(t, textOf(t, r, "en"), "\n  undecided, 2:  it happened again in only 1 of 5 runs with the fault, "+
		"and in none without (worker-1, 1st request:")
	require.Contains(t, textOf(t, r, "zh"), "2：  加故障再运行 5 次，只出现了 1 次，不加故障一次也没有（")
}

func TestTheReportSaysWhatNoRunCanShow(t *testing.T) {
	r := sample(t)
	const validity = "A RedLock that never does looks fine."
	require.NotContains(t, textOf(t, r, "en"), validity)
	r.Masters = 3
	require.Contains(t, textOf(t, r, "en"), validity)
	present(t, validity, htmlOf(t, r, "en"))
}

func TestColumnsWithoutATrialAreRemarksOnly(t *testing.T) {
	text := textOf(t, sample(t), "en")
	require.NotContains(t, text, "master gone    ")
	require.Contains(t, text, "it needs several masters (master gone)\n")
	require.Contains(t, text, "49 cells are of failures that do not exist at their places.\n")
	require.NotContains(t, text, "a request is not a message")
}

func TestTheLastLineOfTheTextIsTheVerdict(t *testing.T) {
	r := sample(t)
	last := func() string {
		lines := strings.Split(strings.TrimSpace(textOf(t, r, "en")), "\n")
		return lines[len(lines)-1]
	}
	require.Equal(t, "4 mistakes break the lock, shown by 6 failures.", last())
	for _, row := range r.Cells {
		for j := range row {
			if row[j].Finding != nil || row[j].Mark == explore.ByItself {
				row[j] = explore.Cell{Mark: explore.Fine}
			}
		}
	}
	r.Took = 0
	require.Equal(t, "No failure broke the lock, and some cells are undecided.", last())
	r.OutOfTime = true
	require.Equal(t, "The time was over before every failure was tried.", last())
	r.OutOfTime = false
	for _, row := range r.Cells {
		for j := range row {
			if row[j].Mark == explore.Undecided {
				row[j] = explore.Cell{Mark: explore.Fine}
			}
		}
	}
	require.Equal(t, "No failure broke the lock.", last())
	r.Cells = nil
	require.Equal(t, "Nothing was tried.", last())
}

// evil has what a stranger may send: the ends of elements and of strings, control characters, characters
// that turn the direction of a line, bytes that are no text, and code of several languages.
const evil = "</script><script>alert(1)</script>\"'`\\u000a${1}\x1b[2J\x00\u2028\u202e\xff\n#{2}]]>-->"

// quoted returns a word as a client would type it.
func quoted(s string) string { return string(ascii.AppendQuoted(nil, s)) }

// hostile returns a report in which everything is evil.
func hostile() *explore.Report {
	big := strings.Repeat(evil, 1<<20/len(evil))
	f := &explore.Finding{
		Strikes: []explore.Strike{{Point: 0, Fault: 0}, {Point: 99, Fault: -1}}, Harm: explore.TwoHolders, Lock: evil,
		Clients: []string{evil, big, evil}, Sentence: big, Reason: evil, Fix: evil, Output: big + "\n" + evil,
		Commands: []string{"LAB FAULT ADD x KEY " + quoted(evil) + " ACTION DROP-REPLY", big, evil, `AUTH "pw`},
		Loop:     []byte(big), With: 1, Of: 1,
		SVG: map[string][]byte{
			"en": []byte("<svg><script>alert(1)</script>"), "zh": []byte("<svg><script>alert(2)</script>"),
		},
	}
	return &explore.Report{
		Program: []string{evil, big, "redis://u:secret@h/"}, Masters: 3,
		Points: []explore.Point{{Client: evil, N: 1, Command: evil, Key: evil},
			{Client: big, N: -1, Key: big, Message: true}},
		Faults: []explore.Fault{{Name: evil, Title: evil, Sentence: evil}, {Name: big, Title: big, Sentence: big}},
		Cells:  [][]explore.Cell{{{Mark: explore.Broken, Why: evil, Finding: f}, {Mark: 99, Why: big}}},
		Pairs: []explore.Pair{{Strikes: [2]explore.Strike{{Point: 0, Fault: 0}, {Point: 5, Fault: 5}},
			Cell: explore.Cell{Why: big}}},
		Untried: 1,
	}
}

func TestStrangersCannotWriteToTheTerminal(t *testing.T) {
	for _, lang := range []string{"en", "zh"} {
		text := textOf(t, hostile(), lang)
		require.True(t, utf8.ValidString(text))
		require.NotRegexp(t, "[\x00-\x09\x0b-\x1f\x7f\u2028\u202e]", text)
		require.NotContains(t, text, "secret")
		require.Less(t, len(text), 50_000)
	}
}

func TestAnUnknownLanguageIsAnError(t *testing.T) {
	require.ErrorContains(t, Text(&bytes.Buffer{}, sample(t), "fr"), `"fr", only en and zh`)
}

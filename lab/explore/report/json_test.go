package report

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/explore"
)

func jsonOf(t *testing.T, r *explore.Report) (text string, d document) {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, JSON(&b, r))
	require.NoError(t, json.Unmarshal(b.Bytes(), &d))
	return b.String(), d
}

func TestTheJSONIsAsBefore(t *testing.T) {
	r := sample(t)
	for _, f := range facts(r) { // lab/verdict has the golden files of pictures
		f.SVG = nil
	}
	text, _ := jsonOf(t, r)
	sameAsBefore(t, "report.json", text)
}

// What a run took, printed and logged may differ. Its report does not.
func TestTimesAndEvidenceAreNotInTheReportOfTheJSON(t *testing.T) {
	r := sample(t)
	_, before := jsonOf(t, r)
	r.Took, r.Wall, r.CPU = r.Took+time.Second, 1, 1
	for _, f := range facts(r) {
		f.Output, f.History, f.SVG, f.Loop = "other", nil, nil, nil
	}
	_, after := jsonOf(t, r)
	require.Equal(t, before.Report, after.Report)
	require.NotEqual(t, before.Run, after.Run)
}

func TestTheJSONSaysWhatItLeavesOut(t *testing.T) {
	r := sample(t)
	f := facts(r)[0]
	f.History = []lab.History{{Entries: make([]lab.Entry, mostHistories+1)}}
	f.SVG, f.Loop = map[string][]byte{"en": make([]byte, mostPicture+1)}, make([]byte, mostLoop+1)
	_, d := jsonOf(t, r)
	require.Equal(t, []string{"history", "svg", "loop"}, d.Run.Evidence[0].LeftOut)
	require.Empty(t, d.Run.Evidence[0].Loop)
}

func TestStrangersCannotWriteIntoTheJSON(t *testing.T) {
	text, d := jsonOf(t, hostile())
	absent(t, "[\x00-\x09\x0b-\x1f\x7f\u2028\u202e<>]", text)
	absent(t, "secret", text)
	require.Len(t, d.Report.Cells, 2)
	require.Equal(t, 0, *d.Report.Cells[0][0].Finding)
	require.Equal(t, `AUTH (redacted)`, d.Report.Findings[0].Commands[3])
}

func TestWhatBreaksWithoutAFaultIsTheFirstFinding(t *testing.T) {
	r := sample(t)
	r.Itself = &explore.Finding{
		Harm: explore.TwoHolders, Lock: "lock:order", Clients: []string{"a", "b"}, Without: 2, Of: 3,
		Sentence: "Without any fault, a and b both hold lock:order.",
	}
	_, d := jsonOf(t, r)
	require.Equal(t, "by-itself", d.Report.Verdict)
	require.Equal(t, r.Itself.Sentence, d.Report.Findings[0].Sentence)
	require.Equal(t, "by-itself", d.Report.Mistakes[0].Name)
	text := textOf(t, r, "zh")
	require.Contains(t, text, "如果不加任何故障，a 和 b 就会同时持有 lock:order。")
	require.Contains(t, text, "不加故障运行 3 次，出现了 2 次。")
}

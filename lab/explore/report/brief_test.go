package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab/explore"
)

func TestABriefTextBeginsWithTheSentenceOfTheWorstFinding(t *testing.T) {
	r := sample(t)
	for _, lang := range []string{"en", "zh"} {
		var b bytes.Buffer
		require.NoError(t, Brief(&b, r, lang, "explored/report.html"))
		sameAsBefore(t, "brief-"+lang+".txt", b.String())
		require.Less(t, b.Len(), len(textOf(t, r, lang)))
		l, err := languageOf(lang)
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(b.String(), l.sentence(r, facts(r)[0].Finding)[:20]), b.String())
	}
	require.Error(t, Brief(new(bytes.Buffer), r, "xx"))
}

func TestTheSummaryIsOneLine(t *testing.T) {
	r := &explore.Report{Points: make([]explore.Point, 1), Faults: make([]explore.Fault, 2)}
	r.Cells = [][]explore.Cell{{{Mark: explore.Fine}, {Mark: explore.Undecided}}}
	for lang, want := range map[string]string{
		"en": "No failure broke the lock, and some cells are undecided: 1",
		"zh": "没有故障弄坏锁，但有些格子无法判定：1",
	} {
		text, err := Summary(r, lang)
		require.NoError(t, err)
		require.Equal(t, want, strings.ReplaceAll(text, "： ", "："))
	}
	r.OutOfTime, r.Untried = true, 3
	text, err := Summary(r, "en")
	require.NoError(t, err)
	require.Equal(t, "The time was over before every failure was tried. There was no time for 3 cells and pairs.", text)
	_, err = Summary(r, "xx")
	require.Error(t, err)
}

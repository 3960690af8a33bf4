package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/explore"
	"github.com/miniredisd/miniredisd/lab/explore/report/clean"
)

// The words are those of a whole report, in all of its forms.
func TestNoFormOfAReportHasAPassword(t *testing.T) {
	r := sample(t)
	f := facts(r)[0].Finding
	f.History = []lab.History{{Master: 1, Masters: 1, Entries: []lab.Entry{
		{Seq: 1, Event: lab.EventCommand, Client: 1, Cmd: []string{"AUTH", "user", "hunter2"}, Reply: "OK"},
		{Seq: 2, Event: lab.EventCommand, Client: 1, Cmd: []string{"CONFIG", "GET", "requirepass"},
			Reply: "[requirepass hunter2]"},
		{Seq: 3, Event: lab.EventCommand, Client: 1, Cmd: []string{"ACL", "SETUSER", "a", ">hunter2"}, Reply: "OK"},
	}}}
	f.Commands = append(f.Commands, "AUTH hunter2", "redis-cli -a hunter2 LAB CLOCK", `HELLO 3 AUTH u "hunter2"`)
	f.Output = "cannot connect to redis://default:hunter2@localhost:6379/0"
	r.Program = []string{"app", "--password", "hunter2", "redis://:hunter2@h"}
	text, _ := jsonOf(t, r)
	texts := []string{text, textOf(t, r, "en"), textOf(t, r, "zh"), htmlOf(t, r, "en")}
	for _, language := range languages() {
		for _, f := range facts(r) {
			texts = append(texts, testOf(t, r, f.Finding, language))
		}
	}
	for _, text := range texts {
		absent(t, ".*hunter2.*", text)
		present(t, clean.Hidden, text)
	}
}

func TestOnlyTheLastLinesOfAnOutputAreShown(t *testing.T) {
	r := sample(t)
	r.Cells[0][1].Finding.Output = strings.Repeat("x\n", 47)
	require.Contains(t, textOf(t, r, "en"), "7 earlier lines are left out.")
	require.Equal(t, explore.Broken, r.Cells[0][1].Mark)
}

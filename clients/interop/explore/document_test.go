package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/clients/interop/folders"
)

// found is a record with a finding.
func found() record {
	marks := map[string]string{"request-lost": "fine", "reply-lost": broken, "reset-after": broken}
	r := recorded(pointRecord{takes, marks}, pointRecord{deletes, map[string]string{"request-lost": noticed}})
	r.Findings = []finding{{"reply-lost", takes, broken, "If the reply is lost, nobody can take it."}}
	r.Unsteady = []point{{Client: "b", N: 7, Command: "message", Key: "c", Message: true}}
	return r
}

func TestASectionHasTheFaultsWithEqualMarksInOneRow(t *testing.T) {
	require.Equal(t, []string{
		"one 1.0, `lease=30`. 2 requests and messages, 10 trials in 1 run.", "",
		"| failure | a 1 SET | a 2 DEL |", "|---|---|---|",
		"| request-lost | fine | noticed |",
		"| reply-lost, reset-after | **broken** | – |", "",
		"* broken (reply-lost): If the reply is lost, nobody can take it.", "",
		"Not in each run, and so not in the table: message 7 to b.",
	}, found().section())
}

func TestAnUpdateKeepsWhatIsWrittenByHand(t *testing.T) {
	text := "# Title\n\n<!-- explored: all clients -->\nold\n<!-- end of explored -->\n\nBy hand.\n\n" +
		"## one\n\n<!-- explored: one -->\nold\n<!-- end of explored -->\n\nA remark.\n"
	other := found()
	other.Name = "two"
	text = filled(text, []record{found(), other})
	require.NotContains(t, text, "old")
	require.Contains(t, text, "\n\nBy hand.\n\n## one\n")
	require.Contains(t, text, "<!-- end of explored -->\n\nA remark.\n\n## two\n")
	require.Contains(t, text, "| [one](#one) | 1.0 | **2** | 0 |")
	require.Contains(t, text, "2 clients, 20 trials, 1 minute if one client runs after another.")
	require.Equal(t, text, filled(text, []record{found(), other}))
}

var update = flag.Bool("update", false, "write the recorded tables into "+document)

func TestTheDocumentHasTheRecordedTables(t *testing.T) {
	path := filepath.Join("..", "..", "..", document)
	if *update {
		require.NoError(t, write(path, "testdata"))
	}
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	ecosystems, err := folders.With("explore", "..", nil)
	require.NoError(t, err)
	all, err := readAll("testdata")
	require.NoError(t, err)
	require.NotEmpty(t, all)
	require.Equal(t, filled(string(text), all), string(text), "with -update this test writes it")
	for _, r := range all {
		require.Contains(t, ecosystems, r.Ecosystem)
		if r.count(broken, func(string) bool { return true }) > 0 {
			_, after, _ := strings.Cut(string(text), "\n## "+r.Name+"\n")
			section, _, _ := strings.Cut(after, "\n## ")
			_, remark, _ := strings.Cut(section, closes)
			require.NotEmpty(t, strings.TrimSpace(remark), "%s is broken, and nobody has said why", r.Name)
		}
	}
}

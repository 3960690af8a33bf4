package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const sample = "Words.\n\n" + filesHead +
	"| unit/a | 3 | 1 | done |\n| unit/b | 2 | 2 | hang |\n| **sum** | 5 | 3 | |\n\n### unit/a\n\n" + testsHead +
	"| SET \\| GET | 1 | files |\n| twice | 1 | replication |\n"

func TestADocumentThatIsReadAndWrittenStaysTheSame(t *testing.T) {
	d, err := parseDocument(sample)
	require.NoError(t, err)
	require.Equal(t, []string{"unit/a", "unit/b"}, d.order)
	require.Equal(t, "files", d.files["unit/a"].red["SET | GET"].reason)
	require.Equal(t, sample, d.String())
}

func TestOutputOfTheSuiteIsCounted(t *testing.T) {
	r := parseOutput("unit/a", "[ready]: 1\n[ok]: twice (1 ms)\n[ok]: twice (22 ms)\n[err]: SET | GET in "+
		"tests/unit/a.tcl\n"+
		"Expected 1\n[err]: ption of a block\n[1/1 done]: unit/a (0 seconds)\n")
	require.Equal(t, map[string]int{"twice": 2}, r.ok)
	require.Equal(t, map[string]int{"SET | GET": 1}, r.red)
	require.Equal(t, 1, r.aborts)
	require.Equal(t, "done", r.end)
}

func TestTheTestThatHangsIsNamed(t *testing.T) {
	r := parseOutput("unit/a", "[TIMEOUT]: clients state report follows.\nsock1 => (IN PROGRESS) Redis should wait\n")
	require.Equal(t, "Redis should wait", r.hung)
	require.Equal(t, "hang", r.end)
}

func TestARunIsComparedWithTheDocument(t *testing.T) {
	done := "\n[1/1 done]: unit/a (0 seconds)\n"
	tests := []struct{ name, file, output, finding string }{
		{"as listed", "unit/a", "[ok]: x (1 ms)\n[err]: SET | GET in tests/unit/a.tcl" + done, ""},
		{"another test is red", "unit/a", "[ok]: x (1 ms)\n[err]: y in tests/unit/a.tcl" + done, "not listed: y"},
		{"a listed test is red more often", "unit/a",
			"[ok]: x (1 ms)\n[err]: twice in tests/unit/a.tcl\n[err]: twice in tests/unit/a.tcl" + done,
			"not listed: twice"},
		{"tests are missing", "unit/a", done, "0 tests are ok, and the document says 1"},
		{"a hang", "unit/a", "[ok]: x (1 ms)\n[TIMEOUT]: clients state report follows.\n",
			"did not come to its end: hang"},
		{"a hang that is listed", "unit/b", "[ok]: x (1 ms)\n[ok]: y (1 ms)\n[TIMEOUT]: clients state report " +
			"follows.\n", ""},
		{"an unknown file", "unit/c", "", "does not know this file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, err := parseDocument(sample)
			require.NoError(t, err)
			findings := strings.Join(d.findings(parseOutput(tt.file, tt.output)), "\n")
			if tt.finding == "" {
				require.Empty(t, findings)
				return
			}
			require.Contains(t, findings, tt.finding)
		})
	}
}

func TestAnUpdateKeepsReasonsAndAsksForNewOnes(t *testing.T) {
	d, err := parseDocument(sample)
	require.NoError(t, err)
	theirs := parseOutput("unit/a", "[ok]: x (1 ms)\n[ok]: twice (1 ms)\n[ok]: new (1 ms)\n[1/1 done]\n")
	here := parseOutput("unit/a", "[ok]: x (1 ms)\n[err]: twice in tests/unit/a.tcl\n[1/1 done]\n")
	d.take(theirs, here)
	require.Equal(t, map[string]*redTest{"twice": {1, "replication"}, "new": {1, unknown}}, d.files["unit/a"].red)
	require.Equal(t, 1, d.files["unit/a"].here)
	require.Equal(t, 3, d.files["unit/a"].there)
}

func TestABlockIsLeftOutOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.tcl")
	require.NoError(t, os.WriteFile(path, []byte("before\n"+debuggerBlock+"after\n"), 0o600))
	require.NoError(t, leaveOut(path, debuggerBlock))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "before\nafter\n", string(text))
	require.ErrorContains(t, leaveOut(path, debuggerBlock), "is not that of Redis 7.2.6")
}

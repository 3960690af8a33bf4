package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func measured() table {
	rows := add(nil, line{"one 1.0", "", "lost", "nil"}, 2)
	rows = add(rows, line{"one 1.0", "", "late", "error: timed out: 300 ms"}, 1)
	return add(rows, line{"one 1.0", "retry: none", "lost", "error: EOF"}, 1)
}

func TestARowHasWhatHappenedToBothRequests(t *testing.T) {
	require.Equal(t, []string{
		"| one 1.0 | defaults | **2** | nil | 1 | error |",
		"| one 1.0 | `retry: none` | 1 | error | 0 |  |",
	}, measured().lines()[2:])
}

func TestAnUpdatePutsTheTableInPlaceOfTheOldOne(t *testing.T) {
	lines := measured().lines()
	have := append([]string{"# Title", ""}, append(lines[:3:3], "", "## After")...)
	require.Equal(t, append([]string{"# Title", ""}, append(lines, "", "## After")...), replaced(have, lines))
}

func TestARowThatTheDocumentDoesNotHaveIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "resend.md")
	require.NoError(t, os.WriteFile(path, []byte("# Title\n"), 0o644))
	require.ErrorContains(t, measured().compare(path, false), "| one 1.0 | defaults | **2** | nil | 1 | error |")
	require.NoError(t, measured().compare(path, true))
	require.NoError(t, measured().compare(path, false))
}

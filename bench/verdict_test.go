package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func history(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "lab", "verdict", "testdata", name))
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(file, text, 0o600))
	return file
}

func TestVerdictIsACommand(t *testing.T) {
	require.NotNil(t, commands()["verdict"])
}

func TestVerdictOfAGoodHistoryIsNoErrorAndDrawsNothing(t *testing.T) {
	file := history(t, "good.json")
	require.NoError(t, judgeHistory([]string{file}))
	require.NoFileExists(t, pictureOf(file))
}

func TestVerdictOfAViolationDrawsIt(t *testing.T) {
	file := history(t, "clock-jump.json")
	require.ErrorIs(t, judgeHistory([]string{file}), errViolated)
	require.FileExists(t, pictureOf(file))

	other := filepath.Join(t.TempDir(), "p.html")
	require.ErrorIs(t, judgeHistory([]string{"-o", other, file}), errViolated)
	require.FileExists(t, other)
}

func TestVerdictThatIsUndecidedHasACodeOfItsOwnAndAPicture(t *testing.T) {
	file := history(t, "undecided.json")
	err := judgeHistory([]string{file})
	require.ErrorIs(t, err, errUndecided)
	require.Equal(t, 3, exitCode(err))
	require.FileExists(t, pictureOf(file))
	require.Equal(t, 2, exitCode(usageError{err}))
	require.Equal(t, 1, exitCode(errViolated))
}

func TestVerdictOfBadInputIsAUsageError(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.json")
	require.NoError(t, os.WriteFile(bad, []byte("{"), 0o600))
	good := history(t, "good.json")
	for _, args := range [][]string{{}, {"-x"}, {bad}, {"/nowhere.json"}, {good, good}} {
		var wrong usageError
		require.ErrorAs(t, judgeHistory(args), &wrong, "%q", args)
	}
}

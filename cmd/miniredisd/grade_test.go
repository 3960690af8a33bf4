package main

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestGradeShowsLabsHintsAndTemplates(t *testing.T) {
	p := start(t, "miniredisd", "", "grade", "list")
	require.Equal(t, 0, p.exit())
	require.Contains(t, p.out.String(), "L07   30 min  **...  Release only your own lock: ")
	p = start(t, "miniredisd", "", "grade", "L7", "--lang", "zh")
	require.Equal(t, 0, p.exit())
	require.Contains(t, p.out.String(), "L07 只释放自己的锁\n")
	p = start(t, "miniredisd", "", "grade", "L7", "--hint", "3")
	require.Equal(t, 0, p.exit())
	require.Contains(t, p.out.String(), "`EVAL ")
	dir := filepath.Join(t.TempDir(), "mine")
	p = start(t, "miniredisd", "", "grade", "L7", "--template", "java", dir)
	require.Equal(t, 0, p.exit(), p.errs.String())
	require.FileExists(t, filepath.Join(dir, "Main.java"))
	require.Contains(t, p.out.String(),
		"then: cd "+dir+" && javac -d out *.java && miniredisd grade L07 -- java -cp out Main\n")
}

func TestGradeSaysWhatIsWrongWithItsWords(t *testing.T) {
	for _, c := range []struct {
		args []string
		why  string
	}{
		{[]string{"L99"}, "grade: there is no lab 'L99': miniredisd grade list shows all\n"},
		{[]string{"L7", "--lang", "fr"}, "grade: --lang is en or zh, not 'fr'\n"},
		{[]string{"L7", "--hint", "4"}, "grade: there are hints from 1 to 3\n"},
		{[]string{"L7", "python3"}, "grade: 'python3' is unexpected: the command of your program follows --\n"},
		{[]string{"L7", "--template", "java"}, "grade: --template expects a language and a folder\n"},
		{nil, gradeUsage},
	} {
		p := start(t, "miniredisd", "", append([]string{"grade"}, c.args...)...)
		require.Equal(t, gradeWrong, p.exit(), "%v", c.args)
		require.Equal(t, c.why, p.errs.String())
	}
}

// The program says nothing, so the grader waits for it. It holds a FIFO open, so its end can be seen.
func TestAGraderThatIsEndedEndsTheProgramAtOnce(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		dir := t.TempDir()
		require.NoError(t, unix.Mkfifo(filepath.Join(dir, "life"), 0o600))
		p := startIn(t, dir, "miniredisd", "", "grade", "L7", "--", "sh", "-c", "exec 3>life; echo x >&3; exec sleep 20")
		life, err := os.Open(filepath.Join(dir, "life"))
		require.NoError(t, err)
		defer life.Close()
		_, err = io.ReadFull(life, make([]byte, len("x\n")))
		require.NoError(t, err)
		require.NoError(t, p.cmd.Process.Signal(sig))
		_, err = io.ReadAll(life)
		require.NoError(t, err)
		require.Equal(t, gradeWrong, p.exit(), sig)
		require.Equal(t, "grade: context canceled\n", p.errs.String())
		require.NotContains(t, p.out.String(), "exit status", "the program slept until it was ended")
	}
}

func TestGradeExitsWithZeroForFullPointsOnly(t *testing.T) {
	dir := t.TempDir()
	results := filepath.Join(dir, "results.json")
	p := startIn(t, dir, "miniredisd", "", "grade", "L7", "--results", results, "--", "true")
	require.Equal(t, gradeLess, p.exit(), p.errs.String())
	require.Contains(t, p.out.String(), "0 of 100 points\n")
	text, err := os.ReadFile(results)
	require.NoError(t, err)
	require.Contains(t, string(text), `"score": 0`)
}

package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/course/grade"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

func TestGradeShowsLabsHintsAndTemplates(t *testing.T) {
	p := start(t, "miniredisd", "", "grade", "list")
	require.Equal(t, 0, p.exit())
	require.Contains(t, p.out.String(), "L07   30 min  **...  Release only your own lock: ")
	p = start(t, "miniredisd", "", "grade", "list", "--lang", "zh")
	require.Equal(t, 0, p.exit())
	require.Regexp(t, `L07   30 分钟  \*\*\.\.\.  只释放自己的锁：`, p.out.String())
	require.NotRegexp(t, ` min |: `, p.out.String())
	p = start(t, "miniredisd", "", "grade", "L7", "--lang", "zh")
	require.Equal(t, 0, p.exit())
	require.Contains(t, p.out.String(), "L07 只释放自己的锁\n")
	require.Regexp(t, `(?s)## 任务.*## 评分\n\n1\. .*开始：miniredisd grade L07 --template`, p.out.String())
	p = start(t, "miniredisd", "", "grade", "L7", "--hint", "3")
	require.Equal(t, 0, p.exit())
	require.Contains(t, p.out.String(), "`EVAL ")
	dir := filepath.Join(t.TempDir(), "mine")
	p = start(t, "miniredisd", "", "grade", "L7", "--template", "java", dir)
	require.Equal(t, 0, p.exit(), p.errs.String())
	require.FileExists(t, filepath.Join(dir, "Main.java"))
	require.Contains(t, p.out.String(),
		"then: cd "+dir+" && javac -d out *.java && miniredisd grade L07 -- java -cp out Main\n")
	p = start(t, "miniredisd", "", "grade", "L7", "--lang", "zh", "--template", "go", filepath.Join(dir, "go"))
	require.Equal(t, 0, p.exit(), p.errs.String())
	require.Contains(t, p.out.String(), "接下来：cd "+dir)
}

func TestTheSkeletonInJavaScriptHasTwoNames(t *testing.T) {
	dir := t.TempDir()
	for _, language := range []string{"javascript", "node"} {
		p := startIn(t, dir, "miniredisd", "", "grade", "L7", "--template", language, language)
		require.Equal(t, 0, p.exit(), p.errs.String())
		require.FileExists(t, filepath.Join(dir, language, "main.mjs"))
		require.Contains(t, p.out.String(), "then: cd "+language+" && miniredisd grade L07 -- node main.mjs\n")
	}
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
		{[]string{"L7", "--student", "Ada", "--seed", "1", "--", "true"},
			"grade: --student makes the seed: leave --seed out\n"},
		{[]string{"L7", "--student", "", "--", "true"}, "grade: --student expects a name\n"},
		{[]string{"L7", "--secret", "x", "--", "true"}, "grade: --secret needs --student\n"},
		{[]string{"L7", "--student", "Ada", "--secret", "/dev/null", "--", "true"}, "grade: --secret: /dev/null is empty\n"},
		{nil, gradeUsage},
	} {
		p := start(t, "miniredisd", "", append([]string{"grade"}, c.args...)...)
		require.Equal(t, gradeWrong, p.exit(), "%v", c.args)
		require.Equal(t, c.why, p.errs.String())
	}
}

// The program says nothing, so the grader waits for it. It holds a FIFO open, so its end can be seen.
func TestAGraderThatIsEndedEndsTheProgramAtOnce(t *testing.T) {
	redistest.Need(t, "sh")
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

// The seed of a student is known, unless a teacher has a secret. Each student and each lab has another one.
func TestASeedComesFromTheNameOfAStudentAndTheSecretOfATeacher(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("only I know\n"), 0o600))
	headline := func(lab string, more ...string) string {
		p := startIn(t, t.TempDir(), "miniredisd", "", append(append([]string{"grade", lab}, more...), "--", "true")...)
		require.Equal(t, gradeLess, p.exit(), p.errs.String())
		line, _, _ := strings.Cut(p.out.String(), "\n")
		return line
	}
	ada := headline("L7", "--student", "Ada")
	require.Regexp(t, `, student Ada, seed \d+$`, ada)
	require.Equal(t, ada, headline("L7", "--student", "Ada"))
	_, seed, _ := strings.Cut(ada, ", seed ")
	require.NotContains(t, headline("L7", "--student", "Bob"), seed)
	require.NotContains(t, headline("L8", "--student", "Ada"), seed)
	require.Regexp(t, `, student Ada, hidden seed$`, headline("L7", "--student", "Ada", "--secret", secret))
	require.NotEqual(t, grade.SeedOf("L07", "Ada", ""), grade.SeedOf("L07", "Ada", "only I know"))
}

// Its orders go into a pipe that nobody reads. The signal of that is not a wish to end the grader.
func TestAProgramThatEndsEarlyGetsNoPointsAndAGrade(t *testing.T) {
	redistest.Need(t, "sh")
	for _, script := range []string{
		"echo name; exit 1",
		"echo name; kill -9 0",
		"kill -9 0",
		"echo name; sleep 100 >/dev/null 2>&1 & exit 0",
	} {
		results := filepath.Join(t.TempDir(), "results.json")
		p := start(t, "miniredisd", "", "grade", "L7", "--results", results, "--", "sh", "-c", script)
		require.Equal(t, gradeLess, p.exit(), script)
		require.Empty(t, p.errs.String(), script)
		require.Contains(t, p.out.String(), "\n0 of 100 points\n", script)
		text, err := os.ReadFile(results)
		require.NoError(t, err)
		require.Equal(t, 6, strings.Count(string(text), `"status": "failed"`), script)
	}
}

func TestAGraderWhosePointsNobodyReadsSaysSo(t *testing.T) {
	read, write, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, read.Close())
	defer write.Close()
	var errs strings.Builder
	grader := exec.Command(filepath.Join(bin, "miniredisd"), "grade", "L7", "--", "cat")
	grader.Dir, grader.Stdout, grader.Stderr = t.TempDir(), write, &errs
	require.Error(t, grader.Run())
	require.Equal(t, gradeWrong, grader.ProcessState.ExitCode())
	require.Equal(t, "grade: nobody reads the points any more\n", errs.String())
}

// What the program leaves behind holds a FIFO open. It has no mark in its environment, and a session of
// its own. In the last case each process starts the next one and ends.
func TestAGraderEndsEverythingThatItsProgramHasStarted(t *testing.T) {
	redistest.Need(t, "sh")
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux, which gives orphans to the grader")
	}
	for _, script := range []string{
		"env -i setsid sh -c 'echo >apart; exec sleep 100'",
		"(env -i setsid sh -c '(sleep 100 &); sleep 100 & echo >apart' &)",
		"env -i setsid sh -c 'trap \"\" TERM HUP; echo >apart; while :; do sleep 100; done'",
		"env -i setsid sh chain.sh 0",
	} {
		dir := t.TempDir()
		chain := "[ $1 = 20 ] && echo >apart\n[ $1 = 2000 ] || setsid sh chain.sh $(($1 + 1)) &\n"
		require.NoError(t, os.WriteFile(filepath.Join(dir, "chain.sh"), []byte(chain), 0o600))
		life := filepath.Join(dir, "life")
		require.NoError(t, unix.Mkfifo(life, 0o600))
		watched, err := unix.Open(life, unix.O_RDONLY|unix.O_NONBLOCK, 0)
		require.NoError(t, err)
		defer unix.Close(watched)
		script = "mkfifo apart; exec 3>life; echo name; " + script + " >/dev/null 2>&1 & read x <apart; " +
			"rm apart; echo begun >&3; exit 1"
		p := startIn(t, dir, "miniredisd", "", "grade", "L7", "--", "sh", "-c", script)
		require.Equal(t, gradeLess, p.exit(), script)
		require.Contains(t, p.out.String(), "has left processes behind", script)
		text := make([]byte, 100)
		n, err := unix.Read(watched, text)
		require.NoError(t, err)
		require.Contains(t, string(text[:n]), "begun\n", script)
		n, err = unix.Read(watched, text)
		require.NoError(t, err, "%s: somebody still holds the FIFO", script)
		require.Zero(t, n, script)
	}
}

// The grader's last word is a new file, whatever the program has made of the old one. It ends the program's children
// before that.
func TestAProgramCannotWriteItsOwnResults(t *testing.T) {
	redistest.Need(t, "sh")
	forge := `echo '{"score": 100, "tests": []}' >results.json`
	for name, script := range map[string]string{
		"writes":           forge,
		"removes":          "rm -f results.json",
		"makes a folder":   "rm -f results.json; mkdir -p results.json/x",
		"makes a link":     "echo mine >other; ln -sf other results.json",
		"makes a FIFO":     "rm -f results.json; mkfifo results.json",
		"makes it private": forge + "; chmod 000 results.json",
		"writes for ever":  "(trap '' TERM HUP; while :; do " + forge + "; sleep 0.01; done) >/dev/null 2>&1 &",
	} {
		dir := t.TempDir()
		p := startIn(t, dir, "miniredisd", "", "grade", "L7", "--results", "results.json", "--",
			"sh", "-c", script+"; exit 1")
		require.Equal(t, gradeLess, p.exit(), "%s: %s", name, p.errs.String())
		text, err := os.ReadFile(filepath.Join(dir, "results.json"))
		require.NoError(t, err, name)
		require.Contains(t, string(text), `"score": 0,`, name)
		require.Equal(t, 6, strings.Count(string(text), `"status": "failed"`), name)
	}
}

// The program ends its grader: with a signal that it can catch, and with one that it cannot.
func TestAProgramThatEndsItsGraderGetsNothing(t *testing.T) {
	redistest.Need(t, "sh")
	for signal, why := range map[string]string{
		"TERM": "Not tried: the grader was stopped.", "KILL": "The grader has not come to its end",
	} {
		dir := t.TempDir()
		p := startIn(t, dir, "miniredisd", "", "grade", "L7", "--results", "results.json", "--",
			"sh", "-c", "kill -"+signal+" $PPID; exec sleep 20")
		require.NotEqual(t, gradeFull, p.exit(), signal)
		text, err := os.ReadFile(filepath.Join(dir, "results.json"))
		require.NoError(t, err)
		require.Contains(t, string(text), why, signal)
		require.Contains(t, string(text), `"score": 0,`, signal)
	}
}

func TestAFolderForResultsIsNamedBeforeAProgramBegins(t *testing.T) {
	redistest.Need(t, "sh")
	dir := t.TempDir()
	graded := func(path string) *process {
		return startIn(t, dir, "miniredisd", "", "grade", "L7", "--results", path, "--", "sh", "-c", "touch begun")
	}
	p := graded(dir)
	require.Equal(t, gradeWrong, p.exit())
	require.Equal(t, "grade: write "+dir+": is a directory\n", p.errs.String())
	require.NoFileExists(t, filepath.Join(dir, "begun"))
	p = graded(filepath.Join(dir, "x", "r.json"))
	require.Equal(t, gradeLess, p.exit(), p.errs.String())
	require.FileExists(t, filepath.Join(dir, "begun"))
}

// The server that answers has left its parent and its environment. What is left of the program only sleeps.
func TestAServerThatHidesIsNotJudgedByAnotherProcess(t *testing.T) {
	redistest.Need(t, "sh")
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux, which shows who listens")
	}
	if os.Getenv("CI") != "true" {
		t.Skip("plays a whole lab with 1,000 clients")
	}
	server := "env -i " + filepath.Join(bin, "miniredisd") + " --port $PORT --save '' --enable-debug-command yes"
	p := startIn(t, t.TempDir(), "miniredisd", "", "grade", "L4", "--",
		"sh", "-c", "(setsid "+server+" >/dev/null 2>&1 &); exec sleep 1000")
	require.Equal(t, gradeLess, p.exit(), p.errs.String())
	require.Contains(t, p.out.String(), "The process that listens is hidden from the grader.")
	require.Contains(t, p.out.String(), "0 of 100 points")
}

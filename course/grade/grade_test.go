package grade

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/orphans"
	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/lab/glass"
)

// gradeOf grades a program of students.
func gradeOf(t *testing.T, id, program string, change func(*Options)) *Results {
	t.Helper()
	l, err := Find(id)
	require.NoError(t, err)
	o := Options{Lab: l, Seed: 7, Command: []string{os.Args[0]}, Env: []string{programVariable + "=" + id + "/" + program}}
	if change != nil {
		change(&o)
	}
	r, err := Run(t.Context(), o)
	require.NoError(t, err)
	return r
}

// full wants all points for a program. The large tests run with CI=true only.
func full(t *testing.T, id, program string, large ...int) {
	t.Run(program, func(t *testing.T) {
		t.Parallel()
		r := gradeOf(t, id, program, func(o *Options) {
			if amount.Whole() || len(large) == 0 {
				return
			}
			some := *o.Lab
			some.tests = nil
			for i, test := range o.Lab.tests {
				if !slices.Contains(large, i+1) {
					some.tests = append(some.tests, test)
				}
			}
			o.Lab = &some
		})
		for _, test := range r.Tests {
			require.Equal(t, test.MaxScore, test.Score, "%s: %s", test.Name, test.Output)
		}
		if amount.Whole() || len(large) == 0 {
			require.True(t, r.Full())
			require.Equal(t, 100, r.Score)
		}
	})
}

// patience is the limit of an answer. Programs that hang take all of it. All others answer in a small part.
const patience = 4 * time.Second

// loses plays the tests with these numbers. It wants a program to fail each of them, with a reason that has
// these words. With CI=true all of these programs run, each is graded twice, and the grades must be equal.
func loses(t *testing.T, id, program string, reasons map[int]string) {
	if !amount.Picked(id+program, 5) {
		return
	}
	t.Run(program, func(t *testing.T) {
		t.Parallel()
		numbers := slices.Sorted(maps.Keys(reasons))
		only := func(o *Options) {
			some := *o.Lab
			some.tests = nil
			for _, n := range numbers {
				some.tests = append(some.tests, o.Lab.tests[n-1])
			}
			o.Lab, o.AnswerLimit = &some, patience
		}
		r := gradeOf(t, id, program, only)
		for i, test := range r.Tests {
			require.Equal(t, "failed", test.Status, "test %d, %s", numbers[i], test.Name)
			require.Zero(t, test.Score)
			require.Contains(t, test.Output, reasons[numbers[i]], "test %d, %s", numbers[i], test.Name)
		}
		if amount.Whole() {
			require.Equal(t, r, gradeOf(t, id, program, only), "the second grade")
		}
	})
}

// engineStudents are programs that no lab can judge. Each obeys the order open, and then goes wrong.
func engineStudents() map[string]func() {
	after := func(what func()) func() {
		return func() {
			fmt.Println("a program in Go")
			in := bufio.NewScanner(os.Stdin)
			in.Scan()
			fmt.Println("ok")
			in.Scan()
			what()
		}
	}
	return map[string]func(){
		"L07/crash":   after(func() { panic("out of luck") }),
		"L07/leaves":  after(func() {}),
		"L07/hang":    after(waitForEver),
		"L07/rubbish": after(func() { fmt.Println("now I take the lock") }),
		"L07/endless": after(func() {
			for {
				fmt.Print("held ")
			}
		}),
		"L07/dies-at-once": func() { fmt.Fprintln(os.Stderr, "ImportError: no module named luck"); os.Exit(3) },
		"L07/silent":       waitForEver,
		"L07/daemon":       after(leaveChildren),
		"L07/child":        waitForEver,
	}
}

// leaveChildren starts a child in the group and one in a session of its own, and prints their ids.
func leaveChildren() {
	for _, apart := range []bool{false, true} {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), programVariable+"=L07/child")
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: apart}
		must(child.Start())
		fmt.Fprint(os.Stderr, child.Process.Pid, " ")
	}
	fmt.Println("refused by hand")
	waitForEver()
}

// waitForEver waits until the grader ends the program. Go would end a program by itself in which all goroutines
// wait for ever.
func waitForEver() { time.Sleep(time.Hour) }

// first plays the first test of lab 7 with a program, and returns why it failed.
func first(t *testing.T, program string, change func(*Options)) Result {
	t.Helper()
	return gradeOf(t, "L07", program, func(o *Options) {
		one := *o.Lab
		one.tests = one.tests[:1]
		o.Lab = &one
		o.AnswerLimit, o.StartLimit = patience, 3*patience
		if change != nil {
			change(o)
		}
	}).Tests[0]
}

func TestAProgramThatCannotBeJudgedLosesTheTestAndTheReasonSaysWhy(t *testing.T) {
	t.Parallel()
	for program, reason := range map[string]string{
		"crash":        "panic: out of luck",
		"leaves":       "Your program ended after the order `take a` (exit status 0).",
		"hang":         "no answer to the order `take a` within 4s",
		"rubbish":      "answered \"now I take the lock\" to the order `take a`. Expected: held | refused.",
		"endless":      "without the end of a line",
		"dies-at-once": "Your program ended before it was ready (exit status 3).\n| ImportError: no module named luck",
		"silent":       "Its first line must be its name",
	} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			r := first(t, program, nil)
			require.Equal(t, "failed", r.Status)
			require.Contains(t, r.Output, reason)
		})
	}
	missing := first(t, "none", func(o *Options) { o.Command = []string{"/no/such/program"} })
	require.Contains(t, missing.Output, "Your program cannot be started")
}

func TestTestsThatCannotGoBetterAreNotTried(t *testing.T) {
	t.Parallel()
	for program, tried := range map[string]int{"dies-at-once": 1, "hang": maxHangs} {
		tests := gradeOf(t, "L07", program, func(o *Options) { o.AnswerLimit = 100 * time.Millisecond }).Tests
		for i, r := range tests {
			require.Equal(t, i >= tried, strings.HasPrefix(r.Output, "Not tried"), "%s, test %d: %s", program, i+1, r.Output)
		}
	}
}

func TestTheTimeForAllTestsIsBounded(t *testing.T) {
	t.Parallel()
	tests := gradeOf(t, "L07", "script", func(o *Options) { o.WholeLimit = time.Nanosecond }).Tests
	for _, r := range tests {
		require.Contains(t, r.Output, "the time for all tests is over")
	}
}

// The daemon has left the process group. Its mark is what finds it.
func TestNoProcessOutlivesItsTest(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	own := "LAB_RUN=" + t.TempDir()
	r := first(t, "daemon", func(o *Options) { o.Out, o.Env = &out, append(o.Env, own) })
	require.Contains(t, r.Output, "refused by hand")
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc, to find processes by their environment")
	}
	require.Contains(t, out.String(), "has left processes behind")
	require.Empty(t, orphans.Marked(own))
}

func TestAFailedTestLeavesARecordingAndResultsHaveTheFormOfGradescope(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var out strings.Builder
	results := gradeOf(t, "L07", "get-then-del", func(o *Options) {
		o.Recordings, o.Opener, o.Out = filepath.Join(dir, "recordings"), "miniredisd watch", &out
	})
	path := filepath.Join(dir, "recordings", "L07-6.loop.gz")
	require.Contains(t, out.String(), "miniredisd watch "+path)
	require.Contains(t, out.String(), "60 of 100 points")
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	recording, err := glass.ReadRecording(f)
	require.NoError(t, err)
	deleted := slices.ContainsFunc(recording.Lines, func(m glass.Message) bool {
		return m.Kind == glass.KindStop && m.Stop.Event.Text == "DEL "+lockOf(7)
	})
	require.True(t, deleted, "the recording shows the mistake")

	file, err := Begin(filepath.Join(dir, "results.json"), "en")
	require.NoError(t, err)
	require.NoError(t, file.Write(results))
	text, err := os.ReadFile(filepath.Join(dir, "results.json"))
	require.NoError(t, err)
	var read struct {
		Score float64
		Tests []struct {
			Name, Number, Output string
			Score                float64
			MaxScore             float64 `json:"max_score"`
		}
	}
	require.NoError(t, json.Unmarshal(text, &read))
	require.Equal(t, 60.0, read.Score)
	require.Len(t, read.Tests, 6)
	require.Equal(t, 40.0, read.Tests[5].MaxScore)
	require.Contains(t, read.Tests[5].Output, "It deleted the lock of b")
}

func TestReasonsComeInChinese(t *testing.T) {
	t.Parallel()
	r := first(t, "hang", func(o *Options) { o.Lang = "zh" })
	require.Contains(t, r.Output, "没有回答命令 `take a`")
	require.Equal(t, "加锁与释放", r.Name)
}

// Every lab has 100 points, and both languages of its text and of its tests.
func TestLabsAreComplete(t *testing.T) {
	for _, l := range List() {
		require.Equal(t, 100, l.Points(), l.ID)
		english, err := l.Text("en")
		require.NoError(t, err)
		chinese, err := l.Text("zh")
		require.NoError(t, err)
		require.Equal(t, english.Minutes, chinese.Minutes, l.ID)
		require.Equal(t, english.Level, chinese.Level, l.ID)
		require.Len(t, english.Hints, 3, l.ID)
		require.Len(t, chinese.Hints, 3, l.ID)
		for _, test := range l.tests {
			require.NotEmpty(t, test.name.en, l.ID)
			require.NotEmpty(t, test.name.zh, l.ID)
		}
	}
	for _, name := range []string{"L07", "L7", "l7", "7"} {
		l, err := Find(name)
		require.NoError(t, err)
		require.Equal(t, "L07", l.ID)
	}
	_, err := Find("L99")
	require.ErrorContains(t, err, "there is no lab 'L99'")
}

func TestTheDocumentsListEveryLab(t *testing.T) {
	for _, page := range []string{"course.md", "zh/course.md"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", filepath.FromSlash(page)))
		require.NoError(t, err)
		for _, l := range List() {
			words, err := l.Text("en")
			require.NoError(t, err)
			row := `(?m)^\| ` + l.ID + ` \|.*\| ` + words.Minutes + ` \| ` + words.Level + ` \|$`
			require.True(t, regexp.MustCompile(row).Match(text), "docs/%s has no row with %s", page, row)
		}
	}
}

// A mistake of the grader costs one test. The others are judged, and there are results.
func TestATestThatCannotBeJudgedHasNoPointsAndTheOthersAreJudged(t *testing.T) {
	t.Parallel()
	l, err := Find("L01")
	require.NoError(t, err)
	one := *l
	one.tests = []test{
		{name: say{"breaks", "breaks"}, points: 40, play: func(*story) { panic("out of luck") }},
		{name: say{"passes", "passes"}, points: 60, play: func(*story) {}},
	}
	r, err := Run(t.Context(), Options{Lab: &one, Command: []string{"true"}})
	require.ErrorContains(t, err, "L01, test 1: panic: out of luck\ngoroutine ")
	require.Equal(t, "The grader could not judge this test: panic: out of luck.", r.Tests[0].Output)
	require.Equal(t, 60, r.Score)
}

func TestATerminalDoesNotObeyWhatAProgramWrites(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a\tb\nc":             "a b\nc",
		"\x1b[2J\r100":        "?[2J?100",
		"\u202e100\u009b\x00": "?100??",
		"锁 🔒":                 "锁 🔒",
	} {
		require.Equal(t, want, visible(text))
	}
}

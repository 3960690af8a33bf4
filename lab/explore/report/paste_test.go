package report

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/lab/explore"
)

// languages are those of the tests to paste.
func languages() []string { return []string{"pytest", "go test", "JUnit", "Vitest"} }

func testOf(t *testing.T, r *explore.Report, f *explore.Finding, language string) string {
	t.Helper()
	all, err := tests(r, f)
	require.NoError(t, err)
	require.Len(t, all, len(languages()))
	i := slices.Index(languages(), language)
	require.Equal(t, language, all[i].Name)
	return all[i].Code
}

// reports returns the sample and others, so that each kind of line of a test comes: with one master and with
// three, of a program and of a test, with each harm, and with names of strangers.
func reports(t *testing.T) (all []*explore.Report) {
	for _, masters := range []int{1, 3} {
		for _, inTest := range []bool{false, true} {
			r := sample(t)
			r.Masters, r.InTest = masters, inTest
			if inTest {
				r.Program = []string{"TestTheLockOfOrders"}
			}
			for h := explore.OtherHarm; h <= explore.NeverEnds; h++ {
				f := &explore.Finding{Harm: h, Lock: "lock:" + evil, Strikes: []explore.Strike{{Point: 1, Fault: 1}}}
				f.Commands = []string{
					"LAB MASTER 1 FAULT ADD a KEY " + quoted("*"+evil) + ` CLIENT 7 NTH 2 ACTION ERROR "OOM \"x\""`,
					"LAB FAULT ADD b CMD client|kill SCRIPT abc TIMES 2 PROB 0.5 ACTION DELAY-REPLY 1500",
					"LAB FAULT ADD c CLIENT w-* ACTION CUT 3", "LAB FAULT ADD d KEY x ORDER 2 NTH 1 ACTION HOLD",
					"LAB FAULT ADD e CMD message ACTION SKIP-PUSH", "LAB FAULT ADD f ACTION HOLD", "LAB PARTITION CLIENT * OFF",
					"LAB HOLD WAIT f 60000", "LAB HOLD WAIT d 60000", "# " + evil, explore.OthersGoOn,
					fmt.Sprintf("LAB MASTER %d CRASH DOWN 3600000 LOSE NOTHING", masters), "LAB CRASH", "LAB ALL CLOCK ADVANCE 1500",
					"LAB ALL SNAPSHOT SAVE x", "LAB HOLD RELEASE f", "LAB FAULT DEL d",
				}
				r.Cells[1][h].Mark, r.Cells[1][h].Finding = explore.Broken, f
			}
			all = append(all, r)
		}
	}
	return all
}

// generated writes all tests of a language into a folder. Each has a folder of its own.
func generated(t *testing.T, language, file string) (paths []string) {
	t.Helper()
	folder := t.TempDir()
	for i, r := range reports(t) {
		for j, f := range facts(r) {
			path := filepath.Join(folder, fmt.Sprintf("t%d_%d", i, j), file)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			require.NoError(t, os.WriteFile(path, []byte(testOf(t, r, f.Finding, language)), 0o600))
			paths = append(paths, path)
		}
	}
	require.Len(t, paths, 4*14)
	return paths
}

// The compiler sees the tests as files of a package in testdata, so they need no module of their own.
func TestGoTestsCompile(t *testing.T) {
	overlay := map[string]string{}
	here, err := filepath.Abs("testdata")
	require.NoError(t, err)
	for i, path := range generated(t, "go test", "explored_test.go") {
		if i%4 > 0 && !amount.Whole() {
			continue
		}
		name := filepath.Base(filepath.Dir(path))
		code, err := os.ReadFile(path)
		require.NoError(t, err)
		code = regexp.MustCompile(`func (Test|trial)`).ReplaceAll(code, []byte("func ${1}_"+name)) // all in one package
		code = regexp.MustCompile(`\btrial\(t, `).ReplaceAll(code, []byte("trial_"+name+"(t, "))
		require.NoError(t, os.WriteFile(path, code, 0o600))
		overlay[filepath.Join(here, name+"_test.go")] = path
	}
	text, err := json.Marshal(map[string]any{"Replace": overlay})
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "overlay.json")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	out, err := exec.Command("go", "vet", "-overlay", file, "./testdata").CombinedOutput()
	require.NoError(t, err, string(out))
}

func TestGoTestsAreFormatted(t *testing.T) {
	paths := generated(t, "go test", "explored_test.go")
	out, err := exec.Command("gofmt", append([]string{"-l"}, paths...)...).CombinedOutput()
	require.NoError(t, err, string(out))
	require.Empty(t, string(out))
}

func TestPythonTestsCompile(t *testing.T) {
	redistest.Need(t, "python3")
	const check = "import sys\nfor path in sys.argv[1:]: compile(open(path, encoding='utf-8').read(), path, 'exec')"
	out, err := exec.Command("python3", append([]string{"-c", check}, generated(t, "pytest", "test_explored.py")...)...).
		CombinedOutput()
	require.NoError(t, err, string(out))
}

func TestJavaScriptTestsCompile(t *testing.T) {
	redistest.Need(t, "node")
	const check = `for (const path of process.argv.slice(1))
		new (require("vm").SourceTextModule)(require("fs").readFileSync(path, "utf8"), { identifier: path })`
	args := append([]string{"--no-warnings", "--experimental-vm-modules", "-e", check, "--"},
		generated(t, "Vitest", "explored.test.js")...)
	out, err := exec.Command("node", args...).CombinedOutput()
	require.NoError(t, err, string(out))
}

func TestTheTestsAreAsBefore(t *testing.T) {
	r := sample(t)
	for _, language := range languages() {
		text := ""
		for _, m := range mistakes(r) {
			text += testOf(t, r, m.facts[0].Finding, language) + "\n"
		}
		sameAsBefore(t, "tests-"+strings.ReplaceAll(strings.ToLower(language), " ", "-")+".txt", text)
	}
}

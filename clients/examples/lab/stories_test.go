// Package lab has the stories of the lock lab: scripts, not Go. These tests run them, and check that
// docs/lab describes everything that exists.
package lab

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/verdict"
	"github.com/miniredisd/miniredisd/miniredistest"
	"github.com/miniredisd/miniredisd/resp"
)

// twoHolders lists the stories in which the log shows two holders of one lock. In other stories, too, a
// client believes in a lock that it has lost. But its lease was over, so it could have known, or nobody
// held the lock.
var twoHolders = []string{"04", "05", "06", "09", "29", "30", "32", "33", "34", "37", "44"}

// undecided lists the stories whose log cannot tell whether there were two holders. In story 02 the reply to a release
// comes late, and the log does not show when. In story 07, WAIT told worker-1 that no replica has the lock, and nothing
// shows that it works on. In story 17 the votes came slowly, and nothing shows whether a looks at its clock.
var undecided = []string{"02", "07", "17"}

// notJudged lists the stories that watch other keys than locks, too: a list of signals, a queue of waiters, a stock, a
// list with the name of the lock.
var notJudged = []string{"10", "15", "25", "43"}

// Every story ends as it says. A second run with the same seed prints the same, byte for byte: the replies
// of its clients and the log of the server.
func TestStoriesEndAsTheySayTwice(t *testing.T) {
	server := build(t)
	stories := scripts(t)
	require.Len(t, stories, 44)
	for _, story := range stories {
		t.Run(strings.TrimSuffix(story, ".sh"), func(t *testing.T) {
			t.Parallel()
			history := filepath.Join(t.TempDir(), "history.json")
			first := tell(t, server, story, history)
			require.Equal(t, first, tell(t, server, story, history))
			require.Contains(t, first, `{"seq":1,`, "it does not end with LAB LOG")
			v := judge(t, history)
			require.Equal(t, slices.Contains(twoHolders, story[:2]), v.Violated(), v.Text())
			require.Equal(t, slices.Contains(undecided, story[:2]), v.Result() == verdict.Undecided, v.Text())
			require.Equal(t, slices.Contains(notJudged, story[:2]), v.Result() == verdict.NotJudged, v.Text())
		})
	}
}

func TestAFailedStoryPrintsWhatItExpectedAndSaw(t *testing.T) {
	server := build(t)
	for line, complaint := range map[string]string{
		"worker PING; worker gets PANG":                "expected: PANG\nbut saw:  PONG",
		"worker PING; worker waits":                    "expected: worker still waits\nbut saw:  PONG",
		"lab CLOCK BACK":                               "expected: no error\nbut saw:  ERR LAB CLOCK",
		"lab CLOCK ADVANCE 1; lab gets 1":              "expected: 1\nbut saw:  0",
		"logged 1 missing":                             "expected: 1 lines of LAB LOG with missing\nbut saw:  0",
		"worker SHUTDOWN; worker hears; worker gets 1": "expected: 1\nbut saw:  (closed)",
	} {
		cmd := exec.Command("bash", "-c", ". ./lab.sh; start; client worker; "+line+"; echo went on")
		cmd.Env = append(os.Environ(), "MINIREDISD="+server)
		out, err := cmd.CombinedOutput()
		require.Error(t, err, line)
		require.Contains(t, string(out), complaint)
		require.NotContains(t, string(out), "went on")
	}
}

// build builds the server for the stories. Without bash or redis-cli it skips the test, and fails it in CI.
func build(t *testing.T) (server string) {
	t.Helper()
	for _, tool := range []string{"bash", "redis-cli"} {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatal(err)
			}
			t.Skipf("the stories need %s: %v", tool, err)
		}
	}
	server = filepath.Join(t.TempDir(), "miniredisd")
	out, err := exec.Command("go", "build", "-o", server, "../../../cmd/miniredisd").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return server
}

func scripts(t *testing.T) []string {
	t.Helper()
	stories, err := filepath.Glob("[0-9][0-9]-*.sh")
	require.NoError(t, err)
	return stories
}

func judge(t *testing.T, path string) *verdict.Verdict {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	histories, err := verdict.Read(f)
	require.NoError(t, err)
	v, err := verdict.Judge(histories)
	require.NoError(t, err)
	return v
}

// tell runs a story and returns its output.
func tell(t *testing.T, server, story, history string) string {
	t.Helper()
	cmd := exec.Command("bash", story)
	cmd.Env = append(os.Environ(), "MINIREDISD="+server, "SEED=42", "HISTORY="+history)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	require.NoError(t, err, "%s%s", &out, &errs)
	require.Empty(t, errs.String())
	return out.String()
}

// The blocks of the reference that are marked lab are commands and their replies, in the notation of
// LAB LOG.
func TestTheReferenceShowsRepliesAsTheyAre(t *testing.T) {
	conn := redistest.Dial(t, miniredistest.RunMasters(t, 5)[0].Addr())
	blocks := regexp.MustCompile("(?s)```lab\n(.*?)```").FindAllStringSubmatch(read(t, "docs/lab/reference.md"), -1)
	require.NotEmpty(t, blocks)
	for _, block := range blocks {
		lines := strings.Split(strings.TrimSpace(block[1]), "\n")
		for ; len(lines) > 1; lines = lines[2:] {
			line, marked := strings.CutPrefix(lines[0], "> ")
			require.True(t, marked, lines[0])
			require.Equal(t, lines[1], text(conn.Do(words(line)...)), line)
		}
		require.Empty(t, lines)
	}
}

// words splits a line at spaces, except at spaces inside double quotes.
func words(line string) (all []string) {
	for _, word := range regexp.MustCompile(`"[^"]*"|\S+`).FindAllString(line, -1) {
		all = append(all, strings.Trim(word, `"`))
	}
	return all
}

// text formats a reply as LAB LOG does.
func text(v resp.Value) string {
	switch {
	case v.Null:
		return "(nil)"
	case v.Kind == ':':
		return strconv.FormatInt(v.Int, 10)
	case v.Kind != '*':
		return v.Str
	}
	var all []string
	for _, e := range v.Elems {
		all = append(all, text(e))
	}
	return "[" + strings.Join(all, " ") + "]"
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", path))
	require.NoError(t, err)
	return string(text)
}

// docs/commands.md is written from the table of commands, so it has every word of LAB's syntax.
func TestTheReferenceHasEveryVerb(t *testing.T) {
	reference := read(t, "docs/lab/reference.md")
	verbs := regexp.MustCompile("(?m)^\\| `LAB ([A-Z]+)(.*)` \\| 0").FindAllStringSubmatch(read(t, "docs/commands.md"), -1)
	require.NotEmpty(t, verbs)
	for _, verb := range verbs {
		if verb[1] == "HELP" {
			continue
		}
		section := regexp.MustCompile("(?ms)^## LAB " + verb[1] + "\\b.*?(?:^##|\\z)").FindString(reference)
		require.NotEmpty(t, section, "docs/lab/reference.md has no section LAB %s", verb[1])
		for _, word := range regexp.MustCompile("[A-Z]{2,}").FindAllString(verb[2], -1) {
			require.Contains(t, section, word, "LAB %s", verb[1])
		}
	}
}

func TestTheChaptersNameEveryActionEventStoryAndFinding(t *testing.T) {
	var chapters strings.Builder
	for _, page := range []string{"faults", "log", "doctor", "stories"} {
		chapters.WriteString(read(t, "docs/lab/"+page+".md"))
	}
	_, err := lab.ParseRule([][]byte{[]byte("r"), []byte("ACTION"), []byte("x")})
	_, actions, found := strings.Cut(err.Error(), "is not one of ")
	require.True(t, found, err)
	names := strings.Split(actions, ", ")
	require.Contains(t, names, "DROP-REPLY")
	names = append(names, lab.EventCommand, lab.EventExpired, lab.EventClock, lab.EventCrash, lab.EventRestore,
		lab.EventDisk)
	for _, story := range scripts(t) {
		names = append(names, "../../clients/examples/lab/"+story)
	}
	patterns := regexp.MustCompile(`Pattern = "([a-z-]+)"`).FindAllStringSubmatch(read(t, "lab/doctor/finding.go"), -1)
	require.NotEmpty(t, patterns)
	for _, p := range patterns {
		names = append(names, p[1])
	}
	for _, name := range names {
		known := strings.Contains(chapters.String(), "`"+name) || strings.Contains(chapters.String(), "("+name+")")
		require.True(t, known, "docs/lab does not name %s", name)
	}
}

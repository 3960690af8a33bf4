// Package lab has the stories of the lock lab: scripts, not Go. These tests run them, and
// see to it that docs/lab.md tells of all there is.
package lab

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab"
)

// Every story ends as it says, and with the same seed in the same way: what its clients
// have seen and what the server has logged are equal, byte for byte.
func TestStoriesEndAsTheySayTwice(t *testing.T) {
	for _, tool := range []string{"bash", "redis-cli"} {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatal(err)
			}
			t.Skipf("the stories are told with %s: %v", tool, err)
		}
	}
	server := filepath.Join(t.TempDir(), "miniredisd")
	build := exec.Command("go", "build", "-o", server, "../../cmd/miniredisd")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)

	stories := scripts(t)
	require.Len(t, stories, 26)
	for _, story := range stories {
		t.Run(strings.TrimSuffix(story, ".sh"), func(t *testing.T) {
			t.Parallel()
			first := tell(t, server, story)
			require.Equal(t, first, tell(t, server, story))
			require.Contains(t, first, `{"seq":1,`, "it does not end with LAB LOG")
		})
	}
}

func scripts(t *testing.T) []string {
	t.Helper()
	stories, err := filepath.Glob("[0-9][0-9]-*.sh")
	require.NoError(t, err)
	return stories
}

// tell runs a story and returns what it prints.
func tell(t *testing.T, server, story string) string {
	t.Helper()
	cmd := exec.Command("bash", story)
	cmd.Env = append(os.Environ(), "MINIREDISD="+server, "SEED=42")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	require.NoError(t, err, "%s%s", &out, &errs)
	require.Empty(t, errs.String())
	return out.String()
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", path))
	require.NoError(t, err)
	return string(text)
}

// The table of commands in README.md is written from the commands there are, so the words
// of LAB's syntax are all there.
func TestTheChapterTellsOfEveryVerb(t *testing.T) {
	chapter := read(t, "docs/lab.md")
	verbs := regexp.MustCompile("(?m)^\\| `LAB ([A-Z]+)(.*)` \\| 0").FindAllStringSubmatch(read(t, "README.md"), -1)
	require.NotEmpty(t, verbs)
	for _, verb := range verbs {
		if verb[1] == "HELP" {
			continue
		}
		section := regexp.MustCompile("(?ms)^### `?LAB " + verb[1] + "\\b.*?(?:^##|\\z)").FindString(chapter)
		require.NotEmpty(t, section, "docs/lab.md has no section LAB %s", verb[1])
		for _, word := range regexp.MustCompile("[A-Z]{2,}").FindAllString(verb[2], -1) {
			require.Contains(t, section, word, "LAB %s", verb[1])
		}
	}
}

func TestTheChapterTellsOfEveryActionStoryAndFinding(t *testing.T) {
	chapter := read(t, "docs/lab.md")
	_, err := lab.ParseRule([][]byte{[]byte("r"), []byte("ACTION"), []byte("x")})
	_, actions, found := strings.Cut(err.Error(), "is none of ")
	require.True(t, found, err)
	names := strings.Split(actions, ", ")
	require.Contains(t, names, "DROP-REPLY")
	for _, story := range scripts(t) {
		names = append(names, "../examples/lab/"+story)
	}
	patterns := regexp.MustCompile(`Pattern = "([a-z-]+)"`).FindAllStringSubmatch(read(t, "lab/doctor/finding.go"), -1)
	require.NotEmpty(t, patterns)
	for _, p := range patterns {
		names = append(names, p[1])
	}
	for _, name := range names {
		require.True(t, strings.Contains(chapter, "`"+name) || strings.Contains(chapter, "("+name+")"), "docs/lab.md does not tell of %s", name)
	}
}

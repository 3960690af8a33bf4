package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The table in CONTRIBUTING answers the first questions of a newcomer by functions. Each of them is in its file. Files
// of server may move below it, so there a function may be in any file.
func TestTheQuestionsOfANewcomerAreAnsweredByFunctionsThatExist(t *testing.T) {
	answers := text("CONTRIBUTING.md", `(?s)\n## Where does it happen\?\n(.*?)\n## `)(t)
	rows := regexp.MustCompile(`(?m)^\| [A-Z].*\? \| (.*) \| \[.*\]\(.*\) \|$`).FindAllStringSubmatch(answers, -1)
	require.Len(t, rows, 10)
	for _, row := range rows {
		named := regexp.MustCompile("`([a-z_/]+\\.go): (\\w+)`").FindAllStringSubmatch(row[1], -1)
		require.NotEmpty(t, named, row[0])
		for _, n := range named {
			places := []string{filepath.Join(top(), filepath.FromSlash(n[1]))}
			if filepath.ToSlash(filepath.Dir(n[1])) == "server" {
				places = filesBelow(t, "server")
			}
			require.True(t, declares(t, places, n[2]), "no function %s: %s", n[2], row[0])
		}
	}
}

// filesBelow returns the Go files of a folder and of those below it, without tests.
func filesBelow(t *testing.T, folder string) []string {
	return slices.DeleteFunc(goFiles(t), func(path string) bool {
		below, err := filepath.Rel(filepath.Join(top(), folder), path)
		require.NoError(t, err)
		return strings.HasPrefix(below, "..") || strings.HasSuffix(path, "_test.go")
	})
}

// declares reports whether one of the files has a function or a method of this name.
func declares(t *testing.T, paths []string, function string) bool {
	t.Helper()
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		if regexp.MustCompile(`(?m)^func (\(\w+ \*?\w+\) )?` + function + `\(`).Match(text) {
			return true
		}
	}
	return false
}

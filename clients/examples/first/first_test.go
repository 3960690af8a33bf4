// Package first has the first tests of docs/lab/first-test.md in four languages; the script run runs
// them. This test keeps the chapter equal to the files.
package first

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheChapterShowsTheFilesThatRun(t *testing.T) {
	chapter, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "lab", "first-test.md"))
	require.NoError(t, err)
	for file, language := range map[string]string{
		"python/test_lock.py":              "python",
		"java/src/test/java/LockTest.java": "java",
		"node/lock.test.js":                "js",
		"go/lock_test.go":                  "go",
	} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Contains(t, string(chapter), "```"+language+"\n"+string(text)+"```\n", file)
	}
}

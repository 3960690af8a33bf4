package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// What the chapters name as `file: function` is there, under that name, and what they
// link to exists.
func TestChaptersNameFunctionsThatExist(t *testing.T) {
	chapters, err := filepath.Glob(filepath.Join("..", "..", "..", "docs", "*.md"))
	require.NoError(t, err)
	require.NotEmpty(t, chapters)
	links, functions := 0, 0
	for _, chapter := range chapters {
		text, err := os.ReadFile(chapter)
		require.NoError(t, err)
		for _, link := range regexp.MustCompile(`\]\((\.\./[^)#]+)\)`).FindAllSubmatch(text, -1) {
			links++
			_, err := os.Stat(filepath.Join("..", "..", "..", "docs", string(link[1])))
			require.NoError(t, err, chapter)
		}
		named := regexp.MustCompile("\\[`([a-z/]+\\.go): (\\w+)`\\]\\(\\.\\./([^)]+)\\)").FindAllSubmatch(text, -1)
		for _, n := range named {
			functions++
			file, function, target := string(n[1]), string(n[2]), string(n[3])
			require.Equal(t, file, target, chapter)
			source, err := os.ReadFile(filepath.Join("..", "..", "..", file))
			require.NoError(t, err, chapter)
			require.Regexp(t, `(?m)^func (\(\w+ \*?\w+\) )?`+function+`\(`, string(source), "%s: %s", chapter, file)
		}
	}
	require.NotZero(t, links)
	require.NotZero(t, functions)
}

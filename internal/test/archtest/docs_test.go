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

// A chapter names a function as `file: function` and links to the file. The function exists under that
// name, and every link leads to a file and, behind #, to one of its headings.
func TestChaptersNameFunctionsAndFilesThatExist(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	links, functions, anchorsOf := 0, 0, map[string][]string{}
	for _, chapter := range chapters(t, root) {
		text, err := os.ReadFile(chapter)
		require.NoError(t, err)
		for _, link := range regexp.MustCompile(`\]\(([^):#]*)(#[^)]*)?\)`).FindAllSubmatch(text, -1) {
			links++
			target := filepath.Join(filepath.Dir(chapter), string(link[1]))
			if len(link[1]) == 0 {
				target = chapter
			}
			_, err := os.Stat(target)
			require.NoError(t, err, chapter)
			if len(link[2]) > 0 {
				if anchorsOf[target] == nil {
					anchorsOf[target] = anchors(t, target)
				}
				require.Contains(t, anchorsOf[target], string(link[2]), "%s: %s", chapter, link[0])
			}
		}
		named := regexp.MustCompile("\\[`([a-z_/]+\\.go): (\\w+)`\\]\\(([^)]+)\\)").FindAllSubmatch(text, -1)
		for _, n := range named {
			functions++
			file, function, target := string(n[1]), string(n[2]), string(n[3])
			require.Equal(t, filepath.Join(root, file), filepath.Join(filepath.Dir(chapter), target), chapter)
			source, err := os.ReadFile(filepath.Join(root, file))
			require.NoError(t, err, chapter)
			require.Regexp(t, `(?m)^func (\(\w+ \*?\w+\) )?`+function+`\(`, string(source), "%s: %s", chapter, file)
		}
	}
	require.NotZero(t, links)
	require.NotZero(t, functions)
}

// anchors returns the links to the headings of a chapter, as GitHub makes them: "#the-log".
func anchors(t *testing.T, chapter string) (all []string) {
	t.Helper()
	text, err := os.ReadFile(chapter)
	require.NoError(t, err)
	left := regexp.MustCompile(`[^\pL\pN _-]`)
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllSubmatch(text, -1) {
		words := left.ReplaceAllString(strings.ToLower(string(heading[1])), "")
		all = append(all, "#"+strings.ReplaceAll(words, " ", "-"))
	}
	return all
}

// chapters returns the paths of both READMEs, of CONTRIBUTING and of everything in docs.
func chapters(t *testing.T, root string) (all []string) {
	t.Helper()
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "docs/*/*/*.md"} {
		paths, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		require.NoError(t, err)
		require.NotEmpty(t, paths, pattern)
		all = slices.Concat(all, paths)
	}
	return all
}

func TestTheNewestVersionOfTheChangelogIsThatOfTheProgram(t *testing.T) {
	newest := text("CHANGELOG.md", `\n## Unreleased\n(?s:.*?)\n## (\d+\.\d+\.\d+)\n`)(t)
	require.Equal(t, text("internal/version/version.go", `const Version = "([^"]+)"`)(t), newest)
}

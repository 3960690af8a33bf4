package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// docs/README.md sorts the pages by reader.
func TestEachPageStandsOnOneShelf(t *testing.T) {
	own := filepath.Join(top(), "docs", "README.md")
	want := []string{filepath.Join(top(), "docs", "zh", "glossary.md")} // it is in both languages
	for _, name := range []string{"CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "clients/interop/README.md"} {
		want = append(want, filepath.Join(top(), filepath.FromSlash(name)))
	}
	for _, folder := range []string{"", "lab", "fixtures"} {
		pages, err := filepath.Glob(filepath.Join(top(), "docs", folder, "*.md"))
		require.NoError(t, err)
		want = append(want, slices.DeleteFunc(pages, func(page string) bool { return page == own })...)
	}
	slices.Sort(want)
	require.Greater(t, len(want), 30)
	text, err := os.ReadFile(own)
	require.NoError(t, err)
	var found []string
	for _, m := range regexp.MustCompile(`(?m)^- \[[^]]+\]\(([^)]+)\): .+[.?]$`).FindAllSubmatch(text, -1) {
		found = append(found, filepath.Join(top(), "docs", string(m[1])))
	}
	slices.Sort(found)
	require.Equal(t, want, found)
}

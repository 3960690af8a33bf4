package claims

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// The tables of docs/claims.md and its Chinese page begin each answer with the verdict, in the words that the
// screen Claims has for it.
func TestTheDocumentsGiveTheVerdictsOfTheExperiments(t *testing.T) {
	screen, err := os.ReadFile(filepath.Join("..", "..", "lab", "glass", "glasshttp", "page", "text", "claims.js"))
	require.NoError(t, err)
	for language, name := range []string{"docs/claims.md", "docs/zh/claims.md"} {
		page, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
		require.NoError(t, err)
		for n, finding := range expected() {
			row := regexp.MustCompile(fmt.Sprintf(`(?m)^\| \[%d\]\([^|]*\| [^|]*\| (.*) \|$`, n)).FindSubmatch(page)
			require.NotNil(t, row, "claim %d is not in the table of %s", n, name)
			word := regexp.MustCompile(fmt.Sprintf(`'claims\.verdict\.%s': '(.*)'`, finding.Verdict))
			words := word.FindAllSubmatch(screen, -1)
			require.Len(t, words, 2)
			require.Regexp(t, "^"+string(words[language][1]), string(row[1]), "claim %d of %s", n, name)
		}
	}
}

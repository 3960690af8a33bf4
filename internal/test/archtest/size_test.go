package archtest

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

const (
	maxColumns = 120 // of a line; a tab counts as one column
	maxLines   = 400 // of a file
)

// Generated files may have lines of any length.
func TestLinesAndFilesAreShort(t *testing.T) {
	for _, path := range goFiles(t) {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ParseComments|parser.PackageClauseOnly)
		require.NoError(t, err)
		if ast.IsGenerated(file) {
			continue
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, top()+string(filepath.Separator)))
		lines := bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
		require.LessOrEqual(t, len(lines), maxLines, "%s has too many lines", name)
		for n, line := range lines {
			require.LessOrEqual(t, utf8.RuneCount(line), maxColumns, "%s:%d has too many columns", name, n+1)
		}
	}
}

func top() string { return filepath.Join("..", "..", "..") }

// notOurs names folders with foreign files. The tests in clients/interop download and build there.
func notOurs() []string { return []string{"testdata", "node_modules", "build", "target"} }

// goFiles returns the paths of all Go files, those of tests and of other modules included.
func goFiles(t *testing.T) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(top(), func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != top() && (strings.HasPrefix(d.Name(), ".") || slices.Contains(notOurs(), d.Name())):
			return filepath.SkipDir
		case filepath.Ext(path) == ".go":
			paths = append(paths, path)
		}
		return nil
	})
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	return paths
}

package archtest

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

const (
	maxColumns = 120 // of a line; a tab counts as one column
	maxLines   = 400 // of a file
)

// longLines has the folders that still have lines above maxColumns. It only gets shorter.
func longLines() []string {
	return []string{
		"internal/acl",
		"internal/rdb",
		"store",
	}
}

// longFiles has the files that are still longer than maxLines. It only gets shorter.
func longFiles() []string {
	return []string{
		"store/zset_test.go",
	}
}

// Generated files may have lines of any length.
func TestLinesAndFilesAreShort(t *testing.T) {
	wideFolders, longSources := map[string]string{}, map[string]int{}
	for _, path := range goFiles(t) {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ParseComments|parser.PackageClauseOnly)
		require.NoError(t, err)
		if ast.IsGenerated(file) {
			continue
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, top()+string(filepath.Separator)))
		lines := bytes.Split(text, []byte("\n"))
		if len(lines) > maxLines+1 {
			longSources[name] = len(lines) - 1
		}
		for _, line := range lines {
			if utf8.RuneCount(line) > maxColumns {
				wideFolders[filepath.ToSlash(filepath.Dir(name))] = name + ": " + string(line)
			}
		}
	}
	for folder, example := range wideFolders {
		require.Contains(t, longLines(), folder, "a line has more than %d columns: %s", maxColumns, example)
	}
	for name, n := range longSources {
		require.Contains(t, longFiles(), name, "%d lines are more than %d", n, maxLines)
	}
	for _, folder := range longLines() {
		require.Contains(t, wideFolders, folder, "it has no long line any more: remove it from the list")
	}
	for _, name := range longFiles() {
		require.Contains(t, longSources, name, "it is not long any more: remove it from the list")
	}
}

func top() string { return filepath.Join("..", "..", "..") }

// goFiles returns the paths of all Go files, those of tests and of other modules included.
func goFiles(t *testing.T) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(top(), func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != top() && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
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

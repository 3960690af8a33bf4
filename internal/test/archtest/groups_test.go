package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Imports stand in up to three groups with an empty line between them: Go's own packages, those of other
// modules, ours.
func TestImportsStandInThreeGroups(t *testing.T) {
	set, files := token.NewFileSet(), 0
	err := filepath.WalkDir(top(), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != top() &&
			(strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || isForeignModule(top(), path)):
			return filepath.SkipDir
		case filepath.Ext(path) != ".go":
			return nil
		}
		f, err := parser.ParseFile(set, path, nil, parser.ImportsOnly)
		if err == nil {
			files++
			require.Empty(t, outOfGroup(set, f), path)
		}
		return err
	})
	require.NoError(t, err)
	require.Greater(t, files, 500)
}

// outOfGroup returns the first import that has the wrong neighbour, or "".
func outOfGroup(set *token.FileSet, f *ast.File) string {
	for i := 1; i < len(f.Imports); i++ {
		before, spec := f.Imports[i-1], f.Imports[i]
		from, to := importGroup(before), importGroup(spec)
		apart := set.Position(spec.Pos()).Line - set.Position(before.End()).Line
		if to < from || (from == to) != (apart == 1) {
			return spec.Path.Value
		}
	}
	return ""
}

func importGroup(spec *ast.ImportSpec) int {
	switch path := strings.Trim(spec.Path.Value, `"`); {
	case path+"/" == module || strings.HasPrefix(path, module):
		return 2
	case isForeign(path):
		return 1
	}
	return 0
}

func TestAnImportInAWrongGroupIsFound(t *testing.T) {
	const std, foreign, own = "\t\"os\"\n", "\t\"golang.org/x/sys/unix\"\n", "\t\"" + module + "store\"\n"
	for text, want := range map[string]string{
		std + "\n" + foreign + "\n" + own:      "",
		std + "\n" + own:                       "",
		std + "\n" + foreign + own:             own,
		std + foreign:                          foreign,
		std + "\n" + own + "\n" + foreign:      foreign,
		own + "\n\t\"" + module + "server\"\n": "\t\"" + module + "server\"\n",
	} {
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, "", "package p\n\nimport (\n"+text+")\n", parser.ImportsOnly)
		require.NoError(t, err)
		require.Equal(t, strings.TrimSpace(want), outOfGroup(set, f), text)
	}
}

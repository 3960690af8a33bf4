package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// rooms has the rooms of package server, and the rooms that each of them may name. The prefix of a file says its
// room. A file without a prefix of this table is of the core, the pass of a plain server.
func rooms() map[string][]string {
	return map[string][]string{
		"core":    {},
		"cmd":     {"core"},
		"persist": {"core"},
		"repl":    {"core", "persist"},
		"lab":     {"core", "cmd", "persist", "repl"},
		"glass":   {"core", "cmd", "persist", "repl", "lab"},
		"nodes":   {"core", "persist", "repl", "lab", "glass", "cmd"},
	}
}

func TestFilesOfTheServerNameOnlyTheRoomsBelowThem(t *testing.T) {
	for file, named := range namedRooms(t) {
		own := roomOf(file)
		for room, names := range named {
			require.True(t, room == own || slices.Contains(rooms()[own], room), "server/%s names %v of %s", file, names, room)
		}
	}
}

// roomOf returns the room of a file of package server.
func roomOf(file string) string {
	prefix, _, _ := strings.Cut(strings.TrimSuffix(file, ".go"), "_")
	if _, known := rooms()[prefix]; known {
		return prefix
	}
	return "core"
}

// namedRooms returns, for each file of package server, the rooms that it names, each with the names.
func namedRooms(t *testing.T) map[string]map[string][]string {
	t.Helper()
	set := token.NewFileSet()
	paths, err := filepath.Glob(filepath.Join(top(), "server", "*.go"))
	require.NoError(t, err)
	found := map[string]map[string][]string{}
	var files []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "_darwin.go") {
			continue
		}
		f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		files = append(files, f)
		found[filepath.Base(path)] = map[string][]string{}
	}
	require.Greater(t, len(files), 50)
	uses := map[*ast.Ident]types.Object{}
	check := types.Config{Importer: nowhere{}, Error: func(error) {}}
	pkg, _ := check.Check("server", set, files, &types.Info{Uses: uses}) // names of other packages are errors
	for ident, object := range uses {
		if object.Pkg() != pkg || object.Pos() == token.NoPos {
			continue
		}
		file, home := fileOf(set, ident.Pos()), roomOf(fileOf(set, object.Pos()))
		if room := found[file]; !slices.Contains(room[home], object.Name()) {
			room[home] = append(room[home], object.Name())
		}
	}
	return found
}

func fileOf(set *token.FileSet, at token.Pos) string { return filepath.Base(set.Position(at).Filename) }

// nowhere imports nothing: the test looks only at names of one package.
type nowhere struct{}

func (nowhere) Import(string) (*types.Package, error) { return nil, os.ErrNotExist }

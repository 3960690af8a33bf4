package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
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
		"core":     {},
		"cmd":      {"core", "features"},
		"persist":  {"core", "features"},
		"repl":     {"core", "features", "persist"},
		"lab":      {"core", "features", "cmd", "persist", "repl"},
		"glass":    {"core", "features", "cmd", "persist", "repl", "lab"},
		"nodes":    {"core", "features", "persist", "repl", "lab", "glass", "cmd"},
		"features": {"core", "cmd", "persist", "repl", "lab", "glass"}, // a field for each
	}
}

// trespasses has the files of package server that name a room which theirs may not name. A file that is mended
// leaves the table. No file may enter it.
func trespasses() map[string][]string {
	return map[string][]string{
		"server.go": {"features"},
	}
}

func TestFilesOfTheServerNameOnlyTheRoomsBelowThem(t *testing.T) {
	found, table := namedRooms(t), trespasses()
	for _, file := range slices.Sorted(maps.Keys(found)) {
		var trespass []string
		for _, room := range slices.Sorted(maps.Keys(found[file])) {
			if own := roomOf(file); room != own && !slices.Contains(rooms()[own], room) {
				trespass = append(trespass, room)
			}
		}
		require.Equal(t, table[file], trespass, "server/%s names %v", file, found[file])
	}
	for file := range table {
		require.Contains(t, found, file, "there is no server/%s any more: remove it from the table", file)
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

// Package archtest holds the promises about the whole tree that the compiler does
// not keep: who may import whom, what a thread can reach from a connection, where
// state lives and where goroutines start.
//
// Each is a table here and a walk over the source. A table must fit exactly: a row
// that nothing needs any more fails as well, so the tables say what is, not what
// once was.
package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/miniredisd/miniredisd/"

// arrows are the imports of each package: ours, and those of other modules.
func arrows() map[string][]string {
	return map[string][]string{
		"cmd/miniredisd":  {"internal/config", "internal/collector", "lab/labhttp", "resp", "internal/rlog", "server"},
		"lab/labhttp":     {"resp"},
		"miniredistest":   {"internal/config", "lab", "lab/verdict", "resp", "server", "store"},
		"server":          {"internal/acl", "command", "internal/config", "ioworkers", "lab", "lab/doctor", "pubsub", "reactor", "resp", "store", "internal/trace", "golang.org/x/sys/unix"},
		"command":         {"internal/acl", "internal/config", "internal/geo", "internal/hll", "luaeval", "pubsub", "internal/rdb", "resp", "store", "internal/trace"},
		"ioworkers":       {"resp", "internal/trace", "golang.org/x/sys/unix"},
		"reactor":         {"golang.org/x/sys/unix"},
		"resp":            {},
		"pubsub":          {},
		"internal/trace":  {},
		"lab":             {},
		"lab/doctor":      {},
		"lab/verdict":     {"lab", "lab/doctor", "github.com/anishathalye/porcupine"},
		"internal/hll":    {},
		"internal/geo":    {},
		"luaeval":         {"resp", "github.com/yuin/gopher-lua", "github.com/yuin/gopher-lua/ast", "github.com/yuin/gopher-lua/parse"},
		"internal/acl":    {"store"},
		"store":           {},
		"internal/rdb":    {"store"},
		"internal/config": {},
		"internal/rlog":   {},

		"internal/collector": {},

		// Other threading models over the same commands, to be measured. It is a program of its own.
		"bench/models": {"command", "internal/config", "internal/collector", "ioworkers", "reactor", "resp", "store", "github.com/tidwall/redcon", "golang.org/x/sys/unix"},

		// The kernel's share of a request, to be measured.
		"bench/floor": {"golang.org/x/sys/unix"},

		// These talk to servers, ours or not, through TCP alone.
		"bench":                      {"bench/chart", "lab", "lab/verdict", "resp", "golang.org/x/sys/unix"},
		"bench/attack":               {},
		"bench/chart":                {"gonum.org/v1/plot", "gonum.org/v1/plot/font", "gonum.org/v1/plot/plotter", "gonum.org/v1/plot/vg", "gonum.org/v1/plot/vg/draw", "gonum.org/v1/plot/vg/vgsvg"},
		"internal/test/redistest":    {"resp"},
		"internal/test/transcript":   {"internal/test/redistest", "resp"},
		"internal/test/differential": {"internal/test/redistest", "resp"},
		"interop/matrix":             {"resp"},
		"interop/redlock":            {"lab/doctor", "lab/verdict"},
		"interop/suite":              {},
	}
}

// file is one source file of the tree, tests and other modules left out.
type file struct {
	*ast.File
	pkg string // its folder, from the top
}

func sources(t *testing.T) (*token.FileSet, []file) {
	t.Helper()
	set := token.NewFileSet()
	var files []file
	top := filepath.Join("..", "..", "..")
	err := filepath.WalkDir(top, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != top && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || isModule(p)):
			return filepath.SkipDir
		case filepath.Ext(p) != ".go" || strings.HasSuffix(p, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(set, p, nil, 0)
		if err != nil {
			return err
		}
		pkg, err := filepath.Rel(top, filepath.Dir(p))
		files = append(files, file{File: f, pkg: filepath.ToSlash(pkg)})
		return err
	})
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return set, files
}

// isModule tells the top of another module: the clients in interop are programs of their own.
func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// imported returns the arrows as they are drawn in the source.
func imported(t *testing.T) map[string][]string {
	t.Helper()
	_, files := sources(t)
	found := map[string][]string{}
	for _, f := range files {
		to := found[f.pkg]
		for _, spec := range f.Imports {
			name, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module)
			if (ours || isForeign(name)) && !slices.Contains(to, name) {
				to = append(to, name)
			}
		}
		found[f.pkg] = to
	}
	return found
}

// isForeign tells a package of another module: those of Go and ours have no dot in
// their first name.
func isForeign(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return strings.Contains(first, ".")
}

func TestPackagesImportWhatTheTableSaysAndNothingElse(t *testing.T) {
	found, table := imported(t), arrows()
	for pkg, to := range found {
		allowed, known := table[pkg]
		require.True(t, known, "package %s has no row in the table of arrows", pkg)
		for _, other := range to {
			require.Contains(t, allowed, other, "%s may not import %s", pkg, other)
		}
		for _, other := range allowed {
			require.Contains(t, to, other, "%s does not import %s any more: take it out of the table", pkg, other)
		}
	}
	for pkg := range table {
		require.Contains(t, found, pkg, "there is no package %s any more: take it out of the table", pkg)
	}
}

// Whatever the table says of single arrows, chains of them must not lead from the
// side of the threads to the side of the keyspace.
func TestTheIOSideCannotReachTheKeyspace(t *testing.T) {
	found := imported(t)
	for _, from := range []string{"ioworkers", "reactor"} {
		seen := map[string]bool{}
		todo := []string{from}
		for len(todo) > 0 {
			pkg := todo[0]
			todo = todo[1:]
			if !seen[pkg] {
				seen[pkg] = true
				todo = append(todo, found[pkg]...)
			}
		}
		for _, far := range []string{"command", "store", "pubsub", "luaeval", "server"} {
			require.NotContains(t, seen, far, "%s reaches it through %v", from, slices.Sorted(maps.Keys(seen)))
		}
	}
}

// The packages at the bottom can be read, tested and used without any other.
func TestTheLeavesImportNothingOfOurs(t *testing.T) {
	found := imported(t)
	for _, leaf := range []string{"reactor", "resp", "store", "pubsub", "internal/config", "internal/trace", "lab", "lab/doctor"} {
		for _, name := range found[leaf] {
			require.True(t, isForeign(name), "%s imports %s", leaf, name)
		}
	}
}

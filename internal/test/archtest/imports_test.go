// Package archtest checks promises about the whole source that the compiler does not check: which package
// may import which, what a thread can reach from a connection, where state lives, where goroutines start,
// and how long lines and files are.
//
// Each promise is a table here and a walk over the source. A table must match the source exactly. A row
// that the source does not need any more fails the test, so the tables never describe the past.
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
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/miniredisd/miniredisd/"

// arrows has the imports of each package: our packages and those of other modules.
func arrows() map[string][]string {
	return map[string][]string{
		"miniredistest/proxied": {"internal/config", "internal/respclient", "lab/labverdict", "miniredistest", "proxy",
			"proxy/child", "resp", "store"},
		"miniredistest/miniredis": {"internal/respclient", "miniredistest", "resp"},

		"cmd/miniredisd": {"course/claims", "course/grade", "course/labs", "docs/lab", "internal/ascii",
			"internal/collector", "internal/config", "internal/dialect", "internal/respclient",
			"internal/rlog", "internal/version", "lab", "lab/explore", "lab/explore/report",
			"lab/explore/trials", "lab/glass", "lab/glass/glasshttp", "lab/labhttp", "lab/labverdict",
			"lab/verdict", "lab/words", "node", "persist/aof", "persist/disk", "persist/rdb", "proxy", "proxy/child", "resp",
			"server", "server/glass", "store", "golang.org/x/sys/unix"},
		"proxy/child": {"internal/freeport", "internal/respclient", "resp"},
		"proxy": {"internal/ascii", "internal/clock", "ioworkers", "lab", "lab/labreply", "proxy/child", "reactor", "resp",
			"golang.org/x/sys/unix"},
		"docs/lab": {},
		"lab/explore/trials": {"course/stage", "internal/config", "internal/orphans", "internal/respclient", "lab",
			"lab/explore", "proxy", "proxy/child", "resp", "store"},
		"lab/labhttp":         {"resp"},
		"lab/glass/glasshttp": {"internal/ascii", "lab/labhttp", "course/labs", "resp", "lab/glass"},
		"course/labs":         {},
		"course/stage": {"internal/config", "internal/respclient", "internal/trace", "lab/glass", "node",
			"resp", "server", "server/glass"},
		"course/grade": {"course/stage", "internal/freeport", "internal/respclient", "lab", "lab/doctor", "course/labs",
			"resp", "internal/orphans", "lab/explore", "lab/explore/report", "lab/explore/trials"},
		"internal/freeport": {},
		"internal/orphans":  {"golang.org/x/sys/unix"},
		"lab/explore":       {"command", "lab", "lab/doctor", "lab/holders", "lab/verdict", "lab/words", "store"},
		"lab/explore/report": {"lab", "lab/explore", "lab/explore/report/clean", "lab/explore/report/paste",
			"lab/holders", "lab/words"},
		"lab/explore/report/clean": {"internal/config", "lab"},
		"lab/explore/report/paste": {"internal/ascii", "internal/config", "lab/explore", "lab/explore/report/clean"},
		"miniredistest": {"internal/config", "internal/dialect", "lab", "lab/explore", "lab/explore/report",
			"lab/glass", "lab/verdict", "node", "resp", "server", "server/glass", "store",
			"golang.org/x/sys/unix"},
		"course/claims": {"course/stage", "internal/respclient", "resp", "lab/glass", "internal/trace"},
		"node": {"command", "internal/config", "internal/dialect", "reactor", "resp", "server", "server/admin",
			"server/cluster", "server/glass", "server/lab", "server/persist", "server/repl", "server/sentinel"},
		"server/sentinel": {"command", "internal/ascii", "internal/dialect", "lab/sentinel", "reactor", "resp", "server",
			"server/admin", "server/lab", "store"},
		"server/glass": {"command", "internal/clock", "internal/trace", "internal/version", "lab", "lab/glass",
			"persist/aof", "reactor", "resp", "server", "server/lab", "server/repl", "store"},
		"server/lab": {"command", "internal/ascii", "internal/clock", "internal/config", "internal/trace",
			"lab", "lab/doctor", "lab/holders", "lab/labreply", "lab/labtls", "lab/labverdict", "persist/aof",
			"persist/disk", "reactor", "resp", "server", "server/admin", "server/cluster", "server/persist",
			"server/repl", "store", "golang.org/x/sys/unix"},
		"server/cluster": {"command", "internal/ascii", "internal/dialect", "lab/topology", "pubsub", "reactor", "resp",
			"server", "server/repl", "store"},
		"lab/topology": {},
		"server/repl": {"command", "internal/ascii", "internal/config", "internal/dialect",
			"internal/replication", "internal/replication/follow", "internal/trace", "ioworkers",
			"persist/disk", "persist/rdb", "persist/snapshot", "reactor", "resp", "server", "server/persist",
			"store", "golang.org/x/sys/unix"},
		"server/persist": {"command", "internal/ascii", "internal/config", "persist/aof", "persist/disk",
			"persist/rdb", "persist/rewrite", "persist/snapshot", "reactor", "resp", "server", "store"},
		"server/admin": {"command", "internal/acl", "internal/ascii", "internal/config", "internal/rdb",
			"internal/version", "pubsub", "resp", "server", "store", "golang.org/x/sys/unix"},
		"server": {"command", "internal/ascii", "internal/clock", "internal/config", "internal/dialect",
			"internal/trace", "ioworkers", "pubsub", "reactor", "resp", "store", "golang.org/x/sys/unix"},
		"command": {"internal/acl", "internal/ascii", "internal/clock", "internal/config", "internal/dialect",
			"internal/double", "internal/geo", "internal/hll", "luaeval", "pubsub", "internal/rdb",
			"resp", "store", "internal/trace",
			"github.com/zeebo/xxh3"},
		"ioworkers":      {"resp", "internal/trace", "golang.org/x/sys/unix"},
		"reactor":        {"golang.org/x/sys/unix"},
		"resp":           {"internal/ascii", "internal/double"},
		"pubsub":         {},
		"lab/glass":      {"internal/trace"},
		"internal/trace": {},
		"lab":            {},
		"lab/labreply":   {"lab", "resp"},
		"lab/labverdict": {"internal/ascii", "lab", "lab/doctor", "lab/holders", "lab/verdict", "lab/words", "resp", "store"},
		"lab/doctor":     {"internal/bounded", "lab/holders", "lab/topology"},
		"lab/holders":    {"internal/bounded"},
		"lab/proof":      {"lab", "lab/holders", "store"},
		"lab/picture":    {"lab/words"},
		"lab/verdict": {"lab", "lab/doctor", "lab/holders", "lab/picture", "lab/proof", "lab/words",
			"github.com/anishathalye/porcupine"},
		"lab/words":    {},
		"lab/labtls":   {},
		"lab/sentinel": {},
		"internal/hll": {},
		"internal/geo": {},
		"luaeval": {"resp", "luaeval/compile", "luaeval/limits", "luaeval/lualib",
			"github.com/yuin/gopher-lua", "github.com/yuin/gopher-lua/parse"},
		"luaeval/compile": {"luaeval/lualib", "github.com/yuin/gopher-lua", "github.com/yuin/gopher-lua/ast"},
		"luaeval/lualib":  {"internal/double", "luaeval/limits", "github.com/yuin/gopher-lua"},
		"luaeval/limits":  {},
		"internal/acl":    {"internal/ascii", "store"},
		"store":           {"internal/ascii"},
		"internal/rdb":    {"internal/ascii", "store"},
		"persist/disk":    {"golang.org/x/sys/unix"},
		"persist/rdb":     {"internal/rdb", "persist/disk", "store"},
		"persist/aof":     {"internal/ascii", "persist/disk", "resp"},
		"internal/config": {"internal/ascii", "internal/dialect"},

		"persist/rewrite":  {"internal/rdb", "persist/rdb", "store"},
		"persist/snapshot": {"persist/disk", "persist/rdb", "store"},

		"internal/replication":        {},
		"internal/replication/follow": {"internal/ascii", "resp"},

		// Text as Redis reads it. Even the leaves use it: its copies in five packages differed in
		// what they accepted.
		"internal/ascii": {},

		// Numbers as Redis writes them.
		"internal/double": {},

		// The client of all tools and tests.
		"internal/respclient": {"resp", "golang.org/x/sys/unix"},

		"internal/rlog": {},

		"internal/clock": {},

		"internal/bounded": {},

		"internal/collector": {},

		"internal/version": {},

		"internal/dialect": {},

		// Other threading models for the same commands. It is a program of its own, to be measured.
		"bench/models": {"command", "internal/clock", "internal/config", "internal/collector", "ioworkers", "reactor",
			"resp", "store", "internal/version", "github.com/tidwall/redcon", "golang.org/x/sys/unix"},

		// The kernel's share of a request, to be measured.
		"bench/floor": {"golang.org/x/sys/unix"},

		// These packages talk to servers through TCP only.
		"bench":        {"bench/chart", "internal/respclient", "resp", "golang.org/x/sys/unix"},
		"bench/attack": {"internal/respclient", "resp"},
		"bench/chart": {"gonum.org/v1/plot", "gonum.org/v1/plot/font", "gonum.org/v1/plot/plotter",
			"gonum.org/v1/plot/vg", "gonum.org/v1/plot/vg/draw", "gonum.org/v1/plot/vg/vgsvg"},
		"internal/test/amount":       {},
		"internal/test/browser":      {},
		"internal/test/redistest":    {"internal/freeport", "internal/respclient", "resp"},
		"internal/test/transcript":   {"internal/test/redistest", "resp"},
		"internal/test/differential": {"internal/test/redistest", "resp"},
		"clients/interop/folders":    {},
		"clients/interop/matrix": {"clients/interop/folders", "clients/interop/signals", "internal/freeport",
			"internal/respclient", "resp"},
		"clients/interop/labserver": {},
		"clients/interop/signals":   {"golang.org/x/sys/unix"},
		"clients/interop/redlock": {"clients/interop/folders", "clients/interop/labserver",
			"clients/interop/signals", "lab/doctor", "lab/verdict"},
		"clients/interop/launchers": {"clients/interop/folders", "clients/interop/signals"},
		"clients/interop/resend": {"clients/interop/folders", "clients/interop/labserver",
			"clients/interop/signals"},
		"clients/interop/explore": {"clients/interop/folders", "clients/interop/signals", "course/stage",
			"lab/explore", "lab/explore/trials"},
		"clients/interop/sentinel": {"clients/interop/folders", "clients/interop/labserver",
			"clients/interop/signals", "internal/freeport", "internal/respclient", "resp"},
		"clients/interop/topology": {"clients/interop/folders", "clients/interop/labserver",
			"clients/interop/signals", "internal/freeport", "internal/respclient", "resp"},
		"clients/interop/suite": {"clients/interop/signals"},
		"clients/interop/tls": {"clients/interop/folders", "clients/interop/labserver",
			"clients/interop/signals", "internal/freeport"},
	}
}

// file is a source file of this module, or of bench, that is not a test.
type file struct {
	*ast.File
	pkg string // its folder, relative to the top
}

// sources returns all of them. They are parsed once.
func sources(t *testing.T) (*token.FileSet, []file) {
	t.Helper()
	all, err := parsed()
	require.NoError(t, err)
	require.NotEmpty(t, all.files)
	return all.set, all.files
}

type tree struct {
	set   *token.FileSet
	files []file
}

var parsed = sync.OnceValues(func() (tree, error) {
	set := token.NewFileSet()
	var files []file
	top := filepath.Join("..", "..", "..")
	err := filepath.WalkDir(top, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != top && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || isForeignModule(top, p)):
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
	return tree{set, files}, err
})

// isForeignModule reports whether dir is the top of a module with rules of its own, such as the clients in
// clients/interop. bench is a module too, but only to keep its dependencies away from those who import ours.
func isForeignModule(top, dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil && dir != filepath.Join(top, "bench")
}

// imported returns the arrows of the source.
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

// isForeign reports whether a package is of another module. The first part of its path then has a dot.
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
			require.Contains(t, to, other, "%s does not import %s any more: remove it from the table", pkg, other)
		}
	}
	for pkg := range table {
		require.Contains(t, found, pkg, "there is no package %s any more: remove it from the table", pkg)
	}
}

// A chain of arrows must not lead from the packages of the threads to those of the keyspace. The proxy keeps no keys
// either.
func TestTheIOSideCannotReachTheKeyspace(t *testing.T) {
	found := imported(t)
	for _, from := range []string{"ioworkers", "reactor", "proxy"} {
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

// A reader can understand, test and use the packages at the bottom without the others. They may import
// internal/ascii and internal/double, which have what the standard library lacks for the text of Redis,
// internal/bounded, which has maps that forget, and internal/dialect, which is a table of versions.
func TestTheLeavesImportNothingOfOurs(t *testing.T) {
	found := imported(t)
	for _, leaf := range []string{"reactor", "resp", "store", "pubsub", "internal/clock", "internal/config",
		"internal/trace", "lab", "lab/holders", "lab/words"} {
		for _, name := range found[leaf] {
			tool := slices.Contains([]string{"internal/ascii", "internal/double", "internal/bounded", "internal/dialect"}, name)
			require.True(t, isForeign(name) || tool, "%s imports %s", leaf, name)
		}
	}
}

package glasshttp

import (
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/trace"
)

// update reports whether the test shall write its golden files: -update.
func update() bool { return flag.Lookup("update").Value.String() == "true" }

func TestMain(m *testing.M) {
	flag.Bool("update", false, "write golden files and screenshots")
	os.Exit(m.Run())
}

// source is a function behind a point.
type source struct {
	Go   string `json:"go"`
	File string `json:"file"`
	Line int    `json:"line"`
}

// The page shows the very source that the binary was built from.
// go test ./lab/glass/glasshttp -run TestSources -update writes it.
func TestSourcesAreThoseOfTheFunctionsBehindThePoints(t *testing.T) {
	want := map[string]source{}
	for _, place := range trace.Points() {
		want[place.Name] = find(t, place.File, place.Go)
		requireOneName(t, place, want[place.Name].Go)
	}
	text, err := json.MarshalIndent(want, "", "\t")
	require.NoError(t, err)
	text = append(text, '\n')
	if update() {
		require.NoError(t, os.WriteFile("sources.json", text, 0o644))
		return
	}
	require.JSONEq(t, string(text), string(sourcesJSON), "the source has changed: run this test with -update")
}

// requireOneName compares the name of Redis that the page shows above a source with that in its comment. The comments
// of some name none, and some points share a function with others.
func requireOneName(t *testing.T, place trace.Place, text string) {
	t.Helper()
	doc := regexp.MustCompile(`\n// ?`).ReplaceAllString(text[:strings.Index(text, "\nfunc")], " ")
	named := regexp.MustCompile(`\((\w+\.c: \w+)`).FindAllStringSubmatch(doc, -1)
	if len(named) > 0 {
		require.Equal(t, named[0][1], place.C, "%s: the panel names two functions of Redis", place.Go)
	}
}

// find returns a function such as ioworkers.Conn.Read with its comment.
func find(t *testing.T, path, name string) source {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", filepath.FromSlash(path)))
	require.NoError(t, err)
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, path, text, parser.ParseComments)
	require.NoError(t, err)
	words := strings.Split(name, ".")
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Name.Name != words[len(words)-1] || len(words) == 3 && receiver(fn) != words[1] {
			continue
		}
		begin := set.Position(fn.Pos())
		if fn.Doc != nil {
			begin = set.Position(fn.Doc.Pos())
		}
		return source{Go: string(text[begin.Offset:set.Position(fn.End()).Offset]), File: path, Line: begin.Line}
	}
	require.Fail(t, "no such function", "%s in %s", name, path)
	return source{}
}

// receiver returns the type whose method fn is, "" for a function.
func receiver(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return ""
	}
	typ := fn.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if id, ok := typ.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

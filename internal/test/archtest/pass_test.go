package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The chapter on threads has a table of what a pass calls.
func TestTheChapterHasEveryCallOfAPassInItsOrder(t *testing.T) {
	source := append(callsOf(t, "BeforeSleep"), callsOf(t, "executePhase")...)
	require.Greater(t, len(source), 20)
	row, head := regexp.MustCompile("^\\| `([A-Za-z]+)` \\|"), regexp.MustCompile(`^\| (call|调用) \|`)
	for _, page := range []string{"docs/threading-model.md", "docs/zh/threading-model.md"} {
		text, err := os.ReadFile(filepath.Join(top(), page))
		require.NoError(t, err)
		var told []string
		inside := false
		for line := range strings.Lines(string(text)) {
			inside = head.MatchString(line) || inside && strings.HasPrefix(line, "|")
			if m := row.FindStringSubmatch(line); inside && m != nil {
				told = append(told, m[1])
			}
		}
		require.Equal(t, source, told, page)
	}
}

// callsOf returns the names of what a method of pass.go calls, in order. For each(list), the name is that of the list.
func callsOf(t *testing.T, method string) (names []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(top(), "server", "pass.go"), nil, 0)
	require.NoError(t, err)
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Name.Name != method {
			continue
		}
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			called := call.Fun
			if name, ok := called.(*ast.Ident); ok && strings.EqualFold(name.Name, "each") {
				called = call.Args[0]
			}
			names = append(names, called.(*ast.SelectorExpr).Sel.Name)
			return true
		})
	}
	return names
}

package server

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/command"
)

// Commands that Redis does not have (LAB) are skipped: docs/lab describes their syntax.
func TestCommentOfACommandBeginsWithItsSyntaxAndRedisFunction(t *testing.T) {
	docs := map[string]string{}
	readComments(t, docs, "command", "../command/*.go")
	readComments(t, docs, "server", "*.go")
	check := func(cmd *command.Command) {
		if cmd.Do == nil || cmd.Group == "lab" {
			return
		}
		path := strings.TrimSuffix(runtime.FuncForPC(reflect.ValueOf(cmd.Do).Pointer()).Name(), "-fm")
		function := path[strings.LastIndexByte(path, '/')+1:]
		require.Regexp(t, syntaxLine(cmd.Name), docs[function], "the comment of %s, which is %s", function, cmd.Name)
	}
	table := newTable(t)
	for _, cmd := range table.All() {
		check(cmd)
		for _, sub := range cmd.SubCommands() {
			check(sub)
		}
	}
}

// readComments adds the comment of each function of a package to docs, under a name as in
// runtime.Func: "command.get", "server.(*Server).info".
func readComments(t *testing.T, docs map[string]string, pkg, pattern string) {
	files, err := filepath.Glob(pattern)
	require.NoError(t, err)
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, decl := range parsed.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			name := pkg + "." + f.Name.Name
			if f.Recv != nil {
				name = pkg + ".(*Server)." + f.Name.Name
			}
			docs[name] = f.Doc.Text()
		}
	}
}

// syntaxLine matches "CLIENT GETNAME (networking.c: clientCommand)" among the first lines of a
// comment. A function of several commands has one such line for each command, or one for all
// subcommands: "MODULE subcommand", "command HELP".
func syntaxLine(name string) string {
	words := strings.Split(strings.ToUpper(regexp.QuoteMeta(name)), `\|`)
	if len(words) == 2 {
		words = []string{"(" + words[0] + "|command)", "(" + words[1] + "|subcommand)"}
	}
	const function = ` \(\w+\.c: \w+\)\n`
	return `\A([A-Zc].*` + function + `)*` + strings.Join(words, " ") + `( .*)?` + function
}

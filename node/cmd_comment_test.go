package node

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/command"
)

// Commands that Redis does not have (LAB) are skipped: docs/lab describes their syntax.
func TestCommentOfACommandBeginsWithItsSyntaxAndRedisFunction(t *testing.T) {
	t.Parallel()
	docs := map[string]string{}
	readComments(t, docs, "command", "../command/*.go")
	for _, room := range []string{"admin", "cluster", "persist", "repl"} {
		readComments(t, docs, room, "../server/"+room+"/*.go")
	}
	ofRooms := roomFunctions(t)
	check := func(cmd *command.Command) {
		if cmd.Do == nil || cmd.Group == "lab" {
			return
		}
		path := strings.TrimSuffix(runtime.FuncForPC(reflect.ValueOf(cmd.Do).Pointer()).Name(), "-fm")
		function := path[strings.LastIndexByte(path, '/')+1:]
		if ofRooms[cmd.Name] != "" {
			function = ofRooms[cmd.Name]
		}
		require.Regexp(t, syntaxLine(cmd.Name), docs[function], "the comment of %s, which is %s", function, cmd.Name)
	}
	for _, cmd := range ofAllDialects() {
		check(cmd)
		for _, sub := range cmd.SubCommands() {
			check(sub)
		}
	}
}

// readComments adds the comment of each function of a package to docs, under a name as in
// runtime.Func: "command.get", "admin.(*State).info".
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
				name = pkg + ".(" + types.ExprString(f.Recv.List[0].Type) + ")." + f.Name.Name
			}
			docs[name] = f.Doc.Text()
		}
	}
}

// roomFunctions returns the functions of commands below server by the names of commands. server.Row wraps each in a
// function of its own, so they are read from the source.
func roomFunctions(t *testing.T) map[string]string {
	functions := map[string]string{}
	files, err := filepath.Glob("../server/*/*.go")
	require.NoError(t, err)
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		if parsed.Name.Name == "sentinel" { // a Sentinel has an INFO of its own, in a table of its own
			continue
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			prefix, isRow := "", false
			switch how := types.ExprString(call.Fun); {
			case how == "server.Row", how == "connection" && parsed.Name.Name == "cluster":
				isRow = true
			case how == "row" && parsed.Name.Name == "cluster":
				prefix, isRow = "cluster|", true
			}
			if !isRow {
				return true
			}
			// LAB's rows have other arguments.
			literal, hasName := call.Args[0].(*ast.BasicLit)
			method, hasMethod := call.Args[len(call.Args)-1].(*ast.SelectorExpr)
			if hasName && hasMethod {
				name, err := strconv.Unquote(literal.Value)
				require.NoError(t, err)
				functions[prefix+name] = parsed.Name.Name + "." + types.ExprString(method)
			}
			return true
		})
	}
	require.NotEmpty(t, functions)
	return functions
}

// syntaxLine matches "CLIENT GETNAME (networking.c: clientCommand)" among the first lines of a
// comment. A function of several commands has one such line for each command, or one for all
// subcommands: "MODULE subcommand", "command HELP".
func syntaxLine(name string) string {
	words := strings.Split(strings.ToUpper(regexp.QuoteMeta(name)), `\|`)
	if len(words) == 2 {
		words = []string{"(" + words[0] + "|command)", "(" + words[1] + "|subcommand)"}
	}
	const function = ` \((\w+\.c: \w+|(Redis|Valkey) \d+\.\d+)\)\n` // no function of a Redis that is not BSD
	return `\A([A-Zc].*` + function + `)*` + strings.Join(words, " ") + `( .*)?` + function
}

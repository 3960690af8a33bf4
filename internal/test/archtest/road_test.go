package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// The road through the server names the functions to read. The page says how many lines they have, within
// five percent, and its minutes are those of its title.
func TestTheRoadThroughTheServerIsAsLongAsThePageSays(t *testing.T) {
	for name, road := range map[string]string{
		"docs/threading-model.md":    `## The server in forty minutes\n.*?about (\d+) lines\.`,
		"docs/zh/threading-model.md": `## 四十分钟读完服务器\n.*?大约 (\d+) 行。`,
	} {
		section := regexp.MustCompile(`(?s)\n` + road + `.*?\n## `).FindStringSubmatch(document(t, name))
		require.NotNil(t, section, "%s has no road, or it does not say how many lines it has", name)
		said, err := strconv.Atoi(section[1])
		require.NoError(t, err)
		lines, minutes := 0, 0
		for _, row := range regexp.MustCompile(`(?m)^\| (\d+) \| (.*)$`).FindAllStringSubmatch(section[0], -1) {
			n, err := strconv.Atoi(row[1])
			require.NoError(t, err)
			minutes += n
			for _, f := range regexp.MustCompile("`([a-z_/]+\\.go): (\\w+)`").FindAllStringSubmatch(row[2], -1) {
				lines += length(t, f[1], f[2])
			}
		}
		require.InEpsilon(t, lines, said, 0.05, "%s: the functions have %d lines", name, lines)
		require.Equal(t, 40, minutes, name)
	}
}

// length returns how many lines a function has, without its comment.
func length(t *testing.T, path, function string) int {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, filepath.Join(top(), filepath.FromSlash(path)), nil, 0)
	require.NoError(t, err)
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == function {
			return files.Position(f.End()).Line - files.Position(f.Pos()).Line + 1
		}
	}
	require.Failf(t, "no such function", "%s: %s", path, function)
	return 0
}

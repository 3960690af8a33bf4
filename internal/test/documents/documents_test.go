// Package documents runs what the documents tell a reader to type.
//
//	page ──> read ──> blocks: sh, console
//	                    v
//	sandbox ──> session ──> shells: bash on a terminal
//	                  └───> clis: redis-cli on a terminal
//
// The blocks of a page are one session. They run in order in one terminal, in a fresh copy of the source. A
// server in the foreground keeps its terminal once it prints "Ready to accept connections". The next block
// then runs in a new terminal. If the next line of the same block follows, Ctrl-C ends the server first. The
// server has to answer a PING, and to end after Ctrl-C.
//
// In a block of sh every command has to end with 0, also in a pipe, in a loop and in the background. In a
// block of console the lines behind a command are what it prints. "..." stands for any lines, or for any text
// inside a line, and never for an error. "A>", "B>" and "127.0.0.1:6379>" are the prompts of redis-cli, each
// in a terminal of its own. "A: OK" is a reply to an earlier command of A. What a command in the background
// prints is not compared.
//
// A comment before a block says what a reader does not have to know:
//
//	<!-- run: skip, because REASON -->             the block does not run
//	<!-- run: skip "LINE", because REASON -->      this line of it does not run
//	<!-- run: server --lab yes -->                 first start a server, in place of the one of the last such comment
//	<!-- run: new session -->                      first end all servers and terminals
//	<!-- run: before each -->                      the block also comes before each block of console after it
//	<!-- run: in FOLDER -->                        first change to this folder
//	<!-- run: first COMMANDS -->                   first do this
//	<!-- run: then COMMANDS -->                    do this after the block
//	<!-- run: any client 7 -->                     the number in this text stands for any number
//
// A page sees a machine of its own: processes, network, /tmp and home. So pages run beside each other, each
// with port 6379, and nothing survives them. There is no network, so Go takes modules from its cache.
//
//	MINIREDISD_DOCUMENTS=yes go test ./internal/test/documents                           all pages
//	MINIREDISD_DOCUMENTS=yes go test -v -run TheDocuments/docs/locks ./internal/test/documents   one page
//
// If a page needs a program that is not installed, or a module that is not in Go's cache, its test is skipped.
// With CI=true it fails.
package documents

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func top() string { return filepath.Join("..", "..", "..") }

// pages reads README, CONTRIBUTING, what stands in docs, and every other page of the source.
func pages(t *testing.T) (all []page) {
	t.Helper()
	err := filepath.WalkDir(top(), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != top() && (strings.HasPrefix(d.Name(), ".") || slices.Contains(notOurs(), d.Name())):
			return filepath.SkipDir
		case filepath.Ext(path) != ".md":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(top(), path)
		if err != nil {
			return err
		}
		p, err := read(filepath.ToSlash(name), string(text))
		all = append(all, p)
		return err
	})
	require.NoError(t, err)
	return all
}

// notOurs names folders with foreign files: what tests download and build.
func notOurs() []string { return []string{"testdata", "node_modules", "build", "target", "dist"} }

// original returns the English page of a Chinese one.
func original(name string) string {
	switch {
	case strings.HasPrefix(name, "docs/zh/"):
		return "docs/" + strings.TrimPrefix(name, "docs/zh/")
	case strings.HasPrefix(name, "course/labs/"):
		return strings.TrimSuffix(name, "zh.md") + "en.md"
	}
	return strings.TrimSuffix(name, ".zh-CN.md") + ".md"
}

func isTranslation(name string) bool {
	return strings.HasPrefix(name, "docs/zh/") || strings.HasSuffix(name, ".zh-CN.md") ||
		strings.HasPrefix(name, "course/labs/") && strings.HasSuffix(name, "/zh.md")
}

// A block that does not run costs the pages trust, so few may do that, and each has a reason.
func TestAtMostATenthOfTheBlocksOptsOut(t *testing.T) {
	blocks, skipped := 0, 0
	for _, p := range pages(t) {
		if isTranslation(p.name) {
			continue
		}
		for _, b := range p.blocks {
			blocks++
			if reasons := b.optsOut(); len(reasons) > 0 {
				skipped++
				t.Logf("%s:%d: because %s", p.name, b.line, strings.Join(reasons, "; "))
			}
		}
	}
	t.Logf("%d of %d blocks opt out", skipped, blocks)
	require.Greater(t, blocks, 50)
	require.LessOrEqual(t, 10*skipped, blocks, "too many blocks opt out")
}

// So a block of a Chinese page need not run: its twin does.
func TestATranslationHasTheBlocksOfItsOriginal(t *testing.T) {
	all := map[string]page{}
	for _, p := range pages(t) {
		all[p.name] = p
	}
	for name, p := range all {
		if !isTranslation(name) {
			continue
		}
		twin := all[original(name)]
		require.Len(t, p.blocks, len(twin.blocks), "%s and %s", name, twin.name)
		for i, b := range p.blocks {
			require.Equal(t, twin.blocks[i].lines, b.lines, "%s:%d and %s:%d", name, b.line, twin.name, twin.blocks[i].line)
			require.Empty(t, b.marks, "%s:%d: marks stand in the original", name, b.line)
		}
	}
}

// A comment that is wrong must not be overlooked.
func TestCommentsBeforeBlocksAreChecked(t *testing.T) {
	block := "\n```sh\ntrue # a comment\n```\n"
	for text, problem := range map[string]string{
		"<!-- run: skip, because no machine has it -->" + block:          "",
		"<!-- run: skip \"true\", because no machine has it -->" + block: "",
		"<!-- run: server -->\n<!-- run: any 1 2 -->\n" + block:          "",
		"<!-- run: first a\nb -->" + block:                               "",
		"<!-- another comment -->\n\ntext" + block:                       "",
		"<!-- run: skip -->" + block:                                     "has no reason",
		"<!-- run: skip, because -->" + block:                            "has no reason",
		"<!-- run: skip, because slow -->" + block:                       "has no reason",
		"<!-- run: skip \"false\", because it fails here -->" + block:    "no line \"false\" to skip",
		"<!-- run: skipped, because it fails here -->" + block:           "has no verb",
		"<!-- run: in -->" + block:                                       "too few or too many words",
		"<!-- run: new session please -->" + block:                       "too few or too many words",
		"<!-- run: before each" + block:                                  "has no end",
		"<!-- run: server -->\n\ntext\n" + block:                         "directly before a block",
		"<!-- run: server -->\n```go\nx\n```\n":                          "a block that nobody runs",
		"<!-- run: server -->\n":                                         "no block follows",
		"```bash\ntrue\n```\n":                                           "sh or console, not bash",
		"```\n$ true\n```\n":                                             "is a console block",
		"```console\ntrue\n```\n":                                        "has a prompt",
		"```sh\ntrue\n":                                                  "the block has no end",
	} {
		_, err := read("page.md", text)
		if problem == "" {
			require.NoError(t, err, text)
			continue
		}
		require.ErrorContains(t, err, problem, text)
		require.ErrorContains(t, err, "page.md", text)
	}
}

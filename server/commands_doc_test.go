package server

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/config"
)

const (
	document   = "../docs/commands.md"
	tableBegin = "<!-- commands: written by `go test ./server -run DocumentLists -update` -->\n"
	tableEnd   = "<!-- end of commands -->\n"
)

func TestTheDocumentListsTheCommandsThereAre(t *testing.T) {
	text, err := os.ReadFile(document)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(text), tableBegin)
	require.True(t, found, "no line %q", tableBegin)
	have, after, found := strings.Cut(rest, tableEnd)
	require.True(t, found, "no line %q", tableEnd)
	want := commandTables(t)
	if flag.Lookup("update").Value.String() == "true" {
		require.NoError(t, os.WriteFile(document, []byte(before+tableBegin+want+tableEnd+after), 0o644))
		return
	}
	require.True(t, have == want, "docs/commands.md does not match the table of commands: "+
		"go test ./server -run DocumentLists -update")
}

// commandTables returns a Markdown table for every group.
func commandTables(t *testing.T) string {
	table := newTable(t)
	lines := map[string][]string{}
	add := func(cmd *command.Command) {
		lines[cmd.Group] = append(lines[cmd.Group], fmt.Sprintf("| `%s` | %s | %s |\n", usage(cmd), cmd.Since, cmd.Summary))
	}
	for _, cmd := range table.All() {
		if cmd.Do != nil || cmd.Group == "cluster" {
			add(cmd)
		}
		if cmd.Group == "cluster" {
			continue // every subcommand gives the same error
		}
		for _, sub := range cmd.SubCommands() {
			if !strings.HasSuffix(sub.Name, "|help") {
				add(sub)
			}
		}
	}
	var b strings.Builder
	for _, group := range groupsInOrder(lines) {
		fmt.Fprintf(&b, "\n## %s\n\n| command | since | what it does |\n|---|---|---|\n", group)
		b.WriteString(strings.Join(lines[group], ""))
	}
	return b.String() + "\n"
}

// newTable returns the commands of a server that does not run.
func newTable(t *testing.T) *command.Table {
	cfg := config.Default()
	cfg.Port = 0
	s, err := New(cfg, func(byte, string, ...any) {})
	require.NoError(t, err)
	t.Cleanup(func() {
		s.closeListeners()
		s.loop.Close()
	})
	return s.ex.Table
}

// usage returns the syntax of a command for a cell of a table.
func usage(cmd *command.Command) string {
	text := strings.ToUpper(strings.ReplaceAll(cmd.Name, "|", " ")) + " " + cmd.Usage()
	return strings.ReplaceAll(strings.TrimSpace(text), "|", `\|`)
}

func groupsInOrder(lines map[string][]string) []string {
	order := []string{"generic", "string", "bitmap", "hash", "list", "set", "sorted-set", "stream"}
	var rest []string
	for group := range lines {
		if !slices.Contains(order, group) {
			rest = append(rest, group)
		}
	}
	slices.Sort(rest)
	return append(order, rest...)
}

package node

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/dialect"
)

// Update is for the tests of package node_test, too.
var Update = flag.Bool("update", false, "write again what tests compare with")

const (
	document   = "../docs/commands.md"
	tableBegin = "<!-- commands: written by `go test ./node -run DocumentLists -update` -->\n"
	tableEnd   = "<!-- end of commands -->\n"
)

func TestTheDocumentListsTheCommandsThereAre(t *testing.T) {
	text, err := os.ReadFile(document)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(text), tableBegin)
	require.True(t, found, "no line %q", tableBegin)
	have, after, found := strings.Cut(rest, tableEnd)
	require.True(t, found, "no line %q", tableEnd)
	want := commandTables()
	if *Update {
		require.NoError(t, os.WriteFile(document, []byte(before+tableBegin+want+tableEnd+after), 0o644))
		return
	}
	require.True(t, have == want, "docs/commands.md does not match the table of commands: "+
		"go test ./node -run DocumentLists -update")
}

// commandTables returns a Markdown table for every group.
func commandTables() string {
	lines := map[string][]string{}
	add := func(cmd *command.Command) {
		line := fmt.Sprintf("| `%s` | %s | %s |\n", usage(cmd), since(cmd.Since), cmd.Summary+newerOptions(cmd))
		lines[cmd.Group] = append(lines[cmd.Group], line)
	}
	for _, cmd := range ofAllDialects() {
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

// ofAllDialects returns the commands of every dialect, sorted by name. Where the families disagree about a
// command, each has its own.
func ofAllDialects() (all []*command.Command) {
	for _, d := range dialect.Known() {
		for _, cmd := range newCommands(d).All() {
			same := func(other *command.Command) bool { return other.Name == cmd.Name && other.Since == cmd.Since }
			if !slices.ContainsFunc(all, same) {
				all = append(all, cmd)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *command.Command) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// since returns a version, or a version for each family that has the command.
func since(s dialect.Since) string {
	if !s.Newer() {
		return string(s)
	}
	var parts []string
	for _, family := range []dialect.Family{dialect.Redis, dialect.Valkey} {
		if version := s.In(family); version != "" {
			parts = append(parts, fmt.Sprintf("%s %s", family, version))
		}
	}
	return strings.Join(parts, ", ")
}

// newerOptions returns since when each family has the options that came after the command.
func newerOptions(cmd *command.Command) (text string) {
	var add func(args []command.Argument)
	add = func(args []command.Argument) {
		for _, a := range args {
			if a.Since.Newer() {
				text += fmt.Sprintf(" `%s`: %s.", a.Token, since(a.Since))
			}
			add(a.Args)
		}
	}
	add(command.ParseSyntax(cmd.Syntax))
	return text
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

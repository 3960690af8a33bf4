package node

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/dialect"
)

const (
	dialectsBegin = "<!-- dialects: written by `go test ./node -run DialectsPage -update` -->\n"
	dialectsEnd   = "<!-- end of dialects -->\n"
)

func TestTheDialectsPageSaysWhatTheTablesSay(t *testing.T) {
	english := func(text string) string { return text }
	for path, in := range map[string]func(string) string{
		"../docs/dialects.md": english, "../docs/zh/dialects.md": chinese(t),
	} {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		before, rest, found := strings.Cut(string(text), dialectsBegin)
		require.True(t, found, "no line %q", dialectsBegin)
		have, after, found := strings.Cut(rest, dialectsEnd)
		require.True(t, found, "no line %q", dialectsEnd)
		want := dialectTables(in)
		if *Update {
			require.NoError(t, os.WriteFile(path, []byte(before+dialectsBegin+want+dialectsEnd+after), 0o644))
			continue
		}
		require.True(t, have == want, "%s does not match the tables: go test ./node -run DialectsPage -update", path)
	}
}

// compared are the columns of the page: where most people are, and where they go.
func compared() (all []dialect.Dialect) {
	for _, name := range []string{"redis-7.2", "redis-8.10", "valkey-9.1", "valkey-9.2"} {
		all = append(all, dialect.Named(name))
	}
	return all
}

// dialectTables returns the tables of the page. in translates a text.
func dialectTables(in func(text string) string) string {
	var b strings.Builder
	table := func(title, first string) {
		fmt.Fprintf(&b, "\n## %s\n\n| %s | %s |", in(title), in(first), in("since"))
		for _, d := range compared() {
			b.WriteString(" " + strings.ReplaceAll(d.Name, "-", " ") + " |")
		}
		b.WriteString("\n|---|---|" + strings.Repeat("---|", len(compared())) + "\n")
	}
	yes := func(has bool) string {
		if has {
			return in("yes")
		}
		return ""
	}
	row := func(what, since string, cell func(d dialect.Dialect) string) {
		fmt.Fprintf(&b, "| %s | %s |", what, since)
		for _, d := range compared() {
			b.WriteString(" " + cell(d) + " |")
		}
		b.WriteString("\n")
	}
	table("What the server says of itself", "where")
	for _, x := range []struct {
		where string
		cell  func(d dialect.Dialect) string
	}{
		{"`redis_version` in `INFO`, `redis.REDIS_VERSION`", func(d dialect.Dialect) string { return d.RedisVersion }},
		{"`server_name` in `INFO`, `server.SERVER_NAME`", func(d dialect.Dialect) string { return d.ServerName }},
		{"the field for standalone in `INFO`", func(d dialect.Dialect) string { return "`" + d.ModeField + "`" }},
		{"`HELLO`", func(d dialect.Dialect) string { return d.HelloServer + " " + d.HelloVersion }},
		{"the version that `DUMP` writes", func(d dialect.Dialect) string { return fmt.Sprint(d.DumpVersion) }},
		{"`server.call` in scripts", func(d dialect.Dialect) string { return yes(d.ServerName != "") }},
	} {
		row(in(x.where), "", x.cell)
	}
	table("How old commands behave", "behaviour")
	for _, m := range command.AllManners() {
		row(in(m.Text), since(m.Since), func(d dialect.Dialect) string { return yes(d.Has(m.Since)) })
	}
	table("Commands and options", "command or option")
	for _, x := range newerThings() {
		row(x.name, since(x.since), func(d dialect.Dialect) string { return yes(d.Has(x.since)) })
	}
	lists(&b, in)
	return b.String() + "\n"
}

// newerThing is a command or an option that is newer than Redis 7.2.
type newerThing struct {
	name  string
	since dialect.Since
}

func newerThings() (things []newerThing) {
	for _, cmd := range ofAllDialects() {
		name := strings.ToUpper(strings.ReplaceAll(cmd.Name, "|", " "))
		if cmd.Since.Newer() {
			things = append(things, newerThing{"`" + usage(cmd) + "`", cmd.Since})
			continue
		}
		var add func(args []command.Argument)
		add = func(args []command.Argument) {
			for _, a := range args {
				if a.Since.Newer() {
					things = append(things, newerThing{fmt.Sprintf("`%s ... %s`", name, a.Token), a.Since})
				}
				add(a.Args)
			}
		}
		add(command.ParseSyntax(cmd.Syntax))
		for _, sub := range cmd.SubCommands() {
			if sub.Since.Newer() {
				things = append(things, newerThing{"`" + usage(sub) + "`", sub.Since})
			}
		}
	}
	return slices.CompactFunc(things, func(a, b newerThing) bool { return a == b })
}

const (
	refusedAre = "The server has these commands, and miniredisd lacks them. A name that ends with a dot stands for all " +
		"commands of\na module."
	directivesAre = "The server has these directives. miniredisd accepts them with a warning, and they have no effect."
)

// lists writes what each of the servers has, and this one refuses by name or accepts with a warning.
func lists(b *strings.Builder, in func(text string) string) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n", in("Refused by name"), in(refusedAre))
	for _, d := range compared() {
		if names := command.Lacking(d); len(names) > 0 {
			fmt.Fprintf(b, "- **%s**: %s\n", d.Name, strings.ToUpper(codes(names)))
		}
	}
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n", in("Directives"), in(directivesAre))
	for _, d := range compared() {
		if names := config.Newer(d); len(names) > 0 {
			fmt.Fprintf(b, "- **%s**: %s\n", d.Name, codes(names))
		}
	}
}

func codes(names []string) string {
	var quoted []string
	for _, name := range names {
		quoted = append(quoted, "`"+strings.ReplaceAll(name, "|", " ")+"`")
	}
	return strings.Join(quoted, ", ")
}

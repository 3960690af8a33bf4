package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	firsttest "github.com/miniredisd/miniredisd/docs/lab"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/internal/config"
)

const (
	// labHint says how to reach the lab.
	labHint = "The lab is an option: start the server with --lab yes, and send LAB HELP.\n"
	// firstTest is what help has beside the subcommands.
	firstTest = "first-test"
)

// labState is the line of the log that says whether the lab is on, and what explains it.
func labState(cfg *config.Config) string {
	if cfg.Lab {
		return "The lab is on: clients can send LAB HELP."
	}
	return "The lab is off: miniredisd help explains --lab and --watch."
}

// usage is the output of -h. Programs that stand in for redis-server have no subcommands.
func usage(argv0 string, strict bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, `Usage: %[1]s [/path/to/redis.conf] [options] [-]
       %[1]s - (read config from stdin)
       %[1]s -v or --version
       %[1]s -h or --help

An option is a line of redis.conf with two dashes before it:
       %[1]s --port 7777 --maxmemory 128mb --save ""
Options that Redis does not have:
`, argv0)
	list := append([]config.Option{{Name: "port", Arg: "0", Help: "listen on a free port (without --unixsocket)"}},
		config.Own()...)
	for _, o := range list {
		fmt.Fprintf(&b, "       --%-20s  %s\n", o.Name+" "+o.Arg, o.Help)
	}
	if strict {
		return b.String()
	}
	b.WriteString("Subcommands, which start no server:\n")
	for _, c := range subcommands() {
		fmt.Fprintf(&b, "       %s %-24s  %s\n", argv0, strings.TrimSpace(c.name+" "+c.args), c.summary)
	}
	b.WriteString("Documents: README.md beside the program, or in /usr/share/doc/miniredisd\n")
	return b.String()
}

// help is the subcommand help: it explains the program or one subcommand.
func help(args []string, out, errs io.Writer) int {
	c := subcommandOf(args)
	switch {
	case len(args) == 0:
		fmt.Fprint(out, usage("miniredisd", false))
	case len(args) > 1:
		fmt.Fprintf(errs, "help expects one subcommand, not '%s' as well\n", args[1])
		return 1
	case args[0] == "lab":
		fmt.Fprint(out, labHint)
	case args[0] == firstTest:
		fmt.Fprint(out, firsttest.Text())
	case c == nil:
		fmt.Fprintf(errs, "There is no subcommand '%s'. %s\n", args[0], likeSubcommand(args[0]))
		return 1
	default:
		explain(c, out)
	}
	return 0
}

// explain writes what help says of a subcommand.
func explain(c *subcommand, out io.Writer) {
	fmt.Fprintf(out, "usage: miniredisd %s\n%s\n", strings.TrimSpace(c.name+" "+c.args), c.summary)
	if c.more != "" {
		fmt.Fprintf(out, "\n%s", c.more)
	}
}

// likeSubcommand says which subcommand may be meant by a word.
func likeSubcommand(word string) string {
	names := []string{firstTest}
	for _, c := range subcommands() {
		names = append(names, c.name)
	}
	if nearest := ascii.Nearest(word, names); nearest != "" {
		return "Did you mean " + nearest + "?"
	}
	return "miniredisd help lists all of them."
}

// asksForHelp reports whether a subcommand is asked to explain itself.
func asksForHelp(args []string) bool {
	return len(args) == 1 && (args[0] == "-h" || args[0] == "--help")
}

// hint explains a first argument that is neither a subcommand nor a file. It is empty for what cannot be
// meant as a subcommand, and for a file that is there and includes another one that is not.
func hint(args []string, missing *config.OpenError) string {
	switch {
	case strings.ContainsAny(args[0], "./") || filepath.Base(missing.Path) != args[0]:
		return ""
	case strings.EqualFold(args[0], "lab"):
		return labHint
	}
	return fmt.Sprintf("'%s' is no subcommand either. %s\n", args[0], likeSubcommand(args[0]))
}

// likeDirective says which directive may be meant by one that does not exist, "" if no name is like it.
func likeDirective(err error) string {
	var line *config.LineError
	if !errors.As(err, &line) {
		return ""
	}
	name, _, _ := strings.Cut(line.Text, " ")
	nearest := config.Nearest(name)
	if nearest == "" {
		return ""
	}
	return fmt.Sprintf("There is no directive '%s'. Did you mean '%s'?\n", name, nearest)
}

package command

import (
	"regexp"
	"strings"
)

// command HELP (networking.c: addReplyHelp)
// Help answers X HELP from the rows of X's subcommands.
func Help(c *Call) error {
	lines := []string{strings.ToUpper(c.Cmd.Container.Name) + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"}
	for _, sub := range c.Cmd.Container.SubCommands() {
		_, name, _ := strings.Cut(sub.Name, "|")
		line := strings.ToUpper(name)
		if sub.Syntax != "" {
			line += " " + sub.Usage()
		}
		lines = append(lines, line, "    "+sub.Summary)
	}
	c.Array(len(lines))
	for _, line := range lines {
		c.Status(line)
	}
	return nil
}

// Usage is the syntax without the marks that only COMMAND DOCS needs.
func (c *Command) Usage() string {
	syntax := regexp.MustCompile(`([a-z0-9]):[a-z-]+`).ReplaceAllString(c.Syntax, "$1")
	return strings.ReplaceAll(syntax, "+", "")
}

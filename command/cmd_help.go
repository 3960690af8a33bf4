package command

import (
	"regexp"
	"strings"
)

// Help replies to HELP from the rows of the subcommands.
func Help(c *Call) error {
	container := strings.ToUpper(c.Cmd.Container.Name)
	lines := []string{container + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"}
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

// Usage returns the syntax without the marks that only COMMAND DOCS needs.
func (c *Command) Usage() string {
	syntax := regexp.MustCompile(`([a-z0-9]):[a-z-]+`).ReplaceAllString(c.Syntax, "$1")
	return strings.ReplaceAll(syntax, "+", "")
}

package command

import (
	"cmp"
	"regexp"
	"strings"
)

// command HELP (networking.c: addReplyHelp)
// Help lists the subcommands of any container, from their rows.
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

// Usage returns the syntax as people write it, without types, versions and the names of groups.
func (c *Command) Usage() string {
	syntax := regexp.MustCompile(`[^][()| ]+: `).ReplaceAllString(c.Syntax, "")
	syntax = regexp.MustCompile(`[^][()| ]+`).ReplaceAllStringFunc(syntax, func(w string) string {
		if w == "..." {
			return w
		}
		a := argument(strings.TrimSuffix(w, "+"))
		return cmp.Or(a.Token, a.Display)
	})
	return regexp.MustCompile(`\(([A-Z]+ [a-z]+)\)`).ReplaceAllString(syntax, "$1")
}

package server

import (
	"github.com/miniredisd/miniredisd/command"
)

// row is the shape of command.Row, for commands without keys.
func row(name, syntax string, arity int, flags command.Flag, group, since, complexity, summary string, do func(*command.Call) error) command.Row {
	return command.Row{Name: name, Syntax: syntax, Arity: arity, Flags: flags, Group: group, Since: since, Complexity: complexity, Summary: summary, Do: do}
}

// serverRows are the commands of group server that see the server itself.
func (s *Server) serverRows() []command.Row {
	return []command.Row{
		row("monitor", "", 1, command.Admin|command.NoScript|command.Loading|command.Stale, "server", "1.0.0", "",
			"Shows every command that is executed, as it happens.", s.monitor),
	}
}

package server

import (
	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/internal/dialect"
	"github.com/miniredisd/miniredisd/store"
)

const (
	errSyntax   store.Error = "ERR syntax error"
	errPositive store.Error = "ERR value is out of range, must be positive"
)

// is compares an argument with a word, whatever case the client used.
func is(arg []byte, word string) bool { return ascii.EqualFold(arg, word) }

func errorf(format string, args ...any) error { return store.Errorf(format, args...) }

// row builds a command.Row without keys. Servers share their rows, so do gets the server that executes
// the command.
func row(
	name, syntax string, arity int, flags command.Flag, group, since, complexity, summary string,
	do func(*Server, *command.Call) error,
) command.Row {
	return command.Row{
		Name: name, Syntax: syntax, Arity: arity, Flags: flags, Group: group, Since: dialect.Since(since),
		Complexity: complexity, Summary: summary,
		Do: func(c *command.Call) error { return do(serverOf(c), c) },
	}
}

// number is a switch in a reply: 1 for on.
func number(on bool) int64 {
	if on {
		return 1
	}
	return 0
}

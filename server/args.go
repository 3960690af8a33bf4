package server

import (
	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/internal/dialect"
	"github.com/miniredisd/miniredisd/store"
)

// Errors of several commands, in Redis's words.
const (
	ErrSyntax   store.Error = "ERR syntax error"
	ErrPositive store.Error = "ERR value is out of range, must be positive"
)

// is compares an argument with a word, whatever case the client used.
func is(arg []byte, word string) bool { return ascii.EqualFold(arg, word) }

func errorf(format string, args ...any) error { return store.Errorf(format, args...) }

// Row builds a command.Row without keys, for the server or for one of its parts. Servers share their rows, so do gets
// the part of the server that executes the command.
func Row[P any](
	name, syntax string, arity int, flags command.Flag, group, since, complexity, summary string,
	do func(P, *command.Call) error,
) command.Row {
	return command.Row{
		Name: name, Syntax: syntax, Arity: arity, Flags: flags, Group: group, Since: dialect.Since(since),
		Complexity: complexity, Summary: summary,
		Do: func(c *command.Call) error { return do(PartOf[P](ServerOf(c)), c) },
	}
}

// PartOf returns the server itself, or its part of type P, which must be attached.
func PartOf[P any](s *Server) P {
	p, ok := FindPart[P](s)
	if !ok {
		panic("no part of this type is attached")
	}
	return p
}

// FindPart returns the server itself, or its part of type P.
func FindPart[P any](s *Server) (p P, ok bool) {
	if p, ok := any(s).(P); ok {
		return p, true
	}
	for _, known := range s.Parts.all {
		if p, ok := known.(P); ok {
			return p, true
		}
	}
	return p, false
}

// DebugCommand is a subcommand of DEBUG. As in Redis, the table of commands does not list these.
type DebugCommand struct {
	Name, Syntax, Summary string
	Least, Most           int // number of arguments after the name
	Do                    func(c *command.Call, args [][]byte) error
}

const ManyArguments = 1 << 30 // no limit for DebugCommand.Most

// OneIf is a switch in a reply: 1 for on.
func OneIf(on bool) int64 {
	if on {
		return 1
	}
	return 0
}

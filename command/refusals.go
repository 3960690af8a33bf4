package command

import (
	"strings"

	"github.com/miniredisd/miniredisd/store"
)

// errPostponed is not an answer: the client waits, its command unread.
const errPostponed store.Error = "PAUSED"

// Pause is which commands are held back (CLIENT PAUSE).
type Pause uint8

// PauseWrites holds what may change the keyspace, PauseAll everything.
const (
	PauseNone Pause = iota
	PauseWrites
	PauseAll
)

func (p Pause) holds(flags Flag) bool {
	return flags&NeverPaused == 0 && (p == PauseAll || flags&(Write|MayReplicate) != 0)
}

// unknownCommand is the end for a browser that was lured into talking to a
// database: a form sent by POST would be a list of commands (server.c:
// processCommand, "Host:" and "POST").
func unknownCommand(s *Session, args [][]byte) error {
	if is(args[0], "post") || is(args[0], "host:") {
		s.CloseAfterReply, s.Attack = true, true
	}
	return errUnknownCommand(args)
}

// errUnknownCommand shows the name and the first arguments, as
// server.c: rejectCommandFormat in its bounds of 128 bytes each.
func errUnknownCommand(args [][]byte) error {
	var shown strings.Builder
	for _, a := range args[1:] {
		if shown.Len() >= 128 {
			break
		}
		shown.WriteString("'" + clip(a, 128-shown.Len()) + "' ")
	}
	return errorf("ERR unknown command '%s', with args beginning with: %s", clip(args[0], 128), shown.String())
}

func errUnknownSubcommand(cmd *Command, args [][]byte) error {
	return errorf("ERR unknown subcommand '%s'. Try %s HELP.", clip(args[1], 128), strings.ToUpper(cmd.Name))
}

// errSubscriber refuses what a RESP2 client, once it listens, could not tell apart
// from messages.
func errSubscriber(cmd *Command) error {
	return errorf("ERR Can't execute '%s': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context", cmd.Name)
}

func clip(b []byte, n int) string {
	// printf's %.*s, which Redis formats this with, ends at a zero byte
	s := string(b[:min(len(b), n)])
	if i := strings.IndexByte(s, 0); i >= 0 {
		s = s[:i]
	}
	return s
}

// SubcommandSyntax is errSubcommandUse for commands outside this package.
func (c *Call) SubcommandSyntax() error { return errSubcommandUse(c) }

// errSubcommandUse refuses options a subcommand does not know (networking.c: addReplySubcommandSyntaxError).
func errSubcommandUse(c *Call) error {
	container, _, _ := strings.Cut(c.Cmd.Name, "|")
	return errorf("ERR unknown subcommand or wrong number of arguments for '%s'. Try %s HELP.", clip(c.Args[1], 128), strings.ToUpper(container))
}

package command

import (
	"fmt"
	"strings"

	"github.com/miniredisd/miniredisd/store"
)

// Errors in Redis's words. More stand beside the commands that alone use them.
const (
	errSyntax       store.Error = "ERR syntax error"
	errNotInt                   = store.ErrNotInt
	errNotFloat                 = store.ErrNotFloat
	errWrongType                = store.ErrWrongType
	errNoSuchKey    store.Error = "ERR no such key"
	errOutOfRange   store.Error = "ERR index out of range"
	errNaN          store.Error = "ERR increment would produce NaN or Infinity"
	errPositive     store.Error = "ERR value is out of range, must be positive"
	errOffset       store.Error = "ERR offset is out of range"
	errDecrOverflow store.Error = "ERR decrement would overflow"
	errStringLimit              = store.ErrStringLimit
	errSameObject   store.Error = "ERR source and destination objects are the same"
	errDBIndex      store.Error = "ERR DB index is out of range"
	errIntRange     store.Error = "ERR value is out of range, value must between -2147483648 and 2147483647"
	errNoAuth       store.Error = "NOAUTH Authentication required."
	errNumKeys      store.Error = "ERR numkeys should be greater than 0"
	errManyKeys     store.Error = "ERR Number of keys can't be greater than number of args"
	errNegativeKeys store.Error = "ERR Number of keys can't be negative"
	errPopCount     store.Error = "ERR count should be greater than 0"
	errRange        store.Error = "ERR value is out of range"
	errCountRange   store.Error = "ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807"

	errTimeoutFloat    store.Error = "ERR timeout is not a float or out of range"
	errTimeoutInt      store.Error = "ERR timeout is not an integer or out of range"
	errTimeoutRange    store.Error = "ERR timeout is out of range"
	errTimeoutNegative store.Error = "ERR timeout is negative"

	errOOM          store.Error = "OOM command not allowed when used memory > 'maxmemory'."
	errDebugRefused store.Error = "ERR DEBUG command not allowed. If the enable-debug-command option is set to \"local\", you can run it from a local connection, otherwise you need to set this option in the configuration file, and then restart the server."
)

// errorf makes an error with arguments; the text is the whole reply line.
func errorf(format string, args ...any) error {
	return store.Error(fmt.Sprintf(format, args...))
}

func errArity(name string) error {
	return errorf("ERR wrong number of arguments for '%s' command", name)
}

// execAborted is the answer to an EXEC that was refused (multi.c: execCommandAbort).
func execAborted(err error) error {
	return errorf("EXECABORT Transaction discarded because of: %s", strings.TrimPrefix(err.Error(), "ERR "))
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

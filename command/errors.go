package command

import (
	"maps"
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/internal/acl"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/store"
)

// Errors in Redis's words. An error of a single command stands beside the command.
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
	errCountRange   store.Error = "ERR value is out of range, " +
		"value must between -9223372036854775807 and 9223372036854775807"

	errTimeoutFloat    store.Error = "ERR timeout is not a float or out of range"
	errTimeoutInt      store.Error = "ERR timeout is not an integer or out of range"
	errTimeoutRange    store.Error = "ERR timeout is out of range"
	errTimeoutNegative store.Error = "ERR timeout is negative"

	errOOM          store.Error = "OOM command not allowed when used memory > 'maxmemory'."
	errDebugRefused store.Error = "ERR DEBUG command not allowed. " +
		"If the enable-debug-command option is set to \"local\", you can run it from a local connection, " +
		"otherwise you need to set this option in the configuration file, and then restart the server."
	errModuleRefused store.Error = "ERR MODULE command not allowed. " +
		"If the enable-module-command option is set to \"local\", you can run it from a local connection, " +
		"otherwise you need to set this option in the configuration file, and then restart the server."
)

// errorf formats an error. The text is the whole line of the reply, with its code.
func errorf(format string, args ...any) error { return store.Errorf(format, args...) }

func errArity(name string) error {
	return errorf("ERR wrong number of arguments for '%s' command", name)
}

// unknownCommand refuses an unknown command. POST and Host: show a browser that was tricked into
// sending a form to this port: its connection is closed (networking.c: securityWarningCommand).
func (t *Table) unknownCommand(s *Session, args [][]byte) error {
	if err := t.lacks(string(args[0])); err != nil {
		return err
	}
	if is(args[0], "post") || is(args[0], "host:") {
		s.CloseAfterReply, s.Attack = true, true
	}
	return errUnknownCommand(args)
}

// errUnknownCommand names the command and its first arguments, up to 128 bytes each
// (server.c: commandCheckExistence). Many clients can find their master by Sentinel, so that error continues
// to say what this server offers instead.
func errUnknownCommand(args [][]byte) error {
	var shown strings.Builder
	for _, a := range args[1:] {
		if shown.Len() >= 128 {
			break
		}
		shown.WriteString("'" + clip(a, 128-shown.Len()) + "' ")
	}
	if is(args[0], "sentinel") {
		shown.WriteString("(there is no Sentinel here: connect to this port; --masters N runs N masters)")
	}
	return errorf("ERR unknown command '%s', with args beginning with: %s", clip(args[0], 128), shown.String())
}

func (t *Table) unknownSubcommand(cmd *Command, args [][]byte) error {
	if err := t.lacks(cmd.Name + "|" + string(args[1])); err != nil {
		return err
	}
	meant := ""
	if cmd.Group == "lab" { // the errors of all others are Redis's
		meant = ascii.Nearest(clip(args[1], longestName), slices.Sorted(maps.Keys(cmd.Subs)))
	}
	if meant != "" {
		meant = " Did you mean " + strings.ToUpper(meant) + "?"
	}
	return errorf("ERR unknown subcommand '%s'.%s Try %s HELP.", clip(args[1], 128), meant, strings.ToUpper(cmd.Name))
}

// errSubcommandUse refuses the arguments of a subcommand (networking.c: addReplySubcommandSyntaxError).
func errSubcommandUse(c *Call) error {
	container, _, _ := strings.Cut(c.Cmd.Name, "|")
	return errorf("ERR unknown subcommand or wrong number of arguments for '%s'. Try %s HELP.",
		clip(c.Args[1], 128), strings.ToUpper(container))
}

// SubcommandSyntax is errSubcommandUse for other packages.
func (c *Call) SubcommandSyntax() error { return errSubcommandUse(c) }

// errSubscriber refuses most commands of a RESP2 subscriber, which could not tell a reply from a
// message.
func errSubscriber(cmd *Command) error {
	return errorf("ERR Can't execute '%s': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET"+
		" are allowed in this context", cmd.Name)
}

// execAborted is the error for an EXEC that was refused (multi.c: execCommandAbort).
func execAborted(err error) error {
	return errorf("EXECABORT Transaction discarded because of: %s", strings.TrimPrefix(err.Error(), "ERR "))
}

// errRulesChanged refuses a queued command: its user has lost the permission since it was queued.
func errRulesChanged(d acl.Denial) error {
	why := "no permission to execute the command or subcommand"
	switch d {
	case acl.DeniedKey:
		why = "no permission to touch the specified keys"
	case acl.DeniedChannel:
		why = "no permission to access one of the channels used as arguments"
	}
	return errorf("NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC call."+
		" This command is no longer allowed for the following reason: %s", why)
}

// clip returns at most n bytes of b, up to the first zero byte, as printf's %.*s does in Redis.
func clip(b []byte, n int) string {
	s := string(b[:min(len(b), n)])
	if i := strings.IndexByte(s, 0); i >= 0 {
		s = s[:i]
	}
	return s
}

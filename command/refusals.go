package command

import "strings"

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

func clip(b []byte, n int) string {
	// printf's %.*s, which Redis formats this with, ends at a zero byte
	s := string(b[:min(len(b), n)])
	if i := strings.IndexByte(s, 0); i >= 0 {
		s = s[:i]
	}
	return s
}

// errSubcommandUse refuses options a subcommand does not know (networking.c: addReplySubcommandSyntaxError).
func errSubcommandUse(c *Call) error {
	return errorf("ERR unknown subcommand or wrong number of arguments for '%s'. Try %s HELP.",
		clip(c.Args[1], 128), strings.ToUpper(c.Cmd.Container.Name))
}

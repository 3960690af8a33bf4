package command

// debugAllowed reports whether enable-debug-command lets this client in.
func (ex *Executor) debugAllowed(s *Session) bool {
	return ex.Cfg.EnableDebugCommand == "yes" || ex.Cfg.EnableDebugCommand == "local" && s.Local
}

// admit finds the command and decides whether it may run now
// (server.c: processCommand). The command is returned also when it may not.
func (ex *Executor) admit(s *Session, args [][]byte) (*Command, error) {
	cmd := ex.Table.Lookup(args)
	s.Last = cmd
	switch {
	case cmd == nil:
		return nil, unknownCommand(s, args)
	case cmd.Subs != nil && len(args) > 1:
		s.Last = nil
		return nil, errUnknownSubcommand(cmd, args)
	case !cmd.takes(len(args)):
		return cmd, errArity(cmd.Name)
	case cmd.Flags&ProtectedDebug != 0 && !ex.debugAllowed(s):
		return cmd, errDebugRefused
	}
	return cmd, ex.permit(s, cmd, args)
}

// permit is the part of admit that depends on the moment: a command that was
// blocked has to pass it again.
func (ex *Executor) permit(s *Session, cmd *Command, args [][]byte) error {
	switch {
	case !s.Authenticated && cmd.Flags&NoAuth == 0 && !ex.Users.Open():
		return errNoAuth
	case cmd.Flags&NoMulti != 0 && s.InMulti():
		return errNotInMulti
	case !ex.allows(s, cmd, args):
		return ex.errNoPerm(s, cmd, args)
	case ex.KS.MaxMemory > 0 && !ex.script.busy && ex.findMemory() && ex.needsMemory(s, cmd, args): // reads make room too
		return errOOM
	case s.Subscriber && s.Proto < 3 && cmd.Flags&WhileSubscribed == 0:
		return errSubscriber(cmd)
	case ex.script.busy && cmd.Flags&AllowBusy == 0:
		return ex.Busy()
	case ex.Pause != PauseNone && ex.Pause.holds(ex.flagsOf(s, cmd, args)):
		return errPostponed
	}
	return nil
}

// refuse notes that a command of s was not let in. A transaction it belongs to will
// not run; an EXEC that was not let in itself ends its own (server.c: rejectCommand).
func (ex *Executor) refuse(s *Session, cmd *Command, args [][]byte, err error) error {
	if cmd != nil && cmd.Name == "exec" {
		ex.endTransaction(s)
		if ex.Monitored { // who follows the commands has to see the end of the transaction
			ex.Host.FeedMonitors(s, args)
		}
		return execAborted(err)
	}
	if s.InMulti() {
		s.Tx.aborted = true
	}
	return err
}

// flagsOf are those of cmd; for EXEC also those of what it would run, for a script
// those that it declares.
func (ex *Executor) flagsOf(s *Session, cmd *Command, args [][]byte) Flag {
	switch {
	case cmd.Name == "exec" && s.Tx != nil:
		return cmd.Flags | s.Tx.flags
	case cmd.Group == "scripting":
		return ex.scriptFlags(cmd, args)
	}
	return cmd.Flags
}

// needsMemory tells whether cmd is refused when there is none. A queue takes some,
// whatever is put into it.
func (ex *Executor) needsMemory(s *Session, cmd *Command, args [][]byte) bool {
	if ex.flagsOf(s, cmd, args)&DenyOOM != 0 {
		return true
	}
	return s.InMulti() && (cmd.Flags&NotQueued == 0 || cmd.Name == "multi" || cmd.Name == "watch")
}

// Check tells why s may never run a request as it is, if it may not. What keeps it from that
// here and now, a pause or a script, does not count: another executor is to run it.
func (ex *Executor) Check(s *Session, args [][]byte) error {
	if _, err := ex.admit(s, args); err != errPostponed && err != ex.Busy() {
		return err
	}
	return nil
}

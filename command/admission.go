package command

// This file decides which request may run. There are four kinds of requests:
//
//	request                        checks
//	of a client                    admit: the name, the arguments, then admitNow
//	of a client, after a wait      admitNow: everything that may have changed meanwhile
//	of EXEC, queued before         permissions.check: the rest was checked when it was queued
//	of a script, by redis.call     admitCall: the name, the arguments, then the rules for scripts

// admit finds the command of a client's request and decides whether it may run now
// (server.c: processCommand). It returns the command, if known, also with an error.
func (ex *Executor) admit(s *Session, args [][]byte) (*Command, error) {
	cmd := ex.Table.Lookup(args)
	s.Last = cmd
	switch {
	case cmd == nil:
		return nil, ex.authBefore(s, nil, ex.Table.unknownCommand(s, args))
	case cmd.lacksSubcommand(args):
		s.Last = nil
		return nil, ex.authBefore(s, cmd, ex.Table.unknownSubcommand(cmd, args))
	case !cmd.takes(len(args)):
		return cmd, ex.authBefore(s, cmd, errArity(cmd.Name))
	case cmd.Flags&ProtectedModule != 0 && !allowed(ex.Cfg.EnableModuleCommand, s):
		return cmd, errModuleRefused
	case cmd.Flags&ProtectedDebug != 0 && !allowed(ex.Cfg.EnableDebugCommand, s):
		return cmd, errDebugRefused
	}
	return cmd, ex.admitNow(s, cmd, args)
}

// admitNow checks what depends on the moment (server.c: processCommand): users, memory, CLIENT PAUSE and slow
// scripts. It evicts keys when memory is short. errPostponed means that the command must wait for the end of a
// pause.
func (ex *Executor) admitNow(s *Session, cmd *Command, args [][]byte) error {
	if !s.Authenticated && cmd.Flags&NoAuth == 0 && !ex.Users.Open() {
		return errNoAuth
	}
	if cmd.Flags&NoMulti != 0 && s.InMulti() {
		return ex.Table.Manners.refusedInMulti(cmd)
	}
	if err := ex.permissions.check(s, cmd, args, fromClient); err != nil {
		return err
	}
	if ex.Cluster != nil {
		if err := ex.Cluster.admit(ex, s, cmd, args); err != nil {
			return err
		}
	}
	busy := ex.Scripts.run.busy
	if ex.KS.MaxMemory > 0 && !busy && ex.Eviction.before() && ex.needsMemory(s, cmd, args) { // reads evict, too
		return errOOM
	}
	if ex.Refusals.on != 0 || busy || s.Subscriber || s.Replica || s.Monitor {
		return ex.Refusals.refusal(s, cmd, args)
	}
	return nil
}

// admitCall decides whether the running script may call cmd (script.c: scriptCall). cmd is nil for an
// unknown command. After its first write a script is not refused for lack of memory: half a script
// would be worse.
func (ex *Executor) admitCall(cmd *Command, args [][]byte) error {
	run := &ex.Scripts.run
	switch {
	case cmd == nil || cmd.lacksSubcommand(args):
		return ex.Table.unknownToScript(cmd, args)
	case !cmd.takes(len(args)):
		return ex.Table.Manners.callError(errScriptArity, errCallArity)
	case cmd.Flags&NoScript != 0 && !ex.liftsNoScript(cmd):
		return ex.Table.Manners.inWords(errNotFromScript, errNotFromScriptOwn)
	case cmd.Flags&Stale == 0 && ex.Refusals.Has(StaleReplica):
		return errScriptStale
	}
	if err := ex.permissions.check(run.by, cmd, args, fromScript); err != nil {
		return err
	}
	switch {
	case run.readOnly && cmd.Flags&(Write|MayReplicate) != 0:
		return errScriptWrites
	case run.wrote:
		return nil
	case cmd.Flags&Write != 0 && ex.Refusals.on != 0:
		if err := ex.Refusals.ofWrite(run.by); err != nil {
			return err
		}
	}
	if cmd.Flags&DenyOOM != 0 && !run.allowOOM && !run.by.Master && ex.Eviction.lacking() {
		return errOOM
	}
	return nil
}

// liftsNoScript reports whether DEBUG SET-DISABLE-DENY-SCRIPTS lets a script call a command with the
// flag NoScript. A command that starts a script, a transaction or a subscription stays refused.
func (ex *Executor) liftsNoScript(cmd *Command) bool {
	return ex.AllInScripts && (cmd.Group == "server" || cmd.Group == "connection")
}

// allowed reports whether a setting such as enable-debug-command lets this client use the command
// (server.c: allowProtectedAction).
func allowed(setting string, s *Session) bool {
	return setting == "yes" || setting == "local" && s.Local
}

// Check returns the error for a request that s may never run, or nil. A pause or a slow script does
// not count: the server uses Check for requests that another executor runs.
func (ex *Executor) Check(s *Session, args [][]byte) error {
	if _, err := ex.admit(s, args); err != errPostponed && err != ex.Scripts.Busy() {
		return err
	}
	return nil
}

// flagsOf returns the flags of a request. EXEC has the flags of its queue as well, and a script with
// a shebang has the flags that it declares.
func (ex *Executor) flagsOf(s *Session, cmd *Command, args [][]byte) Flag {
	switch {
	case cmd.Flags&RunsQueue != 0 && s.Tx != nil:
		return cmd.Flags | s.Tx.flags
	case cmd.Script != noScript:
		return ex.Scripts.flags(cmd, args)
	}
	return cmd.Flags
}

// needsMemory reports whether a request is refused while memory is short. Every command inside MULTI
// is, unless it ends the transaction: the queue needs memory, too.
func (ex *Executor) needsMemory(s *Session, cmd *Command, args [][]byte) bool {
	return ex.flagsOf(s, cmd, args)&DenyOOM != 0 || s.InMulti() && cmd.Flags&EndsMulti == 0
}

package command

import (
	"github.com/miniredisd/miniredisd/internal/acl"
	"github.com/miniredisd/miniredisd/store"
)

// Anonymous makes s what a client is that has not said who it is
// (networking.c: clientSetDefaultAuth).
func (ex *Executor) Anonymous(s *Session) {
	s.User, s.Authenticated = ex.Users.Default, ex.Users.Open()
}

// MustAuthenticate tells whether s has to say who it is before anything else.
func (ex *Executor) MustAuthenticate(s *Session) bool { return !s.Authenticated && !ex.Users.Open() }

// allows tells whether the user of s may run cmd with args. It is small enough to be
// inlined: most users may do anything.
func (ex *Executor) allows(s *Session, cmd *Command, args [][]byte) bool {
	return s.User == nil || s.User.Free || ex.permits(s.User, cmd, args)
}

func (ex *Executor) permits(u *acl.User, cmd *Command, args [][]byte) bool {
	d, _ := u.Check(ex.requested(u, cmd, args))
	return d == acl.Allowed
}

// requested is a request as permissions see it, good until the next one.
func (ex *Executor) requested(u *acl.User, cmd *Command, args [][]byte) *acl.Request {
	r := &ex.request
	r.Command, r.Args, r.Keys = &cmd.ACL, args, r.Keys[:0]
	if len(cmd.Keys) == 0 || !u.NeedsKeys() {
		return r
	}
	ex.keys = cmd.AppendKeys(ex.keys[:0], args)
	for _, k := range ex.keys {
		r.Keys = append(r.Keys, acl.Key{Index: k.Index, Use: k.Flags.use()})
	}
	return r
}

// use is what a command that has a key with these flags does with its data.
func (f KeyFlag) use() (u acl.Use) {
	if f&Access != 0 {
		u |= acl.ReadKey
	}
	if f&(Insert|Delete|Update) != 0 {
		u |= acl.WriteKey
	}
	return u
}

// mayReadAllKeys tells whether the command under way may look at keys that its
// arguments do not name.
func (c *Call) mayReadAllKeys() bool {
	u := c.Sess.User
	return u == nil || u.Free || u.CheckWithAllKeys(c.Ex.requested(u, c.Cmd, c.Args), acl.ReadKey)
}

// denied notes that the user of s may not run cmd, and returns why.
func (ex *Executor) denied(s *Session, cmd *Command, args [][]byte, context string) acl.Denial {
	d, at := s.User.Check(ex.requested(s.User, cmd, args))
	object := cmd.Name
	if d != acl.DeniedCommand {
		object = string(args[at])
	}
	ex.noteDenial(s, d, context, object, s.User.Name)
	return d
}

// noteDenial counts a refusal and puts it into the log.
func (ex *Executor) noteDenial(s *Session, d acl.Denial, context, object, user string) {
	ex.Stats.Denied[d]++
	ex.ACLLog.Add(acl.Entry{
		Reason: d, Context: context, Object: object, User: user, Client: ex.Host.Describe(s), LastSeen: ex.KS.Now,
	}, ex.Cfg.ACLLogMaxLen)
}

// context is where a command of s that is refused came from.
func (s *Session) context() string {
	if s.InMulti() {
		return "multi"
	}
	return "toplevel"
}

func (ex *Executor) errNoPerm(s *Session, cmd *Command, args [][]byte) error {
	return store.Error("NOPERM " + refusal(ex.denied(s, cmd, args, s.context()), s.User, cmd))
}

func (ex *Executor) errNoPermInScript(s *Session, cmd *Command, args [][]byte) error {
	return store.Error("ERR ACL failure in script: " + refusal(ex.denied(s, cmd, args, "lua"), s.User, cmd))
}

// errNoPermInExec is for a command that could be queued, by a user who has lost the
// permission since.
func (ex *Executor) errNoPermInExec(s *Session, cmd *Command, args [][]byte) error {
	var why string
	switch ex.denied(s, cmd, args, "multi") {
	case acl.DeniedKey:
		why = "no permission to touch the specified keys"
	case acl.DeniedChannel:
		why = "no permission to access one of the channels used as arguments"
	default:
		why = "no permission to execute the command or subcommand"
	}
	return store.Error("NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC call. This command is no longer allowed for the following reason: " + why)
}

// refusal is a denial in words that name no key (acl.c: getAclErrorMessage).
func refusal(d acl.Denial, u *acl.User, cmd *Command) string {
	switch d {
	case acl.DeniedKey:
		return "No permissions to access a key"
	case acl.DeniedChannel:
		return "No permissions to access a channel"
	}
	return "User " + u.Name + " has no permissions to run the '" + cmd.Name + "' command"
}

// scriptMay is redis.acl_check_cmd.
func (ex *Executor) scriptMay(args [][]byte) (allowed, known bool) {
	cmd := ex.Table.Lookup(args)
	if cmd == nil || cmd.Subs != nil && len(args) > 1 {
		return false, false
	}
	return ex.allows(ex.script.by, cmd, args), true
}

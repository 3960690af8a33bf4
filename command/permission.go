package command

import (
	"github.com/miniredisd/miniredisd/internal/acl"
	"github.com/miniredisd/miniredisd/store"
)

// permissions asks package acl whether a user may run a command, and logs refusals.
type permissions struct {
	ex      *Executor
	request acl.Request // room for the next request
}

// origin is where a command comes from. ACL LOG and the error texts name it.
type origin uint8

const (
	fromClient origin = iota
	fromExec
	fromScript
)

// check returns nil if the user of s may run cmd (acl.c: ACLCheckAllPerm). It is small enough to be inlined:
// most users may do anything. Otherwise it counts and logs the refusal and returns the error to answer.
func (p *permissions) check(s *Session, cmd *Command, args [][]byte, from origin) error {
	if s.User == nil || s.User.Free {
		return nil
	}
	return p.checkRules(s, cmd, args, from)
}

func (p *permissions) checkRules(s *Session, cmd *Command, args [][]byte, from origin) error {
	d, at := s.User.Check(p.requested(s.User, cmd, args))
	if d == acl.Allowed {
		return nil
	}
	object := cmd.Name
	if d != acl.DeniedCommand {
		object = string(args[at])
	}
	p.log(s, d, s.context(from), object, s.User.Name)
	switch from {
	case fromExec:
		return errRulesChanged(d)
	case fromScript:
		return store.Error("ERR ACL failure in script: " + refusal(d, s.User, cmd))
	}
	return store.Error("NOPERM " + refusal(d, s.User, cmd))
}

// allows is check for questions: it logs nothing.
func (p *permissions) allows(s *Session, cmd *Command, args [][]byte) bool {
	if s.User == nil || s.User.Free {
		return true
	}
	d, _ := s.User.Check(p.requested(s.User, cmd, args))
	return d == acl.Allowed
}

// allowsAllKeys reports whether the user may read keys that the arguments of a request do not name.
func (p *permissions) allowsAllKeys(c *Call) bool {
	u := c.Sess.User
	return u == nil || u.Free || u.CheckWithAllKeys(p.requested(u, c.Cmd, c.Args), acl.ReadKey)
}

// requested describes a request to package acl. The result is valid until the next call.
func (p *permissions) requested(u *acl.User, cmd *Command, args [][]byte) *acl.Request {
	r := &p.request
	r.Command, r.Args, r.Keys = &cmd.ACL, args, r.Keys[:0]
	if len(cmd.Keys) == 0 || !u.NeedsKeys() {
		return r
	}
	p.ex.keys = cmd.AppendKeys(p.ex.keys[:0], args)
	for _, k := range p.ex.keys {
		r.Keys = append(r.Keys, acl.Key{Index: k.Index, Use: k.Flags.use()})
	}
	return r
}

// log counts a refusal and adds it to ACL LOG.
func (p *permissions) log(s *Session, d acl.Denial, context, object, user string) {
	ex := p.ex
	ex.Stats.Denied[d]++
	ex.ACLLog.Add(acl.Entry{
		Reason: d, Context: context, Object: object, User: user, Client: ex.Host.Describe(s), LastSeen: ex.KS.Now,
	}, ex.Cfg.ACLLogMaxLen)
}

// use returns how a command with these key flags uses the data of the key.
func (f KeyFlag) use() (u acl.Use) {
	if f&Access != 0 {
		u |= acl.ReadKey
	}
	if f&(Insert|Delete|Update) != 0 {
		u |= acl.WriteKey
	}
	return u
}

// context returns the context of a refusal in ACL LOG.
func (s *Session) context(from origin) string {
	switch {
	case from == fromScript:
		return "lua"
	case from == fromExec || s.InMulti():
		return "multi"
	}
	return "toplevel"
}

// refusal words a denial without the name of a key (acl.c: getAclErrorMessage).
func refusal(d acl.Denial, u *acl.User, cmd *Command) string {
	switch d {
	case acl.DeniedKey:
		return "No permissions to access a key"
	case acl.DeniedChannel:
		return "No permissions to access a channel"
	}
	return "User " + u.Name + " has no permissions to run the '" + cmd.Name + "' command"
}

// Anonymous sets the user of a new connection (networking.c: clientSetDefaultAuth).
func (ex *Executor) Anonymous(s *Session) {
	s.User, s.Authenticated = ex.Users.Default, ex.Users.Open()
}

// MustAuthenticate reports whether s may only authenticate for now.
func (ex *Executor) MustAuthenticate(s *Session) bool { return !s.Authenticated && !ex.Users.Open() }

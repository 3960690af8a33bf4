package admin

import (
	"errors"
	"fmt"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/acl"
	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/pubsub"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/store"
)

// aclRows are the subcommands of ACL that change users. A change may close connections.
func aclRows() []command.Row {
	const (
		flags = command.Admin | command.NoScript | command.Loading | command.Stale
		toAll = command.RequestAllNodes | command.ResponseAllSucceeded
	)
	return []command.Row{
		server.Row("acl|deluser", "username ...",
			-3, flags|toAll, "server", "6.0.0",
			"O(N) for N users",
			"Deletes users and closes their connections.", (*State).aclDelUser).Hides(command.AllFrom2),
		server.Row("acl|load", "",
			2, flags, "server", "6.0.0",
			"O(N) for N users",
			"Replaces all users by those in the ACL file.", (*State).aclLoad),
		server.Row("acl|save", "",
			2, flags|toAll, "server", "6.0.0",
			"O(N) for N users",
			"Writes the users to the ACL file.", (*State).aclSave),
		server.Row("acl|setuser", "username [rule:string ...]",
			-3, flags|toAll, "server", "6.0.0",
			"O(N) for N rules",
			"Creates a user, or changes one.", (*State).aclSetUser).Hides(command.AllFrom2),
	}
}

const (
	errNoACLFile store.Error = "ERR This Redis instance is not configured to use an ACL file. " +
		"You may want to specify users via the ACL SETUSER command and then issue a CONFIG REWRITE " +
		"(assuming you have a Redis configuration file set) in order to store users in the Redis configuration."
	errACLSave store.Error = "ERR There was an error trying to save the ACLs. " +
		"Please check the server logs for more information"
	errDelete store.Error = "ERR The 'default' user cannot be removed"
)

// ACL SETUSER username [rule ...] (acl.c: aclCommand)
func (a *State) aclSetUser(c *command.Call) error {
	users := a.s.Ex.Users
	rules := make([]string, len(c.Args)-3)
	for i, arg := range c.Args[3:] {
		rules[i] = string(arg)
	}
	staged, err := users.Stage(string(c.Args[2]), rules)
	if err != nil {
		return store.Errorf("ERR %s", err)
	}
	if old := users.Get(c.Args[2]); old != nil && !staged.KeepsChannels(old) {
		a.expel(func(sess *command.Session) bool { return sess.User == old && listensBeyond(a.s.Ex.Subs, sess, staged) })
	}
	users.Commit(staged)
	c.OK()
	return nil
}

// listensBeyond reports whether sess is subscribed to a channel that u may not use
// (acl.c: ACLKillPubsubClientsIfNeeded).
func listensBeyond(subs *pubsub.Registry[*command.Session], sess *command.Session, u *acl.User) bool {
	for _, kind := range []pubsub.Kind{pubsub.Pattern, pubsub.Channel, pubsub.Shard} {
		for _, name := range subs.Names(kind, sess) {
			if !u.AllowsChannel([]byte(name), kind == pubsub.Pattern) {
				return true
			}
		}
	}
	return false
}

// ACL DELUSER username [username ...] (acl.c: aclCommand)
func (a *State) aclDelUser(c *command.Call) error {
	for _, name := range c.Args[2:] {
		if string(name) == a.s.Ex.Users.Default.Name {
			return errDelete
		}
	}
	n := 0
	for _, name := range c.Args[2:] {
		if u := a.s.Ex.Users.Delete(name); u != nil {
			n++
			a.expel(func(sess *command.Session) bool { return sess.User == u })
		}
	}
	c.Int(int64(n))
	return nil
}

// expel closes the connections whose session is selected by which. They are logged out at once: each
// belongs to the default user until it is closed.
func (a *State) expel(which func(*command.Session) bool) {
	for _, c := range a.s.Clients.ByAge() {
		if !which(&c.Sess) {
			continue
		}
		c.Sess.User, c.Sess.Authenticated = a.s.Ex.Users.Default, false
		if c == a.s.Running {
			c.Sess.CloseAfterReply = true
		} else {
			a.s.Leave(c)
		}
	}
}

// ACL LOAD (acl.c: aclCommand)
// The connections of all users but the default one are closed: the new rules may forbid what the
// old ones allowed.
func (a *State) aclLoad(c *command.Call) error {
	if a.s.Cfg.ACLFile == "" {
		return errNoACLFile
	}
	if err := a.loadACLFile(); err != nil {
		return store.Errorf("ERR %s", err)
	}
	a.expel(func(sess *command.Session) bool { return sess.User != a.s.Ex.Users.Default })
	c.OK()
	return nil
}

func (a *State) loadACLFile() error {
	text, err := config.ReadFile(a.s.Cfg.Relative(a.s.Cfg.ACLFile), config.MostText)
	if err != nil {
		return fmt.Errorf("Error loading ACLs, opening file '%s': %s", a.s.Cfg.ACLFile, config.ErrorText(err))
	}
	return a.s.Ex.Users.Load(a.s.Cfg.ACLFile, string(text))
}

// ACL SAVE (acl.c: aclCommand)
func (a *State) aclSave(c *command.Call) error {
	if a.s.Cfg.ACLFile == "" {
		return errNoACLFile
	}
	if err := config.ReplaceFile(a.s.Cfg.Relative(a.s.Cfg.ACLFile), a.s.Ex.Users.Text()); err != nil {
		a.s.Log('#', "Writing ACL file for ACL SAVE: %s", config.ErrorText(err))
		return errACLSave
	}
	c.OK()
	return nil
}

// loadUsers defines the users of the configuration or of the ACL file, at the start
// (acl.c: ACLLoadUsersAtStartup).
func (a *State) loadUsers() error {
	a.s.Ex.Users.Warn = func(text string) { a.s.Log('#', "%s", text) }
	if err := a.defineUsers(); err != nil {
		return err
	}
	if a.s.Cfg.ACLFile == "" {
		return nil
	}
	if len(a.s.Cfg.Users) > 0 {
		return errors.New("Configuring Redis with users defined in redis.conf and at the same setting an ACL file path " +
			"is invalid. This setup is very likely to lead to configuration errors and security holes, please define " +
			"either an ACL file or declare users directly in your redis.conf, but not both.")
	}
	if err := a.loadACLFile(); err != nil {
		return fmt.Errorf("Aborting Redis startup because of ACL errors: %w", err)
	}
	return nil
}

// defineUsers defines the users of the directives "user". An error in one is reported with its
// line.
func (a *State) defineUsers() error {
	var lines []acl.Line
	for _, u := range a.s.Cfg.Users {
		line := acl.Line{Name: u.Name, Words: u.Rules}
		if at, err := a.s.Ex.Users.CheckLine(line, lines); err != nil {
			why := fmt.Sprintf("Error in user declaration '%s': %s", at, err)
			return &config.LineError{Line: u.Line, Text: u.Text, Why: why}
		}
		lines = append(lines, line)
	}
	if a.s.Cfg.ACLFile != "" {
		return nil
	}
	for _, line := range lines {
		u, err := a.s.Ex.Users.Define(line)
		if err != nil {
			a.s.Log('#', "%s", err)
			return errors.New("Critical error while loading ACLs. Exiting.")
		}
		if !u.On {
			a.s.Log('*', "The user '%s' is disabled (there is no 'on' modifier in the user description). "+
				"Make sure this is not a configuration error.", u.Name)
		}
	}
	return nil
}

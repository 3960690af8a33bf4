package command

import (
	"crypto/rand"
	"encoding/hex"

	"github.com/miniredisd/miniredisd/internal/acl"
)

// aclRows are the subcommands of ACL that change no user. The others are in server/admin: they
// may have to close connections.
func aclRows() []Row {
	const (
		open  = NoScript | Loading | Stale
		admin = Admin | open
	)
	return []Row{
		{"acl", "",
			-2, 0, nil, "server", "6.0.0",
			"See the subcommands.",
			"Manages users and their permissions.", nil},
		{"acl|cat", "[category]",
			-2, open, nil, "server", "6.0.0",
			"O(1): both lists have a fixed length",
			"Lists the ACL categories, or the commands in one category.", aclCat},
		{"acl|dryrun", "username command:string [arg ...]",
			-4, admin, nil, "server", "7.0.0",
			"O(1)",
			"Checks whether a user may run a command, without running it.", aclDryRun},
		{"acl|genpass", "[bits:integer]",
			-2, open, nil, "server", "6.0.0",
			"O(1)",
			"Generates a random password.", aclGenPass},
		{"acl|getuser", "username",
			3, admin, secrets(AllFrom2), "server", "6.0.0",
			"O(N) for N rules of the user",
			"Describes a user: flags, password hashes, commands, keys and channels.", aclGetUser},
		{"acl|help", "",
			2, Loading | Stale, nil, "server", "6.0.0",
			"O(1)",
			"Lists the subcommands.", Help},
		{"acl|list", "",
			2, admin, nil, "server", "6.0.0",
			"O(N) for N users",
			"Lists the users, each as a line of an ACL file.", aclList},
		{"acl|log", "[operation: count | RESET]",
			-2, admin, nil, "server", "6.0.0",
			"O(N) to return N entries",
			"Lists the latest denied commands and failed logins, or clears the list.", aclLog},
		{"acl|users", "",
			2, admin, nil, "server", "6.0.0",
			"O(N) for N users",
			"Lists the names of all users.", aclUsers},
		{"acl|whoami", "",
			2, open, nil, "server", "6.0.0",
			"O(1)",
			"Returns the user name of this connection.", aclWhoAmI},
	}
}

// ACL WHOAMI (acl.c: aclCommand)
func aclWhoAmI(c *Call) error {
	if c.Sess.User == nil {
		c.Null()
		return nil
	}
	c.BulkString(c.Sess.User.Name)
	return nil
}

// ACL CAT [category] (acl.c: aclCommand)
func aclCat(c *Call) error {
	switch len(c.Args) {
	case 2:
		names := acl.Categories()
		c.bulkStrings(names[:])
		return nil
	case 3:
	default:
		return errSubcommandUse(c)
	}
	category := acl.Named(string(c.Args[2]))
	if category == 0 {
		return errorf("ERR Unknown category '%s'", clip(c.Args[2], 128))
	}
	var names []string
	for _, cmd := range c.Ex.Users.Commands {
		if cmd.Categories&category != 0 {
			names = append(names, cmd.Name)
		}
	}
	c.bulkStrings(names)
	return nil
}

func (c *Call) bulkStrings(list []string) {
	c.Array(len(list))
	for _, s := range list {
		c.BulkString(s)
	}
}

// ACL LIST (acl.c: aclCommand)
func aclList(c *Call) error {
	c.bulkStrings(c.Ex.Users.Lines())
	return nil
}

// ACL USERS (acl.c: aclCommand)
func aclUsers(c *Call) error {
	var names []string
	for _, u := range c.Ex.Users.All() {
		names = append(names, u.Name)
	}
	c.bulkStrings(names)
	return nil
}

// ACL GETUSER username (acl.c: aclCommand)
// The root selector is shown as fields of the user, the other selectors as a list at the end.
func aclGetUser(c *Call) error {
	u := c.Ex.Users.Get(c.Args[2])
	if u == nil {
		c.Null()
		return nil
	}
	c.Map(6)
	c.BulkString("flags")
	flags := u.Flags()
	c.Set(len(flags))
	for _, f := range flags {
		c.BulkString(f)
	}
	c.BulkString("passwords")
	c.bulkStrings(u.Passwords)
	c.selector(&u.Selectors[0])
	c.BulkString("selectors")
	c.Array(len(u.Selectors) - 1)
	for i := range u.Selectors[1:] {
		c.Map(3)
		c.selector(&u.Selectors[1+i])
	}
	return nil
}

func (c *Call) selector(s *acl.Selector) {
	c.TextField("commands", s.CommandRules())
	c.TextField("keys", s.KeyRules())
	c.TextField("channels", s.ChannelRules())
}

// maxPassword is the length in bits of the longest password that ACL GENPASS generates.
const maxPassword = 4096

// ACL GENPASS [bits] (acl.c: aclCommand)
func aclGenPass(c *Call) error {
	bits := int64(256)
	if len(c.Args) > 3 {
		return errSubcommandUse(c)
	}
	if len(c.Args) == 3 {
		var err error
		if bits, err = parseInt(c.Args[2]); err != nil {
			return err
		}
	}
	if bits <= 0 || bits > maxPassword {
		return errorf("ERR ACL GENPASS argument must be the number of bits for the output password, "+
			"a positive number up to %d", maxPassword)
	}
	digits := (bits + 3) / 4
	secret := make([]byte, (digits+1)/2)
	_, _ = rand.Read(secret) // never fails
	c.BulkString(hex.EncodeToString(secret)[:digits])
	return nil
}

// logShown is the default number of entries in the reply of ACL LOG.
const logShown = 10

// ACL LOG [count | RESET] (acl.c: aclCommand)
func aclLog(c *Call) error {
	count := int64(logShown)
	switch {
	case len(c.Args) > 3:
		return errSubcommandUse(c)
	case len(c.Args) == 3 && is(c.Args[2], "reset"):
		c.Ex.ACLLog.Reset()
		c.OK()
		return nil
	case len(c.Args) == 3:
		var err error
		if count, err = parseInt(c.Args[2]); err != nil {
			return err
		}
	}
	entries := c.Ex.ACLLog.Entries
	entries = entries[:min(max(count, 0), int64(len(entries)))]
	c.Array(len(entries))
	for _, e := range entries {
		c.logEntry(e)
	}
	return nil
}

func (c *Call) logEntry(e *acl.Entry) {
	c.Map(10)
	c.IntField("count", e.Count)
	c.TextField("reason", [acl.Denials]string{
		acl.DeniedCommand: "command", acl.DeniedKey: "key", acl.DeniedAuth: "auth", acl.DeniedChannel: "channel",
	}[e.Reason])
	c.TextField("context", e.Context)
	c.TextField("object", e.Object)
	c.TextField("username", e.User)
	c.BulkString("age-seconds")
	c.Double(float64(c.Now-e.LastSeen) / 1000)
	c.TextField("client-info", e.Client)
	c.IntField("entry-id", e.ID)
	c.IntField("timestamp-created", e.Created)
	c.IntField("timestamp-last-updated", e.LastSeen)
}

// ACL DRYRUN username command [arg ...] (acl.c: aclCommand)
func aclDryRun(c *Call) error {
	u := c.Ex.Users.Get(c.Args[2])
	if u == nil {
		return errorf("ERR User '%s' not found", c.Args[2])
	}
	args := c.Args[3:]
	cmd := c.Ex.Table.Lookup(args)
	switch {
	case cmd == nil || cmd.Subs != nil && len(args) > 1:
		return errorf("ERR Command '%s' not found", args[0])
	case !cmd.takes(len(args)):
		return errArity(cmd.Name)
	}
	switch d, at := u.Check(c.Ex.permissions.requested(u, cmd, args)); d {
	case acl.Allowed:
		c.OK()
	case acl.DeniedKey:
		c.BulkString("User " + u.Name + " has no permissions to access the '" + string(args[at]) + "' key")
	case acl.DeniedChannel:
		c.BulkString("User " + u.Name + " has no permissions to access the '" + string(args[at]) + "' channel")
	default:
		c.BulkString(refusal(d, u, cmd))
	}
	return nil
}

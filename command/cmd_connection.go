package command

import (
	"bytes"

	"github.com/miniredisd/miniredisd/internal/acl"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/store"
)

func connectionRows() []Row {
	return []Row{
		{"ping", "[message]",
			-1, Fast | WhileSubscribed | RequestAllShards | ResponseAllSucceeded, nil, "connection", "1.0.0",
			"O(1)",
			"Returns PONG, or its argument.", ping},
		{"echo", "message",
			2, Loading | Stale | Fast, nil, "connection", "1.0.0",
			"O(1)",
			"Returns its argument.", echo},
		{"select", "index:integer",
			2, Loading | Stale | Fast, nil, "connection", "1.0.0",
			"O(1)",
			"Selects the database of this connection.", selectDB},
		{"quit", "",
			-1, AllowBusy | WhileSubscribed | NoScript | Loading | Stale | Fast | NoAuth | NotQueued | EndsMulti, nil,
			"connection", "1.0.0",
			"O(1)",
			"Closes the connection.", quit},
		{"auth", "[username@6.0.0] password",
			-2, NoScript | Loading | Stale | Fast | NoAuth | AllowBusy, secrets(allFrom1), "connection", "1.0.0",
			"O(N) for N passwords of the user",
			"Logs this connection in as a user.", auth},
		{"hello", "[arguments: protover:integer [AUTH username password] [SETNAME clientname]]",
			-1, NoScript | Loading | Stale | Fast | NoAuth | AllowBusy, secrets(helloSecrets), "connection", "6.0.0",
			"O(1)",
			"Selects the protocol version. Can also log in and name the connection.", hello},
	}
}

const (
	errWrongPass  store.Error = "WRONGPASS invalid username-password pair or user is disabled."
	errNoPassword store.Error = "ERR AUTH <password> called without any password configured " +
		"for the default user. Are you sure your configuration is correct?"
	errNoProto   store.Error = "NOPROTO unsupported protocol version"
	errHelloAuth store.Error = "NOAUTH HELLO must be called with the client already authenticated, otherwise " +
		"the HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client " +
		"and select the RESP protocol version at the same time"
)

// PING [message] (server.c: pingCommand)
func ping(c *Call) error {
	listening := c.Sess.Subscriber && c.Sess.Proto < 3 // a RESP2 subscriber gets only arrays in the form of messages
	switch {
	case len(c.Args) > 2:
		return errArity(c.Cmd.Name)
	case listening:
		c.Array(2)
		c.BulkString("pong")
		c.Bulk(bytes.Join(c.Args[1:], nil))
	case len(c.Args) == 2:
		c.Bulk(c.Args[1])
	default:
		c.Status("PONG")
	}
	return nil
}

// ECHO message (server.c: echoCommand)
func echo(c *Call) error {
	c.Bulk(c.Args[1])
	return nil
}

// SELECT index (db.c: selectCommand)
func selectDB(c *Call) error {
	n, err := c.database(c.Args[1])
	switch {
	case err == errDBIndex && c.Ex.Cluster != nil:
		return errSelectCluster
	case err != nil:
		return err
	}
	c.Sess.DB = n
	c.OK()
	return nil
}

// QUIT (networking.c: quitCommand)
func quit(c *Call) error {
	c.Sess.CloseAfterReply = true
	c.OK()
	return nil
}

// AUTH [username] password (acl.c: authCommand)
func auth(c *Call) error {
	user, password := []byte("default"), c.Args[1]
	switch {
	case len(c.Args) > 3:
		return errSyntax
	case len(c.Args) == 3:
		user, password = c.Args[1], c.Args[2]
	case c.Ex.Users.Default.NoPass:
		return errNoPassword
	}
	if err := authenticate(c, user, password); err != nil {
		return err
	}
	c.OK()
	return nil
}

// authenticate logs the client in as user name.
func authenticate(c *Call, name, password []byte) error {
	u := c.Ex.Users.Authenticate(name, password)
	if u == nil {
		c.Ex.permissions.log(c.Sess, acl.DeniedAuth, c.Sess.context(fromClient), string(c.Args[0]), string(name))
		return errWrongPass
	}
	c.Sess.User, c.Sess.Authenticated = u, true
	return nil
}

// HELLO [protover [AUTH (username password)] [SETNAME clientname]] (networking.c: helloCommand)
func hello(c *Call) error {
	proto := c.Sess.Proto
	if len(c.Args) > 1 {
		v, ok := ascii.ParseInt(c.Args[1])
		if !ok {
			return store.Error("ERR Protocol version is not an integer or out of range")
		}
		if v < 2 || v > 3 {
			return errNoProto
		}
		proto = int(v)
	}
	var user, password, name []byte
	for i := 2; i < len(c.Args); i++ {
		left := len(c.Args) - 1 - i
		switch opt := c.Args[i]; {
		case is(opt, "auth") && left >= 2:
			user, password = c.Args[i+1], c.Args[i+2]
			i += 2
		case is(opt, "setname") && left >= 1:
			name = c.Args[i+1]
			if !validName(name) {
				return errClientName
			}
			i++
		default:
			return errorf("ERR Syntax error in HELLO option '%s'", opt)
		}
	}
	if user != nil {
		if err := authenticate(c, user, password); err != nil {
			return err
		}
	}
	if !c.Sess.Authenticated {
		return errHelloAuth
	}
	if name != nil {
		c.Sess.Name = string(name)
	}
	c.UseProtocol(proto)
	introduce(c)
	return nil
}

func introduce(c *Call) {
	mode := c.Ex.Mode()
	isSentinel := mode == "sentinel"
	if isSentinel {
		c.Map(6)
	} else {
		c.Map(7)
	}
	c.TextField("server", c.Ex.Table.Dialect.HelloServer)
	c.TextField("version", c.Ex.Table.Dialect.HelloVersion)
	c.IntField("proto", int64(c.Sess.Proto))
	c.IntField("id", c.Sess.ID)
	c.TextField("mode", mode)
	switch {
	case isSentinel: // it has no role
	case c.Ex.Refusals.Has(IsReplica):
		c.TextField("role", "replica")
	default:
		c.TextField("role", "master")
	}
	c.BulkString("modules")
	if !c.Ex.Table.Manners.engineModule {
		c.Array(0)
		return
	}
	c.Array(1) // Lua is a module
	c.Map(4)
	c.TextField("name", "lua")
	c.IntField("ver", 1)
	c.TextField("path", "lua")
	c.BulkString("args")
	c.Array(0)
}

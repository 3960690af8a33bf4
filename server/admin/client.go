package admin

import (
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/store"
)

// clientRows are the commands of group connection that concern other clients than the caller.
func clientRows() []command.Row {
	const flags = command.Admin | command.NoScript | command.Loading | command.Stale
	return []command.Row{
		server.Row("reset", "",
			1,
			command.NoScript|command.Loading|command.Stale|command.Fast|command.NoAuth|command.AllowBusy|
				command.WhileSubscribed|command.NotQueued|command.EndsMulti,
			"connection", "6.2.0",
			"O(1)",
			"Resets the state of the connection.", (*State).reset),
		server.Row("client|info", "",
			2, command.NoScript|command.Loading|command.Stale|command.NondeterministicOutput, "connection",
			"6.2.0",
			"O(1)",
			"Describes this connection.", (*State).clientInfo),
		server.Row("client|list", "[TYPE (client-type@5.0.0: NORMAL | MASTER | REPLICA | PUBSUB)] "+
			"[ID client-id@6.2.0:integer ...] [USER username@,8.1.0] [ADDR addr@,8.1.0/ip:port] [LADDR laddr@,8.1.0/ip:port] "+
			"[SKIPME (skipme@,8.1.0: YES | NO)] [MAXAGE maxage@,8.1.0:integer]"+strings.ReplaceAll(newerFilters, " | [", " ["),
			-2, flags|command.NondeterministicOutput, "connection", "2.4.0",
			"O(N) for N connections",
			"Describes all connections, or those that match filters.", (*State).clientList),
		server.Row("client|kill",
			"(filter: old-format@-2.8.12/ip:port | (new-format: [ID client-id@2.8.12:integer] "+
				"| [TYPE (client-type@2.8.12: NORMAL | MASTER@3.2.0 | PRIMARY@,8.0.0 | SLAVE | REPLICA@5.0.0 | PUBSUB)] "+
				"| [USER username] | [ADDR addr/ip:port] | [LADDR laddr@6.2.0/ip:port] | [SKIPME (skipme: YES | NO)] "+
				"| [MAXAGE maxage@7.4.0,8.0.0:integer]"+newerFilters+") ...)",
			-3, flags, "connection", "2.4.0",
			"O(N) for N connections",
			"Closes connections that match filters.", (*State).clientKill),
		server.Row("client|pause", "timeout [mode@6.2.0: WRITE | ALL]",
			-3, flags, "connection", "3.0.0",
			"O(1)",
			"Pauses all clients, or only their writes, for some time.", (*State).clientPause),
		server.Row("client|unpause", "",
			2, flags, "connection", "6.2.0",
			"O(N) for N paused clients",
			"Ends CLIENT PAUSE.", (*State).clientUnpause),
		server.Row("client|unblock", "client-id:integer [unblock-type: TIMEOUT | ERROR]",
			-3, flags, "connection", "5.0.0",
			"O(1)",
			"Ends the wait of a blocked client.", (*State).clientUnblock),
	}
}

// RESET (networking.c: resetCommand)
func (a *State) reset(c *command.Call) error {
	sess := c.Sess
	if a.s.Running.Sess.Replica {
		return store.Error("ERR can only reset normal client connections")
	}
	if sess.Monitor {
		a.Monitors.leave(a.s.Running)
	}
	a.s.Ex.Leave(sess)
	sess.DB, sess.Name = 0, ""
	c.UseProtocol(2)
	sess.NoEvict, sess.NoTouch, sess.ReadsHere = false, false, false
	sess.Replies = command.ReplyOn
	a.s.Ex.Anonymous(sess)
	a.s.Running.Parser.Limits.Unauthenticated = a.s.Ex.MustAuthenticate(sess)
	c.Status("RESET")
	return nil
}

// CLIENT INFO (networking.c: clientCommand)
func (a *State) clientInfo(c *command.Call) error {
	c.Verbatim("txt", string(append(a.s.Clients.Append(nil, a.s.Running), '\n')))
	return nil
}

// CLIENT LIST [TYPE (NORMAL | MASTER | REPLICA | PUBSUB)] ... (networking.c: clientCommand)
func (a *State) clientList(c *command.Call) error {
	var list []*server.Client
	switch args := c.Args[2:]; {
	case len(args) == 0:
		list = a.s.Clients.ByAge()
	case a.s.Ex.Table.Dialect.Has(filtersAreFree):
		f := clientFilter{c: c, old: []string{"id", "type"}}
		if err := f.parse(args); err != nil {
			return err
		}
		list = slices.DeleteFunc(a.s.Clients.ByAge(), func(c *server.Client) bool { return !f.matches(c) })
	case len(args) == 2 && ascii.EqualFold(args[0], "type"):
		class, err := server.ParseClass(args[1])
		if err != nil {
			return err
		}
		for _, other := range a.s.Clients.ByAge() {
			if other.Class() == class {
				list = append(list, other)
			}
		}
	case len(args) > 1 && ascii.EqualFold(args[0], "id"):
		for _, arg := range args[1:] {
			id, ok := ascii.ParseInt(arg)
			if !ok {
				return store.Error("ERR Invalid client ID")
			}
			if other := a.s.Clients.ByID[id]; other != nil && !other.Closed {
				list = append(list, other)
			}
		}
	default:
		return server.ErrSyntax
	}
	text := a.text[:0]
	for _, other := range list {
		text = append(a.s.Clients.Append(text, other), '\n')
	}
	a.reply(c, text)
	return nil
}

// CLIENT KILL old-format | (ID client-id | ADDR addr | ...) ... (networking.c: clientCommand)
func (a *State) clientKill(c *command.Call) error {
	f := clientFilter{c: c, old: []string{"id", "type", "addr", "laddr", "user", "skipme"}, spareMe: true}
	if len(c.Args) == 3 {
		addr := string(c.Args[2])
		f.add("addr", func(c *server.Client) bool { return c.Sess.Addr == addr })
		f.spareMe = false
		if a.kill(&f) == 0 {
			return store.Error("ERR No such client")
		}
		c.OK()
		return nil
	}
	if err := f.parse(c.Args[2:]); err != nil {
		return err
	}
	c.Int(int64(a.kill(&f)))
	return nil
}

// kill closes the clients that match. The caller is closed after its reply. The other sockets are
// shut down before that reply is written: a caller that has it may rely on this. CloseClient says
// why their descriptors stay open.
func (a *State) kill(f *clientFilter) (n int) {
	for _, c := range a.s.Clients.ByAge() {
		if !f.matches(c) {
			continue
		}
		n++
		if c == a.s.Running {
			c.Sess.CloseAfterReply = true
			continue
		}
		if !c.Muted {
			c.SayGoodbye()
			_ = unix.Shutdown(c.FD, unix.SHUT_RDWR) // fails if the other side has closed already
		}
		a.s.Leave(c)
	}
	return n
}

// CLIENT PAUSE timeout [WRITE | ALL] (networking.c: clientCommand)
func (a *State) clientPause(c *command.Call) error {
	kind := command.PausesAll
	switch {
	case len(c.Args) == 3:
	case len(c.Args) == 4 && ascii.EqualFold(c.Args[3], "write"):
		kind = command.PausesWrites
	case len(c.Args) == 4 && ascii.EqualFold(c.Args[3], "all"):
	case len(c.Args) == 4:
		return store.Error("ERR CLIENT PAUSE mode must be WRITE or ALL")
	default:
		return c.SubcommandSyntax()
	}
	ms, err := command.ParseMillis(c, c.Args[2])
	if err != nil {
		return err
	}
	a.s.Pausing.Begin(server.ByClient, kind, c.Ex.Clock.Timeline(c.Ex.Now.Mono)+ms*int64(time.Millisecond))
	c.OK()
	return nil
}

// CLIENT UNPAUSE (networking.c: clientCommand)
func (a *State) clientUnpause(c *command.Call) error {
	a.s.Pausing.End(server.ByClient)
	c.OK()
	return nil
}

// CLIENT UNBLOCK client-id [TIMEOUT | ERROR] (networking.c: clientCommand)
func (a *State) clientUnblock(c *command.Call) error {
	var reason error
	switch {
	case len(c.Args) == 3:
	case len(c.Args) == 4 && ascii.EqualFold(c.Args[3], "timeout"):
	case len(c.Args) == 4 && ascii.EqualFold(c.Args[3], "error"):
		reason = store.Error("UNBLOCKED client unblocked via CLIENT UNBLOCK")
	case len(c.Args) == 4:
		return store.Error("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR")
	default:
		return c.SubcommandSyntax()
	}
	id, ok := ascii.ParseInt(c.Args[2])
	if !ok {
		return store.ErrNotInt
	}
	target := a.s.Clients.ByID[id]
	if target == nil || target.Closed || target.Sess.Hold != command.Blocked {
		c.Int(0)
		return nil
	}
	a.s.Ex.Unblock(&target.Sess, reason)
	c.Int(1)
	return nil
}

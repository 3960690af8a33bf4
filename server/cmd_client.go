package server

import (
	"math"
	"time"

	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/acl"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/store"
)

// clientRows are the commands of group connection that concern other clients than the caller.
func clientRows() []command.Row {
	const flags = command.Admin | command.NoScript | command.Loading | command.Stale
	return []command.Row{
		row("reset", "",
			1,
			command.NoScript|command.Loading|command.Stale|command.Fast|command.NoAuth|command.AllowBusy|
				command.WhileSubscribed|command.NotQueued|command.EndsMulti,
			"connection", "6.2.0",
			"O(1)",
			"Resets the state of the connection.", (*Server).reset),
		row("client|info", "",
			2, command.NoScript|command.Loading|command.Stale|command.NondeterministicOutput, "connection",
			"6.2.0",
			"O(1)",
			"Describes this connection.", (*Server).clientInfo),
		row("client|list", "[TYPE (client-type@5.0.0: NORMAL | MASTER | REPLICA | PUBSUB)] [ID client-id@6.2.0:integer ...]",
			-2, flags|command.NondeterministicOutput, "connection", "2.4.0",
			"O(N) for N connections",
			"Describes all connections, or those that match filters.", (*Server).clientList),
		row("client|kill",
			"(filter: old-format@-2.8.12/ip:port | (new-format: [ID client-id@2.8.12:integer] "+
				"| [TYPE (client-type@2.8.12: NORMAL | MASTER@3.2.0 | SLAVE | REPLICA@5.0.0 | PUBSUB)] | [USER username] "+
				"| [ADDR addr/ip:port] | [LADDR laddr@6.2.0/ip:port] | [SKIPME (skipme: YES | NO)] "+
				"| [MAXAGE maxage@7.4.0,8.0.0:integer]) ...)",
			-3, flags, "connection", "2.4.0",
			"O(N) for N connections",
			"Closes connections that match filters.", (*Server).clientKill),
		row("client|pause", "timeout [mode@6.2.0: WRITE | ALL]",
			-3, flags, "connection", "3.0.0",
			"O(1)",
			"Pauses all clients, or only their writes, for some time.", (*Server).clientPause),
		row("client|unpause", "",
			2, flags, "connection", "6.2.0",
			"O(N) for N paused clients",
			"Ends CLIENT PAUSE.", (*Server).clientUnpause),
		row("client|unblock", "client-id:integer [unblock-type: TIMEOUT | ERROR]",
			-3, flags, "connection", "5.0.0",
			"O(1)",
			"Ends the wait of a blocked client.", (*Server).clientUnblock),
	}
}

// RESET (networking.c: resetCommand)
func (s *Server) reset(c *command.Call) error {
	sess := c.Sess
	if s.running.replicates() {
		return store.Error("ERR can only reset normal client connections")
	}
	if sess.Monitor {
		s.monitors.leave(s.running)
	}
	s.ex.Leave(sess)
	sess.DB, sess.Name = 0, ""
	c.UseProtocol(2)
	sess.NoEvict, sess.NoTouch = false, false
	sess.Replies = command.ReplyOn
	s.ex.Anonymous(sess)
	s.running.Parser.Limits.Unauthenticated = s.ex.MustAuthenticate(sess)
	c.Status("RESET")
	return nil
}

// CLIENT INFO (networking.c: clientCommand)
func (s *Server) clientInfo(c *command.Call) error {
	c.Verbatim("txt", string(append(s.clients.append(nil, s.running), '\n')))
	return nil
}

// CLIENT LIST [TYPE (NORMAL | MASTER | REPLICA | PUBSUB)] ... (networking.c: clientCommand)
func (s *Server) clientList(c *command.Call) error {
	var list []*client
	switch args := c.Args[2:]; {
	case len(args) == 0:
		list = s.clients.byAge()
	case len(args) == 2 && is(args[0], "type"):
		class, err := parseClass(args[1])
		if err != nil {
			return err
		}
		for _, other := range s.clients.byAge() {
			if other.class() == class {
				list = append(list, other)
			}
		}
	case len(args) > 1 && is(args[0], "id"):
		for _, arg := range args[1:] {
			id, ok := ascii.ParseInt(arg)
			if !ok {
				return store.Error("ERR Invalid client ID")
			}
			if other := s.clients.byID[id]; other != nil && !other.closed {
				list = append(list, other)
			}
		}
	default:
		return errSyntax
	}
	text := s.figures.report[:0]
	for _, other := range list {
		text = append(s.clients.append(text, other), '\n')
	}
	s.figures.reply(c, text)
	return nil
}

// killFilter holds the filters of CLIENT KILL. A filter that is not given matches all clients.
type killFilter struct {
	addr, laddr       string
	user              *acl.User
	id                int64
	class             int
	anyClass, spareMe bool
	longest           int64 // ns of the connection; 0 for any
}

// CLIENT KILL old-format | (ID client-id | ADDR addr | ...) ... (networking.c: clientCommand)
func (s *Server) clientKill(c *command.Call) error {
	f := killFilter{anyClass: true, spareMe: true}
	if len(c.Args) == 3 {
		f.addr, f.spareMe = string(c.Args[2]), false
		if s.kill(&f) == 0 {
			return store.Error("ERR No such client")
		}
		c.OK()
		return nil
	}
	if err := f.parse(c, c.Args[2:]); err != nil {
		return err
	}
	c.Int(int64(s.kill(&f)))
	return nil
}

func (f *killFilter) parse(c *command.Call, args [][]byte) (err error) {
	for ; len(args) > 0; args = args[2:] {
		if len(args) == 1 {
			return errSyntax
		}
		opt, val := args[0], args[1]
		switch {
		case is(opt, "id"):
			n, ok := ascii.ParseInt(val)
			if !ok || n < 1 {
				return store.Error("ERR client-id should be greater than 0")
			}
			f.id = n
		case is(opt, "type"):
			if f.class, err = parseClass(val); err != nil {
				return err
			}
			f.anyClass = false
		case is(opt, "addr"):
			f.addr = string(val)
		case is(opt, "laddr"):
			f.laddr = string(val)
		case is(opt, "user"):
			if f.user = c.Ex.Users.Get(val); f.user == nil {
				return errorf("ERR No such user '%s'", val)
			}
		case is(opt, "maxage") && c.Cmd.Offers("maxage"):
			seconds, ok := ascii.ParseInt(val)
			switch {
			case !ok:
				return store.Error("ERR maxage is not an integer or out of range")
			case seconds <= 0:
				return store.Error("ERR maxage should be greater than 0")
			}
			f.longest = min(seconds, math.MaxInt64/int64(time.Second)) * int64(time.Second)
		case is(opt, "skipme") && is(val, "yes"):
			f.spareMe = true
		case is(opt, "skipme") && is(val, "no"):
			f.spareMe = false
		default:
			return errSyntax
		}
	}
	return nil
}

// kill closes the clients that match. The caller is closed after its reply. The other sockets are
// shut down before that reply is written: a caller that has it may rely on this. close says why
// their descriptors stay open.
func (s *Server) kill(f *killFilter) (n int) {
	for _, c := range s.clients.byAge() {
		switch {
		case f.addr != "" && f.addr != c.sess.Addr,
			f.laddr != "" && f.laddr != c.laddr,
			f.user != nil && f.user != c.sess.User,
			f.id != 0 && f.id != c.sess.ID,
			!f.anyClass && f.class != c.class(),
			s.now-c.created < f.longest,
			f.spareMe && c == s.running:
			continue
		}
		n++
		if c == s.running {
			c.sess.CloseAfterReply = true
			continue
		}
		if !c.muted {
			c.SayGoodbye()
			_ = unix.Shutdown(c.FD, unix.SHUT_RDWR) // fails if the other side has closed already
		}
		s.leave(c)
	}
	return n
}

// CLIENT PAUSE timeout [WRITE | ALL] (networking.c: clientCommand)
func (s *Server) clientPause(c *command.Call) error {
	kind := command.PauseAll
	switch {
	case len(c.Args) == 3:
	case len(c.Args) == 4 && is(c.Args[3], "write"):
		kind = command.PauseWrites
	case len(c.Args) == 4 && is(c.Args[3], "all"):
	case len(c.Args) == 4:
		return store.Error("ERR CLIENT PAUSE mode must be WRITE or ALL")
	default:
		return c.SubcommandSyntax()
	}
	ms, err := command.ParseMillis(c, c.Args[2])
	if err != nil {
		return err
	}
	s.pausing.begin(byClient, kind, c.Ex.Clock.Timeline(c.Ex.Now.Mono)+ms*int64(time.Millisecond))
	c.OK()
	return nil
}

// CLIENT UNPAUSE (networking.c: clientCommand)
func (s *Server) clientUnpause(c *command.Call) error {
	s.pausing.end(byClient)
	c.OK()
	return nil
}

// CLIENT UNBLOCK client-id [TIMEOUT | ERROR] (networking.c: clientCommand)
func (s *Server) clientUnblock(c *command.Call) error {
	var reason error
	switch {
	case len(c.Args) == 3:
	case len(c.Args) == 4 && is(c.Args[3], "timeout"):
	case len(c.Args) == 4 && is(c.Args[3], "error"):
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
	target := s.clients.byID[id]
	if target == nil || target.closed || target.sess.Hold != command.Blocked {
		c.Int(0)
		return nil
	}
	s.ex.Unblock(&target.sess, reason)
	c.Int(1)
	return nil
}

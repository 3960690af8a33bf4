package lab

import (
	"slices"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/store"
)

// A network that fails, as clients see it:
//
//	LAB LISTEN OFF      new connections are refused; existing ones stay
//	LAB BLACKHOLE ON    no client gets anything through in either direction, but all stay connected;
//	                    new connections wait in the kernel
//	LAB PARTITION ...   the same for clients with certain names
//
// These clients are muted: the server neither reads from them nor writes to them. What they send
// stays in the kernel. Their replies and messages stay in their output. Their blocked commands may
// time out or be served. Nothing is lost: everything arrives once the network is back. The end of a
// connection does not arrive either. A client that has used LAB is never muted, so that it can end
// the failure.

func netRows() []command.Row {
	const each = "O(N) in the client connections"
	return []command.Row{
		switchRow("listen", "O(1)", "Accepts or refuses new connections.", (*State).listenSwitch),
		switchRow("blackhole", each, "Stops all traffic with clients, or lets it go on.", (*State).blackholeSwitch),
		wordsRow("partition", "(CLIENT name-glob:pattern (ON | OFF)) | LIST",
			-2, each,
			"Cuts off clients by name, reconnects them, or lists them.",
			labWord{"CLIENT", 1, 2, command.AllowBusy, (*State).partition},
			labWord{"LIST", 0, 0, command.AllowBusy, (*State).partitionList}),
	}
}

// switchRow makes the row of a subcommand that is ON or OFF.
func switchRow(
	name, complexity, summary string, do func(l *State, c *command.Call, on bool) error,
) command.Row {
	return wordsRow(name, "(ON | OFF)", -2, complexity, summary,
		labWord{"ON", 0, 0, command.AllowBusy, func(l *State, c *command.Call, _ [][]byte) error {
			return do(l, c, true)
		}},
		labWord{"OFF", 0, 0, command.AllowBusy, func(l *State, c *command.Call, _ [][]byte) error {
			return do(l, c, false)
		}})
}

func (l *State) listenSwitch(c *command.Call, on bool) error {
	if err := l.setDeaf(!on); err != nil {
		return labError("listen on", "%v", err)
	}
	c.OK()
	return nil
}

// setDeaf stops listening, or listens again.
func (l *State) setDeaf(deaf bool) error {
	l.deaf = deaf
	err := l.openOrClose()
	l.deaf = deaf || err != nil
	return err
}

// openOrClose listens unless the lab refuses connections.
func (l *State) openOrClose() error {
	switch {
	case l.refuses():
		l.Listeners.Refuse()
	case len(l.Listeners.All) == 0:
		if err := l.Listeners.Open(); err != nil {
			l.Listeners.Refuse()
			return err
		}
	}
	return nil
}

// refuses reports whether the lab refuses connections.
func (l *State) refuses() bool { return l.deaf || l.down != nil }

func (l *State) blackholeSwitch(c *command.Call, on bool) error {
	if err := l.setBlackhole(on); err != nil {
		return labError("blackhole", "%v", err)
	}
	c.OK()
	return nil
}

func (l *State) setBlackhole(on bool) error {
	l.blackhole = on
	l.setAllMuted()
	for _, each := range l.Listeners.All {
		if err := l.Listeners.Watch(each); err != nil {
			return err
		}
	}
	return nil
}

func (l *State) partition(c *command.Call, args [][]byte) error {
	const verb = "partition client"
	if len(args) == 1 {
		return labError(verb, "ON or OFF is missing")
	}
	glob := string(args[0])
	at := slices.Index(l.partitions, glob)
	switch word := labVerb(args[1]); {
	case word != "ON" && word != "OFF":
		return labError(verb, "expects ON or OFF, not '%s'", printable(args[1]))
	case word == "ON" && at < 0:
		l.partitions = append(l.partitions, glob)
	case word == "OFF" && at < 0:
		return labError(verb, "no partition is named '%s'", lab.Printable(glob))
	case word == "OFF":
		l.partitions = slices.Delete(l.partitions, at, at+1)
	}
	l.setAllMuted()
	c.OK()
	return nil
}

// partitionList also shows how many connections are cut off. A test whose pool has sent LAB over some
// of them sees there that these are spared.
func (l *State) partitionList(c *command.Call, _ [][]byte) error {
	c.Array(len(l.partitions))
	for _, glob := range l.partitions {
		cut, spared := l.concerned(glob)
		c.Map(3)
		c.BulkString("client")
		c.BulkString(lab.Printable(glob))
		c.BulkString("cut")
		c.Int(cut)
		c.BulkString("spared")
		c.Int(spared)
	}
	return nil
}

// concerned counts the connections whose names match. A connection that has sent LAB is spared, all
// others are cut off.
func (l *State) concerned(glob string) (cut, spared int64) {
	for _, c := range l.Clients.Order {
		switch {
		case c.Closed || !isOf(glob, c.Sess.Name):
		case Of(c).control:
			spared++
		default:
			cut++
		}
	}
	return cut, spared
}

// isOf reports whether glob matches a client's name. A client without a name never matches.
func isOf(glob, name string) bool {
	return name != "" && store.Match([]byte(glob), []byte(name), false)
}

// mutes reports whether the network holds up c's traffic.
func (l *State) mutes(c *server.Client) bool { return !Of(c).control && l.hides(c.Sess.Name) }

// hides reports whether the network holds up the traffic of clients with this name.
func (l *State) hides(name string) bool {
	return l.blackhole || slices.ContainsFunc(l.partitions, func(glob string) bool { return isOf(glob, name) })
}

// setAllMuted calls setMuted for all clients and closes the sockets that need not linger any more.
func (l *State) setAllMuted() {
	for _, c := range l.Clients.Order {
		l.setMuted(c)
	}
	l.lingering = slices.DeleteFunc(l.lingering, func(socket lingering) bool {
		if l.hides(socket.name) {
			return false
		}
		socket.end.Close(socket.fd)
		return true
	})
	l.linkCut.Store(l.cutsLink(l.Follow.Port))
	l.turnIfReached()
}

// lingering is the socket of a client that was closed while muted. The other side must not notice
// before the network is back. Then it sees what a real network would show it: a reset if it has sent
// something to the closed connection, otherwise the end of the connection.
type lingering struct {
	fd   int
	name string // of the client
	end  server.Ending
}

// linger keeps the socket of c open if c is muted. c is about to be freed.
func (l *State) linger(c *server.Client) {
	if c.Muted && l.mutes(c) {
		l.limitLingering()
		l.lingering = append(l.lingering, lingering{c.FD, c.Sess.Name, c.Ending})
		c.Ending = server.KeptOpen
	}
}

// limitLingering closes the oldest lingering sockets if clients and lingering sockets together are more
// than maxclients. A kernel drops orphaned connections in the same way (tcp_max_orphans).
func (l *State) limitLingering() {
	for len(l.lingering) > 0 && len(l.lingering)+len(l.Clients.ByID) > l.Cfg.MaxClients {
		l.lingering[0].end.Close(l.lingering[0].fd)
		l.lingering = slices.Delete(l.lingering, 0, 1)
	}
}

// closeLingering closes all lingering sockets when the server ends.
func (l *State) closeLingering() {
	for _, socket := range l.lingering {
		socket.end.Close(socket.fd)
	}
	l.lingering = nil
}

// acceptUnlessBlackhole is AcceptHandler. In a black hole it stops watching the listener, so that
// connections wait in the kernel. setBlackhole watches the listener again.
func (l *State) acceptUnlessBlackhole(from *server.Listener) {
	if l.blackhole {
		l.Loop.Unwatch(from.FD, reactor.Readable)
		return
	}
	l.AcceptHandler(from)
	l.limitLingering()
}

// setMuted mutes c or ends that. The client's name decides, and it may have changed.
func (l *State) setMuted(c *server.Client) {
	muted := l.mutes(c)
	if muted == c.Muted || c.Closed {
		return
	}
	c.Muted = muted
	if muted {
		l.Loop.Unwatch(c.FD, reactor.Readable|reactor.Writable|reactor.HangUp)
		l.Unqueue(c)
		return
	}
	l.WatchInput(c)
	c.Full = false
	if c == l.Running || c.Protected || c.Sess.Master { // it continues without help
		return
	}
	l.WantWrite(c)
	if c.Sess.Hold == command.NotHeld {
		l.Resumed = append(l.Resumed, c) // it may have commands that were read and not executed
	}
}

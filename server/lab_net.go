package server

import (
	"slices"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/store"
)

// A network that fails, as seen from clients:
//
//	LAB LISTEN OFF      connections are refused, those there are stay
//	LAB BLACKHOLE ON    nobody is heard and nobody is answered, but all seem connected; who
//	                    connects is left waiting in the kernel
//	LAB PARTITION ...   the same for clients of some names
//
// A client in the dark is neither read from nor written to. What it has sent stays in the
// kernel, its replies and messages stay here, its blocked command may time out or be
// served: what a network does not deliver is not lost, it comes when the network is back.
// The end of its connection is not delivered either. Whoever has used LAB is never in the dark,
// else nobody could end it.

func (l *labState) netRows() []command.Row {
	const each = "O(N) in the client connections"
	return []command.Row{
		l.switchRow("listen", "O(1)", "Accepts or refuses new connections.", l.listenSwitch),
		l.switchRow("blackhole", each, "Stops all traffic with clients, or lets it go on.", l.blackholeSwitch),
		l.wordsRow("partition", "(CLIENT name-glob:pattern (ON | OFF)) | LIST", -2, each, "Cuts off clients by name, reconnects them, or lists them.",
			labWord{"CLIENT", 1, 2, command.AllowBusy, l.partition},
			labWord{"LIST", 0, 0, command.AllowBusy, l.partitionList}),
	}
}

// switchRow is wordsRow of what is on or off.
func (l *labState) switchRow(name, complexity, summary string, do func(c *command.Call, on bool) error) command.Row {
	return l.wordsRow(name, "(ON | OFF)", -2, complexity, summary,
		labWord{"ON", 0, 0, command.AllowBusy, func(c *command.Call, _ [][]byte) error { return do(c, true) }},
		labWord{"OFF", 0, 0, command.AllowBusy, func(c *command.Call, _ [][]byte) error { return do(c, false) }})
}

func (l *labState) listenSwitch(c *command.Call, on bool) error {
	if err := l.setDeaf(!on); err != nil {
		return labError("listen on", "%v", err)
	}
	c.OK()
	return nil
}

func (l *labState) setDeaf(deaf bool) error {
	l.deaf = deaf
	err := l.openOrClose()
	l.deaf = deaf || err != nil
	return err
}

// openOrClose listens when nothing in the lab is against it.
func (l *labState) openOrClose() error {
	switch {
	case l.refuses():
		l.closeListeners()
	case len(l.listeners) == 0:
		if err := l.listen(); err != nil {
			l.closeListeners()
			return err
		}
	}
	return nil
}

// refuses tells whether connections are refused: nothing may listen.
func (l *labState) refuses() bool { return l != nil && (l.deaf || l.down != nil) }

func (l *labState) blackholeSwitch(c *command.Call, on bool) error {
	if err := l.setBlackhole(on); err != nil {
		return labError("blackhole", "%v", err)
	}
	c.OK()
	return nil
}

func (l *labState) setBlackhole(on bool) error {
	l.blackhole = on
	l.setAllMuted()
	for _, each := range l.listeners {
		if err := l.watchListener(each); err != nil {
			return err
		}
	}
	return nil
}

func (l *labState) partition(c *command.Call, args [][]byte) error {
	const verb = "partition client"
	if len(args) == 1 {
		return labError(verb, "ON or OFF is missing")
	}
	glob := string(args[0])
	at := slices.Index(l.partitions, glob)
	switch word := labVerb(args[1]); {
	case word != "ON" && word != "OFF":
		return labError(verb, "expects ON or OFF, not '%s'", lab.Printable(string(args[1])))
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

// partitionList tells how many connections are cut off. A test whose clients take theirs from
// the pool that also says LAB finds that fewer are than it has.
func (l *labState) partitionList(c *command.Call, _ [][]byte) error {
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

// concerned counts the connections whose names match: those that can be cut off, and those that
// never are, as they have said LAB.
func (l *labState) concerned(glob string) (cut, spared int64) {
	for _, c := range l.order {
		switch {
		case c.closed || !isOf(glob, c.sess.Name):
		case c.lab.control:
			spared++
		default:
			cut++
		}
	}
	return cut, spared
}

// isOf tells whether a client of that name is meant by glob.
func isOf(glob, name string) bool {
	return name != "" && store.Match([]byte(glob), []byte(name), false)
}

// inTheDark tells whether nothing is to go to c or to come from it.
func (l *labState) inTheDark(c *client) bool { return !c.lab.control && l.hides(c.sess.Name) }

func (l *labState) hides(name string) bool {
	return l.blackhole || slices.ContainsFunc(l.partitions, func(glob string) bool { return isOf(glob, name) })
}

// setAllMuted is setMuted of all clients, and lets go of the sockets that linger no more.
func (l *labState) setAllMuted() {
	for _, c := range l.order {
		l.setMuted(c)
	}
	l.lingering = slices.DeleteFunc(l.lingering, func(socket lingering) bool {
		if l.hides(socket.name) {
			return false
		}
		socket.end.close(socket.fd)
		return true
	})
}

// lingering is the socket of a client that was closed while it was muted. Its other side must not
// notice before the network is back. Then it sees what it would see of a real network: a reset if it
// has sent something to the connection that is gone, otherwise the end of the connection.
type lingering struct {
	fd   int
	name string // of the client
	end  ending
}

// linger keeps the socket of a muted client open, which is about to be freed.
func (l *labState) linger(c *client) {
	if c.muted && l.inTheDark(c) {
		l.limitLingering()
		l.lingering = append(l.lingering, lingering{c.FD, c.sess.Name, c.ending})
		c.ending = keptOpen
	}
}

// limitLingering closes the oldest lingering sockets if there are more sockets than there may be
// clients. A kernel gives up orphaned connections as well (tcp_max_orphans).
func (l *labState) limitLingering() {
	for len(l.lingering) > 0 && len(l.lingering)+len(l.clients) > l.cfg.MaxClients {
		l.lingering[0].end.close(l.lingering[0].fd)
		l.lingering = slices.Delete(l.lingering, 0, 1)
	}
}

// closeLingering is for the end of the server.
func (l *labState) closeLingering() {
	for _, socket := range l.lingering {
		socket.end.close(socket.fd)
	}
	l.lingering = nil
}

// acceptUnlessBlackhole is acceptHandler. In a black hole, connections are left waiting in the kernel:
// setBlackhole watches the listeners again.
func (l *labState) acceptUnlessBlackhole(from *listener) {
	if l.blackhole {
		l.loop.Unwatch(from.fd, reactor.Readable)
		return
	}
	l.acceptHandler(from)
	l.limitLingering()
}

// setMuted mutes c or takes that back. Its name decides, which may have changed.
func (l *labState) setMuted(c *client) {
	muted := l.inTheDark(c)
	if muted == c.muted || c.closed {
		return
	}
	c.muted = muted
	if muted {
		l.loop.Unwatch(c.FD, reactor.Readable|reactor.Writable|reactor.HangUp)
		l.unqueue(c)
		return
	}
	l.watchInput(c)
	c.full = false
	if c == l.running || c.protected { // it goes on by itself
		return
	}
	l.wantWrite(c)
	if c.sess.Hold == command.NotHeld {
		l.resumed = append(l.resumed, c) // may have been read and not executed
	}
}

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

func (s *Server) labNetRows() []command.Row {
	const each = "O(N) in the client connections"
	return []command.Row{
		s.labSwitchRow("listen", "O(1)", "Refuses new connections, or takes them again.", s.labListen),
		s.labSwitchRow("blackhole", each, "Leaves everybody without answers, or delivers all again.", s.labBlackhole),
		s.labWordsRow("partition", "(CLIENT name-glob:pattern (ON | OFF)) | LIST", -2, each, "Leaves clients of some names without answers, or delivers theirs again.",
			labWord{"CLIENT", 1, 2, command.AllowBusy, s.labPartition},
			labWord{"LIST", 0, 0, command.AllowBusy, s.labPartitionList}),
	}
}

// labSwitchRow is labWordsRow of what is on or off.
func (s *Server) labSwitchRow(name, complexity, summary string, do func(c *command.Call, on bool) error) command.Row {
	return s.labWordsRow(name, "(ON | OFF)", -2, complexity, summary,
		labWord{"ON", 0, 0, command.AllowBusy, func(c *command.Call, _ [][]byte) error { return do(c, true) }},
		labWord{"OFF", 0, 0, command.AllowBusy, func(c *command.Call, _ [][]byte) error { return do(c, false) }})
}

func (s *Server) labListen(c *command.Call, on bool) error {
	if err := s.setDeaf(!on); err != nil {
		return labError("listen on", "%v", err)
	}
	c.OK()
	return nil
}

func (s *Server) setDeaf(deaf bool) error {
	s.lab.deaf = deaf
	err := s.openOrClose()
	s.lab.deaf = deaf || err != nil
	return err
}

// openOrClose listens when nothing in the lab is against it.
func (s *Server) openOrClose() error {
	switch {
	case s.labRefuses():
		s.closeListeners()
	case len(s.listeners) == 0:
		if err := s.listen(); err != nil {
			s.closeListeners()
			return err
		}
	}
	return nil
}

// labRefuses tells whether connections are refused: nothing may listen.
func (s *Server) labRefuses() bool { return s.lab != nil && (s.lab.deaf || s.lab.down != nil) }

func (s *Server) labBlackhole(c *command.Call, on bool) error {
	if err := s.setBlackhole(on); err != nil {
		return labError("blackhole", "%v", err)
	}
	c.OK()
	return nil
}

func (s *Server) setBlackhole(on bool) error {
	s.lab.blackhole = on
	s.setAllMuted()
	for _, l := range s.listeners {
		if err := s.watchListener(l); err != nil {
			return err
		}
	}
	return nil
}

func (s *Server) labPartition(c *command.Call, args [][]byte) error {
	const verb = "partition client"
	if len(args) == 1 {
		return labError(verb, "ON or OFF is missing")
	}
	l, glob := s.lab, string(args[0])
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
	s.setAllMuted()
	c.OK()
	return nil
}

// labPartitionList tells how many connections are cut off. A test whose clients take theirs from
// the pool that also says LAB finds that fewer are than it has.
func (s *Server) labPartitionList(c *command.Call, _ [][]byte) error {
	c.Array(len(s.lab.partitions))
	for _, glob := range s.lab.partitions {
		cut, spared := s.concerned(glob)
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
func (s *Server) concerned(glob string) (cut, spared int64) {
	for _, c := range s.order {
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
func (s *Server) inTheDark(c *client) bool { return !c.lab.control && s.hides(c.sess.Name) }

func (s *Server) hides(name string) bool {
	return s.lab.blackhole || slices.ContainsFunc(s.lab.partitions, func(glob string) bool { return isOf(glob, name) })
}

// setAllMuted is setMuted of all clients, and lets go of the sockets that linger no more.
func (s *Server) setAllMuted() {
	for _, c := range s.order {
		s.setMuted(c)
	}
	s.lab.lingering = slices.DeleteFunc(s.lab.lingering, func(l lingering) bool {
		if s.hides(l.name) {
			return false
		}
		l.end.close(l.fd)
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
func (s *Server) linger(c *client) {
	if c.muted && s.inTheDark(c) {
		s.limitLingering()
		s.lab.lingering = append(s.lab.lingering, lingering{c.FD, c.sess.Name, c.ending})
		c.ending = keptOpen
	}
}

// limitLingering closes the oldest lingering sockets if there are more sockets than there may be
// clients. A kernel gives up orphaned connections as well (tcp_max_orphans).
func (s *Server) limitLingering() {
	for len(s.lab.lingering) > 0 && len(s.lab.lingering)+len(s.clients) > s.cfg.MaxClients {
		s.lab.lingering[0].end.close(s.lab.lingering[0].fd)
		s.lab.lingering = slices.Delete(s.lab.lingering, 0, 1)
	}
}

// closeLingering is for the end of the server.
func (s *Server) closeLingering() {
	for _, l := range s.lab.lingering {
		l.end.close(l.fd)
	}
	s.lab.lingering = nil
}

// labAccept is acceptHandler. In a black hole, connections are left waiting in the kernel:
// setBlackhole watches the listeners again.
func (s *Server) labAccept(l *listener) {
	if s.lab.blackhole {
		s.loop.Unwatch(l.fd, reactor.Readable)
		return
	}
	s.acceptHandler(l)
	s.limitLingering()
}

// setMuted mutes c or takes that back. Its name decides, which may have changed.
func (s *Server) setMuted(c *client) {
	muted := s.inTheDark(c)
	if muted == c.muted || c.closed {
		return
	}
	c.muted = muted
	if muted {
		s.loop.Unwatch(c.FD, reactor.Readable|reactor.Writable|reactor.HangUp)
		s.unqueue(c)
		return
	}
	s.watchInput(c)
	c.full = false
	if c == s.running || c.protected { // it goes on by itself
		return
	}
	s.wantWrite(c)
	if c.sess.Hold == command.NotHeld {
		s.resumed = append(s.resumed, c) // may have been read and not executed
	}
}

package proxy

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/resp"
)

// A network that fails between clients and the proxy, as at a server: LAB BLACKHOLE and LAB PARTITION mute clients. The
// proxy reads nothing of these, and writes nothing to them. Nothing is lost: what has come from the upstream waits in
// the pair, and what the client sends waits in the kernel. The end of a connection waits as well. A client that has
// sent LAB is never muted.

// lingering is the socket of a muted client whose pair has ended.
type lingering struct {
	fd   int
	name string
	how  ending
}

// mutes reports whether the network holds up the traffic of clients with a name.
func (l *labState) mutes(name string) bool {
	return l.blackhole || name != "" && slices.ContainsFunc(l.partitions, func(glob string) bool {
		return l.p.cfg.Match(glob, []byte(name))
	})
}

// setMuted mutes a client, or lets its traffic go on.
func (c *pair) setMuted() {
	muted := !c.control && c.up.lab.mutes(c.name)
	if muted == c.muted || c.ended || c.dying {
		return
	}
	c.muted = muted
	switch {
	case !c.replies.full:
	case muted:
		c.p.loop.Unwatch(c.client, reactor.Writable)
	default:
		c.replies.full = false
		c.replies.wait(true)
	}
	c.requests.rewatch()
}

// renamed is for a client that may have another name since its last request.
func (c *pair) renamed() {
	if len(c.up.lab.partitions) > 0 {
		c.setMuted()
	}
}

// setAllMuted calls setMuted for all clients, and closes the sockets that need not linger any more.
func (l *labState) setAllMuted(u *upstream) {
	for c := range u.pairs {
		c.setMuted()
	}
	l.lingering = slices.DeleteFunc(l.lingering, func(s lingering) bool {
		if l.mutes(s.name) {
			return false
		}
		closeSocket(s.fd, s.how)
		return true
	})
	if l.blackhole && u.listener >= 0 {
		l.p.loop.Unwatch(u.listener, reactor.Readable)
	} else {
		u.accepts()
	}
}

// mostLingering bounds the sockets of clients that are gone: the oldest one is closed.
const mostLingering = 1000

// linger keeps the socket of a client open, because nothing reaches it.
func (c *pair) linger() {
	l := &c.up.lab
	if len(l.lingering) == mostLingering {
		closeSocket(l.lingering[0].fd, l.lingering[0].how)
		l.lingering = slices.Delete(l.lingering, 0, 1)
	}
	l.lingering = append(l.lingering, lingering{c.client, c.name, c.ending})
}

func (l *labState) blackholeSwitch(c *pair, d *due, args [][]byte) []byte {
	on, known := isOn(args[0])
	if !known {
		l.fail(c, d, "blackhole", "expects ON or OFF, not '%s'", lab.Printable(string(args[0])))
		return nil
	}
	l.blackhole = on
	l.setAllMuted(c.up)
	return l.ok(c, d)
}

func isOn(word []byte) (on, known bool) {
	text := strings.ToUpper(string(word))
	return text == "ON", text == "ON" || text == "OFF"
}

func (l *labState) partition(c *pair, d *due, args [][]byte) []byte {
	glob := string(args[0])
	at := slices.Index(l.partitions, glob)
	switch on, known := isOn(args[1]); {
	case !known:
		l.fail(c, d, "partition client", "expects ON or OFF, not '%s'", lab.Printable(string(args[1])))
		return nil
	case on && at < 0:
		l.partitions = append(l.partitions, glob)
	case !on && at < 0:
		l.fail(c, d, "partition client", "no partition is named '%s'", lab.Printable(glob))
		return nil
	case !on:
		l.partitions = slices.Delete(l.partitions, at, at+1)
	}
	l.setAllMuted(c.up)
	return l.ok(c, d)
}

// partitionList also shows how many connections are cut off, and how many are not, because they have sent LAB.
func (l *labState) partitionList(c *pair, d *due, _ [][]byte) []byte {
	l.answer(c, d, func(w *resp.Writer) {
		w.Array(len(l.partitions))
		for _, glob := range l.partitions {
			cut, spared := int64(0), int64(0)
			for each := range c.up.pairs {
				switch {
				case each.ended || each.name == "" || !l.p.cfg.Match(glob, []byte(each.name)):
				case each.control:
					spared++
				default:
					cut++
				}
			}
			w.Map(3)
			w.TextField("client", lab.Printable(glob))
			w.IntField("cut", cut)
			w.IntField("spared", spared)
		}
	})
	return nil
}

// heal ends all failures of the network.
func (l *labState) heal(u *upstream) {
	l.blackhole, l.partitions = false, nil
	l.setAllMuted(u)
}

// closeLingering closes all lingering sockets, when the proxy ends.
func (l *labState) closeLingering() {
	for _, s := range l.lingering {
		_ = unix.Close(s.fd)
	}
	l.lingering = nil
}

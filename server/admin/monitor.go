package admin

import (
	"slices"
	"strconv"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/store"
)

// monitors are the clients that see every command.
type monitors struct {
	s    *server.Server
	all  []*server.Client
	line []byte // buffer for what they get
}

// MONITOR (server.c: monitorCommand)
func (a *State) monitor(c *command.Call) error {
	if c.Ex.Depth > 0 || a.s.Running == nil { // nobody runs what is loaded from an append only file
		return store.Error("ERR MONITOR isn't allowed for DENY BLOCKING client")
	}
	if c.Sess.Monitor || a.s.Running.Sess.Replica {
		return nil // Redis does not reply to a second MONITOR and to a replica's either
	}
	c.Sess.Monitor = true
	a.Monitors.all = append(a.Monitors.all, a.s.Running)
	a.s.Ex.Monitored = true
	c.OK()
	return nil
}

func (ms *monitors) leave(c *server.Client) {
	c.Sess.Monitor = false
	ms.all = slices.DeleteFunc(ms.all, func(m *server.Client) bool { return m == c })
	if len(ms.all) == 0 {
		ms.s.Ex.Monitored = false
	}
}

// Feed sends a command to the monitors (replication.c: replicationFeedMonitors).
func (ms *monitors) Feed(sess *command.Session, args [][]byte) {
	us := ms.s.Ex.Now.Wall / 1e3
	b := append(ms.line[:0], '+')
	b = strconv.AppendInt(b, us/1e6, 10)
	b = append(b, '.')
	b = append(b, strconv.FormatInt(1e6+us%1e6, 10)[1:]...)
	b = append(b, " ["...)
	b = strconv.AppendInt(b, int64(sess.DB), 10)
	b = append(b, ' ')
	switch {
	case ms.s.Ex.Scripts.Running():
		b = append(b, "lua"...)
	case len(sess.Addr) > 0 && sess.Addr[0] == '/':
		b = append(b, "unix:"...)
		b = append(b, sess.Addr[:len(sess.Addr)-len(":0")]...)
	default:
		b = append(b, sess.Addr...)
	}
	b = append(b, ']')
	for _, a := range args {
		b = append(b, ' ')
		b = ascii.AppendQuoted(b, a)
	}
	ms.line = append(b, "\r\n"...)
	for _, m := range ms.all {
		if m.Sess.Replies == command.ReplyOn && !ms.s.Ex.SendLater(&m.Sess, ms.line) {
			ms.s.PushMessage(m, ms.line)
		}
	}
	if cap(ms.line) > keepLine {
		ms.line = nil
	}
}

// keepLine is the size in bytes up to which the memory of a monitor's line is reused.
const keepLine = 64 << 10

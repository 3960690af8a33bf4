package server

import (
	"slices"
	"strconv"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/store"
)

// MONITOR (server.c: monitorCommand)
func (s *Server) monitor(c *command.Call) error {
	if c.Sess.Monitor {
		return nil // Redis does not reply to a second MONITOR either
	}
	if c.Ex.Depth > 0 {
		return store.Error("ERR MONITOR isn't allowed for DENY BLOCKING client")
	}
	c.Sess.Monitor = true
	s.monitors = append(s.monitors, s.running)
	s.ex.Monitored = true
	c.OK()
	return nil
}

func (s *Server) leaveMonitors(c *client) {
	c.sess.Monitor = false
	s.monitors = slices.DeleteFunc(s.monitors, func(m *client) bool { return m == c })
	if len(s.monitors) == 0 {
		s.ex.Monitored = false
	}
}

// feedMonitors sends a command to the monitors (replication.c: replicationFeedMonitors).
func (s *Server) feedMonitors(sess *command.Session, args [][]byte) {
	us := s.ex.Now.Wall / 1e3
	b := append(s.line[:0], '+')
	b = strconv.AppendInt(b, us/1e6, 10)
	b = append(b, '.')
	b = append(b, strconv.FormatInt(1e6+us%1e6, 10)[1:]...)
	b = append(b, " ["...)
	b = strconv.AppendInt(b, int64(sess.DB), 10)
	b = append(b, ' ')
	switch {
	case s.ex.Scripts.Running():
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
	s.line = append(b, "\r\n"...)
	for _, m := range s.monitors {
		if m.sess.Replies == command.ReplyOn && !s.ex.SendLater(&m.sess, s.line) {
			s.push(m, s.line)
		}
	}
	if cap(s.line) > keepLine {
		s.line = nil
	}
}

// keepLine is the size in bytes up to which the memory of a monitor's line is reused.
const keepLine = 64 << 10

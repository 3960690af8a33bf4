package server

import "github.com/miniredisd/miniredisd/command"

// host is how the executor reaches the server: command.Host says when it does. The methods of the
// lab are in lab_observe.go and lab_seam.go.
type host struct{ s *Server }

// serverOf returns the server that executes a command.
func serverOf(c *command.Call) *Server {
	if h, inLab := c.Ex.Host.(labHost); inLab {
		return h.s
	}
	return c.Ex.Host.(host).s
}

func (h host) Deliver(to *command.Session, message []byte) { h.s.push(h.s.clientOf(to), message) }

func (h host) Resume(sess *command.Session, reply []byte) { h.s.resume(sess, reply) }

func (h host) FindSession(id int64) *command.Session {
	if c := h.s.clients[id]; c != nil && !c.closed {
		return &c.sess
	}
	return nil
}

func (h host) Describe(sess *command.Session) string { return h.s.describe(h.s.clientOf(sess)) }

func (h host) Log(level byte, format string, args ...any) { h.s.log(level, format, args...) }

func (h host) ProcessEventsWhileBlocked() (stop bool) { return h.s.processEventsWhileBlocked() }

func (h host) CloseIfOverLimit(sess *command.Session) bool {
	c := h.s.clientOf(sess)
	return c.internal == nil && h.s.overOutputLimit(c)
}

func (h host) EvictLater() { h.s.evicting = true }

func (h host) Transfer(t *command.Transfer, restored func(key int)) error {
	return h.s.transfer(t, restored)
}

func (h host) FeedMonitors(sess *command.Session, args [][]byte) { h.s.feedMonitors(sess, args) }

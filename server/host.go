package server

import (
	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/clock"
	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/store"
)

// NewKeyspace makes an empty keyspace.
func NewKeyspace(cfg *config.Config) *store.Keyspace {
	return store.NewKeyspace(store.Options{Databases: cfg.Databases, Seed: cfg.Seed})
}

// NewExecutor makes the executor of this server over its keyspace. That is the state of a Redis that has
// just started.
func (s *Server) NewExecutor(clock *clock.Clock) error {
	s.Ex = command.New(s.Cfg, s.KS, clock, host{s}, s.commands)
	for _, r := range s.Cfg.Renames {
		if err := s.Ex.Table.Rename(r.From, r.To); err != nil {
			return &config.LineError{Line: r.Line, Text: r.Text, Why: err.Error()}
		}
	}
	for _, fn := range s.Parts.installed {
		if err := fn(); err != nil {
			return err
		}
	}
	return nil
}

// host is how the executor reaches the server: command.Host says when it does.
type host struct{ s *Server }

// ServerOf returns the server that executes a command.
func ServerOf(c *command.Call) *Server { return c.Ex.Host.(host).s }

// IsLoading reports whether the keyspace has a part of what it will have: of the server's files, or of the master's.
func (s *Server) IsLoading() bool { return s.Ex.Refusals.Has(command.Loads) }

func (h host) Deliver(to *command.Session, message []byte) { h.s.Push(h.s.Clients.Of(to), message) }

func (h host) Resume(sess *command.Session, reply []byte) {
	h.s.Hooks.Resume(h.s.Clients.Of(sess), reply)
}

func (h host) Waits(sess *command.Session) {
	if sess.Wait.Retry > 0 {
		h.s.setTimer(h.s.Clients.Of(sess))
	}
}

func (h host) FindSession(id int64) *command.Session {
	if c := h.s.Clients.ByID[id]; c != nil && !c.Closed {
		return &c.Sess
	}
	return nil
}

func (h host) Describe(sess *command.Session) string {
	return h.s.Clients.Describe(h.s.Clients.Of(sess))
}

func (h host) Log(level byte, format string, args ...any) { h.s.Log(level, format, args...) }

func (h host) ProcessEventsWhileBlocked() (stop bool) {
	if h.s.Running == nil { // a script of an append only file
		return h.s.Hooks.Rest()
	}
	return h.s.Hooks.ServeOthers()
}

func (h host) CloseIfOverLimit(sess *command.Session) bool {
	c := h.s.Clients.Of(sess)
	return c.Internal == nil && h.s.Clients.OverOutputLimit(c)
}

func (h host) EvictLater() { h.s.Evicting = true }

func (h host) Flushed() { each(h.s.Parts.flushed) }

func (h host) Transfer(t *command.Transfer, restored func(key int)) error {
	return h.s.Hooks.Transfer(t, restored)
}

func (h host) FeedMonitors(sess *command.Session, args [][]byte) { h.s.Hooks.FeedMonitors(sess, args) }

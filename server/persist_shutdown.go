package server

import (
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/store"
)

const errShutdown store.Error = "ERR Errors trying to SHUTDOWN. Check logs."

// shutdownWords say how a server ends.
type shutdownWords struct{ save, nosave, now, force bool }

// SHUTDOWN [NOSAVE | SAVE] [NOW] [FORCE] [ABORT] (db.c: shutdownCommand)
// The event loop stops, unless the data cannot be saved. No other command of this pass is executed. ABORT is possible
// while an end waits: for replicas, for a slow script, or because cron is paused.
func (s *Server) shutdown(c *command.Call) error {
	var how shutdownWords
	abort := false
	for _, arg := range c.Args[1:] {
		switch {
		case is(arg, "save"):
			how.save = true
		case is(arg, "nosave"):
			how.nosave = true
		case is(arg, "abort"):
			abort = true
		case is(arg, "now"):
			how.now = true
		case is(arg, "force"):
			how.force = true
		default:
			return errSyntax
		}
	}
	if how.save && how.nosave || abort && how != (shutdownWords{}) {
		return errSyntax
	}
	if abort {
		return s.abortShutdown(c)
	}
	busy := c.Ex.Scripts.Busy()
	if busy != nil && !how.nosave {
		return busy // a script must not be cut in the middle
	}
	if s.stopping.begin(how, busy != nil) {
		s.stopping.await(c)
		return nil
	}
	if !s.finish(how) {
		return errShutdown
	}
	s.running.sess.CloseAfterReply = true
	s.listeners.close() // a client that loses its connection must not get a new one
	return nil
}

// abortShutdown is SHUTDOWN ABORT (server.c: abortShutdown).
func (s *Server) abortShutdown(c *command.Call) error {
	switch {
	case s.stopping.on:
		s.stopping.cancel()
	case s.stopping.signalled:
		s.stopping.signalled = false
		s.stopping.asked.Store(false)
	default:
		return store.Error("ERR No shutdown in progress.")
	}
	s.log('*', "Shutdown manually aborted.")
	c.OK()
	return nil
}

// finish saves what has to be saved and stops the loop (server.c: finishShutdown). If the data cannot be saved, the
// server goes on, unless force.
func (s *Server) finish(how shutdownWords) bool {
	s.replicas.logLag()
	if s.persist.background.snapshot != nil {
		s.log('#', "A save in the background is in progress. Aborting it!")
		s.persist.abortBackground()
	}
	if !s.persist.aof.mayEnd(how.force) {
		s.log('#', "Errors trying to shut down the server. Check the logs for more information.")
		return false
	}
	if s.saves(how) {
		s.log('*', "Saving the final RDB snapshot before exiting.")
		delay := s.cfg.RDBKeySaveDelay
		s.cfg.RDBKeySaveDelay = 0 // a test that has failed in the middle must not wait for its end
		err := s.persist.save()
		s.cfg.RDBKeySaveDelay = delay
		switch {
		case err != nil && how.force:
			s.log('#', "Error trying to save the DB. Exit anyway.")
		case err != nil:
			s.log('#', "Error trying to save the DB, can't exit.")
			s.log('#', "Errors trying to shut down the server. Check the logs for more information.")
			return false
		}
	}
	s.loop.Stop()
	return true
}

// saves reports whether the end of the server is a save.
func (s *Server) saves(how shutdownWords) bool {
	return (how.save || s.cfg.Save != "" && !how.nosave) && !s.isLoading()
}

// savesHalf reports whether the end of the server would save half of what a script or a transaction does.
func (s *Server) savesHalf(how shutdownWords) bool { return s.saves(how) && s.ex.HasHalf() }

// signal is SIGTERM or SIGINT.
func (e *stopping) signal(interrupt bool) {
	e.signalled, e.interrupt = true, interrupt
	if e.obeySignal(); e.signalled && !e.s.debugging.cronPaused {
		e.s.log('*', "Waiting for a script that has changed keys before saving. SHUTDOWN NOSAVE cuts it.")
	}
}

// obeySignal does what shutdown-on-sigterm or shutdown-on-sigint says. It waits while DEBUG PAUSE-CRON pauses cron. A
// save also waits for the end of a script that has changed keys: they have a half of it.
func (e *stopping) obeySignal() {
	s := e.s
	words := strings.Fields(s.cfg.ShutdownOnSigterm)
	if e.interrupt {
		words = strings.Fields(s.cfg.ShutdownOnSigint)
	}
	has := func(word string) bool { return slices.Contains(words, word) }
	how := shutdownWords{save: has("save"), nosave: has("nosave"), force: has("force"), now: has("now")}
	if s.debugging.cronPaused || s.savesHalf(how) {
		return
	}
	e.signalled = false
	if e.begin(how, false) {
		return
	}
	if !s.finish(how) {
		e.asked.Store(false)
		s.log('#', "SIGTERM received but errors trying to shut down the server, check the logs for more information")
	}
}

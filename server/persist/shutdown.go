package persist

import (
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/store"
)

const errShutdown store.Error = "ERR Errors trying to SHUTDOWN. Check logs."

// shutdownWords say how a server ends.
type shutdownWords struct{ save, nosave, now, force bool }

// Stopping is an end that waits. It waits for replicas that lag behind, so that they get everything (server.c:
// prepareForShutdown), and writes are held back meanwhile. A signal also waits for a script that has changed keys.
//
//	SHUTDOWN, SIGTERM ── begin ──> replicas are asked for their offsets
//	executePhase ── advance ──> each replica has everything, or shutdown-timeout is over ──> finish
//
// The timeout is one of real seconds: a server with a lab whose clock stands still must end, too.
type Stopping struct {
	s     *server.Server
	p     *Files
	On    bool
	how   shutdownWords
	until int64 // ns, by Clock.Mono
	timer *reactor.Timer
	waits []server.Waiter // clients in SHUTDOWN

	signalled bool         // SIGTERM or SIGINT wants the end, once it may come
	interrupt bool         // it was SIGINT
	Asked     *atomic.Bool // Terminate was called, and the end was neither aborted nor impossible
}

// Part is the place of an end that waits in a pass.
func (e *Stopping) Part() server.Part {
	return server.Part{
		Self: e, Advance: e.advance, InScript: e.advance, Terminate: e.terminate,
		Info: map[string]func(r *server.Report){"shutdown_in_milliseconds": func(r *server.Report) {
			if e.On {
				r.Fields("shutdown_in_milliseconds", (e.until-e.s.Now)/1e6)
			}
		}},
	}
}

// terminate makes the loop obey a signal. Any goroutine may call it.
func (e *Stopping) terminate(interrupt bool) {
	e.Asked.Store(true)
	e.s.Loop.Post(func() { e.signal(interrupt) })
}

// SHUTDOWN [NOSAVE | SAVE] [NOW] [FORCE] [ABORT] (db.c: shutdownCommand)
// The event loop stops, unless the data cannot be saved. No other command of this pass is executed. ABORT is possible
// while an end waits: for replicas, for a slow script, or because cron is paused.
func (e *Stopping) shutdown(c *command.Call) error {
	s := e.s
	var how shutdownWords
	abort := false
	for _, arg := range c.Args[1:] {
		switch {
		case ascii.EqualFold(arg, "save"):
			how.save = true
		case ascii.EqualFold(arg, "nosave"):
			how.nosave = true
		case ascii.EqualFold(arg, "abort"):
			abort = true
		case ascii.EqualFold(arg, "now"):
			how.now = true
		case ascii.EqualFold(arg, "force"):
			how.force = true
		default:
			return server.ErrSyntax
		}
	}
	if how.save && how.nosave || abort && how != (shutdownWords{}) {
		return server.ErrSyntax
	}
	if abort {
		return e.abort(c)
	}
	busy := c.Ex.Scripts.Busy()
	if busy != nil && !how.nosave {
		return busy // a script must not be cut in the middle
	}
	if e.begin(how, busy != nil) {
		e.await(c)
		return nil
	}
	if !e.finish(how) {
		return errShutdown
	}
	s.Running.Sess.CloseAfterReply = true
	s.Listeners.Close() // a client that loses its connection must not get a new one
	return nil
}

// abort is SHUTDOWN ABORT (server.c: abortShutdown).
func (e *Stopping) abort(c *command.Call) error {
	switch {
	case e.On:
		e.Cancel()
	case e.signalled:
		e.signalled = false
		e.Asked.Store(false)
	default:
		return store.Error("ERR No shutdown in progress.")
	}
	e.s.Log('*', "Shutdown manually aborted.")
	c.OK()
	return nil
}

// begin reports whether the server has to wait for replicas before it ends. SHUTDOWN NOSAVE cuts a slow script at once,
// also if another end waits.
func (e *Stopping) begin(how shutdownWords, cuts bool) bool {
	if e.On && !cuts {
		return true
	}
	s := e.s
	s.Log('*', "User requested shutdown...")
	timeout := time.Duration(s.Cfg.ShutdownTimeout) * time.Second
	if cuts || how.now || timeout == 0 || e.p.History.HaveAll() {
		return false
	}
	e.On, e.how, e.until = true, how, s.Ex.Clock.Mono()+int64(timeout) // Server.Now stands still during a script
	e.timer = s.Loop.After(timeout, func() time.Duration { return 0 }) // advance looks at the time
	switch {
	case s.Ex.Refusals.Has(command.Pauses):
	case s.Ex.Depth > 0: // a slow script runs
		e.p.History.Ask()
	default:
		s.Deferred = append(s.Deferred, e.p.History.Ask)
	}
	s.Pausing.Begin(server.ByShutdown, command.PausesWrites, server.Forever)
	s.Log('*', "Waiting for replicas before shutting down.")
	return true
}

// await makes the client of a SHUTDOWN wait for its end.
func (e *Stopping) await(c *command.Call) {
	e.waits = append(e.waits, server.Waiter{By: e.s.Running, Request: c.Sess.Commands})
	c.Await(func(out *resp.Writer) { out.Error(string(errShutdown)) })
}

// advance ends the server once it has not to wait any more. All commands of the pass are executed, or a slow script
// runs, which the end cuts.
func (e *Stopping) advance() {
	if e.signalled {
		e.obeySignal()
	}
	switch {
	case !e.On, e.s.Ex.Clock.Mono() < e.until && !e.p.History.HaveAll(), e.savesHalf(e.how):
		return
	}
	if !e.finish(e.how) {
		e.Cancel()
		return
	}
	e.s.Listeners.Close() // a client that loses its connection must not get a new one
}

// Cancel makes the server go on (server.c: cancelShutdown).
func (e *Stopping) Cancel() {
	if e.timer != nil {
		e.s.Loop.Cancel(e.timer)
	}
	for _, w := range e.waits {
		if w.IsOn() {
			e.s.Ex.Answer(&w.By.Sess, func(out *resp.Writer) { out.Error(string(errShutdown)) })
		}
	}
	e.Asked.Store(false)
	*e = Stopping{s: e.s, p: e.p, Asked: e.Asked}
	e.s.Pausing.End(server.ByShutdown)
}

// finish saves what has to be saved and stops the loop (server.c: finishShutdown). If the data cannot be saved, the
// server continues, unless force.
func (e *Stopping) finish(how shutdownWords) bool {
	s := e.s
	e.p.History.LogLag()
	if e.p.Background.snapshot != nil {
		s.Log('#', "A save in the background is in progress. Aborting it!")
		e.p.AbortBackground()
	}
	if !e.p.AOF.mayEnd(how.force) {
		s.Log('#', "Errors trying to shut down the server. Check the logs for more information.")
		return false
	}
	if e.saves(how) {
		s.Log('*', "Saving the final RDB snapshot before exiting.")
		delay := s.Cfg.RDBKeySaveDelay
		s.Cfg.RDBKeySaveDelay = 0 // a test that has failed in the middle must not wait for its end
		err := e.p.save()
		s.Cfg.RDBKeySaveDelay = delay
		switch {
		case err != nil && how.force:
			s.Log('#', "Error trying to save the DB. Exit anyway.")
		case err != nil:
			s.Log('#', "Error trying to save the DB, can't exit.")
			s.Log('#', "Errors trying to shut down the server. Check the logs for more information.")
			return false
		}
	}
	s.Loop.Stop()
	return true
}

// saves reports whether the end of the server is a save.
func (e *Stopping) saves(how shutdownWords) bool {
	return (how.save || e.s.Cfg.Save != "" && !how.nosave) && !e.s.IsLoading()
}

// savesHalf reports whether the end of the server would save half of what a script or a transaction does.
func (e *Stopping) savesHalf(how shutdownWords) bool { return e.saves(how) && e.s.Ex.HasHalf() }

// signal is SIGTERM or SIGINT.
func (e *Stopping) signal(interrupt bool) {
	e.signalled, e.interrupt = true, interrupt
	if e.obeySignal(); e.signalled && !e.s.Debugging.CronPaused {
		e.s.Log('*', "Waiting for a script that has changed keys before saving. SHUTDOWN NOSAVE cuts it.")
	}
}

// obeySignal does what shutdown-on-sigterm or shutdown-on-sigint says. It waits while DEBUG PAUSE-CRON pauses cron. A
// save also waits for the end of a script that has changed keys: they have a half of it.
func (e *Stopping) obeySignal() {
	s := e.s
	words := strings.Fields(s.Cfg.ShutdownOnSigterm)
	if e.interrupt {
		words = strings.Fields(s.Cfg.ShutdownOnSigint)
	}
	has := func(word string) bool { return slices.Contains(words, word) }
	how := shutdownWords{save: has("save"), nosave: has("nosave"), force: has("force"), now: has("now")}
	if s.Debugging.CronPaused || e.savesHalf(how) {
		return
	}
	e.signalled = false
	if e.begin(how, false) {
		return
	}
	if !e.finish(how) {
		e.Asked.Store(false)
		s.Log('#', "SIGTERM received but errors trying to shut down the server, check the logs for more information")
	}
}

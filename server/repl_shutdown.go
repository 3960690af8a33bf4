package server

import (
	"sync/atomic"
	"time"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/resp"
)

// stopping is an end that waits. It waits for replicas that lag behind, so that they get everything (server.c:
// prepareForShutdown), and writes are held back meanwhile. A signal also waits for a script that has changed keys.
//
//	SHUTDOWN, SIGTERM ── begin ──> replicas are asked for their offsets
//	executePhase ── advance ──> each replica has everything, or shutdown-timeout is over ──> Server.finish
//
// The timeout is one of real seconds: a server with a lab whose clock stands still must end, too.
type stopping struct {
	s     *Server
	on    bool
	how   shutdownWords
	until int64 // ns, by Clock.Mono
	timer *reactor.Timer
	waits []waiter // clients in SHUTDOWN

	signalled bool         // SIGTERM or SIGINT wants the end, once it may come
	interrupt bool         // it was SIGINT
	asked     *atomic.Bool // Terminate was called, and the end was neither aborted nor impossible
}

// begin reports whether the server has to wait for replicas before it ends. SHUTDOWN NOSAVE cuts a slow script at once,
// also if another end waits.
func (e *stopping) begin(how shutdownWords, cuts bool) bool {
	if e.on && !cuts {
		return true
	}
	s := e.s
	s.log('*', "User requested shutdown...")
	timeout := time.Duration(s.cfg.ShutdownTimeout) * time.Second
	if cuts || how.now || timeout == 0 || s.replicas.haveAll() {
		return false
	}
	e.on, e.how, e.until = true, how, s.ex.Clock.Mono()+int64(timeout) // Server.now stands still during a script
	e.timer = s.loop.After(timeout, func() time.Duration { return 0 }) // advance looks at the time
	switch {
	case s.ex.Pause != command.PauseNone:
	case s.ex.Depth > 0: // a slow script runs
		s.replicas.askNow()
	default:
		s.deferred = append(s.deferred, s.replicas.askNow)
	}
	s.pausing.begin(byShutdown, command.PauseWrites, forever)
	s.log('*', "Waiting for replicas before shutting down.")
	return true
}

// askNow asks the replicas for their offsets, also during a pause. The stream of a replica is that of its master.
func (r *replicas) askNow() {
	if r.stream.Active && r.isTop() {
		r.feed([]byte(getAckRequest))
	}
}

// await makes the client of a SHUTDOWN wait for its end.
func (e *stopping) await(c *command.Call) {
	e.waits = append(e.waits, waiter{e.s.running, c.Sess.Commands})
	c.Await(func(out *resp.Writer) { out.Error(string(errShutdown)) })
}

// advance ends the server once it has not to wait any more. All commands of the pass are executed, or a slow script
// runs, which the end cuts.
func (e *stopping) advance() {
	if e.signalled {
		e.obeySignal()
	}
	switch {
	case !e.on, e.s.ex.Clock.Mono() < e.until && !e.s.replicas.haveAll(), e.s.savesHalf(e.how):
		return
	}
	if !e.s.finish(e.how) {
		e.cancel()
		return
	}
	e.s.listeners.close() // a client that loses its connection must not get a new one
}

// cancel makes the server go on (server.c: cancelShutdown).
func (e *stopping) cancel() {
	if e.timer != nil {
		e.s.loop.Cancel(e.timer)
	}
	for _, w := range e.waits {
		if w.isOn() {
			e.s.ex.Answer(&w.by.sess, func(out *resp.Writer) { out.Error(string(errShutdown)) })
		}
	}
	e.asked.Store(false)
	*e = stopping{s: e.s, asked: e.asked}
	e.s.pausing.end(byShutdown)
}

// haveAll reports whether each replica has told that it has everything (server.c: isReadyToShutdown).
func (r *replicas) haveAll() bool {
	for _, c := range r.all {
		if !c.closed && replicaOf(c).acked != r.stream.Offset {
			return false
		}
	}
	return true
}

// logLag says at the end of the server which replicas lack something (server.c: finishShutdown).
func (r *replicas) logLag() {
	lagging := 0
	for _, c := range r.all {
		rep := replicaOf(c)
		if rep.acked == r.stream.Offset {
			continue
		}
		lagging++
		seconds := int64(0)
		if rep.state == online {
			seconds = r.lag(c)
		}
		r.s.log('*', "Lagging replica %s reported offset %d behind master, lag=%d, state=%s.", r.name(c),
			r.stream.Offset-rep.acked, seconds, rep.state)
	}
	if len(r.all) > 0 {
		r.s.log('*', "%d of %d replicas are in sync when shutting down.", len(r.all)-lagging, len(r.all))
	}
}

package server

import (
	"errors"
	"time"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/glass"
	"github.com/miniredisd/miniredisd/internal/version"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

// Where a watch meets the rest of the server. The directive watch turns it on, and it needs a lab. While
// it is off, Server.watching is nil. install replaces functions of the server and of its loop:
//
//	called by            the watch's function   shows
//	epoll_wait is over   beginPass              woke
//	the loop             handles                handler
//	do                   doShown                execute, replied
//	doInternal           doShown                the same for requests without a connection
//	before epoll_wait    endPass                asleep
//
// The other points stand where those of the trace stand: in adopt, free and expire, in ioworkers and in
// Executor.run. Each is one comparison while there is no watch.
//
//	watch_seam.go      this picture, and the begin and end of a pass
//	watch_points.go    the events of main
//	watch_snapshot.go  what there is while the server is stopped
//	watch_step.go      LAB STEP and LAB RECORD
//	watch_names.go     names of connections that the page opens
type watchState struct {
	*Server
	w *glass.Watch

	do, doInternal func(by *command.Session, args [][]byte, w *resp.Writer) // those that doShown calls

	fired    []glass.Ready // the array of the last wait, while the pass records details
	byFD     []*client     // by descriptor, as it was at the begin of the pass
	at       int           // the place in it of the running handler, -1 for none yet
	later    []glass.Verb  // that may stop the loop: to be done when the pass is over
	due      []string      // keys that have expired and are not shown yet
	recent   []touched     // keys of the latest commands, the newest first
	finished pace          // counters at the begin of the pass
}

// pace has the counters that a pass moves.
type pace struct{ reads, writes, commands, reading, executing, writing int64 }

// newWatch makes the watch of the server, if it is to have one. The server does not listen on its address:
// the program around it does, if it serves the page.
func (s *Server) newWatch(clock *command.Clock) error {
	if s.cfg.Watch == "" {
		return nil
	}
	if !s.cfg.Lab {
		return errors.New("watch needs --lab yes")
	}
	v := &watchState{Server: s, at: -1}
	v.w = glass.New(glass.Options{
		Clock: clock.Mono,
		Hello: glass.Hello{
			Version: version.Version, Seed: s.cfg.Seed, Exec: s.cfg.Exec, Multiplexer: s.cfg.Multiplexer,
			Master: s.number, Masters: s.masters,
		},
		Snapshot: v.snapshot, Summary: v.summary, Stood: v.stood,
		Keys: v.keysOf, Name: v.nameOf, Match: store.MatchPattern,
	})
	s.watching, s.recording = v, v.w
	s.trace = v.w.Thread("main")
	s.pool.Trace = s.trace
	s.queue.record()
	return nil
}

// Watch returns what shows and stops this server, nil without the directive watch.
func (s *Server) Watch() *glass.Watch {
	if s.watching == nil {
		return nil
	}
	return s.watching.w
}

// install replaces what a pass calls. It runs for every new executor, behind labState.install.
func (v *watchState) install() {
	if v == nil {
		return
	}
	v.do, v.doInternal = v.Server.do, v.Server.doInternal
	v.Server.do = func(by *command.Session, args [][]byte, w *resp.Writer) { v.doShown(v.do, by, args, w) }
	v.Server.doInternal = func(by *command.Session, args [][]byte, w *resp.Writer) {
		v.doShown(v.doInternal, by, args, w)
	}
	v.ex.Trace = v.trace
	v.loop.AfterSleep(v.beginPass)
	v.loop.BeforeSleep(v.endPass)
	v.loop.Observe(v.handles)
}

// open lets a stopped server go on for good: it is about to end. Any goroutine may call it.
func (v *watchState) open() {
	if v != nil {
		v.w.Open()
	}
}

// end ends the streams of all readers.
func (v *watchState) end() {
	if v != nil {
		v.w.End()
	}
}

// stood keeps the time of a stop out of the clocks. With LAB STEP CLOCK RUN the lab's clock goes on.
func (v *watchState) stood(ns int64, still bool) {
	v.ex.Clock.Stand(ns)
	if clock := v.lab.clock; !still && !clock.Frozen && !clock.Held {
		mono := v.ex.Clock.Mono()
		clock.Set(mono, clock.Now(mono)+int64(float64(ns)*clock.Rate))
	}
}

// beginPass is afterSleep.
func (v *watchState) beginPass() {
	slept := v.asleep
	v.lab.beginPass()
	v.w.BeginPass(v.now)
	v.pool.Stepping = v.w.Stepping()
	if v.trace.Detailed() {
		v.woke(slept)
	}
}

// endPass is beforeSleep.
func (v *watchState) endPass() time.Duration {
	d := v.beforeSleep()
	if v.trace.Detailed() {
		v.sleeps(v.loop.Timeout(d))
	}
	v.w.EndPass(v.asleep)
	for _, verb := range v.later {
		_, _ = verb.Do() // it returns no error
	}
	clear(v.later)
	v.later = v.later[:0]
	return d
}

// handles is called before the handlers of a descriptor.
func (v *watchState) handles(i, fd int, mask reactor.Mask) {
	if v.trace.Detailed() && mask != 0 {
		v.showHandler(i, fd, mask)
	}
}

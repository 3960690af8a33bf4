// Package glass shows and stops the loop of a server, point by point. lab/glass has the View, which knows no server.
// This package feeds it. The directive watch turns it on, and it needs a lab. While it is off, there is no State.
// install sets hooks of the server and functions of its loop:
//
//	called by            function               shows
//	epoll_wait is over   beginPass              woke
//	the loop             handles                handler
//	Do, DoInternal       doShown                expired; the executor shows execute, replied, message
//	Obey                 obeyShown              the same, for what the master of a replica has sent
//	ServeOthers          serveOthersShown       back
//	HandleReady          foundMore              again
//	before epoll_wait    endPass                asleep
//
// The hooks of the lab show where a rule strikes. The other points stand where those of the trace stand: in Adopt,
// free and Expire, in ioworkers, in Executor.run, and in package repl. Each is one comparison while there is no View.
//
//	seam.go      this picture, and the begin and end of a pass
//	points.go    the events of main
//	repl.go      the events of replication
//	snapshot.go  what there is while the server is stopped
//	step.go      LAB STEP and LAB RECORD
//
// The goroutine of the loop owns a State. Any goroutine may use the View: it has a mutex. The loop waits there while
// it is stopped:
//
//	loop                                     a goroutine of net/http
//	point ──> View: stopped? waits ... <──── View.Next, View.Open
//	          goes on
//
// Redis has nothing like it.
package glass

import (
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/clock"
	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/internal/version"
	"github.com/miniredisd/miniredisd/lab/glass"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/server/lab"
	"github.com/miniredisd/miniredisd/server/repl"
	"github.com/miniredisd/miniredisd/store"
)

// State is what shows one server.
type State struct {
	*repl.Role
	lab  *lab.State
	All  []*State // of the process, with this one
	view *glass.View

	do, doInternal func(by *command.Session, args [][]byte, w *resp.Writer) // those that doShown calls

	fired    []glass.Ready    // the array of the last wait, while the pass records details
	byFD     []*server.Client // by descriptor, as it was at the begin of the pass
	at       int              // the place in it of the running handler, -1 for none yet
	later    []glass.Verb     // that may stop the loop: to be done when the pass is over
	due      []string         // keys that have expired and are not shown yet
	evicted  []string         // the same, of keys that were evicted
	recent   []touched        // keys of the latest commands, the newest first
	finished pace             // counters at the begin of the pass
	calls    int64            // of the loop's multiplexer, until the end of the last pass that was shown
	request  uses             // under way
	streamed int64            // the offset of the replication stream, as far as it is shown
	nowhere  resp.Writer      // what doShown looks at while the master's requests are executed

	others func() (stop bool) // the ServeOthers that serveOthersShown calls
	slow   int64              // the client whose slow script looks for others, 0 for none
	found  bool               // it has found something
}

// pace has the counters that a pass moves.
type pace struct {
	reads, writes, taken, inside, waited, reading, executing, writing, slots, timers int64
}

// New makes the View of a server with a lab. The server does not listen on the address of the directive: the
// program around it does, if it serves the page.
func New(l *lab.State, clock *clock.Clock) *State {
	s, v := l.Server, &State{Role: l.Role, lab: l, at: -1}
	v.All = []*State{v}
	s.Recorder.Rows = trace.New(clock.Mono)
	v.view = glass.New(s.Recorder.Rows, glass.Options{
		Hello: glass.Hello{
			Version: version.Version, Seed: s.Cfg.Seed, Exec: s.Cfg.Exec, Multiplexer: s.Cfg.Multiplexer,
			Master: s.Number, Masters: s.NodeCount, Replicas: s.Cfg.Replicas, Appends: s.Cfg.AppendOnly,
		},
		Snapshot: v.snapshot, Summary: v.summary, Stood: v.stood,
		Keys: v.keysOf, Name: v.nameOf, Match: store.MatchPattern,
		Wake: func() { s.Loop.Post(func() {}) },
	})
	s.Recorder.IsShared = true
	s.Hooks.Take, s.Hooks.Pushed = v.takes, v.message
	l.Shown = lab.Hooks{Struck: v.struck, Expired: v.noteExpired}
	l.Persist.Hooks.Appended = v.appended
	l.Link.Replicated, l.Link.Fed, l.Link.Read, l.Link.Told = v.replicated, v.fed, v.linkRead, v.linkTold
	s.Trace = v.view.Thread("main")
	s.Pool.Trace = s.Trace
	s.Queue.Record()
	return v
}

// ViewOf returns what shows and stops a server, nil without the directive watch.
func ViewOf(s *server.Server) *glass.View {
	v, isOn := server.FindPart[*State](s)
	if !isOn {
		return nil
	}
	return v.view
}

// install replaces what a pass calls. It runs for every new executor, after LabState.install.
func (v *State) install() error {
	v.do, v.doInternal = v.Hooks.Do, v.Ex.Do // the glass needs a lab, which sets do
	v.Hooks.Do = func(by *command.Session, args [][]byte, w *resp.Writer) { v.doShown(v.do, by, args, w) }
	v.Hooks.DoInternal = func(by *command.Session, args [][]byte, w *resp.Writer) {
		v.doShown(v.doInternal, by, args, w)
	}
	v.Hooks.Obey = v.obeyShown
	v.others, v.Hooks.ServeOthers = v.Hooks.ServeOthers, v.serveOthersShown
	evicted := v.KS.OnEvicted
	v.KS.OnEvicted = func(db *store.DB, key string) {
		evicted(db, key)
		if v.Trace.Detailed() {
			v.evicted = append(v.evicted, strings.Clone(key))
		}
	}
	v.Ex.Trace, v.Ex.Show.Hides, v.Ex.Show.Settle = v.Trace, onlyLooks, v.settle
	v.Loop.CountCalls()
	v.Loop.FoundMore(v.foundMore)
	v.Loop.AfterSleep(v.beginPass)
	v.Loop.BeforeSleep(v.endPass)
	v.Loop.Observe(v.handles)
	return nil
}

// Part is the place of the View in a pass.
func (v *State) Part() server.Part {
	return server.Part{
		Self: v, Installed: v.install, Expired: v.expired, Joined: v.accepted, Left: v.closed,
		Hurry: v.view.Open, End: v.view.End,
	}
}

// stood keeps the time of a stop out of the clocks. With LAB STEP CLOCK RUN the lab's clock continues.
func (v *State) stood(ns int64, still bool) {
	v.Ex.Clock.Stand(ns)
	if clock := v.lab.Clock; !still && !clock.Frozen && !clock.Held {
		mono := v.Ex.Clock.Mono()
		clock.Set(mono, clock.Now(mono)+int64(float64(ns)*clock.Rate))
	}
}

// beginPass runs afterSleep and begins a pass of the recording.
func (v *State) beginPass() {
	slept := v.Asleep
	v.lab.BeginPass()
	v.view.BeginPass(v.Now)
	v.Pool.Stepping = v.view.Stepping()
	if v.Trace.Detailed() {
		v.woke(slept)
	}
}

// endPass runs BeforeSleep and ends a pass of the recording.
func (v *State) endPass() time.Duration {
	d := v.BeforeSleep()
	if v.Trace.Detailed() {
		v.sleeps(v.Loop.Timeout(d))
	}
	v.view.EndPass(v.Asleep, v.work())
	for _, verb := range v.later {
		_, _ = verb.Do() // it returns no error
	}
	clear(v.later)
	v.later = v.later[:0]
	return d
}

// work is what the loop does between passes, so that it hardly sleeps: "" for nothing.
func (v *State) work() string {
	switch {
	case v.Persist.Loads() || v.Follow.IsUrgent():
		return "loading"
	case v.Persist.UnderWay() != nil:
		return "saving"
	case v.Evicting:
		return "evicting"
	}
	return ""
}

// handles is called before the handlers of a descriptor.
func (v *State) handles(i, fd int, mask reactor.Mask) {
	if v.Trace.Detailed() && mask != 0 {
		v.showHandler(i, fd, mask)
	}
}

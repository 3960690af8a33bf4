package server

import (
	"compress/gzip"
	"errors"
	"os"
	"strings"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/store"
)

// A recording begins and ends on main, while the I/O threads sleep. So only its own thread sees a row
// that is being written.

// recorder records a trace of the server.
type recorder struct {
	s    *Server
	Rows *trace.Recorder // nil before the first trace, unless somebody shares it

	IsShared bool // the threads have their rows already, and a recording is only a part of what they get
}

// start begins a recording and drops the one before. A server with a View of package glass has its
// threads already.
func (rec *recorder) start() {
	if !rec.IsShared {
		rec.Rows = trace.New(rec.s.Ex.Clock.Mono)
		rec.Into(rec.Rows.Thread("main"))
		rec.s.Queue.Record()
		rec.s.Pool.Record(rec.Rows)
	}
	rec.Rows.Start()
}

func (rec *recorder) stop() {
	if rec.IsShared {
		rec.Rows.Stop()
		return
	}
	rec.Into(nil)
	rec.s.Pool.Record(nil)
}

// Into has everything that main does recorded in a row, nil for nowhere.
func (rec *recorder) Into(row *trace.Thread) {
	rec.s.Trace, rec.s.Ex.Trace, rec.s.Pool.Trace = row, row, row
}

const errNoTrace store.Error = "ERR no trace was recorded, see DEBUG TRACE START"

// write writes the recording. A reader sees no file or the whole file.
func (rec *recorder) write(path string) error {
	if rec.Rows == nil || !rec.Rows.Traced() {
		return errNoTrace
	}
	part := path + ".part"
	f, err := os.Create(part)
	if err != nil {
		return err
	}
	if err := errors.Join(rec.writeTo(f, path), f.Close()); err != nil {
		_ = os.Remove(part)
		return err
	}
	return os.Rename(part, path)
}

// writeTo compresses what is written if the name of the file ends with .gz. Perfetto reads both.
func (rec *recorder) writeTo(f *os.File, path string) error {
	if !strings.HasSuffix(path, ".gz") {
		return rec.Rows.WriteJSON(f)
	}
	z := gzip.NewWriter(f)
	return errors.Join(rec.Rows.WriteJSON(z), z.Close())
}

// slept says what the sleep that has just ended found, and what would have ended it.
func (rec *recorder) slept() {
	ready := 0
	rec.s.Loop.Fired(func(int, reactor.Mask) { ready++ })
	rec.s.Trace.Slept(ready, rec.s.Stats.Passes, rec.wakesFor())
}

// wakesFor names the deadline that sleep returns.
func (rec *recorder) wakesFor() string {
	if rec.s.Evicting {
		return "eviction"
	}
	timer, waits := rec.s.Timers.Next()
	due, expires := rec.s.Ex.Clock.OnTimeline(rec.s.KS.NextDeadline())
	switch {
	case expires && rec.s.expires() && (!waits || due < timer):
		return "a key expires"
	case waits:
		return "a timer"
	}
	return trace.NoDeadline
}

// SaveTrace writes the recording to the file that the configuration names, after the pass that is
// running. Without a file in the configuration it logs why nothing is written. Any goroutine may call it.
func (s *Server) SaveTrace() {
	s.Loop.Post(func() {
		if s.Cfg.Trace == "" {
			s.Log('#', "No trace is written: start the server with --trace PATH")
		}
		s.Recorder.save()
	})
}

func (rec *recorder) save() {
	if rec.s.Cfg.Trace == "" {
		return
	}
	if err := rec.write(rec.s.Cfg.Trace); err != nil {
		rec.s.Log('#', "Writing the trace: %v", err)
		return
	}
	rec.s.Log('*', "Trace written to %s", rec.s.Cfg.Trace)
}

// Debug is DEBUG TRACE. The server serves nobody while it writes a dump.
func (rec *recorder) Debug(c *command.Call, args [][]byte) error {
	switch {
	case is(args[0], "start") && len(args) == 1:
		rec.start()
	case is(args[0], "stop") && len(args) == 1:
		rec.stop()
	case is(args[0], "dump") && len(args) == 2:
		if err := rec.write(string(args[1])); err != nil {
			return asReply(err)
		}
	default:
		return c.SubcommandSyntax()
	}
	c.OK()
	return nil
}

// asReply turns an error of the system into an error reply.
func asReply(err error) error {
	var reply store.Error
	if errors.As(err, &reply) {
		return reply
	}
	return store.Error("ERR " + err.Error())
}

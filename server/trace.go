package server

import (
	"errors"
	"os"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/glass"
	"github.com/miniredisd/miniredisd/store"
)

// A recording begins and ends on main, while the I/O threads sleep. So only its own thread sees a row
// that is being written.

// startTrace begins a recording and drops the one before. A server with a watch has its threads already.
func (s *Server) startTrace() {
	if s.watching == nil {
		s.recording = glass.New(glass.Options{Clock: s.ex.Clock.Mono})
		s.traceTo(s.recording.Thread("main"))
		s.queue.record()
		s.pool.Record(s.recording)
	}
	s.recording.StartTrace()
}

func (s *Server) stopTrace() {
	if s.watching != nil {
		s.recording.StopTrace()
		return
	}
	s.traceTo(nil)
	s.pool.Record(nil)
}

func (s *Server) traceTo(row *glass.Thread) {
	s.trace, s.ex.Trace, s.pool.Trace = row, row, row
}

const errNoTrace store.Error = "ERR no trace was recorded, see DEBUG TRACE START"

// writeTrace writes the recording. A reader sees no file or the whole file.
func (s *Server) writeTrace(path string) error {
	if s.recording == nil || !s.recording.Traced() {
		return errNoTrace
	}
	part := path + ".part"
	f, err := os.Create(part)
	if err != nil {
		return err
	}
	if err := errors.Join(s.recording.WriteJSON(f), f.Close()); err != nil {
		_ = os.Remove(part)
		return err
	}
	return os.Rename(part, path)
}

// SaveTrace writes the recording to the file that the configuration names, after the pass that is
// running. Without a file in the configuration it logs why nothing is written. Any goroutine may call it.
func (s *Server) SaveTrace() {
	s.loop.Post(func() {
		if s.cfg.Trace == "" {
			s.log('#', "No trace is written: start the server with --trace PATH")
		}
		s.saveTrace()
	})
}

func (s *Server) saveTrace() {
	if s.cfg.Trace == "" {
		return
	}
	if err := s.writeTrace(s.cfg.Trace); err != nil {
		s.log('#', "Writing the trace: %v", err)
		return
	}
	s.log('*', "Trace written to %s", s.cfg.Trace)
}

// debugTrace is DEBUG TRACE. The server serves nobody while it writes a dump.
func (s *Server) debugTrace(c *command.Call, args [][]byte) error {
	switch {
	case is(args[0], "start") && len(args) == 1:
		s.startTrace()
	case is(args[0], "stop") && len(args) == 1:
		s.stopTrace()
	case is(args[0], "dump") && len(args) == 2:
		if err := s.writeTrace(string(args[1])); err != nil {
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

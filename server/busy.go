package server

import "github.com/miniredisd/miniredisd/resp"

// aside is the client whose script has been running for too long, and the output it has
// had so far, while others are served. It is neither read from nor written to: the
// script must find it as it was.
type aside struct {
	c    *client
	w    resp.Writer
	late []byte // messages to it, which come behind its reply
}

// letOthers is a pass in the middle of a script, for the clients that wait for it to end
// (networking.c: processEventsWhileBlocked). The executor refuses most of what they ask
// for. Time stands still: no timer runs and no key expires. (Those of LAB HOLD WAIT are
// looked after: they are there for tests that hang.) It tells whether the server is to stop.
func (s *Server) letOthers() (stop bool) {
	script := s.running
	if s.lab != nil && s.lab.crash != nil { // asked for in this pass: it cuts off what is under way, and would not come otherwise
		s.resetAtEnd(script)
		s.close(script)
		return true
	}
	s.aside.c, s.aside.w = script, s.w
	s.pool.Alone = true
	defer func() { // the engine turns a panic into an error of the script
		s.running, s.w = s.aside.c, s.aside.w
		s.aside.c, s.aside.w = nil, resp.Writer{}
		s.pool.Alone = false
	}()
	s.running, s.w = nil, resp.Writer{}
	s.unqueue(script) // it is queued again when it is through
	fresh := len(s.pendingReads)
	if err := s.loop.HandleReady(); err != nil {
		s.log('#', "Looking for other clients during a script: %v", err)
	}
	s.read(s.pendingReads[fresh:])
	floor := s.trace.Raise() // the time of commands stands still
	s.executePosted()
	s.executeReads()
	if s.lab != nil {
		s.endOverdue()
	}
	s.executeResumed()
	s.trace.Lower(floor)
	s.write()
	s.freeClosed()
	s.answerVisits()
	if s.loop.Stopped() {
		s.close(script) // without the answer to a script that was cut off
		return true
	}
	return false
}

package server

import (
	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/resp"
)

// hooks replace functions of the server. nil leaves the server's own: the zero hooks are the plain server.
// The lab, the glass and --exec queue set them (lab_seam.go, glass_seam.go, exec_queue.go: installQueue). Each
// method below says what runs without its hook. executeRequests looks at do itself: a call less for each request.
type hooks struct {
	execute      func()
	executeReads func()
	runTimers    func()
	do           func(by *command.Session, args [][]byte, w *resp.Writer)
	doInternal   func(by *command.Session, args [][]byte, w *resp.Writer)
	obey         func(master *command.Session, args [][]byte) (reply []byte)
	goOn         func(c *client)
	resume       func(c *client, reply []byte)
	serveOthers  func() (stop bool)
	accept       func(l *listener)
	take         func(v *internalRequest) bool   // any goroutine may call it: it answers the request itself, or not
	deaf         func() bool                     // no TCP listener may open
	pushed       func(c *client, message []byte) // after pushMessage
	feedMonitors func(sess *command.Session, args [][]byte)
	transfer     func(t *command.Transfer, restored func(key int)) error
	rest         func() (stop bool) // instead of serveOthers, for a script that no client runs
}

// execute is the execute phase of a pass.
func (s *Server) execute() {
	if fn := s.hooks.execute; fn != nil {
		fn()
		return
	}
	s.executePhase()
}

// executeReads executes what this pass has read.
func (s *Server) executeReads() {
	if fn := s.hooks.executeReads; fn != nil {
		fn()
		return
	}
	s.executeReadable()
}

// runTimers calls the functions of all timers that are due.
func (s *Server) runTimers() {
	if fn := s.hooks.runTimers; fn != nil {
		fn()
		return
	}
	s.runDueTimers()
}

// doInternal executes a request that came over no connection.
func (s *Server) doInternal(by *command.Session, args [][]byte, w *resp.Writer) {
	if fn := s.hooks.doInternal; fn != nil {
		fn(by, args, w)
		return
	}
	s.ex.Do(by, args, w)
}

// obey executes a request that the master of this replica has sent.
func (s *Server) obey(master *command.Session, args [][]byte) (reply []byte) {
	if fn := s.hooks.obey; fn != nil {
		return fn(master, args)
	}
	return s.ex.Obey(master, args)
}

// goOn executes what a client sent before its wait, which is over.
func (s *Server) goOn(c *client) {
	if fn := s.hooks.goOn; fn != nil {
		fn(c)
		return
	}
	s.executeClient(c)
}

// resume ends the wait of a blocked client: reply answers the command that blocked.
func (s *Server) resume(c *client, reply []byte) {
	if fn := s.hooks.resume; fn != nil {
		fn(c, reply)
		return
	}
	s.resumeBlocked(c, reply)
}

// serveOthers serves the other clients while a slow script runs. It reports whether the script has to stop.
func (s *Server) serveOthers() (stop bool) {
	if fn := s.hooks.serveOthers; fn != nil {
		return fn()
	}
	return s.processEventsWhileBlocked()
}

// accept accepts connections of a listener.
func (s *Server) accept(l *listener) {
	if fn := s.hooks.accept; fn != nil {
		fn(l)
		return
	}
	s.acceptHandler(l)
}

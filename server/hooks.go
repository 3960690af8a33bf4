package server

import (
	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/resp"
)

// hooks are functions of the server that somebody may replace. --exec queue does (exec_queue.go: installQueue), and
// the folders lab and glass do. executeRequests looks at Do itself: a call less for each request.
//
//	execute, executeReads   the execute phase of a pass, and what it has read
//	RunTimers               calls the functions of all timers that are due
//	Do, DoInternal          execute a request of a client, and one that came over no connection
//	Obey                    executes a request that the master of this replica has sent
//	GoOn                    executes what a client sent before its wait, which is over
//	Resume                  ends the wait of a blocked client: reply answers the command that blocked
//	ServeOthers             serves the other clients while a slow script runs, and says whether the script has to stop
//	Accept                  accepts connections of a listener
type hooks struct {
	execute      func()
	executeReads func()
	RunTimers    func()
	Do           func(by *command.Session, args [][]byte, w *resp.Writer)
	DoInternal   func(by *command.Session, args [][]byte, w *resp.Writer)
	Obey         func(master *command.Session, args [][]byte) (reply []byte)
	GoOn         func(c *Client)
	Resume       func(c *Client, reply []byte)
	ServeOthers  func() (stop bool)
	Accept       func(l *Listener)
	Take         func(v *InternalRequest) bool   // any goroutine may call it: it answers the request itself, or not
	Deaf         func() bool                     // no TCP listener may open
	Pushed       func(c *Client, message []byte) // after PushMessage
	FeedMonitors func(sess *command.Session, args [][]byte)
	Transfer     func(t *command.Transfer, restored func(key int)) error
	Rest         func() (stop bool) // instead of ServeOthers, for a script that no client runs
}

// plainHooks has the functions of a plain server. All other hooks are nil.
func plainHooks(s *Server) hooks {
	return hooks{
		execute: s.executePhase, executeReads: s.executeReadable, RunTimers: s.runDueTimers,
		DoInternal: func(by *command.Session, args [][]byte, w *resp.Writer) { s.Ex.Do(by, args, w) },
		Obey:       func(master *command.Session, args [][]byte) []byte { return s.Ex.Obey(master, args) },
		GoOn:       s.ExecuteClient, Resume: s.ResumeBlocked,
		ServeOthers: s.ProcessEventsWhileBlocked, Accept: s.AcceptHandler,
	}
}

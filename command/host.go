package command

// Host is what the executor needs from the program around it: clients, the log, the event loop.
// Commands call upwards through this interface alone, so package command knows no sockets:
//
//	server ── Executor.Do, Executor.Unblock ... ──> command
//	       <── Host.Deliver, Host.Resume ... ──────
//
// It has two implementations: host.go of package server, and a small one in bench/models.
//
// The executor calls every method on its own goroutine, the one that called the executor. A method
// must not call the executor again, except ProcessEventsWhileBlocked. Slices that a method gets are
// valid until it returns.
type Host interface {
	// Deliver appends a message to the output of a client. The client may be the one whose command
	// runs: the executor does so for messages that come before its reply.
	Deliver(to *Session, message []byte)

	// Resume ends the wait of a blocked client: reply answers the command that blocked.
	Resume(s *Session, reply []byte)

	// Waits says that the command of a blocked client has run again and still waits: Wait.Retry may be another time.
	Waits(s *Session)

	// FindSession returns the session of a connected client, or nil.
	FindSession(id int64) *Session

	// Describe returns the line of CLIENT LIST for s, without a newline.
	Describe(s *Session) string

	// Log writes a line of the log. The level is one of the characters . - * # (server.h: LL_DEBUG
	// to LL_WARNING).
	Log(level byte, format string, args ...any)

	// ProcessEventsWhileBlocked serves the other clients while a slow script runs
	// (networking.c: processEventsWhileBlocked). It reports whether the server shuts down, so that
	// the script must end.
	ProcessEventsWhileBlocked() (stop bool)

	// CloseIfOverLimit closes a client when its output exceeds client-output-buffer-limit. It
	// reports whether the output does. The executor asks only above Executor.OutputTrigger.
	CloseIfOverLimit(s *Session) bool

	// EvictLater asks for a call of Eviction.Continue at the end of this pass.
	EvictLater()

	// Flushed is called after FLUSHALL has deleted everything (db.c: flushAllDataAndResetRDB).
	Flushed()

	// Transfer sends the RESTORE requests of MIGRATE to another server and waits for the replies.
	// It calls restored with the position of each key that the other server has acknowledged.
	Transfer(t *Transfer, restored func(key int)) error

	// FeedMonitors shows a command to the clients in MONITOR. The executor calls it only while
	// Executor.Monitored is true.
	FeedMonitors(s *Session, args [][]byte)
}

package server

import "github.com/miniredisd/miniredisd/ioworkers"

// pass is the pass under way. Its lists say which clients it serves, as in Redis
// (server.h: clients_pending_read, clients_pending_write, clients_to_close).
type pass struct {
	now           int64     // monotonic ns, when it began
	before        int64     // commands executed until then
	executing     int64     // monotonic ns, when it began to execute
	asleep        int64     // monotonic ns, when the last one ended
	pendingReads  []*client // readable: to be read, then executed
	nextRead      int       // place in pendingReads of the next client to execute
	resumed       []*client // their wait is over: to be executed
	nextResumed   int       // place in resumed of the next client to execute
	deferred      []func()  // to be called once all commands are executed
	pendingWrites []*client // have output: to be written
	closing       []*client // to be freed when the pass is over and no list has them
	conns         []*ioworkers.Conn
	backoff       backoff // when gather tries again to wait for more clients

	running  *client // being executed (server.h: current_client), nil for none
	held     int     // clients that wait
	evicting bool    // keys are to be evicted at the end of the pass
}

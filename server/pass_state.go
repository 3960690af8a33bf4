package server

import "github.com/miniredisd/miniredisd/ioworkers"

// pass is the pass under way. Its lists say which clients it serves, as in Redis
// (server.h: clients_pending_read, clients_pending_write, clients_to_close).
type pass struct {
	Now           int64     // monotonic ns, when it began
	before        int64     // commands executed until then
	executing     int64     // monotonic ns, when it began to execute
	Asleep        int64     // monotonic ns, when the last one ended
	PendingReads  []*Client // readable: to be read, then executed
	NextRead      int       // place in PendingReads of the next client to execute
	Resumed       []*Client // their wait is over: to be executed
	NextResumed   int       // place in resumed of the next client to execute
	Deferred      []func()  // to be called once all commands are executed
	PendingWrites []*Client // have output: to be written
	Closing       []*Client // to be freed when the pass is over and no list has them
	conns         []*ioworkers.Conn
	backoff       backoff // when gather tries again to wait for more clients

	Running  *Client // being executed (server.h: current_client), nil for none
	Held     int     // clients that wait
	Evicting bool    // keys are to be evicted at the end of the pass
}

package repl

import (
	"math"

	"github.com/miniredisd/miniredisd/server"
)

// LinkHooks let somebody hold up the stream between a master and its replicas, and see what becomes of it. plainLink
// has those of a plain server.
type LinkHooks struct {
	// On a master.
	Refuses   func(c *server.Client) error // why a replica gets nothing, and nothing of it is heard; nil if it does
	StreamEnd func(c *server.Client) int64 // the last byte of the stream that a replica gets now
	PassEnds  func()                       // before the stream is handed over
	Asked     func(c *server.Client)       // a replica asks for all keys
	Heard     func()                       // once a second, before the silence of replicas counts

	// On a replica.
	Cuts     func(port int) bool    // nothing comes from the master with this port
	Begun    func(c *server.Client) // the link has become a client
	Up       func(full bool)        // the stream begins, after a full synchronization or a partial one
	Down     func()
	Promoted func()                      // before this server becomes a master
	Demoted  func(port int)              // before it becomes a replica
	WaitsOn  func(c *server.Client) bool // a blocked client waits on when the role changes

	Name     func(to string, port int) string // of the link, for CLIENT LIST
	RealTime bool                             // the clock may leap, so regular work goes by real time

	// While the trace records details.
	Replicated func()                                       // the pass has added to the stream
	Fed        func(c *server.Client, what int64, b []byte) // bytes for a replica
	Read, Told func(b []byte)                               // bytes from the master, and to it
}

func plainLink() LinkHooks {
	return LinkHooks{
		Refuses: func(*server.Client) error { return nil }, StreamEnd: func(*server.Client) int64 { return math.MaxInt64 },
		PassEnds: func() {}, Asked: func(*server.Client) {}, Heard: func() {},
		Cuts: func(int) bool { return false }, Begun: func(*server.Client) {}, Up: func(bool) {}, Down: func() {},
		Promoted: func() {}, Demoted: func(int) {}, WaitsOn: func(*server.Client) bool { return false },
		Name:       func(string, int) string { return "" },
		Replicated: func() {}, Fed: func(*server.Client, int64, []byte) {}, Read: func([]byte) {}, Told: func([]byte) {},
	}
}
